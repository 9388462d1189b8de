"""Selection of the support edges: gap filter and the six patterns.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section
3.2, appendix A.1 with Table 3 (patterns), appendix E.4 (gap filter). Choices where the paper is open, in
words:

- The gap filter comes first and decides which edges are usable; the patterns are then read from the raw
  labels and all removals are applied at once (A3a: the paper calls the filter a prefilter).
- Redundancy is judged by the components of the combination only. Table 5 of the paper retains both S1 -> S4
  and {S2, S3} -> S4, which no label assignment allows if any singleton of the target counted.
- A combination dominated by a stronger component is removed only if that component is usable itself (A3b);
  a weak cluster loses the combination, not its components (A3c); any strong component makes a weakened
  combination degraded (A3d); an unstable target is flagged and its label stays (A3e); any premise set can
  contradict (A3f).
- A component without a label counts as Neutral.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditing.core.hypergraph import Hypergraph, distances
from auditing.core.nli import Label, Premises, Relation
from auditing.core.parameters import AuditParameters

PATTERNS = (
    "neutral",
    "contradicted",
    "degraded",
    "asymmetric",
    "redundant",
    "conjunctive",
    "consistently_weak",
)
REASONS = ("", "neutral", "contradiction", "gap", "degraded", "asymmetric", "redundant", "consistently_weak")
PATTERN_CODE = {name: code for code, name in enumerate(PATTERNS)}
_REASON_CODE = {name: code for code, name in enumerate(REASONS)}

_LABELS = tuple(Label)


class SupportEdge(NamedTuple):
    """A retained support edge; its target is the segment it is listed under."""

    premises: Premises
    label: Label


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What edge selection decided for every relation of a hypergraph.

    Attributes
    ----------
    retained : Mapping[int, tuple of SupportEdge]
        Per target, in search order: stronger label, closer premise, fewer premises, lower indices.
    removed : Mapping[Relation, str]
        Why each relation that is not retained was dropped: neutral, contradiction, gap, or a pattern.
    patterns : Mapping[Relation, str]
        Pattern of every scored relation with two or more premises.
    unstable : frozenset of int
        Targets with a degraded combination.
    contradicting : Mapping[int, tuple of Premises]
        Per target, the premise sets in scope that contradict it, by size, then premises.
    gap_removed : tuple of int
        By target index, how many Implied edges the gap filter removed.
    """

    retained: Mapping[int, tuple[SupportEdge, ...]]
    removed: Mapping[Relation, str]
    patterns: Mapping[Relation, str]
    unstable: frozenset[int]
    contradicting: Mapping[int, tuple[Premises, ...]]
    gap_removed: tuple[int, ...]


class _Coded(Mapping[Relation, str]):
    """Read-only mapping from some relations of a hypergraph to words, decoded on access.

    At 100 segments 130,000 relations are removed; nobody looks at most of them, so no dictionary is made
    until a relation is looked up.
    """

    __slots__ = ("_codes", "_positions", "_relations", "_rows", "_words")

    def __init__(
        self,
        relations: tuple[Relation, ...],
        rows: NDArray[np.int64],
        codes: NDArray[np.int8],
        words: Sequence[str],
    ) -> None:
        self._relations = relations
        self._rows = rows
        self._codes = codes
        self._words = words
        self._positions: dict[Relation, int] | None = None

    def __getitem__(self, relation: Relation) -> str:
        if self._positions is None:
            self._positions = {self._relations[row]: int(row) for row in self._rows.tolist()}
        return self._words[int(self._codes[self._positions[relation]])]

    def __iter__(self) -> Iterator[Relation]:
        return (self._relations[row] for row in self._rows.tolist())

    def __len__(self) -> int:
        return len(self._rows)


def edge_usable(premises: Premises, target: int, label: Label, parameters: AuditParameters) -> bool:
    """Tell whether one edge is a candidate support edge after the gap filter (paper, appendix E.4).

    Parameters
    ----------
    premises, target, label
        The labelled relation.
    parameters : AuditParameters
        Uses tau, gap_enabled, gap_op, d_max_threshold and span_threshold.

    Returns
    -------
    bool
        True for Entailment always, for Implied if no distance reaches its limit, else False.
    """
    if label <= Label.NEUTRAL:
        return False
    if label is Label.ENTAILMENT or not parameters.gap_enabled:
        return True
    limits = (parameters.tau, parameters.d_max_threshold, parameters.span_threshold)
    for distance, limit in zip(distances(premises, target), limits, strict=True):
        if distance > limit or (distance == limit and parameters.gap_op == ">="):
            return False
    return True


def pattern_of(components: Sequence[Label], combined: Label, parameters: AuditParameters) -> str:
    """Return the pattern of a combination and its components (paper, Table 3).

    Parameters
    ----------
    components : sequence of Label
        Raw labels of the singletons, at least two; a singleton without a label is Neutral.
    combined : Label
        Label of the combination.
    parameters : AuditParameters
        Uses degraded_rule.

    Returns
    -------
    str
        One of `PATTERNS`.
    """
    codes = pattern_codes(
        np.array([combined], dtype=np.int8),
        np.array([max(components)], dtype=np.int8),
        np.array([min(components)], dtype=np.int8),
        parameters,
    )
    return PATTERNS[int(codes[0])]


def select_edges(graph: Hypergraph, parameters: AuditParameters) -> Selection:
    """Select the support edges of every target (paper, section 3.2 and appendix A.1).

    Parameters
    ----------
    graph : Hypergraph
        All scored relations.
    parameters : AuditParameters
        Gap filter, pattern rules, contradiction scope.

    Returns
    -------
    Selection
        Retained edges in search order, and a reason for every other relation.

    Notes
    -----
    Linear in the number of relations, apart from sorting the retained ones.
    """
    rows = graph.arrays
    ranks = rows.ranks
    usable = _usable(graph, parameters)
    reasons = np.zeros(len(ranks), dtype=np.int8)

    many = np.flatnonzero(rows.sizes >= 2)
    patterns = np.zeros(len(ranks), dtype=np.int8)
    unstable: frozenset[int] = frozenset()
    if len(many):
        _apply_patterns(graph, usable, many, patterns, reasons, parameters)
        degraded = many[patterns[many] == PATTERN_CODE["degraded"]]
        unstable = frozenset(np.unique(rows.targets[degraded]).tolist())

    reasons[~usable] = _REASON_CODE["gap"]
    reasons[ranks == Label.NEUTRAL] = _REASON_CODE["neutral"]
    reasons[ranks == Label.CONTRADICTION] = _REASON_CODE["contradiction"]
    return Selection(
        retained=_in_search_order(graph, np.flatnonzero(reasons == 0)),
        removed=_Coded(graph.relations, np.flatnonzero(reasons), reasons, REASONS),
        patterns=_Coded(graph.relations, many, patterns, PATTERNS),
        unstable=unstable,
        contradicting=_contradicting(graph, parameters),
        gap_removed=tuple(
            np.bincount(rows.targets[reasons == _REASON_CODE["gap"]], minlength=graph.n + 1).tolist()
        ),
    )


def _usable(graph: Hypergraph, parameters: AuditParameters) -> NDArray[np.bool_]:
    rows = graph.arrays
    strong = rows.ranks == Label.ENTAILMENT
    weak = rows.ranks == Label.IMPLIED
    if parameters.gap_enabled:
        reaches = np.greater_equal if parameters.gap_op == ">=" else np.greater
        weak &= ~reaches(rows.targets - rows.lasts, parameters.tau)
        weak &= ~reaches(rows.targets - rows.firsts, parameters.d_max_threshold)
        weak &= ~reaches(rows.lasts - rows.firsts, parameters.span_threshold)
    usable: NDArray[np.bool_] = strong | weak
    return usable


def _apply_patterns(
    graph: Hypergraph,
    usable: NDArray[np.bool_],
    many: NDArray[np.int64],
    patterns: NDArray[np.int8],
    reasons: NDArray[np.int8],
    parameters: AuditParameters,
) -> None:
    """Fill `patterns` and the pattern part of `reasons` for the combinations, rows `many`."""
    rows = graph.arrays
    single = np.flatnonzero(rows.sizes == 1)

    lengths = rows.sizes[many]
    starts = np.cumsum(lengths) - lengths
    part_premise = rows.premises[np.repeat(rows.starts[many] - starts, lengths) + np.arange(lengths.sum())]
    part_target = np.repeat(rows.targets[many], lengths)
    part, present = _find_singletons(graph, single, part_premise, part_target)
    part_rank = np.where(present, rows.ranks[part], np.int8(Label.NEUTRAL))
    strongest = np.maximum.reduceat(part_rank, starts)
    weakest = np.minimum.reduceat(part_rank, starts)
    codes = pattern_codes(rows.ranks[many], strongest, weakest, parameters)
    patterns[many] = codes

    for name in ("degraded", "redundant", "consistently_weak"):
        reasons[many[codes == PATTERN_CODE[name]]] = _REASON_CODE[name]
    dominated = codes == PATTERN_CODE["asymmetric"]
    if parameters.dominance_basis == "surviving":
        dominant = (part_rank == np.repeat(strongest, lengths)) & present & usable[part]
        dominated &= np.logical_or.reduceat(dominant, starts)
    reasons[many[dominated]] = _REASON_CODE["asymmetric"]

    if parameters.weak_cluster == "cluster":
        # All components of a weak cluster are Implied, so all of them are present.
        weak_parts = np.repeat(codes == PATTERN_CODE["consistently_weak"], lengths)
        reasons[part[weak_parts]] = _REASON_CODE["consistently_weak"]


def _find_singletons(
    graph: Hypergraph,
    single: NDArray[np.int64],
    premises: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the row of the singleton of each premise and target, and whether there is one.

    The singletons, rows `single`, are stored by target and premise, so a binary search finds them.
    """
    if not len(single):
        return np.zeros(len(premises), dtype=np.int64), np.zeros(len(premises), dtype=np.bool_)
    rows, width = graph.arrays, graph.n + 1
    keys = rows.targets[single] * width + rows.firsts[single]
    wanted = targets * width + premises
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return single[places], keys[places] == wanted


def pattern_codes(
    combined: NDArray[np.int8],
    strongest: NDArray[np.int8],
    weakest: NDArray[np.int8],
    parameters: AuditParameters,
) -> NDArray[np.int8]:
    """Return the codes of the patterns of many combinations (paper, Table 3).

    Parameters
    ----------
    combined, strongest, weakest : integer arrays of one shape
        Rank of each combination, and the largest and smallest rank of its components.
    parameters : AuditParameters
        Uses degraded_rule.

    Returns
    -------
    integer array of the same shape
        Values of `PATTERN_CODE`; the first matching line of the table wins.
    """
    weakened = (combined < Label.ENTAILMENT) & (strongest == Label.ENTAILMENT)
    degraded = weakened
    if parameters.degraded_rule == "both_strong":
        degraded = weakened & (weakest == Label.ENTAILMENT)
    implied = combined == Label.IMPLIED
    lines = (
        (combined == Label.CONTRADICTION, "contradicted"),
        (degraded, "degraded"),
        (weakened, "asymmetric"),
        ((combined == Label.ENTAILMENT) & (strongest == Label.ENTAILMENT), "redundant"),
        (combined == Label.ENTAILMENT, "conjunctive"),
        (implied & (strongest < Label.IMPLIED), "conjunctive"),
        (implied & (weakest == Label.IMPLIED), "consistently_weak"),
        (implied, "asymmetric"),
    )
    codes = np.full(combined.shape, PATTERN_CODE["neutral"], dtype=np.int8)
    for condition, name in reversed(lines):
        codes[condition] = PATTERN_CODE[name]
    return codes


def _in_search_order(graph: Hypergraph, kept: NDArray[np.int64]) -> dict[int, tuple[SupportEdge, ...]]:
    """Group the kept rows by target, best first.

    Relations are stored by size and premises already, and the sort is stable.
    """
    rows = graph.arrays
    d_min = rows.targets[kept] - rows.lasts[kept]
    order = kept[np.lexsort((d_min, -rows.ranks[kept], rows.targets[kept]))]
    ranks = rows.ranks[order].tolist()
    edges = [
        SupportEdge(graph.relations[row][0], _LABELS[rank])
        for row, rank in zip(order.tolist(), ranks, strict=True)
    ]
    bounds = np.searchsorted(rows.targets[order], np.arange(2, graph.n + 2)).tolist()
    return {target: tuple(edges[bounds[target - 2] : bounds[target - 1]]) for target in range(2, graph.n + 1)}


def _contradicting(graph: Hypergraph, parameters: AuditParameters) -> dict[int, tuple[Premises, ...]]:
    rows = graph.arrays
    negative = rows.ranks == Label.CONTRADICTION
    if parameters.contradiction_scope == "singleton":
        negative &= rows.sizes == 1
    elif parameters.contradiction_scope == "none":
        negative = np.zeros_like(negative)
    found: dict[int, list[Premises]] = {target: [] for target in range(2, graph.n + 1)}
    for row in np.flatnonzero(negative).tolist():
        premises, target = graph.relations[row]
        found[target].append(premises)
    return {target: tuple(sets) for target, sets in found.items()}
