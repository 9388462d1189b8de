"""The cheapest matching of the elements of two graphs, with insertions and deletions.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", B.3 (node and edge matching by the Hungarian algorithm). Choices where the paper is open, in words:

- The paper matches as many elements as the smaller side has and pays for the rest. That equals the model in which
  every element may also be deleted or inserted, as long as a substitution costs at most two indels (it costs at
  most 2, an indel 1).
- Pairs of cost 0 are not fixed in advance: the cheapest matching may have to break them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matching:
    """Cost of the matched pairs alone, and with the indels of the elements that stay unmatched."""

    matching_cost: float
    total: float


def match(costs: Floats, indel: float = 1.0) -> Matching:
    """Match the smaller side completely, as cheaply as possible.

    Parameters
    ----------
    costs : float64 array, shape (n, m)
        Substitution costs, finite; n or m may be 0.
    indel : float
        Cost of one unmatched element.
    """
    rows, columns = costs.shape
    matched = cheapest(costs)
    return Matching(matched, matched + indel * abs(rows - columns))


def cheapest(costs: Floats) -> float:
    """Return the least sum over min(n, m) entries of `costs`, no two in one row or column; 0 if a side is empty."""
    rows, columns = costs.shape
    if not rows or not columns:
        return 0.0
    if rows > columns:
        costs, rows, columns = costs.T, columns, rows
    # Where the rows' minima stand in different columns, they are the optimum: no assignment is needed.
    best = costs.argmin(axis=1)
    if np.bincount(best, minlength=columns).max() > 1:
        chosen, best = linear_sum_assignment(costs)
    else:
        chosen = np.arange(rows)
    return float(costs[chosen, best].sum())
