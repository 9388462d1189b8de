"""Trees, counts and bounds of the AND-OR search."""

import pytest

from auditing.core.and_or_search import COUNT_LIMIT, SupportSearch, subtrees
from auditing.core.audit_labels import MAX_TREE_NODES, audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import select_edges
from tests.auditing.core.graphs import graph


def search(n: int, text: str, blocked: tuple[int, ...] = (), **parameters: object) -> SupportSearch:
    settings = AuditParameters.from_dict(parameters)
    return SupportSearch(n, select_edges(graph(n, text), settings).retained, blocked, settings)


def test_trees_of_a_small_hypergraph() -> None:
    r"""By hand.

    S1 --E--> S2 --E--> S4 <--I-- {S2, S3}
    S1 --E--> S3
    """
    found = search(4, "1>2 E; 1>3 E; 2>4 E; 2,3>4 E; 1,3>4 I")
    s2 = (2, (1,), "entailment", ((1,),))
    assert found.tree(4, 0) == (4, (2,), "entailment", (s2,))
    assert found.totals[4] == 2
    assert found.tree(4, 1) == (4, (1, 3), "implied", ((1,), (3, (1,), "entailment", ((1,),))))
    assert found.min_depth[2:] == [1, 1, 2]


def test_last_premise_varies_fastest() -> None:
    """S2 has the trees S1 (E) only; S3 two, by S2 (closer) and by S1; {S2, S3} -> S4 then takes S3's in order."""
    found = search(4, "1>2 E; 1>3 E; 2>3 E; 2,3>4 E")
    assert found.totals[4] == 2
    assert [tree[1] for rank in range(2) for tree in [subtrees(found.tree(4, rank))[1]]] == [(2,), (1,)]


def test_and_needs_every_premise() -> None:
    found = search(4, "1>2 E; 2,3>4 E")
    assert (found.totals[4], found.returned[4], found.min_depth[4]) == (0, 0, None)


def test_blocked_segment_is_searched_but_is_no_premise() -> None:
    found = search(3, "1>2 E; 2>3 E", blocked=(2,))
    assert (found.totals[2], found.totals[3]) == (1, 0)
    assert found.grounds == [True, True, False, False]


def test_early_accept_makes_leaves() -> None:
    found = search(4, "2,3>4 E", early_accept=3)
    assert found.tree(4, 0) == (4, (2, 3), "entailment", ((2,), (3,)))
    assert found.totals[2] == 0


def test_asking_for_a_tree_that_is_not_there() -> None:
    with pytest.raises(IndexError, match="S2 has 1 trees"):
        search(2, "1>2 E").tree(2, 1)


def test_depth_bound_of_a_chain() -> None:
    text = "; ".join(f"{i}>{i + 1} E" for i in range(1, 8))
    found = search(8, text, max_depth=5)
    assert found.returned == [0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert found.min_depth[8] == 7
    assert found.totals[8] == 1


def test_counts_saturate_and_shared_trees_stay_small() -> None:
    """Each segment is supported by every pair before it: doubly exponential many trees, linear records."""
    n = 60
    rows = [((1,), 2, Label.ENTAILMENT)]
    rows += [
        ((a, b), t, Label.ENTAILMENT) for t in range(3, n + 1) for a in range(1, t) for b in range(a + 1, t)
    ]
    found = audit(Hypergraph.from_labels(n, rows)).segments[n]
    assert found.n_trees_total == COUNT_LIMIT
    assert found.n_trees_returned == 50
    assert len(found.trees) == 50
    assert found.truncated


def test_failing_branches_are_not_explored_one_by_one() -> None:
    """Dense and ungroundable: a literal recursion would visit 2^30 paths here."""
    n = 40
    rows = [((a,), t, Label.ENTAILMENT) for t in range(3, n + 1) for a in range(2, t)]
    result = audit(Hypergraph.from_labels(n, rows))
    assert {segment.label for segment in result.segments.values()} == {"Orphan", "Unsupported"}
    assert result.segments[n].root_breakpoint == 2


def test_a_tree_that_would_not_fit_is_abbreviated() -> None:
    """{S(t-2), S(t-1)} -> St doubles the tree like Fibonacci's numbers; at 40 segments it has 10^8 nodes."""
    n = 40
    rows = [((1,), 2, Label.ENTAILMENT)] + [((t - 2, t - 1), t, Label.ENTAILMENT) for t in range(3, n + 1)]
    segment = audit(Hypergraph.from_labels(n, rows)).segments[n]
    tree = segment.best_tree
    assert tree is not None
    written = segment.write_tree(tree)
    assert str(written).count("'entailment'") < MAX_TREE_NODES
    assert "None" in str(written)
    small = audit(Hypergraph.from_labels(n, rows)).segments[6]
    assert small.best_tree is not None
    assert "None" not in str(small.write_tree(small.best_tree))


def test_a_chain_longer_than_the_recursion_limit() -> None:
    n = 3000
    rows = [((t - 1,), t, Label.ENTAILMENT) for t in range(2, n + 1)]
    result = audit(Hypergraph.from_labels(n, rows), AuditParameters(max_depth=n))
    last = result.segments[n]
    assert (last.label, last.min_depth) == ("Supported", n - 1)
    assert last.to_dict()["best_tree"] is not None
