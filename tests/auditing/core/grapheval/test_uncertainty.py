"""Divergence, GRCS, dispersion and entropy by hand, against numpy, and on degenerate samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.uncertainty import METRICS, entropy, pairwise, shannon, summarise

VALUES = st.lists(st.integers(0, 64).map(lambda value: value / 64), min_size=1, max_size=60)


def test_summaries_by_hand() -> None:
    # Three chains: distances 0, 0.5 and 1; mean 1/2, variance 1/6.
    found = summarise(pairwise([[0, 0, 0.5], [0, 0, 1], [0.5, 1, 0]]))
    assert found.divergence == pytest.approx(0.5)
    assert found.grcs == pytest.approx(2 / 3)
    assert found.dispersion == pytest.approx(math.sqrt(1 / 6))
    # IQR 0.5, width 3^(-1/3) = 0.69: two bins, {0} and {0.5, 1}.
    assert found.n_bins == 2
    assert found.entropy == pytest.approx(math.log(3) - 2 / 3 * math.log(2))
    assert summarise([0, 0.5, 1], ddof=1).dispersion == pytest.approx(0.5)


def test_identical_chains_are_a_full_consensus_and_a_high_uncertainty_score() -> None:
    found = summarise([0.0] * 190)
    assert (found.divergence, found.grcs, found.dispersion, found.entropy, found.n_bins) == (0, 1, 0, 0, 1)
    assert summarise([0.1] * 190).grcs == pytest.approx(1 / 1.1)


def test_fewer_than_two_chains_have_no_value() -> None:
    for matrix in (np.zeros((0, 0)), np.zeros((1, 1))):
        found = summarise(pairwise(matrix))
        assert (found.divergence, found.grcs, found.dispersion, found.entropy) == (None,) * 4
        assert found.n_bins == 0


def test_two_chains_have_one_distance() -> None:
    found = summarise([0.3], ddof=1)
    assert (found.divergence, found.dispersion, found.entropy, found.n_bins) == (0.3, None, 0, 1)


@given(VALUES)
def test_bins_are_those_of_numpy(values: list[float]) -> None:
    found = entropy(values)
    counts, edges = np.histogram(values, bins="fd")
    if max(values) == min(values):
        assert (found.entropy, found.n_bins) == (0, 1)
        return
    assert found.n_bins == len(edges) - 1
    shares = counts[counts > 0] / len(values)
    assert found.entropy == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-12)
    assert 0 <= found.entropy <= math.log(found.n_bins) + 1e-12


def test_entropy_of_equal_quarters_in_other_bases() -> None:
    assert shannon([1, 1, 1, 1]) == pytest.approx(math.log(4))
    assert shannon([1, 1, 1, 1], log_base=2) == pytest.approx(2)
    assert entropy([0, 1], log_base=2).entropy == pytest.approx(1)


def test_an_empty_inner_half_is_one_bin_or_sturges_rule() -> None:
    values = [0.0] * 8 + [1.0]
    assert entropy(values).n_bins == 1
    found = entropy(values, iqr0="sturges")
    assert found.n_bins == 5
    assert found.entropy == pytest.approx(-(8 / 9 * math.log(8 / 9) + 1 / 9 * math.log(1 / 9)))


def test_noise_of_floats_asks_for_no_bins() -> None:
    assert entropy([0.1, 0.1 + 1e-15, 0.1 - 1e-15]).n_bins == 1
    # The narrowest range that is left after rounding is narrower than 10,000 floats.
    found = entropy([1000.0, 1000.0, 1000.0 + 1e-11, 1000.0 + 2e-11], max_bins=10_000)
    assert 1 <= found.n_bins <= 10_000


def test_bins_are_capped() -> None:
    assert entropy([0, 0.5, 0.5 + 1e-9, 0.5 + 2e-9, 0.5 + 3e-9, 1]).n_bins == 10_000


@pytest.mark.parametrize(
    "bad",
    [lambda: entropy([1.0], iqr0="none"), lambda: entropy([1.0], log_base=1), lambda: entropy([math.nan])],
)
def test_options_and_values_are_checked(bad) -> None:
    with pytest.raises(ValueError, match=r"range|base|finite"):
        bad()


def test_a_matrix_must_be_square() -> None:
    with pytest.raises(ValueError, match="square"):
        pairwise([[0, 1]])
    with pytest.raises(ValueError, match="shape"):
        summarise([[0, 1]])


@given(st.lists(st.integers(0, 20).map(lambda value: value / 10), min_size=1, max_size=40))
def test_values_lie_in_the_range_that_the_pages_print(values: list[float]) -> None:
    found = summarise(values)
    for metric in METRICS:
        value = getattr(found, metric.name)
        assert metric.low is not None
        assert metric.low - 1e-12 <= value
        assert metric.high is None or value <= metric.high + 1e-12
