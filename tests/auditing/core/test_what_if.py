"""Re-audit after edits, and smallest flips against brute force."""

import json
import random
from typing import Any

import pytest

from auditing.core import what_if
from auditing.core.audit_labels import AUDIT_LABELS, audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, candidates
from auditing.core.parameters import AuditParameters
from auditing.core.what_if import EdgeEdit, FlipResult, reaudit, smallest_flips
from tests.auditing.core.flip_reference import brute_force
from tests.auditing.core.graphs import graph

MIXES = [(1, 6, 3, 3), (1, 2, 4, 4), (0, 1, 3, 6), (2, 6, 1, 1), (0, 1, 8, 1)]
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "singleton": {"contradiction_scope": "singleton"},
    "none": {"contradiction_scope": "none"},
    "record": {"contradiction_policy": "record"},
    "record-free": {"contradiction_policy": "record", "contradicted_blocks": False},
    "not-blocking": {"contradicted_blocks": False},
    "cluster": {"weak_cluster": "cluster"},
    "raw": {"dominance_basis": "raw", "tau": 2},
    "both-strong": {"degraded_rule": "both_strong", "dominance_basis": "raw"},
    "negative": {"unstable_policy": "negative"},
    "negative-both": {"unstable_policy": "negative", "degraded_rule": "both_strong"},
    "all-at-once": {"weak_cluster": "cluster", "dominance_basis": "raw", "unstable_policy": "negative"},
    "no-context": {"context_premises": False},
    "span": {"span_threshold": 1, "d_max_threshold": 3},
    "leaves": {"early_accept": 2},
    "pairs-only": {"m_min": 2},
    "triples": {"m_max": 3},
}


def random_graph(rng: random.Random, n: int, m_max: int = 2) -> Hypergraph:
    weights = rng.choice(MIXES)
    density = rng.choice((0.5, 0.9, 1))
    rows = [
        (premises, target, Label(rng.choices(range(4), weights)[0]))
        for premises, target in candidates(n, AuditParameters(m_max=m_max))
        if rng.random() < density
    ]
    return Hypergraph.from_labels(n, rows)


def assert_equals_brute_force(
    found: FlipResult, graph_: Hypergraph, parameters: AuditParameters, limit: int
) -> None:
    wanted = {found.to} if found.to else set(AUDIT_LABELS) - {found.label}
    size, sets = brute_force(graph_, found.target, parameters, wanted, limit)
    assert found.size == size
    got = {frozenset(((c.premises, c.target), c.after) for c in changes) for changes in found.sets}
    assert got == sets
    assert len(found.sets) == len(got)
    assert not found.truncated


@pytest.mark.parametrize("name", SETTINGS)
def test_equals_brute_force(name: str) -> None:
    """All 4-segment sets of up to 3 edits, for every setting that enters the search."""
    parameters = AuditParameters.from_dict(SETTINGS[name])
    rng = random.Random(f"flips {name}")
    for _ in range(8):
        n = rng.choice((2, 3, 4, 4))
        drawn = random_graph(rng, n, 3 if name == "triples" else 2)
        target, to = rng.randint(2, n), rng.choice((None, *AUDIT_LABELS))
        found = smallest_flips(drawn, target, parameters, to=to, max_sets=10**6)
        assert found.searched_up_to == (3 if found.size is None else found.size)
        assert_equals_brute_force(found, drawn, parameters, 3)


@pytest.mark.parametrize("name", ["default", "cluster", "raw", "negative"])
def test_equals_brute_force_with_five_segments(name: str) -> None:
    parameters = AuditParameters.from_dict(SETTINGS[name])
    rng = random.Random(f"five {name}")
    for _ in range(3):
        drawn = random_graph(rng, 5)
        found = smallest_flips(
            drawn,
            rng.randint(3, 5),
            parameters,
            to=rng.choice((None, *AUDIT_LABELS)),
            max_changes=2,
            max_sets=10**6,
        )
        assert_equals_brute_force(found, drawn, parameters, 2)


def test_every_returned_set_flips_and_is_minimal() -> None:
    """Ten segments, three edits: too many sets for brute force, but each answer can be checked."""
    rng = random.Random(7)
    for parameters in (
        AuditParameters(),
        AuditParameters(weak_cluster="cluster", unstable_policy="negative"),
    ):
        drawn = random_graph(rng, 10)
        for target in (4, 7, 10):
            for to in AUDIT_LABELS:
                found = smallest_flips(drawn, target, parameters, to=to, max_sets=20)
                for changes in found.sets:
                    edits = [EdgeEdit(c.premises, c.target, c.after) for c in changes]
                    assert reaudit(drawn, edits, parameters).labels[target] == to
                    for edit in edits:
                        fewer = [other for other in edits if other is not edit]
                        assert reaudit(drawn, fewer, parameters).labels[target] != to


def test_two_segments_must_change() -> None:
    """By hand: S4 hangs on {S2, S3}, both Orphans, and every other set into S4 contradicts nothing but may support.

    To make S4 Supported, one edit is enough (any grounded set into S4). To make it Supported without touching the
    relations into S4 is not asked for, so the smallest size is 1: relabel {S1} -> S4.
    """
    found = smallest_flips(graph(4, "2,3>4 E"), 4, AuditParameters(), to="Supported")
    assert found.size == 1
    assert [[c.to_dict() for c in changes] for changes in found.sets] == [
        [{"premises": [1], "target": 4, "from": None, "to": "entailment"}]
    ]


def test_a_premise_can_be_flipped_instead() -> None:
    """By hand: {S2} -> S3 is Implied and fails because S2 is an Orphan. One edit: ground S2, or S3 directly."""
    found = smallest_flips(graph(3, "2>3 I"), 3, AuditParameters(), to="supported")
    assert {(c.premises, c.target, c.after) for changes in found.sets for c in changes} == {
        ((1,), 2, Label.IMPLIED),
        ((1,), 2, Label.ENTAILMENT),
        ((1,), 3, Label.IMPLIED),
        ((1,), 3, Label.ENTAILMENT),
    }


def test_three_edits_by_hand() -> None:
    """Three Entailments from grounded segments: an Orphan needs all three relabelled Neutral or far Implied."""
    text = "1>2 E; 1>3 E; 1>4 E; 2>4 E; 3>4 E"
    found = smallest_flips(graph(4, text), 4, AuditParameters(), to="Orphan")
    assert found.size == 3
    # {S1} may also become Implied: at distance 3 the gap filter removes it.
    assert found.sets == tuple(sorted(found.sets, key=lambda s: [(c.premises, int(c.after or 0)) for c in s]))
    assert {tuple(c.after for c in changes) for changes in found.sets} == {
        (Label.NEUTRAL, Label.NEUTRAL, Label.NEUTRAL),
        (Label.IMPLIED, Label.NEUTRAL, Label.NEUTRAL),
    }


def test_one_edit_completes_a_weak_cluster() -> None:
    """By hand, clusters removed whole: Implied {S2} -> S3 makes {S1, S2}, {S1} and {S2} a weak cluster; all three go.

    Relabelling {S1} -> S3 Neutral would not do: {S1, S2} would then be stronger than its components and stay.
    """
    parameters = AuditParameters(weak_cluster="cluster")
    found = smallest_flips(graph(3, "1>3 I; 2>3 N; 1,2>3 I"), 3, parameters, to="Orphan")
    assert [[(c.premises, c.target, c.after) for c in changes] for changes in found.sets] == [
        [((2,), 3, Label.IMPLIED)]
    ]


def test_one_edit_of_the_combination_removes_its_singletons() -> None:
    """By hand, clusters removed whole: with {S1} and {S2} Implied, an Implied {S1, S2} makes all three go."""
    parameters = AuditParameters(weak_cluster="cluster")
    found = smallest_flips(graph(3, "1>3 I; 2>3 I; 1,2>3 N"), 3, parameters, to="Orphan")
    assert [[(c.premises, c.target, c.after) for c in changes] for changes in found.sets] == [
        [((1, 2), 3, Label.IMPLIED)]
    ]


def test_one_edit_dominates_two_combinations() -> None:
    """By hand, dominance on raw labels: far Implied {S1} -> S5 is cut by the gap filter and still dominates both."""
    parameters = AuditParameters(dominance_basis="raw")
    found = smallest_flips(graph(5, "1,3>5 I; 1,4>5 I"), 5, parameters, to="Orphan")
    assert [[(c.premises, c.target, c.after) for c in changes] for changes in found.sets] == [
        [((1,), 5, Label.IMPLIED)]
    ]


def test_more_than_three_edits_are_not_claimed() -> None:
    text = "1>2 E; 1>3 E; 1>4 E; 1>5 E; 2>5 E; 3>5 E; 4>5 E"
    found = smallest_flips(graph(5, text), 5, AuditParameters(), to="Orphan")
    assert (found.found, found.size, found.sets, found.searched_up_to) == (False, None, (), 3)


def test_label_it_has_already() -> None:
    found = smallest_flips(graph(2, "1>2 E"), 2, AuditParameters(), to="Supported")
    assert (found.found, found.size, found.sets) == (True, 0, ((),))


def test_truncation_is_said() -> None:
    found = smallest_flips(graph(3, "2>3 I"), 3, AuditParameters(), to="Supported", max_sets=2)
    assert (len(found.sets), found.truncated) == (2, True)


def test_binding_depth_bound_is_searched_exhaustively() -> None:
    rng = random.Random(3)
    for depth in (1, 2):
        parameters = AuditParameters(max_depth=depth)
        for _ in range(4):
            drawn = random_graph(rng, 4)
            found = smallest_flips(drawn, 4, parameters, max_sets=10**6)
            assert_equals_brute_force(found, drawn, parameters, found.searched_up_to)


def test_millions_of_candidates_are_not_even_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    # With 500 segments and the usual depth bound of 100 every set of edits would have to be tried.
    monkeypatch.setattr(what_if, "candidates", lambda *_: pytest.fail("20 million candidates were listed"))
    chain = graph(500, "; ".join(f"{index}>{index + 1} E" for index in range(1, 500)))
    found = smallest_flips(chain, 102, AuditParameters(), to="Orphan")
    assert (found.label, found.found, found.searched_up_to) == ("Unsupported", False, 0)
    same = smallest_flips(chain, 102, AuditParameters(), to="Unsupported")
    assert (same.found, same.size, same.sets) == (True, 0, ((),))


def test_a_search_that_is_too_large_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1>2 E; 1>3 E; 1>4 E; 1>5 E; 2>5 E; 3>5 E; 4>5 E"
    monkeypatch.setattr(what_if, "MAX_STEPS", 30)
    found = smallest_flips(graph(5, text), 5, AuditParameters(), to="Orphan")
    assert (found.found, found.searched_up_to) == (False, 1)


def test_result_is_json() -> None:
    found = smallest_flips(graph(2, "1>2 N"), 2, AuditParameters(), to="supported")
    assert json.loads(json.dumps(found.to_dict())) == {
        "segment": 2,
        "from": "Orphan",
        "to": "Supported",
        "found": True,
        "size": 1,
        "searched_up_to": 1,
        "truncated": False,
        "sets": [
            [{"premises": [1], "target": 2, "from": "neutral", "to": "implied"}],
            [{"premises": [1], "target": 2, "from": "neutral", "to": "entailment"}],
        ],
    }


def test_reaudit_leaves_the_graph_as_it_was() -> None:
    before = graph(3, "1>2 E; 2>3 E")
    after = reaudit(before, [EdgeEdit((1,), 2, None)], AuditParameters())
    assert after.labels == {2: "Orphan", 3: "Unsupported"}
    assert audit(before).labels == {2: "Supported", 3: "Supported"}


@pytest.mark.parametrize(
    ("target", "options", "named"),
    [
        (1, {}, "Segment 1"),
        (4, {}, "Segment 4"),
        (2, {"to": "grounded"}, "Unknown audit label"),
        (2, {"max_changes": 4}, "max_changes"),
        (2, {"max_sets": 0}, "max_sets"),
    ],
)
def test_bad_questions_are_named(target: int, options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        smallest_flips(graph(3, "1>2 E"), target, AuditParameters(), **options)
