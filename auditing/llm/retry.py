"""Which failed call is asked again, after how long, and when to stop (trust list, LJ-06 and LJ-07).

| what happened | what follows |
|---|---|
| 429 | again; waits what Retry-After says (seconds or date), else backs off |
| 408, 409, 5xx, connect or read timeout, broken connection | again, full-jitter backoff |
| 400, 404, 413, 422 and other 4xx, reply too large | not again: the same request cannot succeed |
| 401, 402, 403 | not again, and the run pauses |

Full jitter: the wait is uniform between 0 and min(cap, base * 2^tries), so that many callers do not return in
step. Attempts and total time are both capped; a wait that would pass the total deadline, a long Retry-After
included, ends the call at once.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from auditing.llm.errors import (
    LLMError,
    LLMPaused,
    LLMRateLimited,
    LLMRefused,
    LLMServerFault,
    LLMTimeout,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of one call, all times in seconds.

    ``attempt_seconds`` bounds one request from first byte sent to last byte received, so a body that drips
    one byte a second ends too; ``total_seconds`` bounds the call with its waits.
    """

    max_attempts: int = 6
    attempt_seconds: float = 120.0
    total_seconds: float = 600.0
    backoff_base: float = 0.5
    backoff_cap: float = 30.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1, not {self.max_attempts}")
        for name in ("attempt_seconds", "total_seconds", "backoff_base", "backoff_cap"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, sleep and chance of the retry loop, so that tests can run it without waiting."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform


def parse_retry_after(value: str | None, wall: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, at least 0; None when absent or unreadable.

    The header holds either a number of seconds or an HTTP date (RFC 9110, section 10.2.3).
    """
    if value is None:
        return None
    value = value.strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - wall).total_seconds()
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None


def error_for_status(status: int, retry_after: float | None, body: bytes) -> LLMError | None:
    """Return the named error of an HTTP status, or None for success (2xx)."""
    if 200 <= status < 300:
        return None
    kind: type[LLMError]
    if status == 429:
        kind, text = LLMRateLimited, "The model server gets too many requests (429)."
    elif status == 401:
        kind, text = (
            LLMPaused,
            "The model server does not accept the API key (401). Set the right key, then resume.",
        )
    elif status == 402:
        kind, text = (
            LLMPaused,
            "The model server says the account has no credit (402). Top it up, then resume.",
        )
    elif status == 403:
        kind, text = (
            LLMPaused,
            "The model server forbids this access (403). Check the key's rights, then resume.",
        )
    elif status == 408:
        kind, text = LLMTimeout, "The model server timed out (408)."
    elif status == 409 or status >= 500:
        kind, text = LLMServerFault, f"The model server failed ({status})."
    elif status == 404:
        kind, text = (
            LLMRefused,
            "The model server does not know this address or model (404). Check base URL and model.",
        )
    elif status == 413:
        kind, text = LLMRefused, "The request is too large for the model server (413). Use shorter segments."
    elif 300 <= status < 400:
        kind, text = (
            LLMRefused,
            f"The model server redirects ({status}), which is not followed. Set the final base URL.",
        )
    else:
        kind, text = LLMRefused, f"The model server refuses this request ({status})."
        if status in (400, 422):
            text += (
                " The text may be too long for the model, or the server may not know one of the parameters."
            )
    return kind(text, http_status=status, retry_after=retry_after, body=body)


REAL_CLOCK = Clock()


async def with_retries(
    send: Callable[[float], Awaitable[T]],
    policy: RetryPolicy,
    clock: Clock = REAL_CLOCK,
    on_failure: Callable[[LLMError], None] | None = None,
) -> tuple[T, int]:
    """Call `send(seconds it may take)` until it succeeds or the policy ends it.

    Returns the result and the number of attempts. Raises the last `LLMError`, its ``attempts`` set.
    """
    deadline = clock.now() + policy.total_seconds
    attempt = 0
    while True:
        attempt += 1
        try:
            return await send(min(policy.attempt_seconds, max(0.001, deadline - clock.now()))), attempt
        except LLMError as error:
            error.attempts = attempt
            if on_failure is not None:
                on_failure(error)
            if not error.retryable or attempt >= policy.max_attempts:
                raise
            if error.retry_after is not None:
                wait = error.retry_after
            else:
                wait = clock.uniform(0.0, min(policy.backoff_cap, policy.backoff_base * 2 ** (attempt - 1)))
            if clock.now() + wait >= deadline:
                raise
            await clock.sleep(wait)
