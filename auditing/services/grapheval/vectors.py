"""Embeddings kept in the database, so that a text is embedded once per model, whatever study asks."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from asgiref.sync import sync_to_async

from auditing.embeddings.protocol import Vectors
from auditing.models import TextVector

LOOKUP_CHUNK = 2000


class DatabaseVectors:
    """A cache of vectors (`auditing.embeddings.cache.VectorCache`) in the table of text vectors.

    Parameters
    ----------
    after_batch
        Called with the number of vectors whenever a batch has been kept, in the thread that talks to the database.
        What it raises ends the embedding; what was kept stays.

    Attributes
    ----------
    found, added
        Vectors that were there, and that were encoded and kept, since this object was made.
    """

    def __init__(self, after_batch: Callable[[int], object] | None = None) -> None:
        self.found = self.added = 0
        self._after_batch = after_batch

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the known ones of these keys."""
        return await sync_to_async(self.get_now)(keys)

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep these vectors; one that is there already stays as it is."""
        await sync_to_async(self.put_now)(vectors)

    def get_now(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """Return the known ones of these keys, from synchronous code."""
        known: dict[str, Vectors] = {}
        for start in range(0, len(keys), LOOKUP_CHUNK):
            rows = TextVector.objects.filter(key__in=keys[start : start + LOOKUP_CHUNK])
            for key, vector in rows.values_list("key", "vector").iterator():
                known[key] = np.frombuffer(bytes(vector), dtype="<f4").astype(np.float32, copy=False)
        self.found += len(known)
        return known

    def put_now(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep these vectors, from synchronous code."""
        rows = [
            TextVector(key=key, vector=np.ascontiguousarray(vector, dtype="<f4").tobytes())
            for key, vector in sorted(
                vectors.items()
            )  # one order everywhere: two workers cannot wait in a ring
        ]
        TextVector.objects.bulk_create(rows, ignore_conflicts=True)
        self.added += len(rows)
        if self._after_batch is not None:
            self._after_batch(len(rows))
