"""What the embedders that run a model in this process share: one thread for inference."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from auditing.embeddings.protocol import Vectors


class InProcessEmbedder(ABC):
    """Runs inference in one thread of its own, so that the event loop stays free."""

    remote = False
    batch_size = 64

    def __init__(self, name: str) -> None:
        self.name = name
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embeddings")

    @abstractmethod
    def encode_now(self, texts: Sequence[str], stop: threading.Event | None = None) -> Vectors:
        """Embed the texts in the calling thread; ends early, with fewer rows, once `stop` is set."""

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in the inference thread, which stops soon after the caller is cancelled."""
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, partial(self.encode_now, list(texts), stop))
        finally:
            stop.set()

    async def aclose(self) -> None:
        """Stop the inference thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
