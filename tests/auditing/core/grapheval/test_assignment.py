from itertools import permutations

import numpy as np
import pytest

from auditing.core.grapheval import assignment
from auditing.core.grapheval.assignment import Matching, cheapest, match


def _random_costs(rng: np.random.Generator, most: int) -> np.ndarray:
    # Few different values, so that ties and equal minima are common.
    return rng.integers(0, 9, size=rng.integers(1, most + 1, size=2)) / 4


def _every_matching(costs: np.ndarray) -> float:
    if costs.shape[0] > costs.shape[1]:
        costs = costs.T
    rows, columns = costs.shape
    return min(sum(costs[i, j] for i, j in enumerate(order)) for order in permutations(range(columns), rows))


def _with_indels(costs: np.ndarray, indel: float) -> float:
    """Return the optimum of the (n+m)^2 model: every row may be deleted, every column inserted."""
    rows, columns = costs.shape
    size = rows + columns
    full = np.full((size, size), np.inf)
    full[:rows, :columns] = costs
    full[np.arange(rows), columns + np.arange(rows)] = indel
    full[rows + np.arange(columns), np.arange(columns)] = indel
    full[rows:, columns:] = 0
    return _every_matching(full)


def test_no_pair_may_be_fixed_in_advance() -> None:
    # The pair of cost 0 forces the pair of cost 1; both pairs of cost 0.292893 together are cheaper.
    both = pytest.approx(2 * 0.292893)
    assert match(np.array([[0, 0.292893], [0.292893, 1.0]])) == Matching(both, both)


def test_unmatched_elements_cost_an_indel_each() -> None:
    costs = np.array([[0.5, 0.25, 1.0]])
    assert match(costs) == Matching(0.25, 2.25)
    assert match(costs.T, indel=0.5) == Matching(0.25, 1.25)


@pytest.mark.parametrize(("shape", "total"), [((0, 3), 3.0), ((2, 0), 2.0), ((0, 0), 0.0)])
def test_an_empty_side_costs_its_indels(shape: tuple[int, int], total: float) -> None:
    assert match(np.zeros(shape)) == Matching(0.0, total)


def test_equals_trying_every_matching() -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        costs = _random_costs(rng, 5)
        assert cheapest(costs) == pytest.approx(_every_matching(costs), abs=1e-12)
        assert cheapest(costs.T) == pytest.approx(_every_matching(costs), abs=1e-12)


def test_equals_the_model_with_insertions_and_deletions() -> None:
    # Costs are at most 2, twice an indel: then no substitution is worth breaking up.
    rng = np.random.default_rng(2)
    for _ in range(60):
        costs = _random_costs(rng, 3)
        assert match(costs).total == pytest.approx(_with_indels(costs, 1.0), abs=1e-12)


def test_row_minima_in_different_columns_need_no_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(costs: np.ndarray) -> None:
        raise AssertionError("an assignment was computed")

    monkeypatch.setattr(assignment, "linear_sum_assignment", refuse)
    costs = np.array([[0.25, 0.75, 1.0], [1.0, 1.0, 0.5]])
    assert cheapest(costs) == 0.75
    with pytest.raises(AssertionError):
        cheapest(np.array([[0.25, 0.75], [0.25, 1.0]]))
