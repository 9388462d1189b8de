"""Statistics against scipy, scikit-learn and hand calculations, and on empty or constant input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auditing.core.statistics import (
    cohen_kappa,
    correlations,
    linear_regression,
    mcnemar,
    mean_of,
    wilcoxon,
)

VALUES = st.integers(-8, 8).map(lambda value: value / 4)


def test_means_are_of_what_is_defined() -> None:
    assert mean_of([1.0, None, 2.0]) == 1.5
    assert mean_of([None]) is mean_of([]) is None


@given(st.lists(st.tuples(VALUES, VALUES), max_size=25))
def test_correlations_agree_with_scipy(points: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in points], [b for _, b in points]
    found = correlations(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert (found.pcc, found.src, found.krc) == (None, None, None)
        return
    assert found.pcc == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert found.src == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    # Tau-b written out: concordant minus discordant pairs over the geometric mean of the untied pairs.
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in itertools.combinations(points, 2)]
    untied = math.sqrt(sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs))
    assert found.krc == pytest.approx(sum(s * t for s, t in signs) / untied, abs=1e-9)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=25))
def test_regression_agrees_with_scipy(points: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in points], [b for _, b in points]
    found = linear_regression(x, y)
    assert found.n == len(points)
    if len(points) < 3 or len(set(x)) < 2:
        assert (found.slope, found.intercept, found.r, found.p) == (None, None, None, None)
    elif len(set(y)) < 2:
        assert (found.slope, found.r, found.p) == (0.0, None, None)
        assert found.intercept == pytest.approx(y[0])
    else:
        expected = stats.linregress(x, y)
        assert found.slope == pytest.approx(expected.slope, abs=1e-9)
        assert found.intercept == pytest.approx(expected.intercept, abs=1e-9)
        assert found.r == pytest.approx(expected.rvalue, abs=1e-9)
        assert found.p == pytest.approx(expected.pvalue, abs=1e-6)


def test_perfect_line() -> None:
    found = linear_regression([0, 1, 2], [1, 3, 5])
    assert (found.slope, found.intercept, found.r, found.p) == (2.0, 1.0, 1.0, 0.0)


@pytest.mark.parametrize("bad", [[1.0, math.nan], [1.0, math.inf]])
def test_undefined_numbers_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        correlations(bad, [1, 2])
    with pytest.raises(ValueError, match="finite"):
        wilcoxon(bad)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="equal length"):
        correlations([1, 2], [1])


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_exact_agrees_with_scipy(b: int, c: int) -> None:
    found = mcnemar(b, c, method="exact")
    expected = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert found.p == pytest.approx(expected, abs=1e-12)


def test_mcnemar_by_hand() -> None:
    """b = 5, c = 15: exact 2 (C(20,0) + ... + C(20,5)) / 2^20 = 2 x 21700 / 1048576; chi-squared (10 - 1)^2 / 20."""
    assert mcnemar(5, 15).p == pytest.approx(2 * 21700 / 2**20)
    assert mcnemar(5, 15, method="asymptotic").statistic == pytest.approx(81 / 20)
    assert mcnemar(5, 15, method="asymptotic", correction=False).statistic == pytest.approx(100 / 20)


def test_mcnemar_changes_method_at_25() -> None:
    assert mcnemar(12, 12).method == "exact"
    assert mcnemar(13, 12).method == "asymptotic"


@pytest.mark.parametrize(("b", "c", "method"), [(-1, 2, "auto"), (1, 2, "chi")])
def test_mcnemar_bad_input(b: int, c: int, method: str) -> None:
    with pytest.raises(ValueError, match=r"negative|Unknown method"):
        mcnemar(b, c, method=method)  # type: ignore[arg-type]


@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=8))
def test_wilcoxon_exact_by_enumeration(differences: list[int]) -> None:
    """All sign vectors over the same mid-ranks, counted one by one."""
    ranks = stats.rankdata(np.abs(differences))
    sums = [
        sum(r for r, up in zip(ranks, signs, strict=True) if up)
        for signs in itertools.product((0, 1), repeat=len(ranks))
    ]
    found = wilcoxon(differences)
    assert found.method == "exact"
    assert found.statistic == min(found.w_plus, found.w_minus)
    expected = min(1.0, 2 * sum(total <= found.statistic + 1e-9 for total in sums) / len(sums))
    assert found.p == pytest.approx(expected)


@given(st.lists(st.integers(-50, 50).filter(bool), min_size=26, max_size=40))
def test_wilcoxon_normal_agrees_with_scipy(differences: list[int]) -> None:
    found = wilcoxon(differences)
    expected = stats.wilcoxon(differences, method="asymptotic", correction=False)
    assert found.method == "normal"
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)


def test_wilcoxon_of_nothing() -> None:
    assert wilcoxon([0.0, 1e-13]).p is None
    assert wilcoxon([]).method == "none"


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=30),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_kappa_agrees_with_scikit_learn(pairs: list[tuple[int, int]], weights: str) -> None:
    scores = pytest.importorskip("sklearn.metrics")
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = cohen_kappa(first, second, [1, 2, 3, 4], weights=weights)  # type: ignore[arg-type]
    assert found.agreement == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    if len({*first, *second}) == 1:
        assert found.kappa is None
        return
    named = None if weights == "none" else weights
    expected = scores.cohen_kappa_score(first, second, labels=[1, 2, 3, 4], weights=named)
    assert found.kappa == pytest.approx(expected, abs=1e-9)


def test_unused_categories_do_not_change_but_missing_ones_do() -> None:
    """On the scale 1..5 the ratings 1 and 4 are 3 apart, on the list of observed ones only 1. By hand."""
    a, b = [1, 1, 5, 5, 4], [1, 4, 5, 1, 4]
    full = cohen_kappa(a, b, [1, 2, 3, 4, 5], weights="linear").kappa
    observed = cohen_kappa(a, b, [1, 4, 5], weights="linear").kappa
    # Observed disagreement 3 + 4 over 5 items; expected from the margins 1: 2/5, 4: 1/5, 5: 2/5 against 2/5, 2/5, 1/5.
    expected = (2 * (2 * 3 + 1 * 4) + 1 * (2 * 3 + 1 * 1) + 2 * (2 * 4 + 2 * 1)) / 25
    assert full == pytest.approx(1 - (7 / 5) / expected)
    assert observed != pytest.approx(full)


def test_kappa_bad_input() -> None:
    with pytest.raises(ValueError, match="not in the list"):
        cohen_kappa([1], [2], [1])
    with pytest.raises(ValueError, match="same items"):
        cohen_kappa([1], [], [1])
    with pytest.raises(ValueError, match="Unknown weights"):
        cohen_kappa([1], [1], [1], weights="cubic")  # type: ignore[arg-type]
