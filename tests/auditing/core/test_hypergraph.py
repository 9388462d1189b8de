"""The hypergraph: validation, order, restriction, edits."""

from typing import Any

import pytest

from auditing.core.hypergraph import Distances, Hypergraph
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from tests.auditing.core.graphs import graph


@pytest.mark.parametrize(
    ("n", "row", "named"),
    [
        (3, ((), 2, Label.NEUTRAL), "has no premise"),
        (3, ((2,), 2, Label.NEUTRAL), "must come before the target"),
        (3, ((3,), 2, Label.NEUTRAL), "must come before the target"),
        (3, ((2, 1), 3, Label.NEUTRAL), "ascending"),
        (3, ((1, 1), 3, Label.NEUTRAL), "ascending"),
        (3, ((0,), 2, Label.NEUTRAL), "numbered 1 to 3"),
        (3, ((1,), 4, Label.NEUTRAL), "numbered 1 to 3"),
        (3, ((1.0,), 2, Label.NEUTRAL), "not a segment"),
        (3, ((True,), 2, Label.NEUTRAL), "not a segment"),
        (3, ((1,), 2, "neutral"), "not a relation label"),
        (3, ((1,), 2, 1), "not a relation label"),
        (3, ((1,), 2, None), "not a relation label"),
    ],
)
def test_bad_relations_are_named(n: int, row: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named) as raised:
        Hypergraph.from_labels(n, [row])
    assert "Relation {" in str(raised.value)


@pytest.mark.parametrize("n", [0, -1, True, 2.0, None])
def test_a_trace_needs_a_segment(n: Any) -> None:
    with pytest.raises(ValueError, match="at least 1 segment"):
        Hypergraph.from_labels(n, [])


def test_duplicate_is_named() -> None:
    with pytest.raises(ValueError, match=r"\{S1, S2\} -> S3 is given twice"):
        graph(3, "1,2>3 E; 1>2 N; 1,2>3 I")


def test_relations_come_in_canonical_order() -> None:
    assert graph(4, "1,3>4 E; 2>4 N; 1>4 I; 2>3 E; 1,2>4 C").relations == (
        ((2,), 3),
        ((1,), 4),
        ((2,), 4),
        ((1, 2), 4),
        ((1, 3), 4),
    )


def test_distances() -> None:
    assert graph(9, "").distances((2, 5), 9) == Distances(d_min=4, d_max=7, span=3)


def test_restricted_to_candidates() -> None:
    full = graph(4, "1>4 E; 2,3>4 E; 1,2,3>4 E; 2>4 N")
    assert full.restricted(AuditParameters(m_max=3)) is full
    assert full.restricted(AuditParameters()).relations == (((1,), 4), ((2,), 4), ((2, 3), 4))
    assert full.restricted(AuditParameters(m_max=1)).relations == (((1,), 4), ((2,), 4))
    assert full.restricted(AuditParameters(context_premises=False)).relations == (((2,), 4), ((2, 3), 4))


def test_missing_relations_are_counted() -> None:
    assert graph(4, "1>4 E; 1,2,3>4 E").missing_count(AuditParameters()) == 9


def test_replaced() -> None:
    edited = graph(3, "1>2 E; 1>3 N").replaced(
        [(((1,), 2), None), (((1, 2), 3), Label.IMPLIED), (((1,), 3), Label.ENTAILMENT)]
    )
    assert list(edited) == [((1,), 3, Label.ENTAILMENT), ((1, 2), 3, Label.IMPLIED)]


@pytest.mark.parametrize(
    ("edits", "named"),
    [
        ([(((2,), 3), None)], "cannot be removed"),
        ([(((1,), 2), Label.NEUTRAL), (((1,), 2), None)], "edited twice"),
        ([(((3,), 2), Label.NEUTRAL)], "must come before"),
    ],
)
def test_bad_edits_are_named(edits: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        graph(3, "1>2 E").replaced(edits)
