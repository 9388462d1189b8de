"""The protocol that every text embedder follows, the key of a vector, and the form all vectors have.

Vectors are float32 rows of length 1 (GraphEVAL compares them by cosine only). An embedder turns the same text into the
same vector whatever else stands in the call, so a text needs to be embedded once per model, ever.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vectors = NDArray[np.float32]

ZERO_NORM = 1e-12


@runtime_checkable
class Embedder(Protocol):
    """A source of sentence embeddings.

    ``name`` and ``version`` decide the vectors: the model, and the revision, checksum or address it was taken from.
    ``batch_size`` is how many texts one call should get.
    """

    kind: str
    name: str
    remote: bool
    batch_size: int

    @property
    def version(self) -> str:
        """The revision of the model; another one gives other vectors."""
        ...

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for every text, shape (texts, dim); no texts give shape (0, 0).

        Raises
        ------
        auditing.llm.errors.LLMError
            A server gave no usable vectors.
        auditing.embeddings.errors.EmbedderError, auditing.nli.weights_check.WeightsError
            The model cannot be used.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and threads."""
        ...


def canonical(text: str) -> str:
    """Return the text as it is embedded: Unicode normal form C, without space around it."""
    return unicodedata.normalize("NFC", text).strip()


def vector_key(*, model: str, revision: str, text: str) -> str:
    """Return the content key of one vector, a SHA-256 in hexadecimal, built like the key of a relation call."""
    content = {"kind": "emb", "model": model, "revision": revision, "text": canonical(text)}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", errors="replace")).hexdigest()


def identity(embedder: Embedder) -> Mapping[str, object]:
    """Return what decides the vectors, as it is stored beside a result."""
    return {"kind": embedder.kind, "model": embedder.name, "revision": embedder.version}


def unit_rows(rows: ArrayLike) -> Vectors:
    """Return rows of length 1 as float32; a row of zeros stays.

    Raises
    ------
    ValueError
        If this is no array of rows, or a value is not finite.
    """
    found = np.asarray(rows, dtype=np.float64)
    if found.ndim != 2 or not found.shape[1] or not np.isfinite(found).all():
        raise ValueError("Embeddings must be finite numbers, as many for every text.")
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    unit: Vectors = np.divide(found, norms, out=np.zeros_like(found), where=norms > ZERO_NORM).astype(
        np.float32
    )
    return unit


def no_vectors() -> Vectors:
    """Return the embeddings of no texts."""
    return np.zeros((0, 0), dtype=np.float32)
