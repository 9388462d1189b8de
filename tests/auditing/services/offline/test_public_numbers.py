"""Numbers of public data, from the files' own annotations; skipped where ../shared is not there.

Expected values: SOURCES.md beside the PARC files (what the steps of each kind of error must become), and
the two counts that the project was given for the EntailmentBank trees.
"""

import pytest

from auditing.core.parameters import AuditParameters
from auditing.services.offline.ablation import ablate
from auditing.services.offline.auditing import AuditSettings, LabellerChoice, audited, label_traces
from auditing.services.offline.documents import summary
from auditing.services.offline.evaluation import evaluate
from auditing.services.offline.loading import load


@pytest.fixture(scope="module")
def parc(shared_data):
    """All PARC traces with their stored relations."""
    files = sorted((shared_data / "reasoning" / "parc").glob("*.json"))
    if not files:
        pytest.skip("the PARC files are not there")
    loaded = load(files)
    assert loaded.problems == []
    return label_traces(loaded.traces, LabellerChoice(), AuditSettings()).traces


def test_parc_labels(parc):
    audits = audited(parc)
    found = summary(audits)["domains"]["mathematical"]
    assert (found["traces"], found["segments"]) == (348, 2062)
    assert found["labels"] == {
        "supported": 1103 + 17,
        "unsupported": 516 + 55,
        "orphan": 371,
        "contradicted": 0,
    }


def test_parc_metrics(parc):
    found = evaluate(audited(parc))["domains"]["mathematical"]
    metrics = found["metrics"]
    assert round(metrics["accumulation_recall"]["value"], 3) == 0.968
    assert round(metrics["accumulation_precision"]["value"], 3) == 0.904
    assert round(metrics["balanced_f1"]["value"], 3) == 0.967
    assert found["labels_by_error_kind"]["accumulation"]["unsupported"] == 516
    assert found["labels_by_error_kind"]["none"]["unsupported"] == 55
    assert found["labels_by_error_kind"]["native"]["orphan"] == 371
    assert found["labels_by_error_kind"]["none"]["supported"] == 1103
    assert found["labels_by_error_kind"]["accumulation"]["supported"] == 17
    for measure in metrics.values():
        assert measure["low"] < measure["value"] < measure["high"]


def test_parc_entailments_are_not_touched_by_the_gap_filter(parc):
    found = ablate(parc, [{"tau": 1}, {"gap_enabled": False}, {"contradiction_scope": "none"}])
    assert [one["changed"] for one in found["settings"]] == [0, 0, 0]


def test_entailmentbank_trees_by_premise_size(shared_data):
    files = sorted((shared_data / "reasoning" / "entailmentbank").glob("*.jsonl"))
    if not files:
        pytest.skip("the EntailmentBank files are not there")
    loaded = load(files)
    recovered = {}
    for size in (5, 2):
        settings = AuditSettings(parameters=AuditParameters(m_max=size), max_premises=size)
        audits = audited(label_traces(loaded.traces, LabellerChoice(), settings).traces)
        recovered[size] = sum(audit["segments"][-1]["label"] == "supported" for audit in audits)
    assert len(loaded.traces) == 187
    assert recovered == {5: 187, 2: 143}
