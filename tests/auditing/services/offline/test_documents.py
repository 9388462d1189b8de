"""The document of an audit, against labels worked out by hand (tests/auditing/golden.py)."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from auditing.core.parameters import AuditParameters
from auditing.formats.audits import write_audits
from auditing.formats.canonical import json_line
from auditing.services.offline.auditing import AuditSettings, LabellerChoice, audited, label_traces
from auditing.services.offline.documents import labelled_from_document, summary
from auditing.services.offline.loading import load
from tests.auditing import golden

SCHEMA = Path(__file__).parents[4] / "auditing" / "formats" / "audits.schema.json"


def by_index(document):
    return {segment["index"]: segment for segment in document["segments"]}


def test_labels_trees_and_breakpoints(audits):
    segments = by_index(audits[0])
    assert {index: segments[index]["label"] for index in golden.LABELS} == golden.LABELS
    assert segments[2]["best_tree"] == [2, [1], "entailment", [[1]]]
    assert segments[6]["best_tree"] == [6, [1, 2], "entailment", [[1], [2, [1], "entailment", [[1]]]]]
    assert segments[3]["best_tree"] is None
    assert [segments[index]["root_breakpoint"] for index in (2, 3, 4, 8)] == [None, None, 3, 7]
    assert (segments[7]["search_label"], segments[7]["contradicted"], segments[7]["y_hat"]) == (
        "supported",
        True,
        0,
    )
    assert [segments[index]["y_hat"] for index in range(2, 9)] == [1, 0, 0, 0, 1, 0, 0]


def test_context_is_listed_and_not_audited(audits):
    context = by_index(audits[0])[1]
    assert context["context"] is True
    assert context["text"] == golden.SEGMENTS[0][0]
    assert {context[name] for name in ("label", "search_label", "y_hat", "best_tree", "contradicted")} == {
        None
    }


def test_every_relation_with_the_reason_why_it_is_no_edge(audits):
    reasons = {(tuple(row[0]), row[1]): (row[2], row[3], row[4]) for row in audits[0]["relations"]}
    assert reasons == {
        ((1,), 2): ("entailment", True, None),
        ((3,), 4): ("implied", True, None),
        ((2,), 5): ("implied", False, "gap"),
        ((1, 2), 6): ("entailment", True, None),
        ((1,), 7): ("contradiction", False, "contradiction"),
        ((6,), 7): ("entailment", True, None),
        ((7,), 8): ("implied", True, None),
    }


def test_the_summary_counts_what_is_not_context(audits):
    found = summary(audits)
    assert found["segments"] == 7
    clinical = found["domains"]["clinical"]
    assert clinical["labels"] == {"supported": 2, "unsupported": 2, "orphan": 2, "contradicted": 1}
    assert clinical["shares"]["contradicted"] == pytest.approx(100 / 7)
    assert clinical["orphan_unsupported_ratio"] == 1.0
    assert found["coverage"] == {"total": 7, "labelled": 7, "invalid": 0, "missing": 0, "skipped": 0}
    assert found["calls"] == 0


def test_a_ratio_that_cannot_be_computed_is_none(tmp_path):
    record = golden.trace()
    record["relations"] = record["relations"][:1]
    loaded = load([golden.write(tmp_path / "a.jsonl", record)])
    found = summary(audited(label_traces(loaded.traces, LabellerChoice(), AuditSettings()).traces))
    assert found["overall"]["labels"]["unsupported"] == 0
    assert found["overall"]["orphan_unsupported_ratio"] is None


def test_rp_07_documents_fit_the_published_schema(audits):
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for line in write_audits(audits).splitlines():
        validator.validate(json.loads(line))
    broken = json.loads(json_line(audits[0]))
    broken["segments"][1]["label"] = "fine"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)


def test_a_document_gives_its_labelled_trace_back(audits, labelled):
    document = json.loads(json_line(audits[0]))
    again = labelled_from_document(document)
    assert again.graph.labels == labelled[0].graph.labels
    assert json_line(audited([again], with_relations=True)[0]) == json_line(
        {**audits[0], "title": document["title"], "case_id": document["case_id"]}
    )


def test_a_document_without_relations_says_so(audits):
    with pytest.raises(ValueError, match=r"audits\.jsonl of audit --out"):
        labelled_from_document({name: value for name, value in audits[0].items() if name != "relations"})


def test_several_given_sentences_are_leaves(tmp_path):
    #  S1, S2 given; {S1,S2} -> S3 -> S4. Both given sentences ground, though S2 has no edge of its own.
    record = {
        "schema": "reasonaudit.trace/1", "id": "two", "context_segments": 2,
        "segments": [{"text": text} for text in ("a", "b", "c", "d")],
        "relations": [
            {"premises": [1, 2], "target": 3, "label": "entailment"},
            {"premises": [3], "target": 4, "label": "entailment"},
        ],
    }  # fmt: skip
    loaded = load([golden.write(tmp_path / "two.jsonl", record)])
    document = audited(label_traces(loaded.traces, LabellerChoice(), AuditSettings()).traces)[0]
    assert [segment["label"] for segment in document["segments"]] == [None, None, "supported", "supported"]
    assert document["parameters"]["early_accept"] == 2
    assert document["segments"][3]["best_tree"] == [
        4,
        [3],
        "entailment",
        [[3, [1, 2], "entailment", [[1], [2]]]],
    ]


def test_stored_sets_of_any_size_count_unless_capped(tmp_path):
    record = golden.trace()
    record["relations"] = [{"premises": [1, 2, 3], "target": 4, "label": "entailment"}] + [
        {"premises": [1], "target": t, "label": "entailment"} for t in (2, 3)
    ]
    loaded = load([golden.write(tmp_path / "a.jsonl", record)])
    labels = []
    for cap in (None, 3, 2):
        settings = AuditSettings(parameters=AuditParameters(m_max=cap or 2), max_premises=cap)
        document = audited(label_traces(loaded.traces, LabellerChoice(), settings).traces)[0]
        labels.append(by_index(document)[4]["label"])
    assert labels == ["supported", "supported", "orphan"]


def test_a_trace_without_stored_relations_is_left_out_and_not_called_an_orphan(tmp_path):
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"schema": "reasonaudit.trace/1", "id": "bare", "segments": ["A.", "B."]}))
    loaded = load([golden.write(tmp_path / "golden.jsonl"), bare])
    found = label_traces(loaded.traces, LabellerChoice(), AuditSettings())
    assert [trace.record.id for trace in found.traces] == [loaded.traces[0].id]
    assert found.remarks == (
        "Trace bare has no stored relations; left out. Another --labeller can audit them.",
    )


def test_a_source_that_says_that_no_relation_holds_is_audited(tmp_path):
    found = load([Path(__file__).parents[4] / "fixtures" / "formats" / "parc.json"]).traces
    assert found
    assert all(trace.meta["relations_given"] for trace in found)
    silent = [replace(trace, relations=()) for trace in found[:1]]
    (only,) = label_traces(silent, LabellerChoice(), AuditSettings()).traces
    (audit,) = audited([only])
    assert {segment["label"] for segment in audit["segments"][only.record.context_segments :]} == {"orphan"}
