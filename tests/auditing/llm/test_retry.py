"""The retry table, with a clock that does not wait."""

from datetime import UTC, datetime, timedelta

import pytest

from auditing.llm import errors
from auditing.llm.retry import Clock, RetryPolicy, error_for_status, parse_retry_after, with_retries

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


class FakeTime:
    """Time that passes only by sleeping or by `pass_seconds`; chance that always takes the upper end."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.sleeps: list[float] = []
        self.bounds: list[tuple[float, float]] = []
        self.clock = Clock(
            now=lambda: self.seconds,
            wall=lambda: NOON + timedelta(seconds=self.seconds),
            sleep=self.sleep,
            uniform=self.uniform,
        )

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.seconds += seconds

    def uniform(self, low: float, high: float) -> float:
        self.bounds.append((low, high))
        return high


async def call(failures: list[errors.LLMError], policy: RetryPolicy, time: FakeTime, cost: float = 0.0):
    pending = list(failures)

    async def send(seconds: float) -> str:
        time.seconds += min(cost, seconds)
        if pending:
            raise pending.pop(0)
        return "reply"

    return await with_retries(send, policy, time.clock)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, errors.LLMRefused, False),
        (401, errors.LLMPaused, False),
        (402, errors.LLMPaused, False),
        (403, errors.LLMPaused, False),
        (404, errors.LLMRefused, False),
        (408, errors.LLMTimeout, True),
        (409, errors.LLMServerFault, True),
        (413, errors.LLMRefused, False),
        (418, errors.LLMRefused, False),
        (422, errors.LLMRefused, False),
        (429, errors.LLMRateLimited, True),
        (500, errors.LLMServerFault, True),
        (502, errors.LLMServerFault, True),
        (503, errors.LLMServerFault, True),
        (504, errors.LLMServerFault, True),
        (529, errors.LLMServerFault, True),
        (301, errors.LLMRefused, False),
        (307, errors.LLMRefused, False),
    ],
)
async def test_lj_06_table_of_statuses(status, kind, retryable):
    error = error_for_status(status, None, b"UPSTREAM-SECRET")
    assert type(error) is kind
    assert error.http_status == status
    assert error.retryable is retryable
    assert "UPSTREAM" not in str(error)
    time = FakeTime()
    if retryable:
        assert await call([error], RetryPolicy(), time) == ("reply", 2)
    else:
        with pytest.raises(kind):
            await call([error], RetryPolicy(), time)
        assert time.sleeps == []


def test_lj_06_success_is_no_error():
    assert error_for_status(200, None, b"") is None
    assert error_for_status(204, None, b"") is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        (" 2.5 ", 2.5),
        ("-3", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_lj_06_retry_after_in_seconds_and_as_date(value, seconds):
    assert parse_retry_after(value, NOON) == seconds


async def test_lj_06_waits_what_retry_after_says():
    time = FakeTime()
    limited = errors.LLMRateLimited("busy", http_status=429, retry_after=17.0)
    assert await call([limited], RetryPolicy(), time) == ("reply", 2)
    assert time.sleeps == [17.0]
    assert time.bounds == []  # no chance involved


async def test_lj_06_backoff_is_full_jitter_and_capped():
    time = FakeTime()
    faults = [errors.LLMServerFault("down", http_status=503) for _ in range(5)]
    policy = RetryPolicy(max_attempts=6, backoff_base=1.0, backoff_cap=5.0)
    assert await call(faults, policy, time) == ("reply", 6)
    # uniform from 0 to min(cap, base * 2^tries): 1, 2, 4, then the cap of 5 twice
    assert time.bounds == [(0.0, 1.0), (0.0, 2.0), (0.0, 4.0), (0.0, 5.0), (0.0, 5.0)]


async def test_lj_06_attempts_are_capped():
    time = FakeTime()
    faults = [errors.LLMUnreachable("gone") for _ in range(9)]
    with pytest.raises(errors.LLMUnreachable) as caught:
        await call(faults, RetryPolicy(max_attempts=3), time)
    assert caught.value.attempts == 3
    assert len(time.sleeps) == 2


async def test_lj_06_total_time_is_capped():
    time = FakeTime()
    faults = [errors.LLMTimeout("slow") for _ in range(99)]
    policy = RetryPolicy(
        max_attempts=99, attempt_seconds=40, total_seconds=100, backoff_base=1, backoff_cap=1
    )
    with pytest.raises(errors.LLMTimeout) as caught:
        await call(faults, policy, time, cost=1000)
    # 40 + wait 1 + 40 + wait 1 + the 18 that are left = 100
    assert time.seconds == pytest.approx(100.0)
    assert caught.value.attempts == 3


async def test_lj_06_a_retry_after_beyond_the_deadline_ends_the_call_at_once():
    time = FakeTime()
    limited = errors.LLMRateLimited("busy", http_status=429, retry_after=3600.0)
    with pytest.raises(errors.LLMRateLimited):
        await call([limited], RetryPolicy(total_seconds=600), time)
    assert time.sleeps == []


@pytest.mark.parametrize("field", ["attempt_seconds", "total_seconds", "backoff_base", "backoff_cap"])
def test_policy_refuses_times_that_are_not_positive(field):
    with pytest.raises(ValueError, match=field):
        RetryPolicy(**{field: 0})
    with pytest.raises(ValueError, match="max_attempts"):
        RetryPolicy(max_attempts=0)
