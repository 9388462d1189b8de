"""The whole path from a public file to audit labels, compared with the counts that the data's sources state.

The data are never part of the project: without ../shared these tests skip.
"""

from collections import Counter
from pathlib import Path

import pytest

from annotation.formats.records import ReadOptions, TraceRecord
from annotation.formats.registry import get_format
from auditing.core.audit_labels import Audit, audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters


def read_all(folder: Path, pattern: str, name: str) -> list[TraceRecord]:
    traces = []
    for path in sorted(folder.glob(pattern)):
        traces.extend(get_format(name).read(path.read_bytes(), path.name, ReadOptions()).traces)
    if not traces:
        pytest.skip(f"no {pattern} under ../shared")
    return traces


def graph_of(trace: TraceRecord) -> Hypergraph:
    rows = ((r.premises, r.target, Label.from_word(r.label)) for r in trace.relations)
    return Hypergraph.from_labels(len(trace.segments), rows)


def test_parc_labels_follow_the_annotated_errors(shared_data: Path) -> None:
    """PARC with stored relations of any premise size and the paper's parameters.

    A native error has no relation, so it must be an Orphan; a step that only inherits an error should be
    Unsupported; a right step should be Supported. Positive class of the accumulation figures: Unsupported.
    """
    traces = read_all(shared_data / "reasoning" / "parc", "*.json", "parc")
    counts: Counter[tuple[str, str]] = Counter()
    for trace in traces:
        labels = audit(graph_of(trace)).labels
        for index, segment in enumerate(trace.segments[1:], 2):
            counts[segment.error_kind or "right", labels[index]] += 1
    assert counts == {
        ("right", "Supported"): 1103,
        ("right", "Unsupported"): 55,
        ("native", "Orphan"): 371,
        ("accumulation", "Unsupported"): 516,
        ("accumulation", "Supported"): 17,
    }
    found = counts["accumulation", "Unsupported"]
    assert found / 533 == pytest.approx(0.968, abs=0.0005)
    assert found / (found + counts["right", "Unsupported"]) == pytest.approx(0.904, abs=0.0005)
    # Balanced F1, binary: right steps are the positive class, Supported predicts it. By hand:
    # TPR = 1103 / 1158 = 0.9525, TNR = (371 + 516) / (371 + 533) = 0.9812, harmonic mean 0.9666.
    tpr = counts["right", "Supported"] / 1158
    tnr = (counts["native", "Orphan"] + found) / (371 + 533)
    assert 2 * tpr * tnr / (tpr + tnr) == pytest.approx(0.967, abs=0.0005)


def tree_edges(result: Audit, sink: int) -> set[tuple[tuple[int, ...], int]]:
    """The edges of the first support tree of a segment; empty without one."""
    best = result.segments[sink].best_tree
    edges: set[tuple[tuple[int, ...], int]] = set()
    waiting = [result.segments[sink].write_tree(best)] if best is not None else []
    while waiting:
        node = waiting.pop()
        if len(node) > 1:
            edges.add((tuple(node[1]), node[0]))
            waiting.extend(node[3])
    return edges


@pytest.mark.parametrize(("m_max", "recovered"), [(5, 187), (2, 143)])
def test_entailmentbank_gold_trees_are_recovered(shared_data: Path, m_max: int, recovered: int) -> None:
    """Recovered: the support tree of the hypothesis has exactly the edges of the gold proof."""
    traces = read_all(shared_data / "reasoning" / "entailmentbank", "*.jsonl", "entailmentbank")
    found = 0
    for trace in traces:
        parameters = AuditParameters(m_max=m_max, early_accept=trace.context_segments)
        result = audit(graph_of(trace).restricted(parameters), parameters)
        gold = {(r.premises, r.target) for r in trace.relations}
        found += tree_edges(result, len(trace.segments)) == gold
    assert (len(traces), found) == (187, recovered)


def test_entailmentbank_without_a_leaf_all_above_it_falls(shared_data: Path) -> None:
    """Take away each given sentence: exactly the conclusions that rest on it lose their support."""
    traces = read_all(shared_data / "reasoning" / "entailmentbank", "*.jsonl", "entailmentbank")[:60]
    for trace in traces:
        first = trace.context_segments + 1
        for leaf in range(1, first):
            above = {leaf}
            for relation in trace.relations:  # in proof order, premises first
                if above & set(relation.premises):
                    above.add(relation.target)
            kept = [r for r in trace.relations if leaf not in r.premises]
            rows = ((r.premises, r.target, Label.from_word(r.label)) for r in kept)
            parameters = AuditParameters(early_accept=trace.context_segments)
            labels = audit(Hypergraph.from_labels(len(trace.segments), rows), parameters).labels
            lost = {i for i in range(first, len(trace.segments) + 1) if labels[i] != "Supported"}
            assert lost == above - {leaf}
