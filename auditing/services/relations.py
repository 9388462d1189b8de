"""Which relations a trace's audit asks for, how many they are, and when that is too many.

The core enumerates candidates for segments 2..n. Here three things are added: given segments (context) are no
targets, a window may leave out premises far from the target, and a trace may bring its relations along.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

from auditing.core.nli import Label, Relation, candidate_count
from auditing.core.parameters import AuditParameters


@dataclass(frozen=True, slots=True)
class Scope:
    """The candidate relations of one trace.

    Attributes
    ----------
    n : int
        Number of segments, the context included.
    context_segments : int
        Leading segments that are given: never targets, premises of any target.
    parameters : AuditParameters
        Uses m_min, m_max and context_premises.
    window : int or None
        Premises must be context or stand at most so many segments before the target; None means no limit.
        Not a setting of the paper: it saves calls on long traces and may lose far support, so it stands in
        the manifest of a run that uses it.
    """

    n: int
    context_segments: int
    parameters: AuditParameters
    window: int | None = None

    def pool(self, target: int) -> Sequence[int]:
        """Return the segments that may be premises of `target`, ascending."""
        first = 1 if self.parameters.context_premises else 2
        if self.window is None:
            return range(first, target)
        nearest = max(target - self.window, self.context_segments + 1)
        return [*range(first, self.context_segments + 1), *range(max(first, nearest), target)]

    def relations(self) -> Iterator[Relation]:
        """Yield the candidates in the core's order: by target, then size, then premises."""
        for target in range(self.context_segments + 1, self.n + 1):
            pool = self.pool(target)
            for size in range(self.parameters.m_min, min(self.parameters.m_max, len(pool)) + 1):
                for premises in combinations(pool, size):
                    yield premises, target

    def count(self) -> int:
        """Return how many relations `relations` yields, without enumerating them."""
        if self.window is None and self.context_segments <= 1:
            return candidate_count(self.n, self.parameters)
        sizes = range(self.parameters.m_min, self.parameters.m_max + 1)
        targets = range(self.context_segments + 1, self.n + 1)
        return sum(comb(len(self.pool(target)), size) for target in targets for size in sizes)


def effective_parameters(
    parameters: AuditParameters, context_segments: int, largest_stored: int | None = None
) -> AuditParameters:
    """Return the parameters as they apply to one trace.

    Every context segment is a leaf of the support trees (the paper has one, data sets with several given sentences
    have more), and stored relations count whatever their size, which m_max then states.
    """
    changed = replace(parameters, early_accept=max(parameters.early_accept, context_segments))
    if largest_stored is not None:
        changed = replace(changed, m_max=max(changed.m_max, largest_stored))
    return changed


def stored_relations(
    stored: Iterable[Sequence[Any]], context_segments: int, max_premises: int | None
) -> list[tuple[Relation, Label, float | None]]:
    """Return a trace's own relations in candidate order, with the probability of the label where it is known.

    `max_premises` leaves out larger premise sets; None keeps every size.
    """
    found: list[tuple[Relation, Label, float | None]] = []
    for premises, target, word, *rest in stored:
        relation: Relation = (tuple(premises), target)
        if target <= context_segments or (max_premises is not None and len(premises) > max_premises):
            continue
        probabilities = (rest[0] if rest else None) or {}
        found.append((relation, Label.from_word(word), probabilities.get(word)))
    found.sort(key=lambda item: (item[0][1], len(item[0][0]), item[0][0]))
    return found


def refusal(scope: Scope, limit: int, *, stored: bool = False) -> str | None:
    """Return why this trace cannot be audited, with the ways out, or None when it can."""
    if scope.n == 0:
        return "The trace has no segments. Import it again with its reasoning."
    if scope.n <= scope.context_segments:
        return (
            "The trace has only the case text, and the audit needs at least one reasoning segment after it. "
            "Let a model answer the case, or import the reasoning."
        )
    if stored:
        return None
    calls = scope.count()
    if calls <= limit:
        return None
    return f"{scope.n} segments need {calls:,} relation calls and the limit is {limit:,}. {_ways_out(scope, limit)}"


def _ways_out(scope: Scope, limit: int) -> str:
    ways = []
    if scope.parameters.m_max > scope.parameters.m_min:
        smaller = replace(scope.parameters, m_max=scope.parameters.m_min)
        calls = replace(scope, parameters=smaller).count()
        if calls <= limit:
            ways.append(
                f"use premise sets of {smaller.m_max} segment only (m_max {smaller.m_max}: {calls:,} calls)"
            )
    if window := largest_window(scope, limit):
        calls = replace(scope, window=window).count()
        ways.append(
            f"let only the {window} segments before the target be premises (window {window}: {calls:,} calls)"
        )
    ways.append("raise the limit (AUDIT_MAX_CALLS_PER_TRACE)")
    return f"Ways out: {', or '.join(ways)}."


def largest_window(scope: Scope, limit: int) -> int | None:
    """Return the largest window that keeps the trace within `limit` calls, or None if even 1 is too many."""
    low, high = 0, (scope.window or scope.n) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if replace(scope, window=middle).count() <= limit:
            low = middle
        else:
            high = middle - 1
    return low or None
