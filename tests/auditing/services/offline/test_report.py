"""Plain text that is read in a terminal."""

from dataclasses import replace

from annotation.formats.records import SegmentRecord
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label
from auditing.services.offline.ablation import ablate
from auditing.services.offline.documents import summary
from auditing.services.offline.evaluation import evaluate
from auditing.services.offline.report import explanation, number, summary_table, table
from auditing.services.offline.report_tables import ablation_text, evaluation_text, setting_text


def test_a_table_lines_up():
    assert table(["name", "n"], [["a", "1,000"], ["bcdefg", "2"]]) == "\n".join(
        ["name        n", "------  -----", "a       1,000", "bcdefg      2"]
    )


def test_a_missing_value_is_a_dash_and_never_a_zero():
    assert number(None) == "\u2013"
    assert number(0.0) == "0.000"


def test_the_explanation_names_label_reason_and_tree(labelled):
    text = explanation(labelled[0])
    assert "S1 (given) A boy of six" in text
    assert "Unsupported: premise set {S3} reaches it, but S3 is an Orphan." in text
    assert "      {S1, S2} entailment" in text
    assert "Contradicted: {S1} contradicts it" in text


def test_the_explanation_fits_80_columns_however_deep_and_long(labelled):
    depth = 60
    record = replace(
        labelled[0].record,
        segments=tuple(SegmentRecord("word " * 200 + "x" * 300) for _ in range(depth)),
    )
    chain = Hypergraph.from_labels(depth, [((i,), i + 1, Label.ENTAILMENT) for i in range(1, depth)])
    text = explanation(replace(labelled[0], record=record, graph=chain))
    assert max(map(len, text.splitlines())) <= 80
    assert "S60 Supported" not in text
    assert "{S59} entailment" in text


def test_the_summary_table_fits_80_columns(audits):
    text = summary_table(
        summary([{**audits[0], "domain": "mathematical"}] * 900), new_calls=1, cached=2, seconds=3.21
    )
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].split() == ["mathematical", "900", "6,300", "1,800", "1,800", "1,800", "900", "1.00"]
    assert lines[-1] == "calls 1, cached 2, seconds 3.2"
    assert lines[-2] == "relations 6,300, labelled 6,300 (100.0 %), invalid 0, missing 0, skipped 0"


def test_the_evaluation_in_words(audits):
    text = evaluation_text(evaluate(audits))
    assert (
        "clinical: 1 trace, 6 of 7 segments have a gold label (3 correct, 2 incorrect, 1 uncertain)" in text
    )
    assert "confusion: 2 true positive, 1 false negative, 3 true negative, 0 false positive" in text


def test_the_ablation_in_words(labelled):
    text = ablation_text(ablate(labelled, [{"tau": 1}, {"tau": None}]), listed=1)
    assert "tau=1: 2 changed" in text
    assert "  wound S4: unsupported -> orphan" in text
    assert "... and 1 more" in text
    assert setting_text({"tau": None, "gap_enabled": False}) == "tau=none gap_enabled=false"
