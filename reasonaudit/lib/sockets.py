"""Base of every socket consumer: it keeps asking whether its user may listen, and bounds what comes in.

The middleware of the project puts an async callable `still_allowed` into the scope. It is asked on connect,
on every message from the browser and on a timer, so that a logout or a changed role closes the socket
within seconds.
"""

import asyncio
import contextlib
import json
import time
from collections import deque
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer

NO_LONGER_ALLOWED = 4403
TOO_MANY_MESSAGES = 4429
UNREADABLE = 1007
TOO_LARGE = 1009


class CheckedConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Consumer of JSON objects. Subclasses fill in `opened`, `received` and `closed`.

    Class attributes: `recheck_seconds` between two checks; `max_message_bytes` and `max_messages_per_second`
    of what the browser sends.
    """

    recheck_seconds: float = 4.0
    max_message_bytes = 64 * 1024
    max_messages_per_second = 20

    async def opened(self) -> None:
        """Socket was accepted: join groups, send the first state."""

    async def received(self, content: dict[str, Any]) -> None:
        """A JSON object came from the browser. By default it is ignored."""

    async def closed(self, code: int) -> None:
        """Socket is closed: leave groups."""

    async def send_json(self, content: dict[str, Any]) -> None:
        """Send a JSON object. NaN and infinity are errors, since browsers cannot read them."""
        await self.send(text_data=json.dumps(content, ensure_ascii=False, allow_nan=False))

    async def connect(self) -> None:
        """Accept those who are allowed; start the timer."""
        self._timer: asyncio.Task[None] | None = None
        self._arrivals: deque[float] = deque(maxlen=self.max_messages_per_second)
        self._is_open = False
        if not await self._allowed():
            await self.close()  # before acceptance: the browser sees HTTP 403
            return
        await self.accept()
        self._is_open = True
        self._timer = asyncio.create_task(self._watch())
        await self.opened()

    async def disconnect(self, code: int) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._timer
        if self._is_open:
            self._is_open = False
            await self.closed(code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Check the sender and the message, then hand it to `received`."""
        if not await self._allowed():
            await self.close(code=NO_LONGER_ALLOWED)
            return
        now = time.monotonic()
        if len(self._arrivals) == self._arrivals.maxlen and now - self._arrivals[0] < 1:
            await self.close(code=TOO_MANY_MESSAGES)
            return
        self._arrivals.append(now)
        if text_data is None or len(text_data.encode("utf-8", "surrogatepass")) > self.max_message_bytes:
            await self.close(code=TOO_LARGE if text_data else UNREADABLE)
            return
        try:
            content = json.loads(text_data, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            await self.close(code=UNREADABLE)
            return
        if not isinstance(content, dict):
            await self.close(code=UNREADABLE)
            return
        await self.received(content)

    async def _allowed(self) -> bool:
        still_allowed = self.scope.get("still_allowed")
        return still_allowed is not None and await still_allowed()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.recheck_seconds)
            if not await self._allowed():
                self._timer = None  # `disconnect` must not wait for the task that it runs in
                await self.close(code=NO_LONGER_ALLOWED)
                return


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
