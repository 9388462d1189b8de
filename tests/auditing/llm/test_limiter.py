"""Adaptive concurrency, with a clock set by hand."""

import asyncio

import pytest

from auditing.llm.limiter import AdaptiveLimiter


async def test_no_more_calls_than_allowed_run_at_once():
    limiter = AdaptiveLimiter(3)
    most = 0

    async def call() -> None:
        nonlocal most
        await limiter.acquire()
        most = max(most, limiter.in_flight)
        await asyncio.sleep(0)
        limiter.release()

    await asyncio.gather(*[call() for _ in range(20)])
    assert most == 3
    assert limiter.in_flight == 0


def test_lj_12_halves_once_per_jam_and_grows_by_one_per_round():
    time = [0.0]
    limiter = AdaptiveLimiter(16, cooldown=1.0, now=lambda: time[0])
    for _ in range(10):  # sixteen calls in flight hear of the same jam
        limiter.jammed()
    assert limiter.limit == 8
    time[0] = 1.0
    limiter.jammed()
    assert limiter.limit == 4
    for _ in range(4):  # 4 + 1/4 + 1/4.25 + 1/4.485 + 1/4.708 = 4.92
        limiter.succeeded()
    assert limiter.limit == pytest.approx(4.92, abs=0.01)
    for _ in range(500):
        limiter.succeeded()
    assert limiter.limit == 16


def test_one_call_is_always_allowed():
    time = [0.0]
    limiter = AdaptiveLimiter(2, cooldown=0.0, now=lambda: time[0])
    for _ in range(9):
        limiter.jammed()
    assert limiter.limit == 1
    with pytest.raises(ValueError, match="at least one"):
        AdaptiveLimiter(0)


async def test_a_cancelled_waiter_does_not_keep_its_turn():
    limiter = AdaptiveLimiter(1)
    await limiter.acquire()
    first, second = asyncio.create_task(limiter.acquire()), asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    limiter.release()  # gives the turn to the first ...
    first.cancel()  # ... which is cancelled before it takes it
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.wait_for(second, 1)
    assert limiter.in_flight == 1
