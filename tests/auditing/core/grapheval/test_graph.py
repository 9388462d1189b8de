"""Graphs of facts: the paper's example, every option by hand, and no cycle for any facts."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.graph import FACT_EDGES, TERMINAL_BASES, FactEdges, TerminalBasis, build_graph

# Listing 2 of the paper: three facts of step 0, two of step 1, and one that needs both steps.
MATCHBOX = [
    Fact("length", 0, ()),
    Fact("width", 0, ()),
    Fact("height", 0, ()),
    Fact("diameter", 1, ()),
    Fact("thickness", 1, ()),
    Fact("fits", 2, (0, 1)),
]
FACTS = st.lists(
    st.builds(
        Fact, st.just("f"), st.integers(0, 4), st.sets(st.integers(-1, 5)).map(lambda s: tuple(sorted(s)))
    ),
    max_size=10,
)


@pytest.mark.parametrize(
    ("fact_edges", "edges"),
    [
        ("last", ((2, 5), (4, 5))),
        ("first", ((0, 5), (3, 5))),
        ("all_pairs", ((0, 5), (1, 5), (2, 5), (3, 5), (4, 5))),
    ],
)
def test_the_matchbox_of_listing_2(fact_edges: FactEdges, edges: tuple[tuple[int, int], ...]) -> None:
    graph = build_graph(MATCHBOX, fact_edges=fact_edges)
    assert (graph.edges, graph.terminals) == (edges, (5,))
    assert graph.facts[5] == "fits"
    assert graph.steps == (0, 0, 0, 1, 1, 2)


def test_terminals_by_node_include_facts_without_an_edge_of_their_own() -> None:
    assert build_graph(MATCHBOX, terminal_basis="node").terminals == (0, 1, 3, 5)


def test_both_terminal_rules_agree_under_all_pairs() -> None:
    by_node = build_graph(MATCHBOX, fact_edges="all_pairs", terminal_basis="node")
    assert by_node.terminals == build_graph(MATCHBOX, fact_edges="all_pairs").terminals == (5,)


def test_no_facts_make_an_empty_graph() -> None:
    graph = build_graph([])
    assert (graph.facts, graph.steps, graph.edges, graph.terminals) == ((), (), (), ())


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="fact edges"):
        build_graph([], fact_edges="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="terminal basis"):
        build_graph([], terminal_basis="leaf")  # type: ignore[arg-type]


@given(FACTS, st.sampled_from(FACT_EDGES), st.sampled_from(TERMINAL_BASES))
def test_any_facts_make_a_graph_without_cycles_and_with_an_end(
    facts: list[Fact], fact_edges: FactEdges, basis: TerminalBasis
) -> None:
    graph = build_graph(facts, fact_edges=fact_edges, terminal_basis=basis)
    drawn = nx.DiGraph(list(graph.edges))
    assert nx.is_directed_acyclic_graph(drawn)
    assert list(graph.edges) == sorted(set(graph.edges))
    assert bool(graph.terminals) == bool(facts)
    if fact_edges == "all_pairs" or basis == "node":
        assert graph.terminals == tuple(
            n for n in range(len(facts)) if n not in drawn or not drawn.out_degree(n)
        )
