"""Intervals that draw whole cases."""

import numpy as np
import pytest

from auditing.core.agreement import Ratings, agreement
from auditing.core.bootstrap import percentile_interval
from auditing.core.estimates import case_weights, estimate, wilson_share

TWO = ("no", "yes")


def simulated(rng: np.random.Generator, cases: int, segments: int) -> Ratings:
    """Two raters who err alike within a case: easy or hard cases, few or many sound segments."""
    sound, error = rng.choice([0.1, 0.7], cases), rng.choice([0.02, 0.3], cases)
    truth = rng.random((cases, segments)) < sound[:, None]
    wrong = rng.random((cases, segments, 2)) < error[:, None, None]
    return Ratings(TWO, tuple((truth[:, :, None] ^ wrong).astype(np.int64)))


def true_values() -> dict[str, float]:
    """Agreement, kappa and AC1 of the population above, written out."""
    agree = np.mean([(1 - e) ** 2 + e**2 for e in (0.02, 0.3)])
    yes = np.mean([p * (1 - e) + (1 - p) * e for p in (0.1, 0.7) for e in (0.02, 0.3)])
    chance = yes**2 + (1 - yes) ** 2
    chance_gwet = 2 * yes * (1 - yes)
    return {
        "raw": agree,
        "cohen": (agree - chance) / (1 - chance),
        "ac1": (agree - chance_gwet) / (1 - chance_gwet),
    }


def test_ag_05_intervals_by_case_hold_the_true_value_in_more_than_90_of_100_studies() -> None:
    """300 simulated studies of 40 cases; the share that holds has a standard error of 1.3 points at 95 %."""
    rng, truth = np.random.default_rng(11), true_values()
    by_case, by_segment = dict.fromkeys(truth, 0), 0
    for study in range(300):
        ratings = simulated(rng, 40, 20)
        found = agreement(ratings, truth, seed=study, resamples=200)
        for key, value in truth.items():
            by_case[key] += found[key].low <= value <= found[key].high  # type: ignore[operator]
        if study < 100:
            alone = Ratings(TWO, tuple(row[None] for case in ratings.cases for row in case))
            naive = agreement(alone, ["raw"], seed=study, resamples=200)["raw"]
            by_segment += naive.low <= truth["raw"] <= naive.high  # type: ignore[operator]
    for key in truth:
        assert 0.91 <= by_case[key] / 300 <= 0.98, key
    # Drawing single segments claims too much: that is why cases are drawn.
    assert by_segment / 100 < 0.85


def test_ag_05_the_same_seed_gives_the_same_interval() -> None:
    ratings = simulated(np.random.default_rng(3), 12, 5)
    first, again, other = (agreement(ratings, ["cohen"], seed=seed)["cohen"] for seed in (7, 7, 8))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert first.value == other.value


def test_ag_05_equal_to_drawing_the_cases_one_by_one() -> None:
    """The matrix product must give what recomputing on the drawn cases gives."""
    ratings = simulated(np.random.default_rng(5), 9, 4)
    fast = agreement(ratings, ["cohen", "alpha_ordinal", "ac2_linear", "conger"], seed=2, resamples=60)
    for key, found in fast.items():
        slow = []
        for drawn in case_weights(9, seed=2, resamples=60).astype(int):
            cases = [case for case, times in zip(ratings.cases, drawn, strict=True) for _ in range(times)]
            value = agreement(Ratings(TWO, tuple(cases)), [key], resamples=0)[key].value
            slow += [] if value is None else [value]
        expected = percentile_interval(slow)
        assert (found.low, found.high) == pytest.approx((expected.lo, expected.hi), abs=1e-9)
        assert found.dropped == 60 - len(slow)


def test_ag_05_undefined_resamples_are_dropped_and_counted() -> None:
    """One of three cases differs from the others; it is in no resample with probability (2/3)^3 = 0.296."""
    cases = [[["yes", "yes"]] * 4, [["yes", "yes"]] * 4, [["no", "no"], ["no", "yes"]]]
    found = agreement(Ratings.from_labels(cases, TWO), ["cohen"], seed=1)["cohen"]
    assert found.resamples == 1000
    assert found.dropped == pytest.approx(296, abs=60)
    assert found.low is not None


def test_ag_05_intervals_that_would_claim_too_much_are_not_given() -> None:
    one_case = Ratings.from_labels([[["yes", "no"], ["yes", "yes"], ["no", "no"]]], TWO)
    assert (
        agreement(one_case, ["cohen"])["cohen"].no_interval_because == "an interval needs at least two cases"
    )
    perfect = Ratings.from_labels([[["yes", "yes"], ["no", "no"]]] * 5, TWO)
    assert agreement(perfect, ["cohen"])["cohen"].no_interval_because == "every resample gives the same value"
    sure = agreement(perfect, ["cohen"], resamples=0)["cohen"]
    assert (sure.value, sure.no_interval_because) == (1.0, "no resamples were asked for")
    rare = estimate(
        np.array([[1.0], [0.0]]),
        lambda rows: np.where(rows[:, 0] > 1, np.nan, np.where(rows[:, 0] < 1, np.nan, rows[:, 0])),
        np.array([[2.0, 0], [2, 0], [1, 1]]),
        n=2,
        cases=2,
    )
    assert rare.no_interval_because == "it is undefined in 2 of 3 resamples"


def test_case_weights_draw_with_replacement() -> None:
    weights = case_weights(5, seed=0, resamples=4000)
    assert (weights.sum(axis=1) == 5).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(5), abs=0.06)
    # A multinomial count of 5 draws has variance 5 x 1/5 x 4/5.
    assert weights.var(axis=0) == pytest.approx(np.full(5, 0.8), abs=0.06)
    assert case_weights(1, seed=0).shape == (0, 1)
    with pytest.raises(ValueError, match="negative"):
        case_weights(-1, seed=0)


def test_wilson_share() -> None:
    """Wilson (1927) with z = 1.96, 3 of 10: 0.108 to 0.603, as in Newcombe, Stat. Med. 17 (1998)."""
    share = wilson_share(3, 10)
    assert (share.value, share.low, share.high) == (
        0.3,
        pytest.approx(0.1078, abs=1e-4),
        pytest.approx(0.6032, abs=1e-4),
    )
    assert wilson_share(0, 0, "nobody looked").undefined_because == "nobody looked"
    with pytest.raises(ValueError, match="not a proportion"):
        wilson_share(2, 1)
