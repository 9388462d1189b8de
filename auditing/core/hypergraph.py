"""The NLI-labelled hypergraph of one trace.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.1
(G = (V, E), labelled hyperedges from premise sets to targets) and appendix E.4 (the three distances). Open
in the paper: what a premise set without a label means (never asked, or the call failed). Here it counts as
Neutral and is reported as missing, never as a label.

Relations are kept in one canonical order (target, size, premises), also as flat numpy arrays, so that a
result can never depend on the order in which labels arrived and so that edge selection needs no loop over
relations.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditing.core.nli import Label, Premises, Relation, candidate_count
from auditing.core.parameters import AuditParameters


class Distances(NamedTuple):
    """Distances of an edge in segments: to the closest premise, to the farthest one, and their spread."""

    d_min: int
    d_max: int
    span: int


def distances(premises: Premises, target: int) -> Distances:
    """Return the three distances of the edge from `premises` to `target` (paper, appendix E.4)."""
    return Distances(target - premises[-1], target - premises[0], premises[-1] - premises[0])


@dataclass(frozen=True, slots=True, eq=False)
class RelationArrays:
    """The relations of a hypergraph as flat arrays, one entry per relation unless said otherwise.

    Attributes
    ----------
    targets, firsts, lasts, sizes : integer arrays
        Target, smallest premise, largest premise, number of premises.
    ranks : integer array
        Rank of the label, 0 to 3.
    premises : integer array
        All premises, relation after relation.
    starts : integer array
        Where the premises of each relation begin in `premises`.
    """

    targets: NDArray[np.int64]
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ranks: NDArray[np.int8]
    premises: NDArray[np.int64]
    starts: NDArray[np.int64]


class Hypergraph:
    """Labelled relations between segments 1..n; build it with `from_labels`.

    Attributes
    ----------
    n : int
        Number of segments, the context included.
    labels : Mapping[Relation, Label]
        Label of every scored relation, in canonical order.
    """

    __slots__ = ("arrays", "labels", "n", "relations")

    n: int
    labels: Mapping[Relation, Label]
    relations: tuple[Relation, ...]
    arrays: RelationArrays

    def __init__(self, n: int, labels: Mapping[Relation, Label]) -> None:
        """Store labels that are already validated and in canonical order."""
        self.n = n
        self.labels = labels
        self.relations = tuple(labels)
        self.arrays = _arrays(self.relations, labels)

    @classmethod
    def from_labels(cls, n: int, labels: Iterable[tuple[Premises, int, Label]]) -> "Hypergraph":
        """Build a hypergraph from labelled relations in any order.

        Parameters
        ----------
        n : int
            Number of segments, the context included; at least 1.
        labels : iterable of (premises, target, label)
            Premises are ascending 1-based indices smaller than the target.

        Raises
        ------
        ValueError
            If a relation is malformed or given twice; the message names it.
        """
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise ValueError(f"A trace needs at least 1 segment, the context; got n = {n!r}.")
        rows = [((tuple(premises), target), label) for premises, target, label in labels]
        _validate(n, rows)
        rows.sort(key=_canonical_key)
        collected = dict(rows)
        if len(collected) != len(rows):
            seen: set[Relation] = set()
            for relation, _ in rows:
                if relation in seen:
                    raise ValueError(f"Relation {describe(relation)} is given twice; keep one label.")
                seen.add(relation)
        return cls(n, collected)

    def distances(self, premises: Premises, target: int) -> Distances:
        """Return the three distances of the edge from `premises` to `target` (paper, appendix E.4)."""
        return distances(premises, target)

    def restricted(self, parameters: AuditParameters) -> "Hypergraph":
        """Return the hypergraph with only those relations that are candidates under `parameters`.

        Parameters
        ----------
        parameters : AuditParameters
            Uses m_min, m_max and context_premises.
        """
        kept = {
            relation: label for relation, label in self.labels.items() if is_candidate(relation, parameters)
        }
        return self if len(kept) == len(self.labels) else Hypergraph(self.n, kept)

    def missing_count(self, parameters: AuditParameters) -> int:
        """Return how many candidate relations have no label; they count as Neutral."""
        scored = sum(is_candidate(relation, parameters) for relation in self.relations)
        return candidate_count(self.n, parameters) - scored

    def replaced(self, edits: Iterable[tuple[Relation, Label | None]]) -> "Hypergraph":
        """Return a copy with some relations relabelled, added, or removed (label None).

        Raises
        ------
        ValueError
            If a relation is malformed, edited twice, or removed without having a label.
        """
        changed = dict(self.labels)
        seen: set[Relation] = set()
        for relation, label in edits:
            if relation in seen:
                raise ValueError(f"Relation {describe(relation)} is edited twice; keep one edit.")
            seen.add(relation)
            if label is not None:
                changed[relation] = label
            elif changed.pop(relation, None) is None:
                raise ValueError(f"Relation {describe(relation)} has no label, so it cannot be removed.")
        return Hypergraph.from_labels(self.n, ((*relation, label) for relation, label in changed.items()))

    def __iter__(self) -> Iterator[tuple[Premises, int, Label]]:
        """Iterate over (premises, target, label) in canonical order."""
        return ((*relation, label) for relation, label in self.labels.items())

    def __len__(self) -> int:
        """Return the number of scored relations."""
        return len(self.relations)


def is_candidate(relation: Relation, parameters: AuditParameters) -> bool:
    """Tell whether a relation is among the candidates of `parameters` (paper, section 3.1)."""
    premises, _ = relation
    size_fits = parameters.m_min <= len(premises) <= parameters.m_max
    return size_fits and (parameters.context_premises or premises[0] > 1)


def describe(relation: Relation) -> str:
    """Write a relation as the paper does, such as "{S2, S3} -> S4"."""
    premises, target = relation
    return "{" + ", ".join(f"S{index}" for index in premises) + "} -> S" + str(target)


def _canonical_key(row: tuple[Relation, Label]) -> tuple[int, int, Premises]:
    (premises, target), _ = row
    return target, len(premises), premises


def _validate(n: int, rows: list[tuple[Relation, Label]]) -> None:
    for (premises, target), label in rows:
        last = 0
        for index in premises:
            if type(index) is not int or index <= last:
                _refuse(n, premises, target, label)
            last = index
        if not last or type(target) is not int or last >= target or target > n or type(label) is not Label:
            _refuse(n, premises, target, label)


def _refuse(n: int, premises: tuple[Any, ...], target: Any, label: Any) -> None:
    where = f"Relation {describe((premises, target))}"
    if not premises:
        raise ValueError(f"{where} has no premise; give at least one segment.")
    for index in (*premises, target):
        if type(index) is not int or not 1 <= index <= n:
            raise ValueError(f"{where}: {index!r} is not a segment; segments are numbered 1 to {n}.")
    if any(left >= right for left, right in pairwise(premises)):
        raise ValueError(f"{where}: premises must be ascending and different.")
    if premises[-1] >= target:
        raise ValueError(f"{where}: every premise must come before the target.")
    raise ValueError(f"{where}: {label!r} is not a relation label; use the members of Label.")


def _arrays(relations: tuple[Relation, ...], labels: Mapping[Relation, Label]) -> RelationArrays:
    count = len(relations)
    sizes = np.fromiter((len(premises) for premises, _ in relations), dtype=np.int64, count=count)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    flat = np.fromiter(
        chain.from_iterable(premises for premises, _ in relations), dtype=np.int64, count=int(starts[-1])
    )
    return RelationArrays(
        targets=np.fromiter((target for _, target in relations), dtype=np.int64, count=count),
        firsts=flat[starts[:-1]],
        lasts=flat[starts[1:] - 1],
        sizes=sizes,
        ranks=np.fromiter(labels.values(), dtype=np.int8, count=count),
        premises=flat,
        starts=starts[:-1],
    )
