"""Properties of the whole audit, and equality with a literal recursion."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditing.core.audit_labels import audit, explain, render_tree
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation
from auditing.core.parameters import AuditParameters
from auditing.core.support_edges import edge_usable
from tests.auditing.core.graphs import any_parameters, build, labelled
from tests.auditing.core.naive_reference import naive_audit

ROOT = Path(__file__).resolve().parents[3]
Drawn = tuple[int, dict[Relation, Label]]


@settings(max_examples=300, deadline=None)
@given(labelled(max_n=6), any_parameters())
def test_equals_literal_recursion(drawn: Drawn, parameters: AuditParameters) -> None:
    n, labels = drawn
    expected = naive_audit(n, labels, parameters)
    result = audit(build(n, labels), parameters)
    for index, segment in result.segments.items():
        assert segment.label == expected.label[index]
        assert segment.search_label == expected.search_label[index]
        assert segment.y_hat == expected.y_hat[index]
        assert segment.unstable == expected.unstable[index]
        assert [(edge.premises, edge.label) for edge in segment.retained] == expected.retained[index]
        assert list(segment.trees) == expected.trees[index]
        assert segment.n_trees_total == expected.total[index]
        assert segment.min_depth == expected.min_depth[index]
        assert segment.truncated == (len(expected.trees[index]) < expected.total[index])


@settings(max_examples=100, deadline=None)
@given(labelled(max_n=5, max_size=3), any_parameters(max_depth=100))
def test_equals_literal_recursion_with_three_premises(drawn: Drawn, parameters: AuditParameters) -> None:
    n, labels = drawn
    expected = naive_audit(n, labels, parameters)
    result = audit(build(n, labels), parameters)
    assert result.labels == expected.label
    assert {i: list(s.trees) for i, s in result.segments.items()} == expected.trees


@settings(max_examples=150, deadline=None)
@given(labelled(), any_parameters(), st.randoms(use_true_random=False))
def test_lj_17_order_of_labels_does_not_matter(
    drawn: Drawn, parameters: AuditParameters, rng: random.Random
) -> None:
    n, labels = drawn
    rows = [(*relation, label) for relation, label in labels.items()]
    straight = audit(Hypergraph.from_labels(n, rows), parameters)
    rng.shuffle(rows)
    shuffled = audit(Hypergraph.from_labels(n, rows), parameters)
    assert json.dumps(straight.to_dict()) == json.dumps(shuffled.to_dict())
    assert list(straight.selection.removed.items()) == list(shuffled.selection.removed.items())
    assert list(straight.selection.patterns.items()) == list(shuffled.selection.patterns.items())


@settings(max_examples=200, deadline=None)
@given(labelled(max_n=6), st.data())
def test_adding_support_never_unsupports(drawn: Drawn, data: st.DataObject) -> None:
    """Without contradictions, raising any label cannot take a tree away under the default rules."""
    n, labels = drawn
    labels = {relation: label for relation, label in labels.items() if label is not Label.CONTRADICTION}
    if not labels:
        return
    relation = data.draw(st.sampled_from(sorted(labels)))
    stronger = data.draw(st.sampled_from([Label.IMPLIED, Label.ENTAILMENT]))
    before = audit(build(n, labels))
    after = audit(build(n, labels | {relation: max(stronger, labels[relation])}))
    for index, segment in before.segments.items():
        if segment.label == "Supported":
            assert after.labels[index] == "Supported"


@settings(max_examples=150, deadline=None)
@given(
    labelled(max_n=6),
    any_parameters(weak_cluster="pair", dominance_basis="surviving", unstable_policy="flag", max_depth=100),
)
def test_pattern_rules_never_change_a_label(drawn: Drawn, parameters: AuditParameters) -> None:
    """The label follows from the usable edges alone when every removed combination leaves a component."""
    assert parameters.label_neutral
    n, labels = drawn
    result = audit(build(n, labels), parameters)
    grounds = {1: True}
    for target in range(2, n + 1):
        usable = [
            p for (p, t), label in labels.items() if t == target and edge_usable(p, t, label, parameters)
        ]
        tree = any(all(grounds[premise] for premise in premises) for premises in usable)
        segment = result.segments[target]
        assert segment.search_label == ("Supported" if tree else "Unsupported" if usable else "Orphan")
        blocked = segment.contradicted and parameters.contradicted_blocks
        grounds[target] = target <= parameters.early_accept or (tree and not blocked)


@settings(max_examples=150, deadline=None)
@given(labelled(), any_parameters())
def test_every_relation_is_kept_or_has_a_reason(drawn: Drawn, parameters: AuditParameters) -> None:
    n, labels = drawn
    selection = audit(build(n, labels), parameters).selection
    kept = {(edge.premises, target) for target, edges in selection.retained.items() for edge in edges}
    removed = set(selection.removed)
    assert kept | removed == set(labels)
    assert not kept & removed
    assert set(selection.patterns) == {relation for relation in labels if len(relation[0]) > 1}


@settings(max_examples=150, deadline=None)
@given(labelled(), any_parameters())
def test_explanations_name_the_label_and_json_is_plain(drawn: Drawn, parameters: AuditParameters) -> None:
    n, labels = drawn
    result = audit(build(n, labels), parameters)
    for index, segment in result.segments.items():
        assert explain(segment, result).startswith(f"{segment.label}: ")
        assert render_tree(result, index).startswith(f"S{index} {segment.label}")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) is not None


SCRIPT = """
import json, sys
from auditing.core.audit_labels import audit
from auditing.core.nli import Label, candidates
from auditing.core.hypergraph import Hypergraph
from auditing.core.parameters import AuditParameters
rows = [(p, t, Label((sum(p) * 7 + t * 3) % 4)) for p, t in candidates(9, AuditParameters())]
result = audit(Hypergraph.from_labels(9, set(rows)), AuditParameters(contradiction_scope="none"))
json.dump([result.to_dict(), [str(item) for item in result.selection.removed.items()]], sys.stdout)
"""


def test_rp_02_same_bytes_under_any_hash_seed() -> None:
    outputs = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True, cwd=ROOT
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert b"Supported" in outputs.pop()


@pytest.mark.parametrize("n", [1, 2])
def test_smallest_traces(n: int) -> None:
    assert audit(Hypergraph.from_labels(n, [])).labels == ({} if n == 1 else {2: "Orphan"})
