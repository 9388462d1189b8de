"""Changes of the relations into one segment that make it meet a goal.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), sections
3.2 to 3.4 define the labels; the question "what would have to change" is ours. `auditing.core.what_if`
splits it by segment: the relations into a segment matter to the rest of the trace only through one bit,
whether the segment may be a premise. This module answers the question for one segment, given those bits for
the segments before it.

`CountingSegment` is the exact search where removing edges by pattern cannot change a label
(`AuditParameters.label_neutral`): the label then depends only on how many relations contradict, support
from grounded premises, and support from others, so the smallest change follows from counting.
`auditing.core.flip_patterns` has the search for all other settings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import edge_usable

CONTRADICTS, UNGROUNDED, GROUNDED, UNSTABLE = 1, 2, 4, 8
"""Kinds of evidence at a segment, as bits."""


class Goal(NamedTuple):
    """Kinds of evidence that must be absent, and one kind that must be present (0 for none)."""

    forbid: int
    need: int


class Change(NamedTuple):
    """New label of one relation into the segment; None removes it."""

    premises: Premises
    label: Label | None


class SearchTooLarge(Exception):
    """The search would take more steps than allowed."""


@dataclass(slots=True)
class Budget:
    """Steps that are left, shared by all segments of one search; a step takes about a microsecond.

    Steps are counted, not timed, so that the same question gets the same answer on every machine.
    """

    steps: int

    def spend(self, steps: int) -> None:
        """Count steps, and stop when none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise SearchTooLarge


@dataclass(frozen=True, slots=True)
class Editable:
    """One relation into the segment, scored or a candidate.

    Attributes
    ----------
    premises : Premises
        The premise set.
    mask : int
        The premises as bits.
    label : Label or None
        Its label, None if it has none.
    in_scope : bool
        Whether a contradiction by this premise set counts.
    weak_usable : bool
        Whether the gap filter would keep it as an Implied edge.
    """

    premises: Premises
    mask: int
    label: Label | None
    in_scope: bool
    weak_usable: bool

    @property
    def current(self) -> Label:
        """The label it counts as."""
        return Label.NEUTRAL if self.label is None else self.label

    def usable(self, label: Label | None) -> bool:
        """Whether it would be a support edge with this label, before any pattern rule."""
        return label is Label.ENTAILMENT or (label is Label.IMPLIED and self.weak_usable)

    def kind(self, label: Label | None, grounds: int) -> int:
        """Return the evidence it would be with this label; `grounds` has a bit per possible premise."""
        if label is Label.CONTRADICTION:
            return CONTRADICTS if self.in_scope else 0
        if not self.usable(label):
            return 0
        return UNGROUNDED if self.mask & ~grounds else GROUNDED


def editable_relations(
    graph: Hypergraph, target: int, premise_sets: Sequence[Premises], parameters: AuditParameters
) -> list[Editable]:
    """Describe the relations into `target` that may be changed."""
    scope = parameters.contradiction_scope
    return [
        Editable(
            premises=premises,
            mask=sum(1 << premise for premise in premises),
            label=graph.labels.get((premises, target)),
            in_scope=scope == "any" or (scope == "singleton" and len(premises) == 1),
            weak_usable=edge_usable(premises, target, Label.IMPLIED, parameters),
        )
        for premises in premise_sets
    ]


class CountingSegment:
    """Exact search where a label depends on counts of evidence alone."""

    def __init__(self, relations: list[Editable]) -> None:
        """Sort the relations by what they are now."""
        self._relations = relations
        self._contradicting = [r for r in relations if r.kind(r.label, 0) == CONTRADICTS]
        self._usable = [r for r in relations if r.usable(r.label)]

    def smallest(self, grounds: int, goals: Sequence[Goal], limit: int) -> int | None:
        """Return the size of the smallest change that meets one of the goals, None if above `limit`."""
        sizes = [size for goal in goals if (size := self._size(grounds, goal, limit)) is not None]
        return min(sizes, default=None)

    def changes(self, grounds: int, goals: Sequence[Goal], size: int) -> Iterator[tuple[Change, ...]]:
        """Yield every change of the smallest size `size` that meets one of the goals, each once."""
        seen: set[tuple[Change, ...]] = set()
        for goal in goals:
            if self._size(grounds, goal, size) == size:
                for change in self._changes(grounds, goal, size):
                    if change not in seen:
                        seen.add(change)
                        yield change

    def _size(self, grounds: int, goal: Goal, limit: int) -> int | None:
        violating = self._violating(grounds, goal.forbid, limit)
        if violating is None:
            return None
        allowed = [self._allowed(relation, grounds, goal.forbid) for relation in violating]
        if not all(allowed):
            return None
        size = len(violating)
        if goal.need and not self._present(grounds, goal.need):
            by_violating = any(
                relation.kind(label, grounds) == goal.need
                for relation, labels in zip(violating, allowed, strict=True)
                for label in labels
            )
            if not by_violating:
                size += 1
                if size > limit or not any(
                    True for r in self._relations for _ in self._reaching(r, grounds, goal.need, violating)
                ):
                    return None
        return size if size <= limit else None

    def _changes(self, grounds: int, goal: Goal, size: int) -> Iterator[tuple[Change, ...]]:
        violating = self._violating(grounds, goal.forbid, size) or []
        choices = [
            [Change(relation.premises, label) for label in self._allowed(relation, grounds, goal.forbid)]
            for relation in violating
        ]
        missing = goal.need and not self._present(grounds, goal.need)
        for chosen in product(*choices):
            if len(violating) == size:
                kinds = [r.kind(c.label, grounds) for r, c in zip(violating, chosen, strict=True)]
                if not missing or goal.need in kinds:
                    yield tuple(sorted(chosen, key=change_order))
                continue
            for relation in self._relations:
                for label in self._reaching(relation, grounds, goal.need, violating):
                    yield tuple(sorted((*chosen, Change(relation.premises, label)), key=change_order))

    def _violating(self, grounds: int, forbid: int, limit: int) -> list[Editable] | None:
        """Return the relations that must be changed whatever else is, None if more than `limit`."""
        found = list(self._contradicting) if forbid & CONTRADICTS else []
        if forbid & (UNGROUNDED | GROUNDED):
            for relation in self._usable:
                if len(found) > limit:
                    return None
                if relation.kind(relation.label, grounds) & forbid:
                    found.append(relation)
        return found if len(found) <= limit else None

    def _present(self, grounds: int, need: int) -> bool:
        if need == CONTRADICTS:
            return bool(self._contradicting)
        return any(relation.kind(relation.label, grounds) == need for relation in self._usable)

    def _allowed(self, relation: Editable, grounds: int, forbid: int) -> list[Label]:
        return [
            label
            for label in Label
            if label is not relation.current and not relation.kind(label, grounds) & forbid
        ]

    def _reaching(
        self, relation: Editable, grounds: int, need: int, excluded: list[Editable]
    ) -> Iterator[Label]:
        """Yield the labels with which a relation that need not be changed would meet the need."""
        if relation in excluded:
            return
        for label in Label:
            if label is not relation.current and relation.kind(label, grounds) == need:
                yield label


def change_order(change: Change) -> tuple[int, Premises, int]:
    """Sort key of changes: size, premises, label."""
    return len(change.premises), change.premises, -1 if change.label is None else int(change.label)
