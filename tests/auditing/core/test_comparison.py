"""Judges against labellers."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, recall_score
from statsmodels.stats.multitest import multipletests

from auditing.core.bootstrap import percentile_interval
from auditing.core.comparison import compare, compare_models, holm, score
from auditing.core.estimates import case_weights
from auditing.core.metrics import binary_metrics


def test_rates_by_hand() -> None:
    """TP 3, FN 1, TN 1, FP 1: TPR 3/4, TNR 1/2, F1 of class 0 2/4, balanced 2 (3/8) / (5/4) = 0.6."""
    found = score([[1, 1, 1, 1], [0, 0], [None, 1]], [[1, 1, 1, 0], [0, 1], [1, None]])
    assert [found.tpr.value, found.tnr.value, found.f1_0.value] == [0.75, 0.5, 0.5]
    assert found.balanced_f1.value == pytest.approx(0.6)
    assert (found.coverage.segments, found.coverage.compared) == (8, 6)
    assert (found.coverage.gold_missing, found.coverage.predicted_missing) == (1, 1)
    assert (found.tpr.n, found.tpr.cases) == (6, 2)


CASES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, None]), st.sampled_from([0, 1, None]), st.sampled_from([0, 1, None])
        ),
        max_size=6,
    ),
    max_size=5,
)


@given(CASES)
def test_point_values_equal_scikit_learn_and_counts_add_up(cases: list[list[tuple]]) -> None:
    gold, judge, labeller = ([[s[k] for s in case] for case in cases] for k in range(3))
    found = compare(gold, judge, labeller, resamples=10)
    common = [s for case in cases for s in case if None not in s]
    missing = found.gold_missing + found.judge_missing + found.labeller_missing + found.both_missing
    assert found.compared == len(common)
    assert missing + len(common) == sum(map(len, cases))
    right = found.both_right + found.only_judge_right + found.only_labeller_right + found.neither_right
    assert right == len(common)
    y = [g for g, _, _ in common]
    for place, side in ((1, found.judge), (2, found.labeller)):
        p = [s[place] for s in common]
        assert side.counts == binary_metrics(y, p)
        for name in ("tpr", "tnr", "f1_0", "balanced_f1"):
            assert getattr(side, name).value == pytest.approx(getattr(side.counts, name), abs=1e-12)
        if len(set(y)) == 2:
            assert side.tpr.value == pytest.approx(recall_score(y, p), abs=1e-9)
            assert side.tnr.value == pytest.approx(recall_score(y, p, pos_label=0), abs=1e-9)
            assert side.f1_0.value == pytest.approx(f1_score(y, p, pos_label=0), abs=1e-9)
    if found.difference.value is not None:
        assert found.difference.value == pytest.approx(
            found.labeller.balanced_f1.value - found.judge.balanced_f1.value, abs=1e-12
        )


def study(seed: int, judge_right: float, labeller_right: float, cases: int = 40) -> tuple[list, list, list]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, (cases, 8))
    hard = rng.normal(0, 0.1, (cases, 1))
    sides = [
        np.where(rng.random((cases, 8)) < np.clip(right + hard, 0, 1), gold, 1 - gold)
        for right in (judge_right, labeller_right)
    ]
    return gold.tolist(), sides[0].tolist(), sides[1].tolist()


def test_ag_05_paired_difference_equals_drawing_the_cases_one_by_one() -> None:
    gold, judge, labeller = study(1, 0.6, 0.75, cases=10)
    found = compare(gold, judge, labeller, seed=4, resamples=80)
    differences = []
    for drawn in case_weights(10, seed=4, resamples=80).astype(int):
        chosen = [place for place, times in enumerate(drawn) for _ in range(times)]
        pooled = [[v for place in chosen for v in side[place]] for side in (gold, judge, labeller)]
        rates = [binary_metrics(pooled[0], pooled[k]).balanced_f1 for k in (1, 2)]
        differences.append(rates[1] - rates[0])  # type: ignore[operator]
    expected = percentile_interval(differences)
    assert (found.difference.low, found.difference.high) == pytest.approx((expected.lo, expected.hi))
    tail = min(sum(d <= 0 for d in differences), sum(d >= 0 for d in differences))
    assert found.p == pytest.approx(min(1, 2 * (tail + 1) / 81))


def test_a_clear_gain_is_found_and_none_is_not() -> None:
    better = compare(*study(2, 0.55, 0.85))
    assert better.difference.low > 0  # type: ignore[operator]
    assert better.p == pytest.approx(2 / 1001)
    assert better.mcnemar.p < 0.001  # type: ignore[operator]
    gold, judge, _ = study(3, 0.7, 0.7)
    same = compare(gold, judge, judge)
    assert (same.difference.value, same.p) == (0.0, 1.0)
    assert same.difference.no_interval_because == "every resample gives the same value"


def test_ag_05_p_values_without_a_difference_are_rarely_small() -> None:
    """300 studies of equal roles: about 5 % below .05, three standard errors of 1.3 points on either side."""
    small = [compare(*study(seed, 0.7, 0.7), seed=seed, resamples=300).p < 0.05 for seed in range(300)]  # type: ignore[operator]
    assert 0.01 <= np.mean(small) <= 0.09


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    # statsmodels collects garbage at each call, which takes half a second where a whole suite is loaded.
    with mock.patch("gc.collect"):
        expected = multipletests(p, method="holm")[1].tolist()
    assert holm(p) == pytest.approx(expected, abs=1e-12)


def test_holm_by_hand_and_none_is_not_of_the_family() -> None:
    assert holm([0.01, None, 0.04, 0.03]) == [
        pytest.approx(0.03),
        None,
        pytest.approx(0.06),
        pytest.approx(0.06),
    ]
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])


def test_models_share_their_resamples() -> None:
    gold, judge, labeller = study(5, 0.6, 0.8)
    rows = compare_models(gold, {"a": (judge, labeller), "b": (judge, labeller), "c": (judge, judge)}, seed=9)
    assert [row.model for row in rows] == ["a", "b", "c"]
    assert rows[0].result == rows[1].result == compare(gold, judge, labeller, seed=9)
    assert rows[0].p_holm == pytest.approx(3 * rows[0].result.p)  # type: ignore[operator]
    empty = [[None] * 8] * 40
    absent = compare_models(gold, {"a": (judge, labeller), "x": (empty, labeller)}, seed=9)
    assert (absent[1].p_holm, absent[1].mcnemar_p_holm) == (None, None)
    assert absent[0].p_holm == pytest.approx(absent[0].result.p)


@pytest.mark.parametrize(
    ("gold", "predicted", "name", "because"),
    [
        ([], [], "tpr", "no segment has both a gold label and a prediction"),
        ([[1], [None]], [[None], [0]], "balanced_f1", "no segment has both a gold label and a prediction"),
        ([[1, 1]], [[1, 0]], "tnr", "no segment has the gold label problematic"),
        ([[0]], [[0]], "balanced_f1", "no segment has the gold label trustworthy"),
        ([[1]], [[1]], "f1_0", "no segment is problematic in gold labels or predictions"),
    ],
)
def test_ag_02_rates_without_a_denominator_have_a_reason(
    gold: list, predicted: list, name: str, because: str
) -> None:
    found = getattr(score(gold, predicted), name)
    assert (found.value, found.low, found.undefined_because) == (None, None, because)
    assert compare(gold, predicted, predicted).p is None


def test_no_rate_at_all_is_zero_where_the_paper_says_so() -> None:
    assert score([[1, 0]], [[0, 1]]).balanced_f1.value == 0.0


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="same cases"):
        score([[1]], [[1, 0]])
    with pytest.raises(ValueError, match="same cases"):
        compare([[1], [0]], [[1], [0]], [[1, 0]])
    for wrong in (2, -1, 0.5, "1", [1]):
        for sides in (([[1, wrong]], [[1, 0]], [[1, 0]]), ([[1, 0]], [[1, 0]], [[None, wrong]])):
            with pytest.raises(ValueError, match="1, 0 or None, not"):
                compare(*sides)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 2"):
        score([[1]], [[2]])


def test_cases_without_segments_are_drawn_like_any_other() -> None:
    """The same draws, an empty case among them: 3 cases, of which the second has no segment."""
    found = score([[1, 0], [], [1, 0]], [[1, 1], [], [0, 0]], seed=3, resamples=40)
    tpr = []
    for first, _, last in case_weights(3, seed=3, resamples=40).tolist():
        if first + last:
            tpr.append(first / (first + last))
    expected = percentile_interval(tpr)
    assert (found.tpr.low, found.tpr.high) == pytest.approx((expected.lo, expected.hi))
    assert (found.tpr.value, found.tpr.cases, found.tpr.dropped) == (0.5, 2, 40 - len(tpr))
