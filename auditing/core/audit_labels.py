"""Audit labels, breakpoints and the whole audit of one hypergraph.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.4
(Supported, Unsupported, Orphan; contradiction is a negative grounding case), appendix D (breakpoints).
Choices where the paper is open, in words:

- A contradicted segment is labelled Contradicted whatever its support, and cannot be a premise (A3f). Both
  are parameters. Tables 1 and 2 of the paper leave a few negative segments that are neither Orphan nor
  Unsupported, which speaks for a class of its own.
- The breakpoint of a failing edge is its smallest premise that does not ground; the root breakpoint follows
  the first failing edges back to a segment that is not Unsupported.
"""

from dataclasses import dataclass, field
from typing import Any

from auditing.core.and_or_search import COUNT_LIMIT, SupportSearch, Tree, subtrees
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import Selection, SupportEdge, select_edges

SUPPORTED = "Supported"
UNSUPPORTED = "Unsupported"
ORPHAN = "Orphan"
CONTRADICTED = "Contradicted"
DEFAULTS = AuditParameters()
AUDIT_LABELS = (SUPPORTED, UNSUPPORTED, ORPHAN, CONTRADICTED)

MAX_TREE_NODES = 2_000
"""A tree with more nodes than this is written with every repeated segment abbreviated."""
MAX_TREE_DEPTH = 200
"""Deeper parts of a tree are abbreviated too, since readers of nested JSON recurse."""


@dataclass(frozen=True, slots=True)
class FailingEdge:
    """A retained edge with a premise that does not ground.

    Attributes
    ----------
    premises, label
        The edge.
    ungrounded : tuple of int
        All its premises that do not ground, ascending.
    """

    premises: Premises
    label: Label
    ungrounded: tuple[int, ...]

    @property
    def breakpoint(self) -> int:
        """The smallest premise that does not ground."""
        return self.ungrounded[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the edge as JSON-able values."""
        return {
            "premises": list(self.premises),
            "label": self.label.word,
            "reason": "ungrounded",
            "ungrounded": list(self.ungrounded),
            "breakpoint": self.breakpoint,
        }


@dataclass(frozen=True, slots=True)
class SegmentAudit:
    """The audit of one segment, treated as the sink.

    Attributes
    ----------
    index : int
        Segment number, 2 or more.
    label, search_label : str
        Audit label, and the label that the search alone gives (never Contradicted).
    y_hat : int
        1 if the segment is grounded, else 0 (paper, section 3.4).
    contradicted, unstable : bool
        Whether a premise set in scope contradicts the segment; whether a combination is degraded.
    contradicting : tuple of Premises
        The contradicting premise sets, by size, then premises.
    retained : tuple of SupportEdge
        Retained incoming edges in search order.
    n_trees_total, n_trees_returned : int
        Support trees without bounds (at most 10**12), and within the bounds.
    min_depth : int or None
        Depth in edges of the flattest tree, None without a tree.
    failing : tuple of FailingEdge
        Retained edges that cannot be grounded, in search order; a Supported segment may have some.
    root_breakpoint : int or None
        For an Unsupported segment, where the chain of first failing edges ends.
    blocked : bool
        Whether the segment may not be a premise although it may have a tree.
    """

    index: int
    label: str
    search_label: str
    y_hat: int
    contradicted: bool
    contradicting: tuple[Premises, ...]
    unstable: bool
    retained: tuple[SupportEdge, ...]
    n_trees_total: int
    n_trees_returned: int
    min_depth: int | None
    failing: tuple[FailingEdge, ...]
    root_breakpoint: int | None
    blocked: bool
    _search: SupportSearch = field(repr=False, compare=False)

    @property
    def truncated(self) -> bool:
        """Whether a bound (depth, trees, sub-trees) left out trees that exist."""
        return self.n_trees_returned < self.n_trees_total

    @property
    def best_tree(self) -> Tree | None:
        """The first tree in search order, or None; see `auditing.core.and_or_search.Tree`."""
        return self._search.tree(self.index, 0) if self.n_trees_returned else None

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All returned trees in search order."""
        return tuple(self._search.tree(self.index, rank) for rank in range(self.n_trees_returned))

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON-able values; of the trees, only the best is written out."""
        tree = self.best_tree
        return {
            "index": self.index,
            "label": self.label,
            "search_label": self.search_label,
            "y_hat": self.y_hat,
            "contradicted": self.contradicted,
            "contradicting": [list(premises) for premises in self.contradicting],
            "unstable": self.unstable,
            "retained": [[list(edge.premises), edge.label.word] for edge in self.retained],
            "n_trees_total": self.n_trees_total,
            "n_trees_returned": self.n_trees_returned,
            "truncated": self.truncated,
            "min_depth": self.min_depth,
            "best_tree": None if tree is None else self.write_tree(tree),
            "failing": [edge.to_dict() for edge in self.failing],
            "root_breakpoint": self.root_breakpoint,
        }

    def write_tree(self, tree: Tree) -> list[Any]:
        """Write a tree as nested lists, `[i]` for a leaf or `[i, premises, label, sub-trees]`.

        A tree of more than `MAX_TREE_NODES` nodes repeats itself; there each segment is written out once and
        later only as `[i, premises, label, null]`, which also cuts what lies deeper than `MAX_TREE_DEPTH`.
        """
        written: set[int] | None = set() if self._search.tree_size(tree) > MAX_TREE_NODES else None
        return _write_tree(tree, written, 0)


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of a whole trace.

    Attributes
    ----------
    n : int
        Number of segments, the context included.
    segments : dict of int to SegmentAudit
        Segments 2 to n.
    selection : Selection
        What happened to every relation.
    parameters : AuditParameters
        Settings of this audit.
    """

    n: int
    segments: dict[int, SegmentAudit]
    selection: Selection
    parameters: AuditParameters

    @property
    def labels(self) -> dict[int, str]:
        """Audit label of every segment from 2 on."""
        return {index: segment.label for index, segment in self.segments.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON-able values, the same bytes for the same hypergraph and parameters."""
        return {
            "n": self.n,
            "parameters": self.parameters.to_dict(),
            "segments": [segment.to_dict() for segment in self.segments.values()],
        }


def audit(graph: Hypergraph, parameters: AuditParameters = DEFAULTS) -> Audit:
    """Audit every segment of a hypergraph (paper, sections 3.2 to 3.4).

    Parameters
    ----------
    graph : Hypergraph
        All scored relations. Relations outside m_min..m_max count too, as stored relations may have any
        size; use `Hypergraph.restricted` to leave them out.
    parameters : AuditParameters
        Settings; the defaults are those of the paper.

    Returns
    -------
    Audit
        One `SegmentAudit` for each of the segments 2..n; none for a trace of one segment.

    Notes
    -----
    Linear in the number of relations, apart from sorting the retained ones. Trees are made when asked for.
    """
    selection = select_edges(graph, parameters)
    blocked: set[int] = set()
    if parameters.contradicted_blocks:
        blocked.update(target for target, sets in selection.contradicting.items() if sets)
    if parameters.unstable_policy == "negative":
        blocked.update(selection.unstable)
    search = SupportSearch(graph.n, selection.retained, blocked, parameters)

    segments: dict[int, SegmentAudit] = {}
    roots: dict[int, int | None] = {}
    for index in range(2, graph.n + 1):
        retained = selection.retained[index]
        contradicting = selection.contradicting[index]
        failing = _failing(retained, search.grounds)
        unfounded = UNSUPPORTED if retained else ORPHAN
        search_label = SUPPORTED if search.returned[index] else unfounded
        overridden = contradicting and parameters.contradiction_policy == "override"
        label = CONTRADICTED if overridden else search_label
        unstable = index in selection.unstable
        negative = unstable and parameters.unstable_policy == "negative"
        if search_label == UNSUPPORTED:
            start = failing[0].breakpoint if failing else None
            roots[index] = start if start is None or roots.get(start) is None else roots[start]
        segments[index] = SegmentAudit(
            index=index,
            label=label,
            search_label=search_label,
            y_hat=int(label == SUPPORTED and not negative),
            contradicted=bool(contradicting),
            contradicting=contradicting,
            unstable=unstable,
            retained=retained,
            n_trees_total=search.totals[index],
            n_trees_returned=search.returned[index],
            min_depth=search.min_depth[index],
            failing=failing,
            root_breakpoint=roots.get(index),
            blocked=index in blocked,
            _search=search,
        )
    return Audit(graph.n, segments, selection, parameters)


def explain(segment: SegmentAudit, result: Audit) -> str:
    """Say in words why a segment has its label (paper, appendix D).

    Parameters
    ----------
    segment : SegmentAudit
        The segment.
    result : Audit
        The audit it belongs to.

    Returns
    -------
    str
        One short sentence, and further ones only for what would otherwise stay unsaid: a chain of failures,
        a bound that cut something off, a recorded contradiction, instability.
    """
    parts = [f"{segment.label}: {_reason(segment, result)}."]
    root = segment.root_breakpoint
    if segment.label == UNSUPPORTED and root is not None and root != segment.failing[0].breakpoint:
        parts.append(f"Followed back, the support breaks first at S{root}, which {_failure(root, result)}.")
    if segment.search_label == SUPPORTED and segment.truncated:
        total = segment.n_trees_total
        known = f"more than {total - 1:,}" if total >= COUNT_LIMIT else f"{total:,}"
        parts.append(f"Its list of support trees stops at {segment.n_trees_returned} of {known}.")
    if segment.contradicted and segment.label != CONTRADICTED:
        parts.append(f"{_set(segment.contradicting[0])} contradicts it, which is only recorded.")
    if segment.unstable:
        parts.append("It is unstable: adding premises weakens an Entailment.")
    return " ".join(parts)


def _reason(segment: SegmentAudit, result: Audit) -> str:
    if segment.label == CONTRADICTED:
        others = len(segment.contradicting) - 1
        more = f", as {'does' if others == 1 else 'do'} {others} more" if others else ""
        return f"{_set(segment.contradicting[0])} contradicts it{more}; its support alone would make it " + (
            segment.search_label
        )
    if segment.search_label == SUPPORTED:
        tree = segment.best_tree
        assert tree is not None
        assert isinstance(tree[1], tuple)
        return f"{_set(tree[1])} supports it ({tree[2]}), and every premise is grounded"
    if segment.search_label == ORPHAN:
        far = result.selection.gap_removed[segment.index]
        if not far:
            return "no premise set supports it"
        removed = "1 implied one is" if far == 1 else f"{far} implied ones are"
        return f"no usable premise set supports it; {removed} too far away"
    if not segment.failing or segment.n_trees_total:
        depth = result.parameters.max_depth
        return f"its flattest support tree is {segment.min_depth} edges deep and the limit is {depth}"
    first = segment.failing[0]
    culprit = f"S{first.breakpoint} {_failure(first.breakpoint, result)}"
    if len(segment.failing) == 1:
        return f"premise set {_set(first.premises)} reaches it, but {culprit}"
    count = len(segment.failing)
    return f"{count} premise sets reach it, but none is grounded; in {_set(first.premises)}, {culprit}"


def _failure(index: int, result: Audit) -> str:
    """Say why a segment cannot be a premise."""
    segment = result.segments[index]
    if segment.label == CONTRADICTED or (segment.contradicted and result.parameters.contradicted_blocks):
        return "is Contradicted"
    if segment.blocked:
        return "is unstable"
    return "is an Orphan" if segment.search_label == ORPHAN else "is Unsupported"


def render_tree(result: Audit, index: int) -> str:
    """Draw the best support tree of a segment, or its failing edges, as indented text.

    Parameters
    ----------
    result : Audit
        The audit.
    index : int
        Segment number, 2 to n.
    """
    segment = result.segments[index]
    lines = [f"S{index} {segment.label}"]
    tree = segment.best_tree
    if tree is not None:
        _render(segment.write_tree(tree), 1, lines)
    for edge in segment.failing if tree is None else ():
        culprits = ", ".join(f"S{other} {_failure(other, result)}" for other in edge.ungrounded)
        lines.append(f"  {_set(edge.premises)} {edge.label.word}: fails, {culprits}")
    return "\n".join(lines)


def _render(node: list[Any], depth: int, lines: list[str]) -> None:
    _, premises, label, below = node
    indent = "  " * depth
    lines.append(f"{indent}{_set(tuple(premises))} {label}")
    for child in below:
        if len(child) == 1:
            lines.append(f"{indent}  S{child[0]} (given)")
        elif child[3] is None:
            lines.append(f"{indent}  S{child[0]} (drawn above)")
        else:
            lines.append(f"{indent}  S{child[0]}")
            _render(child, depth + 2, lines)


def _set(premises: Premises) -> str:
    return "{" + ", ".join(f"S{index}" for index in premises) + "}"


def _failing(retained: tuple[SupportEdge, ...], grounds: list[bool]) -> tuple[FailingEdge, ...]:
    failing = []
    for premises, label in retained:
        for premise in premises:
            if not grounds[premise]:
                ungrounded = tuple(other for other in premises if not grounds[other])
                failing.append(FailingEdge(premises, label, ungrounded))
                break
    return tuple(failing)


def _write_tree(tree: Tree, written: set[int] | None, depth: int) -> list[Any]:
    if len(tree) == 1:
        return list(tree)
    index, premises, label = tree[:3]
    assert isinstance(index, int)
    assert isinstance(premises, tuple)
    below: list[Any] | None = None
    if depth < MAX_TREE_DEPTH and (written is None or index not in written):
        if written is not None:
            written.add(index)
        below = [_write_tree(child, written, depth + 1) for child in subtrees(tree)]
    return [index, list(premises), label, below]
