"""The order in which a matrix of distances shows its groups.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", appendix C shows such matrices; it does not say how they are ordered. Ours, in words:

- Chains with equal answers form a group, those without an answer that can be read one of their own. The group
  of the best chain comes first, then that of the best chain outside it, and so on.
- Inside a group, the leaves of the average linkage of its distances, so that alike chains stand together. The
  same distances always give the same order.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from auditing.core.statistics import Floats


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Chains with one answer: positions in the order shown, and their mean distance (None for one chain)."""

    answer: str | None
    members: tuple[int, ...]
    mean_distance: float | None


def answer_groups(
    answers: Sequence[str | None], distances: ArrayLike | None, best_first: Sequence[int]
) -> tuple[AnswerGroup, ...]:
    """Group N chains by their answers and order groups and members.

    Parameters
    ----------
    answers : sequence of N (str or None)
        Normal forms.
    distances : array of shape (N, N) or None
        Symmetric; None where they could not be computed, then members keep their order.
    best_first : sequence of int
        All positions, best first.

    Raises
    ------
    ValueError
        If `best_first` does not name every chain once.
    """
    if sorted(best_first) != list(range(len(answers))):
        raise ValueError("The order must name every chain exactly once.")
    members: dict[Hashable, list[int]] = {answers[position]: [] for position in best_first}
    for position, answer in enumerate(answers):
        members[answer].append(position)
    groups = []
    for chains in members.values():
        inside = (
            None if distances is None else np.asarray(distances, dtype=np.float64)[np.ix_(chains, chains)]
        )
        order = list(range(len(chains))) if inside is None else linkage_order(inside)
        mean = None
        if inside is not None and len(chains) > 1:
            mean = float(inside[np.triu_indices(len(chains), k=1)].mean())
        groups.append(AnswerGroup(answers[chains[0]], tuple(chains[place] for place in order), mean))
    return tuple(groups)


def linkage_order(distances: ArrayLike) -> list[int]:
    """Return the leaves of the average linkage of distances of shape (N, N), left to right."""
    matrix: Floats = np.asarray(distances, dtype=np.float64)
    if len(matrix) < 3:
        return list(range(len(matrix)))
    # A distance may be negative by a rounding error.
    condensed = np.maximum(squareform(matrix, checks=False), 0.0)
    return [int(leaf) for leaf in leaves_list(linkage(condensed, method="average"))]
