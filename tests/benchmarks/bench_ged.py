"""Speed of the distance matrix of a sample of graphs, embeddings given, beside two loops over the pairs.

The literal one follows the paper's text: each substitution cost from its two vectors, an edge being its nodes' vectors
end to end, and the assignment over nodes and edges with insertions and deletions. The other does for every pair what
one would write with numpy and scipy. For the largest sample they run on some of the pairs; their time is scaled up.
Facts are never equal here, so nothing is saved by what is the same.
"""

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from auditing.core.grapheval.distance import distance_matrix
from auditing.core.grapheval.graph import ReasoningGraph
from tests.benchmarks.bench_core import row

Floats = NDArray[np.float64]
Embedded = tuple[ReasoningGraph, Floats]

DIM = 384
SIZES = ((20, 30, 25.0, 10, 5), (20, 80, 150.0, 4, 3), (64, 200, 8000.0, 1, 1))
"""Graphs, facts of each, target in ms, repeats, and repeats of the loops."""
LITERAL_PAIRS = 8
NUMPY_PAIRS = 190


def sample(count: int, facts: int, *, shared: bool = True, seed: int = 1) -> list[Embedded]:
    """Return graphs of about `facts` facts and 0.9 edges a fact.

    The facts of all share one subject (cosines near 0.4). Shared, they are paraphrases (cosines near 0.9) of twice as
    many statements, as the chains of one question are; else no fact has a counterpart, the hardest to match.
    """
    rng = np.random.default_rng(seed)
    statements = 0.8 * rng.normal(size=DIM) + rng.normal(size=(2 * facts, DIM))
    found = []
    for _ in range(count):
        nodes = int(rng.integers(facts * 9 // 10, facts * 11 // 10 + 1))
        z = statements[rng.permutation(2 * facts)[:nodes]] + 0.4 * rng.normal(size=(nodes, DIM))
        if not shared:
            z = 0.8 * statements[0] + rng.normal(size=(nodes, DIM))
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        edges = {(int(rng.integers(0, v)), v) for v in range(1, nodes) if rng.random() < 0.9}
        terminals = tuple(range(nodes - nodes // 5, nodes))
        found.append((ReasoningGraph(("",) * nodes, (1,) * nodes, tuple(sorted(edges)), terminals), z))
    return found


def blend(a: Embedded, b: Embedded, cost: float) -> float:
    """Return the distance from the edit cost of a pair."""
    means = [z[list(graph.terminals)].mean(axis=0) for graph, z in (a, b)]
    terminal = means[0] @ means[1] / (np.linalg.norm(means[0]) * np.linalg.norm(means[1]))
    nged = cost / ((len(a[1]) + len(b[1])) / 2)
    return float(1 - 0.4 * terminal - 0.6 * np.exp(-5 * nged**2))


def literal_cost(left: Sequence[Floats], right: Sequence[Floats]) -> float:
    """Return the cost of a matching over the (n + m)^2 matrix, every entry by itself."""
    n, m = len(left), len(right)
    costs = np.full((n + m, n + m), 1e9)
    costs[n:, m:] = 0
    for i in range(n):
        for j in range(m):
            cosine = np.dot(left[i], right[j]) / (np.linalg.norm(left[i]) * np.linalg.norm(right[j]))
            costs[i, j] = 1 - cosine
        costs[i, m + i] = 1
    for j in range(m):
        costs[n + j, j] = 1
    chosen = linear_sum_assignment(costs)
    return float(costs[chosen].sum())


def literal_pair(a: Embedded, b: Embedded) -> float:
    """Return one distance, literally."""
    edges = [[np.concatenate([z[u], z[v]]) for u, v in graph.edges] for graph, z in (a, b)]
    return blend(a, b, literal_cost(a[1], b[1]) + literal_cost(*edges))


def numpy_cost(left: Floats, right: Floats) -> float:
    """Return the cost of a matching of unit vectors, with one product and one assignment."""
    costs = 1 - left @ right.T
    chosen = linear_sum_assignment(costs)
    return float(costs[chosen].sum()) + abs(len(left) - len(right))


def numpy_pair(a: Embedded, b: Embedded) -> float:
    """Return one distance as one would write it with numpy and scipy."""
    units = [z / np.linalg.norm(z, axis=1, keepdims=True) for _, z in (a, b)]
    ends = [np.array(graph.edges) for graph, _ in (a, b)]
    edges = [np.hstack([z[e[:, 0]], z[e[:, 1]]]) / np.sqrt(2) for z, e in zip(units, ends, strict=True)]
    return blend(a, b, numpy_cost(*units) + numpy_cost(*edges))


def cpu_ms(work: Callable[[], Any], repeats: int) -> float:
    """Return the least processor time of some runs in milliseconds, on one core as the targets are.

    More threads would wait for each other while a busy machine runs something else, and that counts as their time.
    """
    times = []
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
    return 1000 * min(times)


def run() -> list[dict[str, Any]]:
    """Measure the whole matrix of three samples; the loops must agree with it."""
    table = []
    for count, facts, target, repeats, loop_repeats in SIZES:
        embedded = sample(count, facts)
        graphs, z = [graph for graph, _ in embedded], [array for _, array in embedded]
        matrix, pairs = distance_matrix(graphs, z), list(combinations(range(count), 2))
        measured = cpu_ms(lambda g=graphs, e=z: distance_matrix(g, e), repeats)
        name = f"distance matrix, {count} graphs of {facts} facts, CPU"
        loops = (
            ("literal", literal_pair, LITERAL_PAIRS, 1),
            ("numpy", numpy_pair, NUMPY_PAIRS, loop_repeats),
        )
        for kind, one, most, times in loops:
            some = pairs[:: max(1, len(pairs) // most)]
            for i, j in some[:3]:
                assert abs(one(embedded[i], embedded[j]) - matrix[i, j]) < 1e-9
            slow = cpu_ms(lambda s=some, o=one, e=embedded: [o(e[i], e[j]) for i, j in s], times)
            slow *= len(pairs) / len(some)
            baseline = f"{kind} loop over {len(some)} of {len(pairs)} pairs, scaled"
            table.append(row(name, measured, target if kind == "literal" else None, baseline, slow))
        embedded = sample(count, facts, shared=False)
        graphs, z = [graph for graph, _ in embedded], [array for _, array in embedded]
        measured = cpu_ms(lambda g=graphs, e=z: distance_matrix(g, e), repeats)
        table.append(row("  the same where no fact has a counterpart", measured, None))
    return table


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
