"""Changes of the relations into one segment that make it meet a goal.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), sections
3.2 to 3.4 define the labels; the question "what would have to change" is ours. `auditing.core.what_if`
splits it by segment: the relations into a segment matter to the rest of the trace only through one bit,
whether the segment may be a premise. This module answers the question for one segment, given those bits for
the segments before it.

Two searches, both exact:

- `CountingSegment`, where removing edges by pattern cannot change a label
  (`AuditParameters.label_neutral`). There the label depends only on how many relations contradict, support
  from grounded premises, and support from others, so the smallest change follows from counting.
- `PatternSegment` for all other settings. It tries sets of changes of growing size. At each step it
  branches only over changes of which any solution must contain at least one, because what is wrong depends
  on those relations alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises
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
                    yield tuple(sorted(chosen, key=_order))
                continue
            for relation in self._relations:
                for label in self._reaching(relation, grounds, goal.need, violating):
                    yield tuple(sorted((*chosen, Change(relation.premises, label)), key=_order))

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


_MISSING = 4
_State = tuple[int, int]


class PatternSegment:
    """Exact search for settings in which the pattern rules can change a label."""

    def __init__(self, relations: list[Editable], parameters: AuditParameters, budget: Budget) -> None:
        """Lay out the relations as columns, and the components of every combination."""
        self._relations = relations
        self._parameters = parameters
        self._budget = budget
        self._found: dict[tuple[int, Goal, int], list[tuple[Change, ...]]] = {}
        count = len(relations)
        column = {relation.premises: place for place, relation in enumerate(relations)}
        self._many = [place for place, relation in enumerate(relations) if len(relation.premises) > 1]
        # A component that cannot be changed and has no label is the extra, always Neutral, column.
        self._parts = [[column.get((p,), count) for p in relations[place].premises] for place in self._many]
        self._wholes: list[list[int]] = [[] for _ in range(count + 1)]
        self._incidence = np.zeros((len(self._many), count + 1), dtype=np.int32)
        for row, parts in enumerate(self._parts):
            for part in parts:
                self._wholes[part].append(row)
                self._incidence[row, part] = 1
        lengths = [len(parts) for parts in self._parts]
        self._starts = np.cumsum([0, *lengths])[:-1]
        self._flat_parts = np.array([part for parts in self._parts for part in parts], dtype=np.intp)
        self._weak_usable = np.array([relation.weak_usable for relation in relations], dtype=np.bool_)
        self._in_scope = np.array([relation.in_scope for relation in relations], dtype=np.bool_)
        self._initial = np.array(
            [_MISSING if relation.label is None else int(relation.label) for relation in relations],
            dtype=np.int8,
        )

    def smallest(self, grounds: int, goals: Sequence[Goal], limit: int) -> int | None:
        """Return the size of the smallest change that meets one of the goals, None if above `limit`."""
        for size in range(limit + 1):
            if any(self._all_changes(grounds, goal, size) for goal in goals):
                return size
        return None

    def changes(self, grounds: int, goals: Sequence[Goal], size: int) -> Iterator[tuple[Change, ...]]:
        """Yield every change of the smallest size `size` that meets one of the goals, each once."""
        seen: set[tuple[Change, ...]] = set()
        for goal in goals:
            for change in self._all_changes(grounds, goal, size):
                if change not in seen:
                    seen.add(change)
                    yield change

    def _all_changes(self, grounds: int, goal: Goal, size: int) -> list[tuple[Change, ...]]:
        key = (grounds, goal, size)
        if key not in self._found:
            grounded = np.array(
                [not relation.mask & ~grounds for relation in self._relations], dtype=np.bool_
            )
            sets = {frozenset(chosen) for chosen in self._extend(self._initial, (), goal, grounded, size)}
            changes = [tuple(sorted((self._change(*state) for state in chosen), key=_order)) for chosen in sets]
            self._found[key] = sorted(changes, key=lambda change: [_order(part) for part in change])
        return self._found[key]

    def _change(self, column: int, state: int) -> Change:
        return Change(self._relations[column].premises, None if state == _MISSING else Label(state))

    def _extend(
        self,
        states: NDArray[np.int8],
        chosen: tuple[_State, ...],
        goal: Goal,
        grounded: NDArray[np.bool_],
        left: int,
    ) -> Iterator[tuple[_State, ...]]:
        """Yield the sets of `left` more changes that meet the goal."""
        verdict = self._judge(states[np.newaxis], grounded)
        if verdict.meets(goal)[0]:
            # With changes left, a smaller set would do, and the caller asks for smaller sets first.
            if not left:
                yield chosen
            return
        if not left:
            return
        edited = {column for column, _ in chosen}
        options = [
            option for option in self._options(states, verdict, goal, grounded) if option[0] not in edited
        ]
        options = sorted({option for option in options if self._effective(int(states[option[0]]), *option)})
        self._budget.spend(200 + len(options) * len(states) // 10)
        if not options:
            return
        variants = np.repeat(states[np.newaxis], len(options), axis=0)
        columns, values = np.array(options).T
        variants[np.arange(len(options)), columns] = values
        if left == 1:
            for place in np.flatnonzero(self._judge(variants, grounded).meets(goal)).tolist():
                yield (*chosen, options[place])
            return
        for place, option in enumerate(options):
            yield from self._extend(variants[place], (*chosen, option), goal, grounded, left - 1)

    def _effective(self, before: int, column: int, after: int) -> bool:
        """Whether a change differs from the state before and from the other way to write it.

        A relation without a label counts as Neutral. Removing one differs from relabelling it Neutral only
        for a combination whose instability matters, because a scored Neutral combination can be degraded.
        """
        if self._parameters.unstable_policy == "negative" and len(self._relations[column].premises) > 1:
            return before != after
        return after != _MISSING and after != (Label.NEUTRAL if before == _MISSING else before)

    def _options(
        self, states: NDArray[np.int8], verdict: "_Verdict", goal: Goal, grounded: NDArray[np.bool_]
    ) -> Iterator[_State]:
        """Yield changes of which any set that meets the goal must contain at least one."""
        if goal.forbid & CONTRADICTS and verdict.contradicts[0].any():
            yield from self._any_state(int(verdict.contradicts[0].argmax()))
        elif goal.forbid & UNSTABLE and verdict.degraded[0].any():
            yield from self._around(int(verdict.degraded[0].argmax()))
        elif verdict.supports(goal.forbid)[0].any():
            yield from self._dropping(int(verdict.supports(goal.forbid)[0].argmax()))
        elif goal.need == CONTRADICTS:
            yield from ((int(column), 0) for column in np.flatnonzero(self._in_scope))
        elif goal.need == UNSTABLE:
            for row, parts in enumerate(self._parts):
                yield from ((self._many[row], state) for state in (Label.NEUTRAL, Label.IMPLIED))
                yield from ((part, int(Label.ENTAILMENT)) for part in parts if part < len(self._relations))
        else:
            wanted = grounded if goal.need == GROUNDED else ~grounded
            for column in np.flatnonzero(wanted).tolist():
                if self._relations[column].usable(_label(int(states[column]))):
                    yield from self._restoring(column)
                else:
                    yield from ((column, state) for state in (Label.IMPLIED, Label.ENTAILMENT))

    def _any_state(self, column: int) -> Iterator[_State]:
        if column < len(self._relations):
            yield from ((column, state) for state in range(_MISSING + 1))

    def _around(self, row: int) -> Iterator[_State]:
        """Yield all changes of a combination and its components, which alone decide its pattern."""
        for column in (self._many[row], *self._parts[row]):
            yield from self._any_state(column)

    def _dropping(self, column: int) -> Iterator[_State]:
        """Yield all changes on which the presence of a retained edge depends."""
        if len(self._relations[column].premises) > 1:
            yield from self._around(self._many.index(column))
            return
        yield from self._any_state(column)
        if self._parameters.weak_cluster == "cluster":
            # A singleton is removed only with a weak cluster, whose members are all Implied.
            for row in self._wholes[column]:
                yield self._many[row], int(Label.IMPLIED)
                for part in self._parts[row]:
                    if part != column and part < len(self._relations):
                        yield part, int(Label.IMPLIED)

    def _restoring(self, column: int) -> Iterator[_State]:
        """Yield all changes that can bring a usable but removed edge back."""
        if len(self._relations[column].premises) > 1:
            yield from self._around(self._many.index(column))
            return
        yield from self._any_state(column)
        for row in self._wholes[column]:
            yield from self._around(row)

    def _judge(self, states: NDArray[np.int8], grounded: NDArray[np.bool_]) -> "_Verdict":
        """Apply the rules of edge selection to many label assignments, one per row."""
        rows = len(states)
        ranks = np.where(states == _MISSING, np.int8(Label.NEUTRAL), states)
        usable = (ranks == Label.ENTAILMENT) | ((ranks == Label.IMPLIED) & self._weak_usable)
        removed = np.zeros((rows, states.shape[1] + 1), dtype=np.bool_)
        degraded = np.zeros((rows, len(self._many)), dtype=np.bool_)
        if self._many:
            neutral = np.full((rows, 1), Label.NEUTRAL, dtype=np.int8)
            part_rank = np.hstack([ranks, neutral])[:, self._flat_parts]
            strongest = np.maximum.reduceat(part_rank, self._starts, axis=1)
            weakest = np.minimum.reduceat(part_rank, self._starts, axis=1)
            codes = pattern_codes(ranks[:, self._many], strongest, weakest, self._parameters)
            scored = states[:, self._many] != _MISSING
            degraded = (codes == PATTERN_CODE["degraded"]) & scored
            weak = (codes == PATTERN_CODE["consistently_weak"]) & scored
            dominated = codes == PATTERN_CODE["asymmetric"]
            if self._parameters.dominance_basis == "surviving":
                part_usable = np.hstack([usable, neutral > Label.NEUTRAL])[:, self._flat_parts]
                lengths = np.diff([*self._starts, len(self._flat_parts)])
                dominant = part_usable & (part_rank == np.repeat(strongest, lengths, axis=1))
                dominated &= np.logical_or.reduceat(dominant, self._starts, axis=1)
            removed[:, self._many] = degraded | weak | dominated | (codes == PATTERN_CODE["redundant"])
            if self._parameters.weak_cluster == "cluster":
                removed |= (weak.astype(np.int32) @ self._incidence) > 0
        return _Verdict(
            retained=usable & ~removed[:, :-1],
            contradicts=(states == Label.CONTRADICTION) & self._in_scope,
            degraded=degraded,
            grounded=grounded,
        )


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What edge selection makes of label assignments; one row each."""

    retained: NDArray[np.bool_]
    contradicts: NDArray[np.bool_]
    degraded: NDArray[np.bool_]
    grounded: NDArray[np.bool_]

    def supports(self, kinds: int) -> NDArray[np.bool_]:
        """Return the retained edges whose kind is among `kinds`."""
        wanted = (self.grounded & bool(kinds & GROUNDED)) | (~self.grounded & bool(kinds & UNGROUNDED))
        found: NDArray[np.bool_] = self.retained & wanted
        return found

    def meets(self, goal: Goal) -> NDArray[np.bool_]:
        """Tell for each row whether the goal is met."""
        unmet: NDArray[np.bool_] = np.asarray(self.supports(goal.forbid).any(axis=1))
        if goal.forbid & CONTRADICTS:
            unmet |= self.contradicts.any(axis=1)
        if goal.forbid & UNSTABLE:
            unmet |= self.degraded.any(axis=1)
        if goal.need == CONTRADICTS:
            unmet |= ~self.contradicts.any(axis=1)
        elif goal.need == UNSTABLE:
            unmet |= ~self.degraded.any(axis=1)
        elif goal.need:
            unmet |= ~self.supports(goal.need).any(axis=1)
        return ~unmet


def _label(state: int) -> Label | None:
    return None if state == _MISSING else Label(state)


def _order(change: Change) -> tuple[int, Premises, int]:
    return len(change.premises), change.premises, -1 if change.label is None else int(change.label)
