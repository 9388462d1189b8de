"""The directed acyclic graph of one chain of thought.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 (G = (V, E): atomic facts and causal dependencies) and B.3 (terminal nodes). Choices
where the paper is open, in words:

- D-5: a dependency names a step, and a step has several facts. By default one edge goes from the last fact of
  the step ("last"); "first" takes its first fact, "all_pairs" all of them. The paper's Table 6 (0.8 to 1 edges
  a fact, however many facts) and Table 3 fit one edge a dependency, not all pairs.
- Terminal facts are by default the facts of steps on which no fact depends ("step"); "node" takes the facts
  without an outgoing edge. Both agree under "all_pairs"; with "last", nodes would make most facts terminal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from auditing.core.grapheval.facts import Fact

FactEdges = Literal["last", "first", "all_pairs"]
TerminalBasis = Literal["step", "node"]

FACT_EDGES: tuple[FactEdges, ...] = ("last", "first", "all_pairs")
TERMINAL_BASES: tuple[TerminalBasis, ...] = ("step", "node")


@dataclass(frozen=True, slots=True)
class ReasoningGraph:
    """One chain of thought as a graph.

    Attributes
    ----------
    facts : tuple of str
        Text of the nodes 0 to m-1.
    steps : tuple of int
        Index of the step of every node.
    edges : tuple of (int, int)
        Source and target node, unique, ascending; the source's step comes before the target's.
    terminals : tuple of int
        Nodes that conclude, ascending.
    """

    facts: tuple[str, ...]
    steps: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    terminals: tuple[int, ...]


def build_graph(
    facts: Sequence[Fact], *, fact_edges: FactEdges = "last", terminal_basis: TerminalBasis = "step"
) -> ReasoningGraph:
    """Connect facts by their dependencies.

    Parameters
    ----------
    facts : sequence of Fact
        In the decomposer's order. A dependency on a step without facts, or not on an earlier step, is left
        out, so that the graph has no cycle whatever it is given.
    fact_edges : {"last", "first", "all_pairs"}
        Which facts of the named step an edge starts from.
    terminal_basis : {"step", "node"}
        Whether a fact is terminal by its step or by its own outgoing edges.

    Raises
    ------
    ValueError
        If an option is unknown.
    """
    if fact_edges not in FACT_EDGES:
        raise ValueError(f"Unknown fact edges {fact_edges!r}; use one of {', '.join(FACT_EDGES)}.")
    if terminal_basis not in TERMINAL_BASES:
        raise ValueError(
            f"Unknown terminal basis {terminal_basis!r}; use one of {', '.join(TERMINAL_BASES)}."
        )
    of_step: dict[int, list[int]] = {}
    for node, fact in enumerate(facts):
        of_step.setdefault(fact.step, []).append(node)
    chosen = {"last": slice(-1, None), "first": slice(0, 1), "all_pairs": slice(None)}[fact_edges]
    edges: set[tuple[int, int]] = set()
    used_steps: set[int] = set()
    for node, fact in enumerate(facts):
        for step in fact.depends_on:
            if step in of_step and step < fact.step:
                used_steps.add(step)
                edges.update((source, node) for source in of_step[step][chosen])
    sources = {source for source, _ in edges}
    terminals = tuple(
        node
        for node, fact in enumerate(facts)
        if (fact.step not in used_steps if terminal_basis == "step" else node not in sources)
    )
    return ReasoningGraph(
        tuple(fact.text for fact in facts),
        tuple(fact.step for fact in facts),
        tuple(sorted(edges)),
        terminals,
    )
