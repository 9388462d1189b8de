"""Embedding texts once each: equal texts share a row, known vectors are taken from a cache."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from auditing.embeddings.protocol import Embedder, Vectors, canonical, no_vectors, vector_key


class VectorCache(Protocol):
    """Vectors by their keys (`auditing.embeddings.protocol.vector_key`)."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the known ones of these keys, each vector of shape (dim,)."""
        ...

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep these vectors."""
        ...


class MemoryCache:
    """A cache that ends with its process."""

    def __init__(self) -> None:
        self.vectors: dict[str, Vectors] = {}

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the known ones of these keys."""
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep these vectors."""
        self.vectors.update(vectors)


async def embed(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> Vectors:
    """Return one row for every text, shape (texts, dim); each distinct text is encoded at most once.

    Every batch is kept as soon as it is there, so what was embedded before a fault or a stop is not lost.

    Raises
    ------
    auditing.llm.errors.LLMError, auditing.embeddings.errors.EmbedderError
        As `Embedder.encode`.
    """
    if not texts:
        return no_vectors()
    keys = [vector_key(model=embedder.name, revision=embedder.version, text=text) for text in texts]
    wanted = dict(zip(keys, map(canonical, texts), strict=True))
    vectors = dict(await cache.get(list(wanted)))
    missing = [key for key in wanted if key not in vectors]
    for start in range(0, len(missing), embedder.batch_size):
        batch = missing[start : start + embedder.batch_size]
        rows = await embedder.encode([wanted[key] for key in batch])
        found = dict(zip(batch, rows, strict=True))
        await cache.put(found)
        vectors.update(found)
    return np.stack([vectors[key] for key in keys])
