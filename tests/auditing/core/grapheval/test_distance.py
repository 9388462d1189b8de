import math
from itertools import permutations
from typing import Any

import networkx
import numpy as np
import pytest

from auditing.core.grapheval import distance
from auditing.core.grapheval.distance import (
    DistanceParameters,
    PairDistance,
    distance_matrix,
    distance_parts,
    pair_distance,
)
from auditing.core.grapheval.graph import ReasoningGraph

Sample = tuple[list[ReasoningGraph], list[np.ndarray]]


def shape(nodes: int, edges: Any = (), terminals: Any = ()) -> ReasoningGraph:
    """Return a graph of which only the shape matters."""
    return ReasoningGraph(("",) * nodes, (1,) * nodes, tuple(edges), tuple(terminals))


def random_graph(rng: np.random.Generator, most: int, dim: int = 3) -> tuple[ReasoningGraph, np.ndarray]:
    nodes = int(rng.integers(0, most + 1))
    edges = [(u, v) for v in range(nodes) for u in range(v) if rng.random() < 0.35]
    sources = {u for u, _ in edges}
    # Embeddings from a small set: equal facts and near matches occur.
    z = rng.integers(-2, 3, size=(nodes, dim)).astype(np.float64)
    return shape(nodes, edges, [v for v in range(nodes) if v not in sources]), z


def random_sample(seed: int, count: int, most: int) -> Sample:
    rng = np.random.default_rng(seed)
    pairs = [random_graph(rng, most) for _ in range(count)]
    chosen = [pairs[index] for index in [*range(count), 0, 2, 0]]  # three equal ones among them
    return [graph for graph, _ in chosen], [z for _, z in chosen]


def _unit(z: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(z, axis=1, keepdims=True)
    return np.divide(z, norms, out=np.zeros_like(z), where=norms > 0)


def _exact(a: ReasoningGraph, z_a: np.ndarray, b: ReasoningGraph, z_b: np.ndarray) -> float:
    """Return the exact edit distance, trying every mapping of the nodes.

    Mappings of the whole smaller side suffice: a substitution costs at most a deletion and an insertion, and
    frees edges to be matched.
    """
    if len(a.facts) > len(b.facts):
        a, z_a, b, z_b = b, z_b, a, z_a
    cost = 1 - _unit(z_a) @ _unit(z_b).T if len(a.facts) else np.zeros((0, len(b.facts)))
    there, best = set(b.edges), math.inf
    for order in permutations(range(len(b.facts)), len(a.facts)):
        total = sum(cost[u, v] for u, v in enumerate(order)) + len(b.facts) - len(a.facts)
        kept = [(u, v) for u, v in a.edges if (order[u], order[v]) in there]
        total += sum((cost[u, order[u]] + cost[v, order[v]]) / 2 for u, v in kept)
        best = min(best, total + len(a.edges) + len(b.edges) - 2 * len(kept))
    return best


def _networkx(a: ReasoningGraph, z_a: np.ndarray, b: ReasoningGraph, z_b: np.ndarray) -> float:
    graphs = []
    for graph, z in ((a, _unit(z_a)), (b, _unit(z_b))):
        made = networkx.DiGraph()
        made.add_nodes_from((index, {"z": z[index]}) for index in range(len(graph.facts)))
        made.add_edges_from(
            (u, v, {"z": np.concatenate([z[u], z[v]]) / math.sqrt(2)}) for u, v in graph.edges
        )
        graphs.append(made)

    def apart(left: dict[str, Any], right: dict[str, Any]) -> float:
        return float(1 - left["z"] @ right["z"])

    found = networkx.graph_edit_distance(*graphs, node_subst_cost=apart, edge_subst_cost=apart)
    assert found is not None
    return float(found)


def test_pair_by_hand() -> None:
    # Cosines: first facts 1, second facts 0.8, crosswise 0.6 and 0. Straight 0 + 0.2, crosswise 0.4 + 1.
    # Edge: 1 - (1 + 0.8)/2 = 0.1. Edit cost 0.3 over 2 nodes; exp(-5 * 0.15^2) = exp(-0.1125) = 0.893597.
    graph = shape(2, [(0, 1)], [1])
    found = pair_distance(graph, graph, [[2, 0], [0, 1]], [[1, 0], [3, 4]])
    expected = PairDistance(0.2, 0.1, 0.3, 0.15, 0.8, 0.893597, 0.856158, 0.143842)
    for name in PairDistance.__slots__:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-6), name


def test_sizes_alone_by_hand() -> None:
    # The same fact once and three times, one edge: 2 nodes and 1 edge too many, over 2 nodes on average.
    found = pair_distance(shape(1, (), [0]), shape(3, [(0, 1)], [1, 2]), [[1, 1]], [[1, 1]] * 3)
    assert (found.cost_v, found.cost_e, found.nged) == (2, 1, 1.5)
    assert found.s_term == pytest.approx(1)
    assert found.d == pytest.approx(0.6 - 0.6 * math.exp(-5 * 2.25))


def test_never_above_the_exact_distance_symmetric_and_zero_on_itself() -> None:
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(200):
        (a, z_a), (b, z_b) = random_graph(rng, 6), random_graph(rng, 6)
        found, exact = pair_distance(a, b, z_a, z_b), _exact(a, z_a, b, z_b)
        assert found.c_edit <= exact + 1e-9
        below += found.c_edit < exact - 1e-6
        assert pair_distance(b, a, z_b, z_a).d == pytest.approx(found.d, abs=1e-12)
        assert 0 <= found.d <= 1.4 + 1e-12
        matrix = distance_matrix([a, b, a], [z_a, z_b, z_a])
        assert np.array_equal(matrix, matrix.T)
        assert not matrix.diagonal().any()
        conclusion = _unit(z_a)[list(a.terminals)].sum(axis=0)
        # A fact without a vector, or conclusions that cancel out, are like nothing, not even themselves.
        if _unit(z_a).any(axis=1).all() and (not a.facts or np.linalg.norm(conclusion) > 1e-9):
            assert matrix[0, 2] == pytest.approx(0, abs=1e-12)
    assert 0 < below < 200, "both kinds of pairs must occur"


def test_the_exact_distance_of_these_tests_is_that_of_networkx() -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        (a, z_a), (b, z_b) = random_graph(rng, 3), random_graph(rng, 3)
        # Half of an edge's embedding may not be missing, or the whole would have another length.
        z_a[~z_a.any(axis=1)] = 1
        z_b[~z_b.any(axis=1)] = 1
        assert _exact(a, z_a, b, z_b) == pytest.approx(_networkx(a, z_a, b, z_b), abs=1e-9)


@pytest.mark.parametrize("edge_embedding", distance.EDGE_EMBEDDINGS)
@pytest.mark.parametrize("clip_negative", [False, True])
def test_matrix_equals_its_pairs(edge_embedding: Any, clip_negative: bool) -> None:
    graphs, z = random_sample(5, 6, 5)
    rng = np.random.default_rng(6)
    parameters = DistanceParameters(0.3, 2.0, 0.9, clip_negative, edge_embedding)
    edge_z = [rng.normal(size=(len(graph.edges), 2)) for graph in graphs]
    given = edge_z if edge_embedding == "text" else None
    matrix = distance_matrix(graphs, z, parameters, edge_embeddings=given)
    for i, a in enumerate(graphs):
        for j, b in enumerate(graphs):
            pair = pair_distance(a, b, z[i], z[j], parameters, edge_z_a=edge_z[i], edge_z_b=edge_z[j])
            assert matrix[i, j] == pytest.approx(0 if i == j else pair.d, abs=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, z = random_sample(7, 20, 6)
    at_once = distance_parts(graphs, z)
    sizes = []

    class Watched(distance._Rows):
        def cosines(self, rows: Any, columns: Any) -> Any:
            sizes.append((len(rows), len(columns)))
            return super().cosines(rows, columns)

    monkeypatch.setattr(distance, "_Rows", Watched)
    monkeypatch.setattr(distance, "MOST_ROWS_AT_ONCE", 3)
    monkeypatch.setattr(distance, "BLOCK_ENTRIES", 40)
    in_blocks = distance_parts(graphs, z)
    for name in ("node_cost", "edge_cost", "nged", "terminal"):
        assert getattr(in_blocks, name) == pytest.approx(getattr(at_once, name), abs=1e-12)
    assert len(sizes) > len(graphs)
    assert max(rows * columns for rows, columns in sizes) <= 40


def test_identical_graphs_are_matched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = shape(2, [(0, 1)], [1]), shape(1, (), [0]), shape(2, (), [0, 1])
    z = {a: [[1, 0], [0, 1]], b: [[1, 1]], c: [[1, 0], [0, 1]]}
    graphs = [a, b, a, c, a, b]
    calls = []
    monkeypatch.setattr(distance, "cheapest", lambda costs: calls.append(costs.shape) or 0.0)
    distance_parts(graphs, [z[graph] for graph in graphs])
    # Three different graphs: a-b, a-c, b-c, and a and b with themselves; nodes and edges of each.
    assert len(calls) == 2 * 5


def test_sweeps_reuse_the_matchings(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, z = random_sample(8, 5, 5)
    parts = distance_parts(graphs, z)
    expected = {
        (beta, gamma): distance_matrix(graphs, z, DistanceParameters(beta, gamma))
        for beta in (0.0, 0.4, 1.0)
        for gamma in (1.0, 5.0)
    }
    monkeypatch.setattr(distance, "cheapest", None)
    for (beta, gamma), matrix in expected.items():
        assert np.array_equal(parts.distances(beta, gamma), matrix)
    assert np.array_equal(parts.distances(1.0), np.where(np.eye(len(graphs)) == 1, 0, 1 - parts.terminal))


def test_length_of_embeddings_and_their_type_do_not_matter() -> None:
    graphs, z = random_sample(9, 5, 5)
    rng = np.random.default_rng(10)
    longer = [(array * rng.uniform(0.1, 9, size=(len(array), 1))).astype(np.float32) for array in z]
    assert distance_matrix(graphs, longer) == pytest.approx(distance_matrix(graphs, z), abs=1e-5)


def test_degenerate_samples() -> None:
    empty = shape(0)
    assert distance_matrix([], []).shape == (0, 0)
    assert distance_matrix([empty], [[]]).tolist() == [[0.0]]
    assert distance_matrix([empty, empty], [[], []]).tolist() == [[0, 0], [0, 0]]
    # Vectors of length 0: the node costs 1 over 1 node, conclusions agree in nothing: 1 - 0.6 exp(-5).
    zero = distance_matrix([shape(1, (), [0])] * 2, [[[0, 0]]] * 2)
    assert zero[0, 1] == pytest.approx(1 - 0.6 * math.exp(-5))
    assert zero[0, 0] == 0
    # No terminal: its conclusion is nothing.
    assert distance_parts([shape(1), shape(1, (), [0])], [[[1, 0]]] * 2).terminal[0, 1] == 0


@pytest.mark.parametrize(
    ("graph", "z", "parameters", "message"),
    [
        (shape(2), [[1.0, 0.0]], {}, "has 2 nodes"),
        (shape(1), [[math.nan, 0.0]], {}, "not finite"),
        (shape(1, [(0, 1)]), [[1.0, 0.0]], {}, "names a node"),
        (shape(1), [[1.0, 0.0]], {"edge_embedding": "text"}, "embedding of every edge"),
        (shape(1), [[1.0, 0.0]], {"edge_embedding": "sum"}, "Unknown edge embedding"),
        (shape(1), [[1.0, 0.0]], {"beta": 1.5}, "beta"),
        (shape(1), [[1.0, 0.0]], {"gamma": -1.0}, "gamma"),
        (shape(1), [[1.0, 0.0]], {"indel": math.inf}, "indel"),
        (shape(1), [[1.0, 0.0]], {"clip_negative": 1}, "clip_negative"),
    ],
)
def test_refusals(graph: ReasoningGraph, z: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distance_matrix([graph], [z], DistanceParameters(**parameters))


def test_graphs_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "MOST_PAIR_ENTRIES", 5)
    pair, line = shape(2, [(0, 1)]), shape(3, [(0, 1), (0, 2), (1, 2)])
    z = np.ones((3, 2))
    assert distance_matrix([pair, shape(2)], [z[:2], z[:2]]).shape == (2, 2)
    with pytest.raises(ValueError, match="3 and 2 facts are too large"):
        distance_matrix([pair, line], [z[:2], z])
    monkeypatch.setattr(distance, "MOST_PAIR_ENTRIES", 8)
    with pytest.raises(ValueError, match="3 and 3 edges are too large"):
        distance_matrix([line, shape(1), shape(2, [(0, 1), (0, 1), (1, 0)])], [z, z[:1], z[:2]])


def test_embeddings_of_different_models_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        distance_matrix([shape(1), shape(1)], [[[1.0]], [[1.0, 0.0]]])
    with pytest.raises(ValueError, match="need 2 arrays"):
        distance_matrix([shape(1), shape(1)], [[[1.0]]])
