"""What the labellers that run a model in this process share: one thread for inference, and cache keys."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from auditing.nli.keys import relation_key
from auditing.nli.protocol import RelationAnswer, RelationQuery


class InProcessLabeller(ABC):
    """Runs inference in one thread of its own, so that the event loop stays free.

    Attributes
    ----------
    truncated
        Inputs that were longer than the model takes and were cut, since this labeller was made.
    """

    kind = "local"
    remote = False
    concurrency = 1
    batch_size = 64

    def __init__(self, name: str, quality_note: str) -> None:
        self.name = name
        self.quality_note = quality_note
        self.truncated = 0
        self._load_lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nli")

    @abstractmethod
    def identity(self) -> Mapping[str, object]:
        """Return model, revision and parameters."""

    @abstractmethod
    def label_now(
        self, queries: Sequence[RelationQuery], stop: threading.Event | None = None
    ) -> list[RelationAnswer]:
        """Label the queries in the calling thread; ends early, with fewer answers, once `stop` is set."""

    def key(self, query: RelationQuery) -> str:
        """Return the cache key of a query."""
        return relation_key(self.identity(), query)

    async def label_batch(self, queries: Sequence[RelationQuery]) -> list[RelationAnswer]:
        """Label the queries in the inference thread.

        When the caller is cancelled, the thread stops after the inference it is at.
        """
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, partial(self.label_now, list(queries), stop))
        finally:
            stop.set()

    async def aclose(self) -> None:
        """Stop the inference thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
