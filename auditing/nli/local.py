"""The embedded relation labeller: a four-label MiniLM cross-encoder under onnxruntime, on the CPU.

Its card (``weights/nli-minilm/CARD.md``) says how it was made and how good it is. Two choices stand here:

- **One pair per inference.** The weights are dynamically quantised: the scale of every activation is taken
  over the whole input tensor, so in a shared batch a pair's probabilities depend on its neighbours (measured
  on 400 clinical pairs: up to 0.24, with 10 labels changed, between batches of 32 and single pairs). Alone,
  a pair always gets the same answer, and on a CPU that costs no speed (264 pairs a second against 231).
- **Contradiction only above a bar** (default 0.9, as the card asks): below it the most probable of the other
  three labels is taken. The probabilities reported are the model's own, not changed by the bar.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditing.core.nli import Label
from auditing.nli.in_process import InProcessLabeller
from auditing.nli.protocol import LABEL_WORDS, VALID, RelationAnswer, RelationQuery
from auditing.nli.weights_check import WeightsError, checked_sums

MODEL_NAME = "nli-minilm"
WEIGHTS = Path(__file__).parent / "weights" / MODEL_NAME
MODEL_FILE, TOKENIZER_FILE = "model.int8.onnx", "tokenizer.json"
MAX_TOKENS = 256
CONTRADICTION_BAR = 0.9

QUALITY_NOTE = (
    "Small local model: 70 % of four-way labels right on everyday text (INLI test; 76 % if contradictions "
    "were "
    "not held to 0.9), weak on clinical text (mostly Neutral; balanced F1 0.36 on 275 medical steps of "
    "MR-Ben) and "
    "useless as a judge of mathematics (it accepts nearly every step). Good for trying things out, not for "
    "a study."
)


def usable_cores() -> int:
    """Return how many CPU cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def open_tokenizer(path: Path, max_tokens: int) -> Any:
    """Load a tokenizer that pads nothing and cuts what is longer than the model takes."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def open_session(path: Path, threads: int) -> Any:
    """Load an ONNX model for inference on the CPU, with so many threads for one inference."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(encoding: Any) -> dict[str, NDArray[np.int64]]:
    """Return one tokenized text, or pair, as the inputs of a model of the BERT family; a batch of one."""
    return {
        "input_ids": np.array([encoding.ids], dtype=np.int64),
        "attention_mask": np.array([encoding.attention_mask], dtype=np.int64),
        "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
    }


def decide(probabilities: NDArray[np.float64], contradiction_bar: float) -> Label:
    """Return the label of one relation from its four probabilities (shape (4,), rank order).

    Contradiction needs a probability above the bar; otherwise the best of the other three labels is taken.
    A tie goes to the weaker label, because `argmax` takes the first.
    """
    if probabilities[Label.CONTRADICTION] > contradiction_bar:
        return Label.CONTRADICTION
    return Label(1 + int(np.argmax(probabilities[1:])))


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the softmax over the last axis."""
    shifted = np.asarray(logits, dtype=np.float64)
    shifted = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    total: NDArray[np.float64] = shifted / shifted.sum(axis=-1, keepdims=True)
    return total


class LocalLabeller(InProcessLabeller):
    """Labels relations with the shipped nli-minilm weights (or another folder of the same shape).

    Parameters
    ----------
    weights
        Folder with ``model.int8.onnx``, ``tokenizer.json`` and ``SHA256SUMS``.
    contradiction_bar
        Probability in [0, 1] that a contradiction must exceed.
    threads
        CPU threads for one inference; 0 means all usable cores.

    Raises
    ------
    WeightsError
        A file is missing or not the published one.
    """

    def __init__(
        self, weights: Path = WEIGHTS, *, contradiction_bar: float = CONTRADICTION_BAR, threads: int = 0
    ) -> None:
        if not 0.0 <= contradiction_bar <= 1.0:
            raise ValueError(f"contradiction_bar is a probability from 0 to 1, not {contradiction_bar}")
        super().__init__(weights.name, QUALITY_NOTE if weights == WEIGHTS else "")
        self._folder = weights
        self._sums = checked_sums(weights, (MODEL_FILE, TOKENIZER_FILE))
        self._bar = contradiction_bar
        self._threads = threads or usable_cores()
        self._engine: tuple[Any, Any] | None = None

    def identity(self) -> Mapping[str, object]:
        """Return model, revision (the SHA-256 of both files) and parameters."""
        return {
            "kind": self.kind,
            "model": self.name,
            "revision": self._sums[MODEL_FILE],
            "prompt": {"id": "premises joined by one space", "sha256": self._sums[TOKENIZER_FILE]},
            "params": {"contradiction_bar": self._bar, "max_tokens": MAX_TOKENS},
            "endpoint": "",
        }

    def label_now(
        self, queries: Sequence[RelationQuery], stop: threading.Event | None = None
    ) -> list[RelationAnswer]:
        """Label the queries in the calling thread; ends early, with fewer answers, once `stop` is set."""
        if not queries:
            return []
        session, tokenizer = self._load()
        answers = []
        encodings = tokenizer.encode_batch([(" ".join(q.premises), q.target) for q in queries])
        for encoding in encodings:
            if stop is not None and stop.is_set():
                break
            started = time.perf_counter()
            self.truncated += bool(encoding.overflowing)
            (logits,) = session.run(["logits"], inputs_of(encoding))
            probabilities = softmax(logits[0])
            answers.append(
                RelationAnswer(
                    status=VALID,
                    label=decide(probabilities, self._bar),
                    probabilities=dict(zip(LABEL_WORDS, probabilities.tolist(), strict=True)),
                    model_reported=f"{self.name}@{self._sums[MODEL_FILE][:12]}",
                    prompt_tokens=len(encoding.ids),
                    completion_tokens=0,
                    seconds=time.perf_counter() - started,
                )
            )
        return answers

    def _load(self) -> tuple[Any, Any]:
        """Return (session, tokenizer), loaded at the first use, which takes about half a second."""
        with self._load_lock:
            if self._engine is None:
                tokenizer = open_tokenizer(self._folder / TOKENIZER_FILE, MAX_TOKENS)
                try:
                    session = open_session(self._folder / MODEL_FILE, self._threads)
                except Exception as error:  # onnxruntime raises its own unexported classes
                    raise WeightsError(
                        f"onnxruntime cannot load {self._folder / MODEL_FILE}: {error}"
                    ) from error
                self._engine = (session, tokenizer)
            return self._engine
