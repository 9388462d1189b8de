"""Gap filter and pattern rules, each expected value from the paper's table by hand."""

from itertools import product

import pytest

from auditing.core.nli import Label, Premises
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import edge_usable, pattern_of, select_edges
from tests.auditing.core.graphs import WORDS, graph

DEFAULT = AuditParameters()


@pytest.mark.parametrize(
    ("premises", "label", "parameters", "usable"),
    [
        ((8,), "I", {}, True),
        ((7,), "I", {}, True),
        ((6,), "I", {}, False),
        ((6,), "I", {"gap_op": ">"}, True),
        ((1,), "E", {}, True),
        ((1,), "I", {"gap_enabled": False}, True),
        ((1, 8), "I", {}, True),
        ((1, 8), "I", {"d_max_threshold": 8}, False),
        ((1, 8), "I", {"span_threshold": 7}, False),
        ((1, 8), "I", {"span_threshold": 7, "gap_op": ">"}, True),
        ((8,), "N", {}, False),
        ((8,), "C", {"gap_enabled": False}, False),
    ],
)
def test_gap_filter(premises: Premises, label: str, parameters: dict[str, object], usable: bool) -> None:
    assert edge_usable(premises, 9, WORDS[label], AuditParameters.from_dict(parameters)) is usable


# Rows: combined label; columns: components, unordered. Read off Table 3 of the paper with "any strong" degrading.
TABLE = {
    "C": dict.fromkeys(["CC", "CN", "CI", "CE", "NN", "NI", "NE", "II", "IE", "EE"], "contradicted"),
    "N": {"CE": "degraded", "NE": "degraded", "IE": "degraded", "EE": "degraded"}
    | dict.fromkeys(["CC", "CN", "CI", "NN", "NI", "II"], "neutral"),
    "I": {"CE": "degraded", "NE": "degraded", "IE": "degraded", "EE": "degraded"}
    | {"CC": "conjunctive", "CN": "conjunctive", "NN": "conjunctive"}
    | {"CI": "asymmetric", "NI": "asymmetric", "II": "consistently_weak"},
    "E": {"CE": "redundant", "NE": "redundant", "IE": "redundant", "EE": "redundant"}
    | dict.fromkeys(["CC", "CN", "CI", "NN", "NI", "II"], "conjunctive"),
}


@pytest.mark.parametrize(("combined", "parts"), [(c, parts) for c, row in TABLE.items() for parts in row])
def test_pattern_table(combined: str, parts: str) -> None:
    for order in (parts, parts[::-1]):
        assert pattern_of([WORDS[p] for p in order], WORDS[combined], DEFAULT) == TABLE[combined][parts]


def test_pattern_table_is_complete() -> None:
    pairs = {"".join(sorted(pair, key="CNIE".index)) for pair in product("CNIE", repeat=2)}
    assert all(set(row) == pairs for row in TABLE.values())


def test_both_strong_turns_a_mixed_weakening_into_asymmetric() -> None:
    parameters = AuditParameters(degraded_rule="both_strong")
    assert pattern_of([Label.ENTAILMENT, Label.IMPLIED], Label.NEUTRAL, parameters) == "asymmetric"
    assert pattern_of([Label.ENTAILMENT, Label.ENTAILMENT], Label.IMPLIED, parameters) == "degraded"


def kept(text: str, target: int, **parameters: object) -> list[Premises]:
    selection = select_edges(graph(target, text), AuditParameters.from_dict(parameters))
    return [edge.premises for edge in selection.retained[target]]


def test_redundancy_is_judged_by_own_components() -> None:
    """S1 entails S4 alone, but S1 is no part of {S2, S3}: both stay, as in Table 5 of the paper."""
    assert kept("1>4 E; 2,3>4 I", 4) == [(1,), (2, 3)]
    assert kept("2>4 E; 2,3>4 E", 4) == [(2,)]


def test_dominated_combination_stays_if_its_strong_component_is_too_far() -> None:
    text = "1>5 I; 4>5 N; 1,4>5 I"
    assert kept(text, 5) == [(1, 4)]
    assert kept(text, 5, dominance_basis="raw") == []


def test_weak_cluster_loses_the_combination_or_all_of_it() -> None:
    text = "1>3 I; 2>3 I; 1,2>3 I"
    assert kept(text, 3) == [(2,), (1,)]
    assert kept(text, 3, weak_cluster="cluster") == []


def test_search_order() -> None:
    """Stronger label, then closer, then fewer premises, then lower indices."""
    text = "4>6 I; 5>6 I; 1>6 E; 3,4>6 E; 2,4>6 E; 2,3,4>6 E; 2>6 N"
    assert kept(text, 6) == [(2, 4), (3, 4), (2, 3, 4), (1,), (5,), (4,)]


def test_reasons_prefer_the_label_then_the_gap_then_the_pattern() -> None:
    selection = select_edges(graph(6, "5>6 E; 1>6 I; 4>6 N; 4,5>6 N; 1,5>6 C; 1,2>6 I; 3,5>6 I"), DEFAULT)
    assert dict(selection.removed) == {
        ((1,), 6): "gap",
        ((4,), 6): "neutral",
        ((1, 2), 6): "gap",
        ((1, 5), 6): "contradiction",
        ((3, 5), 6): "degraded",
        ((4, 5), 6): "neutral",
    }
    assert dict(selection.patterns) == {
        ((1, 2), 6): "asymmetric",
        ((1, 5), 6): "contradicted",
        ((3, 5), 6): "degraded",
        ((4, 5), 6): "degraded",
    }
    assert selection.unstable == {6}
    assert selection.gap_removed[6] == 2
    with pytest.raises(KeyError):
        selection.removed[((5,), 6)]


@pytest.mark.parametrize(
    ("scope", "expected"), [("any", ((1,), (1, 2))), ("singleton", ((1,),)), ("none", ())]
)
def test_contradiction_scope(scope: str, expected: tuple[Premises, ...]) -> None:
    selection = select_edges(
        graph(4, "1,2>4 C; 1>4 C; 3>4 N"), AuditParameters.from_dict({"contradiction_scope": scope})
    )
    assert selection.contradicting[4] == expected


def test_gap_filter_does_not_apply_to_contradiction() -> None:
    assert select_edges(graph(9, "1>9 C"), DEFAULT).contradicting[9] == ((1,),)


def test_context_only() -> None:
    selection = select_edges(graph(1, ""), DEFAULT)
    assert (dict(selection.retained), dict(selection.removed), selection.unstable) == ({}, {}, frozenset())
