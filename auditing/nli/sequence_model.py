"""Any sequence-classification model as a relation labeller, through transformers and torch (extra `models`).

The model is given by a folder, or by the name of a model that is already in this machine's Hugging Face
cache: nothing is downloaded at run time. Its own label names are mapped to the four labels. Models of three
labels (without "implied") and of two ("entailment", "not_entailment") work too; the quality note then says
which labels they never give.
"""

import contextlib
import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditing.core.nli import Label
from auditing.nli.errors import ExtraMissing, ModelError
from auditing.nli.in_process import InProcessLabeller
from auditing.nli.local import softmax
from auditing.nli.protocol import LABEL_WORDS, VALID, RelationAnswer, RelationQuery
from videos.proposals import torchvision_ops

MOST_TOKENS = 512
PAIRS_PER_INFERENCE = 16

NAMES: Mapping[str, Label] = {
    "contradiction": Label.CONTRADICTION,
    "contradicts": Label.CONTRADICTION,
    "contradictory": Label.CONTRADICTION,
    "refutes": Label.CONTRADICTION,
    "refuted": Label.CONTRADICTION,
    "neutral": Label.NEUTRAL,
    "not_entailment": Label.NEUTRAL,
    "not_enough_info": Label.NEUTRAL,
    "nei": Label.NEUTRAL,
    "implied": Label.IMPLIED,
    "implied_entailment": Label.IMPLIED,
    "implicit_entailment": Label.IMPLIED,
    "entailment": Label.ENTAILMENT,
    "entails": Label.ENTAILMENT,
    "explicit_entailment": Label.ENTAILMENT,
    "supports": Label.ENTAILMENT,
    "supported": Label.ENTAILMENT,
}
"""Label names that models use, in lower case with underscores."""


def map_labels(id2label: Mapping[int, str], given: Mapping[str, str] | None = None) -> list[Label]:
    """Return the label of every output of a model.

    Parameters
    ----------
    id2label
        Output number -> the model's name for it.
    given
        The model's name -> one of the four label words, for names that are not known.

    Raises
    ------
    ModelError
        A name is not known, or no output means entailment.
    """
    own = {name.lower(): Label.from_word(word) for name, word in (given or {}).items()}
    labels = []
    for number in sorted(id2label):
        name = str(id2label[number])
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        label = own.get(name.lower(), NAMES.get(plain))
        if label is None:
            raise ModelError(
                f"The model calls its output {number} {name!r}, which says nothing about entailment. "
                "Give label_map, for example {'LABEL_0': 'contradiction', 'LABEL_1': 'neutral', 'LABEL_2': "
                "'entailment'}."
            )
        labels.append(label)
    if Label.ENTAILMENT not in labels or len(set(labels)) < 2:
        raise ModelError(
            f"The model's outputs {list(id2label.values())} do not tell entailment from anything else."
        )
    return labels


def missing_labels_note(labels: Sequence[Label]) -> str:
    """Return a sentence about the labels that a model can never give, or nothing."""
    missing = [label.word for label in Label if label not in labels]
    note = "Labels of a model that was not measured on this task."
    return f"{note} It never gives: {', '.join(missing)}." if missing else note


class SequenceModelLabeller(InProcessLabeller):
    """Labels relations with a transformers sequence-classification model.

    Parameters
    ----------
    model
        Folder of a saved model, or a name in the local Hugging Face cache.
    label_map
        The model's label names -> label words, where the names are unusual.
    device
        torch device, such as ``cpu`` or ``cuda``.

    Raises
    ------
    ExtraMissing
        torch or transformers are not installed.
    ModelError
        The model is not on this machine or has other outputs.
    """

    def __init__(
        self, model: str, *, label_map: Mapping[str, str] | None = None, device: str = "cpu"
    ) -> None:
        try:
            import torch

            # Not needed here, but where it does not fit the installed torch, every model of transformers fails with it.
            with contextlib.suppress(ImportError):
                torchvision_ops.ensure()
            import transformers
        except ImportError as error:
            raise ExtraMissing(
                f"The labeller local:{model} needs torch and transformers ({error.name} is missing). "
                "Install them by: make setup-models. The labeller 'local' works without them."
            ) from None
        self._torch = torch
        self._device = device
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model, local_files_only=True)
            network = transformers.AutoModelForSequenceClassification.from_pretrained(
                model, local_files_only=True
            )
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The model {model!r} cannot be loaded from this machine ({type(error).__name__}). Give the "
                "folder of a "
                "saved sequence-classification model, or download the model first: nothing is downloaded at "
                "run time."
            ) from None
        self._network: Any = network.to(device).eval()
        self._labels = map_labels(network.config.id2label, label_map)
        super().__init__(Path(model).name, missing_labels_note(self._labels))
        self._revision = getattr(network.config, "_commit_hash", None) or folder_hash(Path(model))
        self._most_tokens = min(int(self._tokenizer.model_max_length), MOST_TOKENS)

    def identity(self) -> Mapping[str, object]:
        """Return model, revision (commit, or a hash of the folder's files) and parameters."""
        return {
            "kind": self.kind,
            "model": self.name,
            "revision": self._revision,
            "prompt": {"id": "premises joined by one space", "sha256": ""},
            "params": {"labels": [label.word for label in self._labels], "max_tokens": self._most_tokens},
            "endpoint": "",
        }

    def label_now(
        self, queries: Sequence[RelationQuery], stop: threading.Event | None = None
    ) -> list[RelationAnswer]:
        """Label the queries in the calling thread, shortest first in small batches; see the base class."""
        lengths = [sum(map(len, query.premises)) + len(query.target) for query in queries]
        order = sorted(range(len(queries)), key=lengths.__getitem__)
        answers: dict[int, RelationAnswer] = {}
        for start in range(0, len(order), PAIRS_PER_INFERENCE):
            if stop is not None and stop.is_set():
                break
            batch = order[start : start + PAIRS_PER_INFERENCE]
            answers.update(zip(batch, self._infer([queries[position] for position in batch]), strict=True))
        return [answers[position] for position in sorted(answers)]

    def _infer(self, queries: Sequence[RelationQuery]) -> list[RelationAnswer]:
        started = time.perf_counter()
        firsts, seconds = [" ".join(query.premises) for query in queries], [query.target for query in queries]
        full = self._tokenizer(firsts, seconds)["input_ids"]
        self.truncated += sum(len(ids) > self._most_tokens for ids in full)
        inputs = self._tokenizer(
            firsts, seconds, truncation=True, max_length=self._most_tokens, padding=True, return_tensors="pt"
        ).to(self._device)
        with self._torch.inference_mode():
            outputs = softmax(self._network(**inputs).logits.float().cpu().numpy())
        share = (time.perf_counter() - started) / len(queries)
        answers = []
        for output, ids in zip(outputs, full, strict=True):
            mass = dict.fromkeys(LABEL_WORDS, 0.0)
            for label, value in zip(self._labels, output.tolist(), strict=True):
                mass[label.word] += value
            best = max(Label, key=lambda label: (mass[label.word], -label))  # a tie goes to the weaker label
            answers.append(
                RelationAnswer(
                    status=VALID,
                    label=best,
                    probabilities=mass,
                    model_reported=f"{self.name}@{self._revision[:12]}",
                    prompt_tokens=min(len(ids), self._most_tokens),
                    completion_tokens=0,
                    seconds=share,
                )
            )
        return answers


def folder_hash(folder: Path) -> str:
    """Return one SHA-256 over the names and contents of a model folder's files."""
    total = hashlib.sha256()
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()} {digest}\n".encode())
    return total.hexdigest()
