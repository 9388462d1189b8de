"""The published follow-up case (paper "Reference-Free Evaluation of Reasoning in Open-Ended Question
Answering", Tables 4 and 5): edges and labels as numbers, no sentences.

The paper prints the retained edges, not the raw relations. Below is a raw set that leads to exactly these
edges: every combination is stronger than its components (so no pattern removes it), the far ones are
Entailment (an Implied edge is cut at a distance of three or more), and distractors that the paper's rules
must remove are added.

    S1 -> S2   S1 -> S3   S1 -> S4   {S2,S3} -> S4   {S4,S5} -> S8
    {S5,S6} -> S10   {S7,S8} -> S10   {S8,S9} -> S10
"""

import pytest

from auditing.core.audit_labels import audit, explain
from auditing.core.hypergraph import Hypergraph
from auditing.core.metrics import binary_metrics, failure_modes
from auditing.core.nli import Label, Premises, Relation, candidates
from auditing.core.parameters import AuditParameters

N = 10
PRINTED_LABELS = {
    2: "Supported",
    3: "Supported",
    4: "Supported",
    5: "Orphan",
    6: "Orphan",
    7: "Orphan",
    8: "Unsupported",
    9: "Orphan",
    10: "Unsupported",
}
PRINTED_EDGES: set[Relation] = {
    ((1,), 2),
    ((1,), 3),
    ((1,), 4),
    ((2, 3), 4),
    ((4, 5), 8),
    ((5, 6), 10),
    ((7, 8), 10),
    ((8, 9), 10),
}
PRINTED_GOLD = {2: 1, 3: 0, 4: 1, 5: 1, 6: 0, 7: 0, 8: 0, 9: 1, 10: 0}

STRONG, WEAK = Label.ENTAILMENT, Label.IMPLIED
SUPPORT: dict[Relation, Label] = {
    ((1,), 2): STRONG,
    ((1,), 3): STRONG,
    ((1,), 4): STRONG,
    ((2, 3), 4): WEAK,
    ((4, 5), 8): STRONG,
    ((5, 6), 10): STRONG,
    ((7, 8), 10): WEAK,
    ((8, 9), 10): WEAK,
}
# Relations the rules must remove: far Implied ones (distance 3 or more), and combinations with a strong component.
DISTRACTORS: dict[Relation, Label] = {
    ((1,), 5): WEAK,
    ((2,), 5): WEAK,
    ((4,), 7): WEAK,
    ((3,), 6): WEAK,
    ((1, 2), 4): STRONG,
    ((1, 3), 4): STRONG,
    ((1, 2), 3): WEAK,
    ((6,), 9): WEAK,
}


def raw_graph(extra: dict[Relation, Label]) -> Hypergraph:
    labels = dict.fromkeys(candidates(N, AuditParameters()), Label.NEUTRAL) | SUPPORT | extra
    assert len(labels) == 165
    return Hypergraph.from_labels(N, ((*relation, label) for relation, label in labels.items()))


@pytest.mark.parametrize("extra", [{}, DISTRACTORS], ids=["minimal", "with-distractors"])
def test_printed_edges_labels_and_breakpoints(extra: dict[Relation, Label]) -> None:
    result = audit(raw_graph(extra))
    kept = {(edge.premises, target) for target, edges in result.selection.retained.items() for edge in edges}
    assert kept == PRINTED_EDGES
    assert result.labels == PRINTED_LABELS
    assert {index: s.root_breakpoint for index, s in result.segments.items() if s.root_breakpoint} == {
        8: 5,
        10: 5,
    }


def test_failing_edges_of_the_last_segment() -> None:
    """By hand: Entailment first; then the closer Implied edge, {S8, S9} at distance 1 before {S7, S8} at 2."""
    failing = audit(raw_graph({})).segments[10].failing
    expected: list[tuple[Premises, tuple[int, ...], int]] = [
        ((5, 6), (5, 6), 5),
        ((8, 9), (8, 9), 8),
        ((7, 8), (7, 8), 7),
    ]
    assert [(edge.premises, edge.ungrounded, edge.breakpoint) for edge in failing] == expected


def test_root_breakpoint_follows_unsupported_segments() -> None:
    """With all three edges Entailment, {S8, S9} comes first: S10 -> S8 (Unsupported) -> S5 (Orphan)."""
    result = audit(raw_graph({((7, 8), 10): STRONG, ((8, 9), 10): STRONG}))
    assert result.segments[10].failing[0].breakpoint == 8
    assert result.segments[10].root_breakpoint == 5


def test_reasons_of_the_removed_distractors() -> None:
    removed = audit(raw_graph(DISTRACTORS)).selection.removed
    assert {relation: removed[relation] for relation in DISTRACTORS} == {
        ((1,), 5): "gap",
        ((2,), 5): "gap",
        ((4,), 7): "gap",
        ((3,), 6): "gap",
        ((1, 2), 4): "redundant",
        ((1, 3), 4): "redundant",
        ((1, 2), 3): "degraded",
        ((6,), 9): "gap",
    }


def test_strict_operator_does_not_reproduce_the_table() -> None:
    """With "greater than" (D-2) the Implied distractors at a distance of exactly 3 survive.

    By hand: S2 -> S5, S3 -> S6, S4 -> S7 and S6 -> S9 then support S5, S6, S7 and S9, and with them S8 and S10.
    """
    labels = audit(raw_graph(DISTRACTORS), AuditParameters(gap_op=">")).labels
    assert set(labels.values()) == {"Supported"}


def test_agreement_with_the_printed_gold_labels() -> None:
    """By hand from Table 4: S2, S4 true positives; S5, S9 missed; S3 accepted wrongly; S6, S7, S8, S10 flagged."""
    result = audit(raw_graph({}))
    metrics = binary_metrics(
        [PRINTED_GOLD[index] for index in result.segments],
        [segment.y_hat for segment in result.segments.values()],
    )
    assert (metrics.tp, metrics.fn, metrics.tn, metrics.fp) == (2, 2, 4, 1)
    assert metrics.balanced_f1 == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert failure_modes(result.labels.values()).counts == {
        "Supported": 3,
        "Unsupported": 2,
        "Orphan": 4,
        "Contradicted": 0,
    }


def test_explanation_names_the_orphan() -> None:
    result = audit(raw_graph({}))
    said = explain(result.segments[8], result)
    assert said == "Unsupported: premise set {S4, S5} reaches it, but S5 is an Orphan."
