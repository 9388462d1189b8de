"""Adaptive concurrency: additive increase, multiplicative decrease on 429 (trust list, LJ-12).

A run starts with as many calls in flight as the operator allows. A 429 halves the number (at most once per
`cooldown` seconds, since many calls in flight hear of the same jam); each full round of successes at the
present number adds one. So a run settles at what the server can take, instead of hammering it with retries.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable


class AdaptiveLimiter:
    """Bounds the calls in flight of one event loop; first come, first served.

    Parameters
    ----------
    most
        Upper bound, at least 1; also the start value.
    cooldown
        Seconds after a decrease during which further 429s do not decrease again.
    """

    def __init__(
        self, most: int, *, cooldown: float = 1.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        if most < 1:
            raise ValueError(f"at least one call must be allowed in flight, not {most}")
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._cooldown = cooldown
        self._now = now
        self._last_decrease = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait until a call may start."""
        if self.in_flight < int(self.limit) and not self._waiting:
            self.in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # the turn came at the moment of cancellation: pass it on
            else:
                self._waiting.remove(turn)
            raise

    def release(self) -> None:
        """End a call and let the next one start."""
        self.in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_flight < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """Count a success: after as many successes as the present limit, the limit has grown by one."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
            self._wake()

    def jammed(self) -> None:
        """Count a 429: halve the limit, not below one."""
        now = self._now()
        if now - self._last_decrease >= self._cooldown:
            self._last_decrease = now
            self.limit = max(1.0, self.limit / 2.0)
