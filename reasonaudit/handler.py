"""How the ASGI server runs Django: each request whole, in one of a fixed number of threads that keep their connection.

Views, middleware and the database driver are synchronous here. Django's own handler changes between event loop and
threads at each middleware that is not written for both, starts a thread for each request, and opens a database
connection in it. See `docs/decisions/0009-saving.md` for what that costs.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import HttpRequest

# More than processors, because a request may wait for a lock of the database. Each holds one connection.
THREADS = int(os.environ.get("WEB_THREADS", "16"))
_POOL = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
Result = TypeVar("Result")


async def in_thread(work: Callable[..., Result], *arguments: Any) -> Result:
    """What `work` returns, done in a thread of the pool with its connection to the database."""

    def do() -> Result:
        _keep_connections()
        try:
            return work(*arguments)
        finally:
            _keep_connections()

    return await sync_to_async(do, thread_sensitive=False, executor=_POOL)()


class ThreadedHandler(ASGIHandler):
    """Django's ASGI handler with a synchronous chain of middleware, run in the threads of a pool."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the chain for threads, whatever the caller asks for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> Any:
        """Answer in a thread of the pool."""
        return await in_thread(BaseHandler.get_response, self, request)


def _keep_connections() -> None:
    """Close a broken connection of this thread, keep a sound one; it is tried before its first use in a request."""
    for connection in connections.all(initialized_only=True):
        connection.close_at = None
        connection.close_if_unusable_or_obsolete()
