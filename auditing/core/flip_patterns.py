"""Smallest changes at one segment, for settings in which the pattern rules can change a label.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), appendix
A.1 gives the patterns; the search is ours. With a weak cluster removed whole, dominance judged on raw
labels, or instability counted as negative, a relation can change what becomes of its neighbours, so
counting is not enough (`auditing.core.flip_search`).

The search tries sets of changes of growing size. At each step it branches only over changes of which any
solution must contain at least one, because what is wrong depends on those relations alone: a retained edge
that should not be there can only go by its own label, its components, or the weak clusters it is part of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditing.core.flip_search import (
    CONTRADICTS,
    GROUNDED,
    UNGROUNDED,
    UNSTABLE,
    Budget,
    Change,
    Editable,
    Goal,
    change_order,
)
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import PATTERN_CODE, pattern_codes

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
        for row, parts in enumerate(self._parts):
            for part in parts:
                self._wholes[part].append(row)
        # The combinations of every column that is a component, one column after the other.
        self._components = [part for part, rows in enumerate(self._wholes) if rows]
        self._flat_wholes = np.array([row for rows in self._wholes for row in rows], dtype=np.intp)
        self._whole_starts = np.cumsum([0, *(len(self._wholes[part]) for part in self._components)])[:-1]
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
        support = goal.forbid & (UNGROUNDED | GROUNDED)
        if goal.need not in (UNGROUNDED, GROUNDED) and support in (0, UNGROUNDED | GROUNDED):
            grounds = 0  # The goal does not tell grounded support from other support.
        key = (grounds, goal, size)
        if key not in self._found:
            grounded = np.array(
                [not relation.mask & ~grounds for relation in self._relations], dtype=np.bool_
            )
            sets = {frozenset(chosen) for chosen in self._extend(self._initial, (), goal, grounded, size)}
            changes = [
                tuple(sorted((self._change(*state) for state in chosen), key=change_order)) for chosen in sets
            ]
            self._found[key] = sorted(changes, key=lambda change: [change_order(part) for part in change])
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
                hit = np.logical_or.reduceat(weak[:, self._flat_wholes], self._whole_starts, axis=1)
                removed[:, self._components] |= hit
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
