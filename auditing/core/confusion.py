"""Confusion tables, and whether two raters use the categories equally often.

Sources: Stuart, Biometrika 42 (1955), and Maxwell, Br. J. Psychiatry 116 (1970), for the test of marginal
homogeneity; "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section
5, sets physicians' labels against audit labels. Choices, in words: categories that neither side used are left
out of the test, and lower its degrees of freedom; a pair without a label on either side is counted, not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each pair of labels occurs.

    Attributes
    ----------
    rows, columns : tuple of str
        The scales of the two sides, in full.
    counts : tuple of tuples of int
        One tuple per row.
    n : int
        Pairs in the table.
    row_missing, column_missing : int
        Pairs left out because the first side, or only the second, has no label.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    n: int
    row_missing: int
    column_missing: int

    def share_of_row(self, row: int, column: int) -> float | None:
        """Return a cell as a share of its row, 0 to 1; None for an empty row."""
        total = sum(self.counts[row])
        return self.counts[row][column] / total if total else None


@dataclass(frozen=True, slots=True)
class HomogeneityTest:
    """Chi-squared statistic, degrees of freedom, p-value; all None, with a reason, where it is undefined."""

    statistic: float | None
    df: int | None
    p: float | None
    undefined_because: str


def confusion(
    first: Sequence[str | None],
    second: Sequence[str | None],
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
) -> Confusion:
    """Count pairs of labels of the same segments.

    Parameters
    ----------
    first, second : sequence of str or None
        Labels of the two sides, None where there is none.
    rows, columns : sequence of str
        The scales; the second side has that of the first by default.

    Raises
    ------
    ValueError
        If the lengths differ or a label is not on its scale.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} labels; give one of each per segment.")
    columns = rows if columns is None else columns
    for labels, scale in ((first, rows), (second, columns)):
        unknown = {label for label in labels if label is not None} - set(scale)
        if unknown:
            raise ValueError(f"Not on the scale {', '.join(scale)}: {', '.join(sorted(unknown))}.")
    counts = [[0] * len(columns) for _ in rows]
    row_places, column_places = list(rows), list(columns)
    row_missing = column_missing = 0
    for left, right in zip(first, second, strict=True):
        if left is None:
            row_missing += 1
        elif right is None:
            column_missing += 1
        else:
            counts[row_places.index(left)][column_places.index(right)] += 1
    n = len(first) - row_missing - column_missing
    return Confusion(tuple(rows), tuple(columns), tuple(map(tuple, counts)), n, row_missing, column_missing)


def stuart_maxwell(counts: ArrayLike) -> HomogeneityTest:
    """Test whether rows and columns of a square table have the same distribution.

    With two categories it is McNemar's chi-squared without continuity correction.

    Raises
    ------
    ValueError
        If the table is not square or a count is negative.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (table < 0).any():
        raise ValueError("The test needs a square table of counts.")
    if not table.sum():
        return HomogeneityTest(None, None, None, "there are no pairs of labels")
    moved = table.sum(axis=0) + table.sum(axis=1) - 2 * np.diag(table) > 0
    if not moved.any():
        return HomogeneityTest(None, None, None, "no pair of labels differs")
    table = table[np.ix_(moved, moved)]
    difference = (table.sum(axis=1) - table.sum(axis=0))[:-1]
    covariance = -(table + table.T)
    np.fill_diagonal(covariance, table.sum(axis=0) + table.sum(axis=1) - 2 * np.diag(table))
    covariance = covariance[:-1, :-1]
    df = len(difference)
    # Categories that exchange labels only within separate groups leave fewer independent differences.
    if np.linalg.matrix_rank(covariance) < df:
        df = int(np.linalg.matrix_rank(covariance))
    statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return HomogeneityTest(statistic, df, float(stats.chi2.sf(statistic, df)), "")
