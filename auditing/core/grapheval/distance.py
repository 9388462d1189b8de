"""The semantic-structural graph edit distance (SS-GED) of reasoning graphs, and its matrix over a sample.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 and B.3. Choices where the paper is open, in words:

- D-6: an edge is embedded as the pair of its nodes ("concat": the mean of the two ends' cosines), so that a
  reversed edge costs something and nothing more is embedded. "mean" averages the two vectors and is blind to
  direction; "text" takes an embedding of its own for every edge.
- D-7: negative cosines are kept, so a substitution costs up to 2 and a distance goes up to 1 + beta.
  `clip_negative` sets them to 0.
- The edit cost is divided by the mean number of nodes only, as printed; it may exceed 1. Two empty graphs have
  distance 0, an empty and another one agree in no conclusion.
- A vector of length 0 (also: conclusions that cancel out) is similar to nothing, not even to an equal one; still the
  diagonal of a matrix is 0.
- It is no metric: the triangle inequality does not hold.

What is the same is computed once: equal embeddings are one row, equal graphs are one graph. Costs of the
matchings are kept apart from beta and gamma, so other values of those cost no further matching.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditing.core.grapheval.assignment import cheapest
from auditing.core.grapheval.graph import ReasoningGraph
from auditing.core.statistics import Floats

Integers = NDArray[np.intp]
EdgeEmbedding = Literal["concat", "mean", "text"]

EDGE_EMBEDDINGS: tuple[EdgeEmbedding, ...] = ("concat", "mean", "text")
ZERO_NORM = 1e-12
MOST_ROWS_AT_ONCE = 4000
"""Up to so many distinct rows all their cosines are held at once (128 MB); above, only a block at a time is."""
BLOCK_ENTRIES = 200_000
"""Bound on the entries of one block of costs; a single pair of graphs may be larger."""
MOST_PAIR_ENTRIES = 25_000_000
"""Bound on the costs of a single pair (200 MB), that is 5,000 nodes or edges in each of two graphs."""


@dataclass(frozen=True, slots=True)
class DistanceParameters:
    """Settings of the distance; the paper's values are the defaults.

    Attributes
    ----------
    beta : float
        Weight of the agreement of conclusions, 0 to 1.
    gamma : float
        How fast similarity falls with the edit cost, at least 0.
    indel : float
        Cost of an unmatched node or edge, at least 0.
    clip_negative : bool
        Whether negative cosines count as 0.
    edge_embedding : {"concat", "mean", "text"}
        How an edge is embedded.

    Raises
    ------
    ValueError
        If a value is outside its range.
    """

    beta: float = 0.4
    gamma: float = 5.0
    indel: float = 1.0
    clip_negative: bool = False
    edge_embedding: EdgeEmbedding = "concat"

    def __post_init__(self) -> None:
        if not 0.0 <= self.beta <= 1.0:
            raise ValueError(f"beta must be from 0 to 1, not {self.beta!r}.")
        for name in ("gamma", "indel"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a number of at least 0, not {value!r}.")
        if not isinstance(self.clip_negative, bool):
            raise ValueError(f"clip_negative must be true or false, not {self.clip_negative!r}.")
        if self.edge_embedding not in EDGE_EMBEDDINGS:
            known = ", ".join(EDGE_EMBEDDINGS)
            raise ValueError(f"Unknown edge embedding {self.edge_embedding!r}; use one of {known}.")


DEFAULTS = DistanceParameters()


class GraphsTooLarge(ValueError):
    """Two graphs have more facts or edges than can be matched."""


@dataclass(frozen=True, slots=True)
class DistanceParts:
    """What the distances of N graphs are made of, each a symmetric float64 array of shape (N, N).

    Attributes
    ----------
    node_cost, edge_cost : array
        Cost of the cheapest matching with its indels.
    nged : array
        Their sum over the mean number of nodes.
    terminal : array
        Cosine of the mean conclusions (S_term).
    """

    node_cost: Floats
    edge_cost: Floats
    nged: Floats
    terminal: Floats

    def structure(self, gamma: float = DEFAULTS.gamma) -> Floats:
        """Return the structural similarity exp(-gamma nGED^2), 0 to 1."""
        return np.exp(-gamma * self.nged**2)

    def distances(self, beta: float = DEFAULTS.beta, gamma: float = DEFAULTS.gamma) -> Floats:
        """Return the distances, 0 to 1 + beta, 0 on the diagonal; nothing is matched again."""
        distances = 1.0 - (beta * self.terminal + (1.0 - beta) * self.structure(gamma))
        np.fill_diagonal(distances, 0.0)
        return distances


@dataclass(frozen=True, slots=True)
class PairDistance:
    """The distance `d` of two graphs with its parts, named as in the paper."""

    cost_v: float
    cost_e: float
    c_edit: float
    nged: float
    s_term: float
    s_struct: float
    s: float
    d: float


def pair_distance(
    a: ReasoningGraph,
    b: ReasoningGraph,
    z_a: ArrayLike,
    z_b: ArrayLike,
    parameters: DistanceParameters = DEFAULTS,
    *,
    edge_z_a: ArrayLike | None = None,
    edge_z_b: ArrayLike | None = None,
) -> PairDistance:
    """Return the SS-GED of two graphs.

    Parameters
    ----------
    z_a, z_b : array_like, shape (nodes, dim)
        Embeddings of the facts, of any length; they are normalised here.
    edge_z_a, edge_z_b : array_like, shape (edges, dim), optional
        Embeddings of the edges' texts, needed for ``edge_embedding="text"``.

    Raises
    ------
    ValueError
        If an array does not fit its graph or holds a value that is not finite.
    """
    edges = None if edge_z_a is None or edge_z_b is None else (edge_z_a, edge_z_b)
    parts = distance_parts((a, b), (z_a, z_b), parameters, edge_embeddings=edges)
    cost_v, cost_e = float(parts.node_cost[0, 1]), float(parts.edge_cost[0, 1])
    s_term, s_struct = float(parts.terminal[0, 1]), float(parts.structure(parameters.gamma)[0, 1])
    s = parameters.beta * s_term + (1.0 - parameters.beta) * s_struct
    return PairDistance(
        cost_v, cost_e, cost_v + cost_e, float(parts.nged[0, 1]), s_term, s_struct, s, 1.0 - s
    )


def distance_matrix(
    graphs: Sequence[ReasoningGraph],
    embeddings: Sequence[ArrayLike],
    parameters: DistanceParameters = DEFAULTS,
    *,
    edge_embeddings: Sequence[ArrayLike] | None = None,
) -> Floats:
    """Return the distances of all pairs, shape (N, N); see `distance_parts`."""
    parts = distance_parts(graphs, embeddings, parameters, edge_embeddings=edge_embeddings)
    return parts.distances(parameters.beta, parameters.gamma)


def distance_parts(
    graphs: Sequence[ReasoningGraph],
    embeddings: Sequence[ArrayLike],
    parameters: DistanceParameters = DEFAULTS,
    *,
    edge_embeddings: Sequence[ArrayLike] | None = None,
    after_pair: Callable[[], object] | None = None,
) -> DistanceParts:
    """Match every pair of graphs, equal graphs only once.

    Parameters
    ----------
    graphs : sequence of ReasoningGraph
        N graphs; N may be 0.
    embeddings : sequence of array_like, shape (nodes of the graph, dim)
        Embeddings of the facts, of any length; they are normalised here.
    parameters : DistanceParameters
        `indel`, `clip_negative` and `edge_embedding` decide here; beta and gamma are free afterwards.
    edge_embeddings : sequence of array_like, shape (edges of the graph, dim), optional
        Embeddings of the edges' texts, needed for ``edge_embedding="text"``.
    after_pair : callable, optional
        Called after each pair that was matched, since large graphs take minutes; what it raises ends the matching.

    Raises
    ------
    GraphsTooLarge
        If two graphs need more than `MOST_PAIR_ENTRIES` costs.
    ValueError
        If an array does not fit its graph or holds a value that is not finite.
    """
    lowest = 0.0 if parameters.clip_negative else -1.0
    nodes = _Rows(_checked(embeddings, [len(graph.facts) for graph in graphs], "node"), lowest)
    ends = [np.array(graph.edges, dtype=np.intp).reshape(-1, 2) for graph in graphs]
    for graph, pairs in zip(graphs, ends, strict=True):
        if np.any((pairs < 0) | (pairs >= len(graph.facts))):
            raise ValueError("An edge names a node that its graph does not have.")
    _check_sizes(facts=nodes.of, edges=ends)
    edges = None
    if parameters.edge_embedding == "text":
        if edge_embeddings is None:
            raise ValueError('Edge embedding "text" needs an embedding of every edge.')
        edges = _Rows(_checked(edge_embeddings, [len(pairs) for pairs in ends], "edge"), lowest)
    elif parameters.edge_embedding == "mean":
        units = [nodes.unit[rows] for rows in nodes.of]
        edges = _Rows([(z[p[:, 0]] + z[p[:, 1]]) / 2 for z, p in zip(units, ends, strict=True)], lowest)

    keys: dict[Any, int] = {}
    kind = np.zeros(len(graphs), dtype=np.intp)
    for index, graph in enumerate(graphs):
        own = b"" if edges is None else edges.of[index].tobytes()
        key = (nodes.of[index].tobytes(), graph.edges, graph.terminals, own)
        kind[index] = keys.setdefault(key, len(keys))
    _, first, count = np.unique(kind, return_index=True, return_counts=True)
    costs = np.zeros((2, len(first), len(first)))
    for i, j, cost_v, cost_e in _matched(nodes, edges, ends, first, count > 1):
        costs[:, i, j] = costs[:, j, i] = cost_v, cost_e
        if after_pair is not None:
            after_pair()

    everywhere = np.ix_(kind, kind)
    node_counts = np.array([len(graph.facts) for graph in graphs], dtype=np.float64)
    edge_counts = np.array([len(pairs) for pairs in ends], dtype=np.float64)
    node_cost = costs[0][everywhere] + parameters.indel * abs(node_counts[:, None] - node_counts)
    edge_cost = costs[1][everywhere] + parameters.indel * abs(edge_counts[:, None] - edge_counts)
    for cost in (node_cost, edge_cost):
        np.fill_diagonal(cost, 0.0)
    size = (node_counts[:, None] + node_counts) / 2
    nged = np.divide(node_cost + edge_cost, size, out=np.zeros_like(size), where=size > 0)
    return DistanceParts(node_cost, edge_cost, nged, _terminal(graphs, nodes, first, lowest)[everywhere])


def _check_sizes(**graphs: Sequence[Integers]) -> None:
    for what, sizes in graphs.items():
        smaller, larger = sorted((0, 0, *map(len, sizes)))[-2:]
        if smaller * larger > MOST_PAIR_ENTRIES:
            raise GraphsTooLarge(
                f"Graphs of {larger:,} and {smaller:,} {what} are too large to compare. Fewer edges: connect only the "
                "last fact of a step."
            )


class _Rows:
    """The distinct rows of some stacked arrays, normalised, and their cosines."""

    def __init__(self, arrays: Sequence[Floats], lowest: float) -> None:
        known: dict[bytes, int] = {}
        self.of: list[Integers] = [
            np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], dtype=np.intp)
            for rows in arrays
        ]
        stacked = np.concatenate(arrays) if arrays else np.zeros((0, 0))
        where = np.unique(np.concatenate(self.of), return_index=True)[1] if arrays else np.zeros(0, np.intp)
        self.unit, self._lowest = unit_rows(stacked[where]), lowest
        self._all = _cosines(self.unit, lowest) if len(known) <= MOST_ROWS_AT_ONCE else None

    def cosines(self, rows: Integers, columns: Integers) -> Floats:
        """Return the cosines of two lists of distinct rows, shape (rows, columns)."""
        if self._all is not None:
            return self._all.take(rows, axis=0).take(columns, axis=1)
        return np.clip(self.unit[rows] @ self.unit[columns].T, self._lowest, 1.0)


def _matched(
    nodes: _Rows,
    edges: _Rows | None,
    ends: Sequence[Integers],
    graphs: Integers,
    with_itself: NDArray[np.bool_],
) -> Iterator[tuple[int, int, float, float]]:
    """Yield (position, position, cost of nodes, cost of edges) of all pairs of `graphs`, without indels."""
    for i, graph in enumerate(graphs):
        rows, pairs = nodes.of[graph], ends[graph]
        start = i if with_itself[i] else i + 1
        for block in _blocks(nodes, ends, graphs, i, start):
            others = graphs[block.start : block.stop]
            shifts = np.cumsum([0] + [len(nodes.of[other]) for other in others])
            cuts = np.cumsum([0] + [len(ends[other]) for other in others])
            cosines = nodes.cosines(rows, np.concatenate([nodes.of[other] for other in others]))
            if edges is None:
                far = np.concatenate(
                    [ends[other] + shift for other, shift in zip(others, shifts[:-1], strict=True)]
                )
                edge_costs = 1.0 - 0.5 * (
                    cosines.take(pairs[:, 0], axis=0).take(far[:, 0], axis=1)
                    + cosines.take(pairs[:, 1], axis=0).take(far[:, 1], axis=1)
                )
            else:
                edge_costs = 1.0 - edges.cosines(
                    edges.of[graph], np.concatenate([edges.of[other] for other in others])
                )
            node_costs = np.subtract(1.0, cosines, out=cosines)
            for position, j in enumerate(block):
                yield (
                    i,
                    j,
                    cheapest(node_costs[:, shifts[position] : shifts[position + 1]]),
                    cheapest(edge_costs[:, cuts[position] : cuts[position + 1]]),
                )


def _blocks(nodes: _Rows, ends: Sequence[Integers], graphs: Integers, i: int, start: int) -> Iterator[range]:
    """Split the partners `start`, ... of graph `i` so that one block of costs stays below its bound."""
    rows, pairs = len(nodes.of[graphs[i]]), len(ends[graphs[i]])
    wide = high = 0
    for j in range(start, len(graphs)):
        wide += len(nodes.of[graphs[j]])
        high += len(ends[graphs[j]])
        if j > start and max(rows * wide, pairs * high) > BLOCK_ENTRIES:
            yield range(start, j)
            start, wide, high = j, len(nodes.of[graphs[j]]), len(ends[graphs[j]])
    if start < len(graphs):
        yield range(start, len(graphs))


def _terminal(graphs: Sequence[ReasoningGraph], nodes: _Rows, chosen: Integers, lowest: float) -> Floats:
    """Return the cosines of the mean conclusions of the chosen graphs, one row and column for each."""
    means = np.zeros((len(chosen), nodes.unit.shape[1]))
    empty = np.array([not graphs[index].facts for index in chosen], dtype=bool)
    for position, index in enumerate(chosen):
        if graphs[index].terminals:
            means[position] = nodes.unit[nodes.of[index][list(graphs[index].terminals)]].mean(axis=0)
    similar = _cosines(unit_rows(means), lowest)
    similar[np.ix_(empty, empty)] = 1.0
    return similar


def _checked(arrays: Sequence[ArrayLike], counts: Sequence[int], what: str) -> list[Floats]:
    """Return float64 arrays of one width, one row for every element of its graph."""
    if len(arrays) != len(counts):
        raise ValueError(
            f"{len(counts)} graphs need {len(counts)} arrays of {what} embeddings, not {len(arrays)}."
        )
    found = [np.asarray(array, dtype=np.float64) for array in arrays]
    widths = {array.shape[1] for array in found if array.ndim == 2 and len(array)}
    if len(widths) > 1:
        raise ValueError(f"All {what} embeddings must have the same length, not {sorted(widths)}.")
    width = widths.pop() if widths else 0
    for index, (array, count) in enumerate(zip(found, counts, strict=True)):
        if not array.size and not count:
            found[index] = np.zeros((0, width))
        elif array.shape != (count, width):
            raise ValueError(
                f"Graph {index + 1} has {count} {what}s, its embeddings have the shape {array.shape}."
            )
        elif not np.isfinite(array).all():
            raise ValueError(f"The {what} embeddings of graph {index + 1} hold a value that is not finite.")
    return found


def unit_rows(rows: Floats) -> Floats:
    """Return rows of length 1, and zeros for a row that has none; shape (n, dim)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > ZERO_NORM)
    return unit


def _cosines(unit: Floats, lowest: float) -> Floats:
    """Return the cosines of all pairs of unit rows, at least `lowest`; a row and itself exactly 1, or 0 if zero."""
    cosines = unit @ unit.T
    np.clip(cosines, lowest, 1.0, out=cosines)
    np.fill_diagonal(cosines, unit.any(axis=1).astype(np.float64))
    return cosines
