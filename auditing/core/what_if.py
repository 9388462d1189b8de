"""What if: re-audit after edits of relations, and the smallest edits that flip a label.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), sections
3.2 to 3.4 define the labels that are re-computed; both questions are ours.

How the search is exact without trying every set of edits. An edit belongs to one target segment. All that
later segments see of a segment is one bit, whether it may be a premise. In a smallest set of edits every
edit is needed, so each edited segment other than the one asked about must have its bit turned. The search
therefore goes through the segments in order and decides for at most three of them to turn the bit; for each
it asks `auditing.core.flip_search` for the smallest change of the relations into that segment alone, and
adds the sizes up. Where the depth bound could bind, a segment shows more than one bit; there every set of
edits is tried, up to a stated number of audits.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import prod
from typing import Any

from auditing.core.audit_labels import (
    AUDIT_LABELS,
    CONTRADICTED,
    ORPHAN,
    SUPPORTED,
    UNSUPPORTED,
    Audit,
    audit,
)
from auditing.core.flip_patterns import PatternSegment
from auditing.core.flip_search import (
    CONTRADICTS,
    GROUNDED,
    UNGROUNDED,
    UNSTABLE,
    Budget,
    Change,
    CountingSegment,
    Goal,
    SearchTooLarge,
    editable_relations,
)
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises, Relation, candidate_count, candidates
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import Selection

MAX_STEPS = 5_000_000
"""Steps of one search, about a microsecond each, after which it stops and says how far it came."""
MAX_AUDITS = 5_000
"""Audits of one exhaustive search, where the depth bound could bind."""


@dataclass(frozen=True, slots=True)
class EdgeEdit:
    """A new label for one relation; None removes it."""

    premises: Premises
    target: int
    label: Label | None


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """One edit of a smallest set, with the label before; None before means not scored, None after removed."""

    premises: Premises
    target: int
    before: Label | None
    after: Label | None

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON-able values."""
        return {
            "premises": list(self.premises),
            "target": self.target,
            "from": None if self.before is None else self.before.word,
            "to": None if self.after is None else self.after.word,
        }


@dataclass(frozen=True, slots=True)
class FlipResult:
    """The smallest sets of edits that flip a label.

    Attributes
    ----------
    target : int
        The segment.
    label : str
        Its audit label now.
    to : str or None
        The label asked for; None for any other one.
    found : bool
        Whether there is such a set within `searched_up_to` edits.
    size : int or None
        Number of edits in a smallest set; 0 if the segment has the label already.
    sets : tuple of tuple of EdgeChange
        All smallest sets, or the first ones if `truncated`.
    truncated : bool
        Whether there are more smallest sets than were asked for.
    searched_up_to : int
        All sets up to this size were considered. Less than asked for if a set was found or the search was
        too large; then nothing is claimed about larger sets.
    """

    target: int
    label: str
    to: str | None
    found: bool
    size: int | None
    sets: tuple[tuple[EdgeChange, ...], ...]
    truncated: bool
    searched_up_to: int

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-able values."""
        return {
            "segment": self.target,
            "from": self.label,
            "to": self.to,
            "found": self.found,
            "size": self.size,
            "sets": [[change.to_dict() for change in changes] for changes in self.sets],
            "truncated": self.truncated,
            "searched_up_to": self.searched_up_to,
        }


def reaudit(graph: Hypergraph, edits: Iterable[EdgeEdit], parameters: AuditParameters) -> Audit:
    """Audit a copy of the hypergraph with some relations relabelled, added or removed.

    Raises
    ------
    ValueError
        If an edit is malformed, a relation is edited twice, or removed without having a label.
    """
    changed = (((edit.premises, edit.target), edit.label) for edit in edits)
    return audit(graph.replaced(changed), parameters)


def smallest_flips(
    graph: Hypergraph,
    target: int,
    parameters: AuditParameters,
    *,
    to: str | None = None,
    max_changes: int = 3,
    max_sets: int = 200,
) -> FlipResult:
    """Find the smallest sets of edits that give a segment another audit label.

    Parameters
    ----------
    graph : Hypergraph
        All scored relations.
    target : int
        The segment, 2 to n.
    parameters : AuditParameters
        Settings of the audit. Every scored relation and every candidate may be edited.
    to : str, optional
        The label wanted, upper or lower case; any other label if not given.
    max_changes : int
        Largest size of a set, 0 to 3.
    max_sets : int
        Largest number of sets returned.

    Returns
    -------
    FlipResult
        Exact up to `searched_up_to`. Relabelling a relation Neutral stands for removing it too, except where
        the two differ.

    Raises
    ------
    ValueError
        If the segment, the label or a number is out of range.
    """
    if not 2 <= target <= graph.n:
        raise ValueError(f"Segment {target} has no audit label; use 2 to {graph.n}.")
    if not 0 <= max_changes <= 3:
        raise ValueError(f"max_changes is {max_changes}; use 0 to 3.")
    if max_sets < 1:
        raise ValueError(f"max_sets is {max_sets}; use at least 1.")
    wanted = None if to is None else to.strip().capitalize()
    if wanted is not None and wanted not in AUDIT_LABELS:
        raise ValueError(f"Unknown audit label {to!r}; use one of {', '.join(AUDIT_LABELS)}.")
    now = audit(graph, parameters)
    label = now.labels[target]
    labels = [wanted] if wanted is not None else [other for other in AUDIT_LABELS if other != label]
    if target - 1 > parameters.max_depth:
        sets, searched = _exhaustive(graph, target, parameters, labels, max_changes)
    else:
        search = _FlipSearch(graph, now.selection, target, parameters, labels)
        sets, searched = search.run(max_changes, max_sets + 1)
    size = len(sets[0]) if sets else None
    return FlipResult(
        target, label, wanted, bool(sets), size, tuple(sets[:max_sets]), len(sets) > max_sets, searched
    )


_Sets = list[tuple[EdgeChange, ...]]
_Step = tuple[int, int, Sequence[Goal], int]


class _FlipSearch:
    """One search; segments are turned in order, each at the cost of its own smallest change."""

    def __init__(
        self,
        graph: Hypergraph,
        selection: Selection,
        target: int,
        parameters: AuditParameters,
        labels: list[str],
    ) -> None:
        self._graph = graph
        self._target = target
        self._parameters = parameters
        self._goals = [goal for label in labels for goal in label_goals(label, parameters)]
        self._budget = Budget(MAX_STEPS)
        self._premise_sets = _premise_sets(graph, target, parameters)
        self._segments: dict[int, CountingSegment | PatternSegment] = {}
        self._sizes: dict[tuple[int, int, bool, int], int | None] = {}
        self._blocked = {
            index
            for index in range(2, target)
            if (parameters.contradicted_blocks and selection.contradicting[index])
            or (parameters.unstable_policy == "negative" and index in selection.unstable)
        }
        self._supports = {index: _minimal_masks(selection, index) for index in range(2, target + 1)}
        self._ancestors = self._find_ancestors()
        self._turned = {value: grounding_goals(value, parameters) for value in (True, False)}

    def run(self, max_changes: int, max_sets: int) -> tuple[_Sets, int]:
        """Return smallest sets and the size up to which all sets were considered."""
        searched = 0
        for size in range(max_changes + 1):
            try:
                sets = sorted(islice(self._sets(size), max_sets), key=_set_order)
            except SearchTooLarge:
                break
            searched = size
            if sets:
                return sets, searched
        return [], searched

    def _sets(self, size: int) -> Iterator[tuple[EdgeChange, ...]]:
        leaves = self._parameters.early_accept
        grounds = sum(1 << index for index in range(1, leaves + 1))
        for plan in self._plans(min(leaves + 1, self._target), grounds, size, ()):
            choices = [
                [self._edit(index, change) for change in self._segment(index).changes(seen, goals, cost)]
                for index, seen, goals, cost in plan
            ]
            for parts in product(*choices):
                yield tuple(change for part in parts for change in part)

    def _plans(
        self, index: int, grounds: int, left: int, turned: tuple[_Step, ...]
    ) -> Iterator[tuple[_Step, ...]]:
        """Yield the ways to spend exactly `left` edits on segments from `index` on.

        `grounds` has a bit for every earlier segment that may be a premise.
        """
        while index < self._target:
            self._budget.spend(3)
            value = self._may_be_premise(index, grounds)
            # With no edit left after this one, only existing edges can pass the turned bit on.
            least = 1 if index in self._ancestors else 2
            if left >= least:
                size = self._size(index, grounds, value, left)
                if size is not None and size + least - 1 <= left:
                    step = (index, grounds, self._turned[not value], size)
                    after = grounds if value else grounds | 1 << index
                    yield from self._plans(index + 1, after, left - size, (*turned, step))
            if value:
                grounds |= 1 << index
            index += 1
        if self._segment(index).smallest(grounds, self._goals, left) == left:
            yield (*turned, (index, grounds, self._goals, left))

    def _size(self, index: int, grounds: int, value: bool, left: int) -> int | None:
        key = (index, grounds, value, left)
        if key not in self._sizes:
            self._budget.spend(len(self._premise_sets[index]) // 8)
            self._sizes[key] = self._segment(index).smallest(grounds, self._turned[not value], left)
        return self._sizes[key]

    def _segment(self, index: int) -> CountingSegment | PatternSegment:
        if index not in self._segments:
            relations = editable_relations(self._graph, index, self._premise_sets[index], self._parameters)
            if self._parameters.label_neutral:
                self._segments[index] = CountingSegment(relations)
            else:
                self._segments[index] = PatternSegment(relations, self._parameters, self._budget)
        return self._segments[index]

    def _may_be_premise(self, index: int, grounds: int) -> bool:
        return index not in self._blocked and any(not mask & ~grounds for mask in self._supports[index])

    def _find_ancestors(self) -> set[int]:
        found = {self._target}
        for index in range(self._target, 1, -1):
            if index in found:
                for mask in self._supports[index]:
                    found.update(premise for premise in range(1, index) if mask >> premise & 1)
        return found - {self._target}

    def _edit(self, index: int, change: tuple[Change, ...]) -> tuple[EdgeChange, ...]:
        labels = self._graph.labels
        return tuple(EdgeChange(p, index, labels.get((p, index)), label) for p, label in change)


def label_goals(label: str, parameters: AuditParameters) -> list[Goal]:
    """Return what must hold at a segment for it to get an audit label (paper, section 3.4)."""
    override = parameters.contradiction_policy == "override"
    absent = CONTRADICTS if override else 0
    if label == CONTRADICTED:
        return [Goal(0, CONTRADICTS)] if override else []
    return {
        SUPPORTED: [Goal(absent, GROUNDED)],
        UNSUPPORTED: [Goal(absent | GROUNDED, UNGROUNDED)],
        ORPHAN: [Goal(absent | GROUNDED | UNGROUNDED, 0)],
    }[label]


def grounding_goals(value: bool, parameters: AuditParameters) -> list[Goal]:
    """Return the ways in which a segment comes to be a possible premise, or not to be one."""
    blocking = (CONTRADICTS if parameters.contradicted_blocks else 0) | (
        UNSTABLE if parameters.unstable_policy == "negative" else 0
    )
    if value:
        return [Goal(blocking, GROUNDED)]
    return [Goal(GROUNDED, 0), *(Goal(0, kind) for kind in (CONTRADICTS, UNSTABLE) if blocking & kind)]


def _premise_sets(graph: Hypergraph, target: int, parameters: AuditParameters) -> dict[int, list[Premises]]:
    """Return the premise sets of all relations, scored or candidate, into each segment up to `target`."""
    sets: dict[int, set[Premises]] = {index: set() for index in range(2, target + 1)}
    for relations in (graph.relations, candidates(target, parameters)):
        for premises, index in relations:
            if index <= target:
                sets[index].add(premises)
    return {
        index: sorted(found, key=lambda premises: (len(premises), premises)) for index, found in sets.items()
    }


def _minimal_masks(selection: Selection, index: int) -> list[int]:
    """Return the retained premise sets as bits, without those that contain another one."""
    masks = sorted(
        {sum(1 << p for p in edge.premises) for edge in selection.retained[index]}, key=int.bit_count
    )
    minimal: list[int] = []
    for mask in masks:
        if not any(other & ~mask == 0 for other in minimal):
            minimal.append(mask)
    return minimal


def _set_order(changes: tuple[EdgeChange, ...]) -> list[tuple[int, int, Premises, int]]:
    return [(c.target, len(c.premises), c.premises, -1 if c.after is None else int(c.after)) for c in changes]


def _exhaustive(
    graph: Hypergraph, target: int, parameters: AuditParameters, labels: list[str], max_changes: int
) -> tuple[_Sets, int]:
    """Try every set of edits, smaller ones first, as long as the number of audits allows."""
    if candidate_count(target, parameters) > MAX_AUDITS:
        # Not even the sets of one edit can be tried; 500 segments have 20 million, which only to list takes minutes.
        return ([()] if audit(graph, parameters).labels[target] in labels else []), 0
    sets = _premise_sets(graph, target, parameters)
    options: list[tuple[Relation, list[Label | None]]] = [
        ((premises, index), _new_labels((premises, index), graph.labels.get((premises, index)), parameters))
        for index, found in sets.items()
        for premises in found
    ]
    audits, searched = 0, -1
    for size in range(max_changes + 1):
        chosen = combinations(options, size)
        if audits + sum(prod(len(new) for _, new in some) for some in chosen) > MAX_AUDITS:
            break
        hits = []
        for some in combinations(options, size):
            for new in product(*(labels_of for _, labels_of in some)):
                audits += 1
                edits = [(relation, label) for (relation, _), label in zip(some, new, strict=True)]
                if audit(graph.replaced(edits), parameters).labels[target] in labels:
                    hits.append(tuple(EdgeChange(*r, graph.labels.get(r), label) for r, label in edits))
        searched = size
        if hits:
            return sorted(hits, key=_set_order), searched
    return [], max(searched, 0)


def _new_labels(relation: Relation, label: Label | None, parameters: AuditParameters) -> list[Label | None]:
    """Return the labels that differ in effect from the present one; None is removal."""
    if parameters.unstable_policy == "negative" and len(relation[0]) > 1:
        return [new for new in (*Label, None) if new is not label]
    return [new for new in Label if new is not (Label.NEUTRAL if label is None else label)]
