"""Grounded AND-OR best-first search over the retained support edges.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 3.3
(backward AND-OR search), section 3.4 (bounded, stronger labels and closer premises first), appendix E.2
(depth 100, 50 trees per sink, 50 sub-trees per node). Choices where the paper is open, in words:

- Premises come before their target, so there are no cycles and one forward pass decides which segments have
  a tree. The bounds can only cut the list of returned trees, except the depth bound, which is compared with
  the depth of the flattest tree.
- The bounds count returned trees, never attempts: a literal recursion is exponential on failing branches.
- A segment up to ``early_accept`` is a leaf when it is a premise (D-3: only S1 by default). The sink itself
  is searched even when it is contradicted; a contradicted premise is not.
- Trees are not unfolded. One tree is a record (edge, rank of each sub-tree in its own list), so n segments
  need at most 50 n records although a single unfolded tree can have 10^52 nodes.
"""

from collections.abc import Collection, Mapping
from itertools import islice, product
from typing import TypeAlias

from auditing.core.nli import Premises
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import SupportEdge

COUNT_LIMIT = 10**12
"""Tree counts stop here; they grow doubly exponentially."""

Tree: TypeAlias = tuple[object, ...]
"""``(1,)`` for a leaf, else ``(segment, premises, label word, sub-trees)``; sub-trees are shared objects."""

_UNBOUND = -1
_LEAF = -2
_State = tuple[int, int]
_Record = tuple[int, tuple[int, ...]]


class SupportSearch:
    """Grounding, tree counts and trees of every segment.

    Attributes
    ----------
    grounds : list of bool
        By segment index: whether the segment may be a premise of a support tree.
    min_depth : list of (int or None)
        Depth in edges of the flattest tree with the segment as sink, None without a tree.
    totals : list of int
        Number of trees per sink without any bound, at most `COUNT_LIMIT`.
    returned : list of int
        Number of trees per sink within the bounds.
    """

    def __init__(
        self,
        n: int,
        retained: Mapping[int, tuple[SupportEdge, ...]],
        blocked: Collection[int],
        parameters: AuditParameters,
    ) -> None:
        """Run the forward pass.

        Parameters
        ----------
        n : int
            Number of segments.
        retained : Mapping[int, tuple of SupportEdge]
            Retained edges per target, in search order.
        blocked : collection of int
            Segments that may not be premises (contradicted, for example).
        parameters : AuditParameters
            Uses early_accept, max_depth, max_trees and max_subtrees.
        """
        self._retained = retained
        self._parameters = parameters
        self._leaf_limit = parameters.early_accept
        # A list of trees belongs to a segment and the edges that are left above the depth bound.
        self._lists: dict[_State, list[_Record]] = {}
        self._nodes: dict[tuple[_State, int], Tree] = {}
        self._sizes: dict[int, int] = {}
        leaves = range(n + 1)
        self.grounds = [index <= self._leaf_limit for index in leaves]
        self.min_depth: list[int | None] = [None] * (n + 1)
        self.totals = [0] * (n + 1)
        self.returned = [0] * (n + 1)
        self._height = [0] * (n + 1)
        self._expandable: list[list[int]] = [[] for _ in leaves]
        self._forward(n, blocked)
        if max(self._height) > parameters.max_depth:
            self._bounded_counts(n)

    def _forward(self, n: int, blocked: Collection[int]) -> None:
        limit = self._parameters.max_subtrees
        flattest = [0] * (n + 1)
        ways = [1] * (n + 1)
        listed = [1] * (n + 1)
        grounds = self.grounds
        for target in range(2, n + 1):
            expandable = self._expandable[target]
            best = highest = total = trees = 0
            for position, (premises, _) in enumerate(self._retained[target]):
                depth = height = 0
                product_all = product_listed = 1
                for premise in premises:
                    if not grounds[premise]:
                        break
                    depth = max(depth, flattest[premise])
                    height = max(height, self._height[premise] if premise > self._leaf_limit else 0)
                    product_all *= ways[premise]
                    product_listed *= listed[premise]
                else:
                    expandable.append(position)
                    best = depth + 1 if not best else min(best, depth + 1)
                    highest = max(highest, height + 1)
                    total = min(total + product_all, COUNT_LIMIT)
                    trees = min(trees + product_listed, COUNT_LIMIT)
            self.totals[target] = total
            self.returned[target] = min(trees, self._parameters.max_trees)
            self._height[target] = highest
            if best:
                self.min_depth[target] = best
            if target > self._leaf_limit:
                grounds[target] = bool(best) and target not in blocked
                flattest[target], ways[target], listed[target] = best, total, min(trees, limit)

    def _bounded_counts(self, n: int) -> None:
        """Recount the returned trees where some tree is deeper than the bound.

        The number of trees of a premise within r edges grows with r, so a segment leaves the loop once its
        list is full or r has reached its highest tree.
        """
        limit = self._parameters.max_subtrees
        counts = [int(index <= self._leaf_limit) for index in range(n + 1)]
        active = [index for index in range(self._leaf_limit + 1, n + 1) if self.grounds[index]]
        for remaining in range(1, self._parameters.max_depth):
            changed: list[tuple[int, int]] = []
            for index in active:
                flattest = self.min_depth[index]
                if flattest is not None and flattest <= remaining:
                    changed.append((index, self._count(index, counts, limit)))
            for index, count in changed:
                counts[index] = count
            active = [index for index in active if counts[index] < limit and self._height[index] > remaining]
        for sink in range(2, n + 1):
            self.returned[sink] = self._count(sink, counts, self._parameters.max_trees)

    def _count(self, index: int, counts: list[int], limit: int) -> int:
        edges = self._retained[index]
        total = 0
        for position in self._expandable[index]:
            ways = 1
            for premise in edges[position].premises:
                ways *= counts[premise]
            total += ways
            if total >= limit:
                return limit
        return total

    def tree(self, sink: int, rank: int) -> Tree:
        """Return the tree of `sink` with the given rank, 0 for the best.

        Sub-trees are shared, so this is cheap even where writing the tree out would not be; see `tree_size`.

        Raises
        ------
        IndexError
            If fewer trees are returned for this sink.
        """
        if not 0 <= rank < self.returned[sink]:
            raise IndexError(f"S{sink} has {self.returned[sink]} trees; there is no tree of rank {rank}.")
        return self._build(self._state(sink, self._parameters.max_depth), rank)

    def tree_size(self, tree: Tree) -> int:
        """Return the number of nodes of a tree when it is written out, at most `COUNT_LIMIT`.

        Sizes are kept by identity of the shared tree objects, which live as long as this search.
        """
        stack = [tree]
        while stack:
            node = stack[-1]
            below = subtrees(node)
            missing = [child for child in below if id(child) not in self._sizes]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._sizes[id(node)] = min(1 + sum(self._sizes[id(child)] for child in below), COUNT_LIMIT)
        return self._sizes[id(tree)]

    def _state(self, index: int, remaining: int) -> _State:
        """Return the key of a list of trees; `_UNBOUND` where the depth bound cannot bind."""
        return index, _UNBOUND if self._height[index] <= remaining else remaining

    def _premise_states(self, state: _State, premises: Premises) -> list[_State]:
        index, remaining = state
        below = (self._height[index] if remaining == _UNBOUND else remaining) - 1
        limit = self._leaf_limit
        return [(p, _LEAF) if p <= limit else self._state(p, below) for p in premises]

    def _records(self, wanted: _State) -> list[_Record]:
        """Return the list of trees of a state, best first, as linked records."""
        cap = max(self._parameters.max_trees, self._parameters.max_subtrees)
        width = self._parameters.max_subtrees
        lists = self._lists
        open_lists: list[tuple[_State, int, list[_Record]]] = [(wanted, 0, [])]
        while open_lists:
            state, step, records = open_lists.pop()
            if state in lists:
                continue
            index, remaining = state
            expandable = self._expandable[index] if remaining else []
            missing: list[_State] = []
            while step < len(expandable) and len(records) < cap:
                position = expandable[step]
                states = self._premise_states(state, self._retained[index][position].premises)
                missing = [below for below in states if below[1] != _LEAF and below not in lists]
                if missing:
                    break
                ranges = [
                    range(1 if below[1] == _LEAF else min(len(lists[below]), width)) for below in states
                ]
                choices = islice(product(*ranges), cap - len(records))
                records.extend((position, ranks) for ranks in choices)
                step += 1
            if missing:
                open_lists.append((state, step, records))
                open_lists.extend((below, 0, []) for below in missing)
            else:
                lists[state] = records
        return lists[wanted]

    def _best_record(self, state: _State) -> _Record:
        """Return the first record of a list that is not empty, without making the list.

        It is the first edge whose premises all have a tree within the edges that are left.
        """
        index, remaining = state
        for position in self._expandable[index]:
            premises = self._retained[index][position].premises
            if remaining == _UNBOUND or all(
                premise <= self._leaf_limit or (self.min_depth[premise] or 0) < remaining
                for premise in premises
            ):
                return position, (0,) * len(premises)
        raise IndexError(f"S{index} has no tree within {remaining} edges.")

    def _build(self, state: _State, rank: int) -> Tree:
        """Return the tree object of one record, made once and shared."""
        nodes = self._nodes
        stack = [(state, rank)]
        while stack:
            key = stack[-1]
            if key in nodes:
                stack.pop()
                continue
            (index, remaining), place = key
            if remaining == _LEAF:
                nodes[key] = (index,)
                continue
            if place:
                position, ranks = self._records((index, remaining))[place]
            else:
                position, ranks = self._best_record((index, remaining))
            edge = self._retained[index][position]
            below = list(zip(self._premise_states((index, remaining), edge.premises), ranks, strict=True))
            missing = [child for child in below if child not in nodes]
            if missing:
                stack.extend(missing)
                continue
            nodes[key] = (index, edge.premises, edge.label.word, tuple(nodes[child] for child in below))
        return nodes[(state, rank)]


def subtrees(tree: Tree) -> tuple[Tree, ...]:
    """Return the sub-trees of a tree, in the order of its premises; none for a leaf."""
    if len(tree) == 1:
        return ()
    below = tree[3]
    assert isinstance(below, tuple)
    return below
