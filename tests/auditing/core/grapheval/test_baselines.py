"""Other papers' scores on samples whose value follows from their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.baselines import (
    BASELINES,
    chain_agreement,
    cota,
    degree,
    eccentricity,
    eigenvalues,
    semantic_entropy,
    similarities,
    topo_uq,
)

# Two groups of alike chains, of three and two, that have nothing in common.
GROUPS = np.kron(np.eye(2), np.ones((3, 3)))[:5, :5]


def test_topo_uq_is_the_variance_of_the_distances() -> None:
    assert topo_uq([1.0, 3.0]) == pytest.approx(1.0)
    assert topo_uq([0.4] * 3) == pytest.approx(0.0)
    assert topo_uq([]) is None


def test_cota_by_hand() -> None:
    # Both steps of the first chain entail something; of three steps of the second, one does.
    forward = [[True, True, False], [False, True, False]]
    backward = [[False, False], [False, True], [False, False]]
    agreement = chain_agreement(forward, backward)
    assert agreement == pytest.approx(3 / 5)
    assert cota([agreement, 1.0, None]) == pytest.approx(1 - 0.8)


def test_cota_of_empty_chains() -> None:
    assert chain_agreement(np.zeros((0, 0)), np.zeros((0, 0))) is None
    assert chain_agreement(np.zeros((0, 2)), np.zeros((2, 0))) == 0
    assert cota([None]) is None
    with pytest.raises(ValueError, match="one pair"):
        chain_agreement(np.zeros((2, 3)), np.zeros((2, 3)))


def test_equal_chains_have_no_spread() -> None:
    alike = np.ones((4, 4))
    assert degree(alike) == pytest.approx(0)
    assert eigenvalues(alike) == pytest.approx(1)
    assert eccentricity(alike) == pytest.approx(0, abs=1e-9)


def test_chains_without_anything_in_common() -> None:
    apart = np.eye(4)
    assert degree(apart) == pytest.approx(1 - 1 / 4)
    assert eigenvalues(apart) == pytest.approx(4)
    # All eigenvalues are 0; the centred unit vectors have length sqrt(N - 1).
    assert eccentricity(apart) == pytest.approx(math.sqrt(3))


def test_eigenvalues_count_groups() -> None:
    assert eigenvalues(GROUPS) == pytest.approx(2)
    assert degree(GROUPS) == pytest.approx(1 - 13 / 25)
    # The space of the two groups' indicator vectors loses the constant one.
    assert eccentricity(GROUPS) == pytest.approx(1)


def test_negative_similarities_count_as_none_and_the_matrix_is_checked() -> None:
    assert eigenvalues([[1, -0.5], [-0.5, 1]]) == pytest.approx(2)
    np.testing.assert_allclose(similarities([[0, 1.3], [0.25, 0]]), [[1, 0], [0.75, 1]])
    for bad in ([[1, 0.2], [0.3, 1]], [[1, 0.2]], [1.0]):
        with pytest.raises(ValueError, match="symmetric"):
            degree(bad)


def test_one_chain_has_no_score() -> None:
    for score in (degree, eigenvalues, eccentricity):
        assert score(np.ones((1, 1))) is None
        assert score(np.zeros((0, 0))) is None


def test_semantic_entropy_by_hand() -> None:
    assert semantic_entropy(["a", "b", None, "a", "b"]) == pytest.approx(math.log(2))
    assert semantic_entropy(["a", "a"]) == 0
    assert semantic_entropy(["a", None]) is None
    assert semantic_entropy(["a", "b", "c", "d"], log_base=2) == pytest.approx(2)


@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.integers(0, 4), min_size=n * n, max_size=n * n)))
def test_scores_lie_in_their_ranges(values: list[int]) -> None:
    n = math.isqrt(len(values))
    half = np.array(values, dtype=float).reshape(n, n) / 8
    matrix = half + half.T
    np.fill_diagonal(matrix, 1)
    ranges = {metric.name: metric for metric in BASELINES}
    for score, most in ((degree, 1 - 1 / n), (eigenvalues, n), (eccentricity, math.sqrt(n))):
        found = score(matrix)
        assert found is not None
        assert ranges[score.__name__].low - 1e-9 <= found <= most + 1e-9
