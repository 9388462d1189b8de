"""Confusion tables and marginal homogeneity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import SquareTable

from auditing.core.confusion import confusion, stuart_maxwell
from auditing.core.statistics import mcnemar


def test_counts_and_missing_labels_by_hand() -> None:
    found = confusion(["a", "b", None, "a", None], ["x", "y", "x", None, None], ["a", "b"], ["x", "y", "z"])
    assert found.counts == ((1, 0, 0), (0, 1, 0))
    assert (found.n, found.row_missing, found.column_missing) == (2, 2, 1)
    assert found.share_of_row(0, 0) == 1.0
    assert confusion([], [], ["a"]).share_of_row(0, 0) is None


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="one of each"):
        confusion(["a"], [], ["a"])
    with pytest.raises(ValueError, match="Not on the scale a: b"):
        confusion(["a"], ["b"], ["a"])
    with pytest.raises(ValueError, match="square"):
        stuart_maxwell([[1, 2]])


def test_ag_01_stuart_1955_unaided_vision() -> None:
    """7477 women, grade of the right eye by that of the left: 11.96 with 3 degrees of freedom."""
    table = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]
    found = stuart_maxwell(table)
    assert (round(found.statistic, 2), found.df) == (11.96, 3)


@given(st.lists(st.integers(1, 30), min_size=16, max_size=16))
def test_ag_01_stuart_maxwell_equal_to_statsmodels(cells: list[int]) -> None:
    table = np.array(cells).reshape(4, 4)
    expected = SquareTable(table, shift_zeros=False).homogeneity(method="stuart_maxwell")
    found = stuart_maxwell(table)
    assert (found.statistic, found.df) == (pytest.approx(expected.statistic, abs=1e-6), expected.df)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-6)


def test_two_categories_are_mcnemar_and_unused_ones_do_not_count() -> None:
    expected = mcnemar(5, 15, method="asymptotic", correction=False)
    for table in ([[9, 5], [15, 2]], [[9, 0, 5], [0, 0, 0], [15, 0, 2]]):
        found = stuart_maxwell(table)
        assert (found.statistic, found.df, found.p) == (pytest.approx(5.0), 1, pytest.approx(expected.p))


def test_separate_groups_of_categories_add_up() -> None:
    """Labels move within {0, 1} and within {2, 3} only: (5 - 15)^2 / 20 + (4 - 1)^2 / 5, two degrees of freedom."""
    found = stuart_maxwell([[3, 5, 0, 0], [15, 3, 0, 0], [0, 0, 3, 4], [0, 0, 1, 3]])
    assert (found.statistic, found.df) == (pytest.approx(5 + 9 / 5), 2)


@pytest.mark.parametrize(
    ("table", "because"),
    [([[0, 0], [0, 0]], "there are no pairs of labels"), ([[4, 0], [0, 3]], "no pair of labels differs")],
)
def test_ag_02_undefined_homogeneity_has_a_reason(table: list[list[int]], because: str) -> None:
    found = stuart_maxwell(table)
    assert (found.statistic, found.p, found.undefined_because) == (None, None, because)
