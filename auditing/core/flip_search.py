"""Changes of the relations into one segment that make it meet a goal.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), sections 3.2 to 3.4
define the labels; the question "what would have to change" is ours. `auditing.core.what_if` splits it by segment:
the relations into a segment matter to the rest of the trace only through one bit, whether the segment may be a premise.
This module answers the question for one segment, given those bits for the segments before it.

Two searches, both exact:

- `CountingSegment`, where removing edges by pattern cannot change a label (`AuditParameters.label_neutral`). There the
  label depends only on how many relations contradict, support from grounded premises, and support from others, so the
  smallest change follows from counting.
- `PatternSegment` for all other settings. It tries sets of changes of growing size. At each step it branches only over
  changes of which any solution must contain at least one, because what is wrong depends on those relations alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises, Relation
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import PATTERN_CODE, edge_usable, pattern_codes

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
    """Steps that are left; shared by all segments of one search."""

    steps: int

    def spend(self, steps: int) -> None:
        """Count steps, and stop when none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise SearchTooLarge


@dataclass(frozen=True, slots=True)
class _Editable:
    """One relation into the segment, scored or a candidate."""

    premises: Premises
    mask: int
    label: Label | None
    in_scope: bool
    weak_usable: bool

    def usable(self, label: Label | None) -> bool:
        return label is Label.ENTAILMENT or (label is Label.IMPLIED and self.weak_usable)

    def kind(self, label: Label | None, grounds: int) -> int:
        if label is Label.CONTRADICTION:
            return CONTRADICTS if self.in_scope else 0
        if not self.usable(label):
            return 0
        return UNGROUNDED if self.mask & ~grounds else GROUNDED


def editable(
    graph: Hypergraph, target: int, premise_sets: Sequence[Premises], parameters: AuditParameters
) -> list[_Editable]:
    """Describe the relations into `target` that may be changed."""
    scope = parameters.contradiction_scope
    return [
        _Editable(
            premises=premises,
            mask=sum(1 << premise for premise in premises),
            label=graph.labels.get((premises, target)),
            in_scope=scope == "any" or (scope == "singleton" and len(premises) == 1),
            weak_usable=edge_usable(premises, target, Label.IMPLIED, parameters),
        )
        for premises in premise_sets
    ]


def new_labels(relation: Relation, label: Label | None, parameters: AuditParameters) -> list[Label | None]:
    """Return the labels a relation can be changed to with an effect of its own.

    A relation without a label counts as Neutral. Removing one differs from relabelling it Neutral only for a
    combination whose instability matters, because a scored Neutral combination can be degraded.
    """
    labels: list[Label | None] = list(Label)
    if parameters.unstable_policy == "negative" and len(relation[0]) > 1:
        return [new for new in [*labels, None] if new is not label]
    current = Label.NEUTRAL if label is None else label
    return [new for new in labels if new is not current]


class CountingSegment:
    """Exact search where a label depends on counts of evidence alone."""

    def __init__(self, relations: list[_Editable], parameters: AuditParameters) -> None:
        """Sort the relations by what they are now."""
        del parameters
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
                    yield tuple(sorted(chosen, key=_order))
                continue
            for relation in self._relations:
                for label in self._reaching(relation, grounds, goal.need, violating):
                    yield tuple(sorted((*chosen, Change(relation.premises, label)), key=_order))

    def _violating(self, grounds: int, forbid: int, limit: int) -> list[_Editable] | None:
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

    def _allowed(self, relation: _Editable, grounds: int, forbid: int) -> list[Label]:
        return [
            label
            for label in Label
            if label is not (relation.label or Label.NEUTRAL) and not relation.kind(label, grounds) & forbid
        ]

    def _reaching(
        self, relation: _Editable, grounds: int, need: int, excluded: list[_Editable]
    ) -> Iterator[Label]:
        """Yield the labels with which a relation that need not be changed would meet the need."""
        if relation in excluded:
            return
        for label in Label:
            if label is not relation.label and relation.kind(label, grounds) == need:
                yield label


def _order(change: Change) -> tuple[int, Premises, int]:
    return len(change.premises), change.premises, -1 if change.label is None else int(change.label)
