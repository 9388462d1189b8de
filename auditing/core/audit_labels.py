"""Audit labels, breakpoints and the whole audit of one hypergraph.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.4
(Supported, Unsupported, Orphan; contradiction is a negative grounding case), appendix D (breakpoints). Choices
where the paper is open, in words:

- A contradicted segment is labelled Contradicted whatever its support, and cannot be a premise (A3f). Both are
  parameters. Tables 1 and 2 of the paper leave a few negative segments that are neither Orphan nor Unsupported,
  which speaks for a class of its own.
- The breakpoint of a failing edge is its smallest premise that does not ground; the root breakpoint follows the
  first failing edges back to a segment that is not Unsupported.
"""

from dataclasses import dataclass, field
from typing import Any

from auditing.core.and_or_search import SupportSearch, Tree, subtrees
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Premises
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import Selection, SupportEdge, select_edges

SUPPORTED = "Supported"
UNSUPPORTED = "Unsupported"
ORPHAN = "Orphan"
CONTRADICTED = "Contradicted"
AUDIT_LABELS = (SUPPORTED, UNSUPPORTED, ORPHAN, CONTRADICTED)

MAX_TREE_NODES = 10_000
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
        abbreviate = self._search.tree_size(tree) > MAX_TREE_NODES
        return _write_tree(tree, set() if abbreviate else None, 0)


def _write_tree(tree: Tree, written: set[Tree] | None, depth: int) -> list[Any]:
    raise NotImplementedError
