"""Charts of an annotator's sessions: quiet without drift, loud with it."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import t

from auditing.core.agreement import SCALE
from auditing.core.drift import Drift, Session, annotator_drift, individuals_limits


def sessions(
    rng: np.random.Generator,
    count: int,
    *,
    size: int = 30,
    typical_ms: Callable[[float], float] = lambda time: 20_000,
    shares: Callable[[float], list[float]] = lambda time: [0.15, 0.2, 0.65],
    agreement: Callable[[float], float] = lambda time: 0.8,
) -> list[Session]:
    """Simulate sittings; time runs from 0 to 1. Speed varies by a fifth from day to day, each label much more."""
    made = []
    for number in range(count):
        time, n = number / (count - 1), int(rng.integers(size // 2, 3 * size // 2))
        times = typical_ms(time) * math.exp(rng.normal(0, 0.2)) * np.exp(rng.normal(0, 0.8, n))
        labels = [SCALE[place] for place in rng.choice(3, n, p=shares(time))]
        made.append(
            Session(str(number), times.astype(int).tolist(), labels, int(rng.binomial(n, agreement(time))), n)
        )
    return made


def drifting(drift: Drift, key: str) -> bool:
    return next(chart.drifting for chart in drift.charts if chart.key == key)


@pytest.mark.parametrize("count", [6, 12, 24])
def test_ag_12_without_drift_at_most_5_in_100_annotators_raise_an_alarm(count: int) -> None:
    """200 annotators each. A true rate of 5 % would give 16 alarms or fewer in 97 of 100 runs."""
    rng = np.random.default_rng(count)
    alarms = [
        any(chart.drifting for chart in annotator_drift(sessions(rng, count)).charts) for _ in range(200)
    ]
    assert sum(alarms) / len(alarms) <= 0.05


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("speed", {"typical_ms": lambda time: 20_000 if time < 0.5 else 8_000}),
        ("share:uncertain", {"shares": lambda time: [0.15, 0.1 + 0.6 * time, 0.75 - 0.6 * time]}),
        ("agreement", {"agreement": lambda time: 0.85 if time < 0.5 else 0.55}),
    ],
)
def test_ag_12_simulated_drift_is_detected(key: str, change: dict) -> None:
    """60 annotators of 16 sessions; at least 80 of 100 must be seen, and on the chart that drifts."""
    rng = np.random.default_rng(8)
    seen = [drifting(annotator_drift(sessions(rng, 16, **change)), key) for _ in range(60)]
    assert np.mean(seen) >= 0.8


def test_ag_12_one_wild_session_is_outside_its_limits() -> None:
    quiet = sessions(np.random.default_rng(1), 16)
    wild = Session("wild", [300] * 30, ["correct"] * 30, 24, 30)
    chart = annotator_drift([*quiet[:8], wild, *quiet[8:]]).charts[0]
    assert [point.session for point in chart.points if point.outside] == ["wild"]
    assert chart.points[8].value == 300
    assert chart.points[8].low > 300


def test_individuals_limits_by_hand() -> None:
    """1, 2, 1, 2, 1, 2: every moving range 1, so the spread is 1 / 1.128; 25 / (2 (0.8264 x 6 - 1.082)) = 3.2246
    degrees of freedom; six points and two sides share 0.05; a point is part of its own mean, hence 5/6."""
    centre, low, high = individuals_limits(np.array([1.0, 2, 1, 2, 1, 2]), 0.05)
    assert centre == 1.5
    assert centre - low == pytest.approx(high - centre)
    half = float(t.ppf(1 - 0.05 / 12, 3.2246)) * math.sqrt(5 / 6) / 1.128379
    assert high - centre == pytest.approx(half, rel=1e-4)


def test_ag_12_fast_labels_are_counted_and_said() -> None:
    drift = annotator_drift([Session("day 1", [500, 1999, 2000, 9000], ["correct"] * 4)])
    assert (drift.fast.hits, drift.fast.n, drift.fast.value) == (2, 4, 0.5)
    assert drift.sentences == ("2 of 4 labels took less than 2 s of active time.",)


def test_ag_02_too_few_sessions_give_a_reason_and_no_limits() -> None:
    for count in (0, 1, 4):
        drift = annotator_drift(sessions(np.random.default_rng(0), max(count, 2))[:count])
        for chart in drift.charts:
            assert (chart.centre, chart.change_p, chart.drifting) == (None, None, False)
            assert chart.undefined_because == f"a chart needs 5 sessions; there are {count}"
    assert annotator_drift([]).fast.undefined_because == "no active time is known"


def test_sessions_without_comparison_are_gaps() -> None:
    made = sessions(np.random.default_rng(0), 8)
    made[3] = Session("gap", [], [], 0, 0)
    for chart in annotator_drift(made).charts:
        assert (chart.points[3].value, chart.points[3].low, chart.points[3].outside) == (None, None, False)
        assert chart.centre is not None


def test_constant_series_do_not_drift() -> None:
    drift = annotator_drift([Session(str(day), [5000] * 9, ["correct"] * 9, 9, 9) for day in range(8)])
    assert not any(chart.drifting for chart in drift.charts)
    assert drift.charts[0].centre == pytest.approx(5000)
    assert {chart.change_p for chart in drift.charts} == {None}


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="Not on the scale"):
        annotator_drift([Session("a", [1], ["right"])])
    with pytest.raises(ValueError, match="impossible"):
        annotator_drift([Session("a", [1], ["correct"], 2, 1)])
