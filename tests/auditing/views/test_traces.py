"""The page of a trace."""

import json
import re

from django.urls import reverse

from auditing.services import execution, runs
from tests.auditing.views.rows import make_dataset, make_run, make_trace

STORED = [[[1], 2, "entailment"], [[1], 3, "neutral"], [[2], 3, "neutral"], [[3], 4, "entailment"]]


def url(trace, query: str = "") -> str:
    return reverse("auditing:trace_detail", args=[trace.pk]) + query


def audited_trace(ward, title="Ache", stored=STORED):
    """S2 stands on the case, S3 on nothing (Orphan), S4 on S3 only (Unsupported)."""
    trace = make_trace(ward, title, ["two", "three", "four"], ["correct", "incorrect"], stored=stored)
    run = runs.create(dataset=ward, traces=[trace], labeller="stored")
    execution.execute(run.pk)
    return trace, run


def test_an_audited_trace(visitor):
    trace, _ = audited_trace(make_dataset())
    html = visitor.get(url(trace)).content.decode()
    labels = re.findall(r'data-audit-chip><span class="chip (\w+)', html)
    assert labels == ["supported", "orphan", "unsupported"]
    assert 'id="S1" data-segment="1" tabindex="-1"' in html
    payload = json.loads(re.search(r'<script id="audit-payload"[^>]*>(.*?)</script>', html, re.S)[1])
    assert [segment["label"] for segment in payload["segments"]] == [
        None,
        "supported",
        "orphan",
        "unsupported",
    ]
    assert "4 of 4 relations labelled" in html
    assert "no model was asked" in html
    assert reverse("api:audit-detail", args=[payload["id"]]) in html


def test_without_scripts_the_reasons_and_relations_are_text(visitor):
    trace, _ = audited_trace(make_dataset())
    text = re.search(r"data-fallback>(.*?)</table>", visitor.get(url(trace)).content.decode(), re.S)[1]
    assert "S4:" in text
    assert "S3" in text
    assert "<td>S1</td><td>S2</td><td>entailment</td>" in text
    assert "neutral" not in text


def test_a_trace_without_an_audit_offers_one(visitor):
    ward = make_dataset()
    trace = make_trace(ward, "Ache", ["two"], ["correct"])
    html = visitor.get(url(trace)).content.decode()
    assert "Not audited yet" in html
    assert f"{reverse('auditing:run_plan', args=[ward.slug])}?trace={trace.pk}" in html
    assert 'data-island="trace-audit"' not in html


def test_an_audit_of_an_older_segmentation_is_marked(visitor):
    trace, _ = audited_trace(make_dataset())
    trace.segmentation = 2
    trace.save()
    html = visitor.get(url(trace)).content.decode()
    assert "Out of date" in html
    assert "three" in html  # the segments that were audited


def test_one_audit_can_be_chosen_and_neighbours_keep_the_run(visitor):
    ward = make_dataset()
    trace, run = audited_trace(ward)
    after = make_trace(ward, "Bleed", ["two"])
    again = runs.create(dataset=ward, traces=[trace], labeller="stored", name="Second")
    execution.execute(again.pk)
    html = visitor.get(url(trace, f"?run={run.pk}")).content.decode()
    assert "Trace 1 of 2" in html
    assert url(after, f"?run={run.pk}") in html
    newest = visitor.get(url(trace)).content.decode()
    assert re.search(r'<option value="\d+" selected>Second', newest)


def test_the_newest_run_is_shown_even_where_an_older_one_ended_later(visitor):
    ward = make_dataset()
    trace = make_trace(ward, "Ache", ["two", "three", "four"], stored=STORED)
    slow = runs.create(dataset=ward, traces=[trace], labeller="stored", name="Slow")
    quick = runs.create(dataset=ward, traces=[trace], labeller="stored", name="Quick")
    execution.execute(quick.pk)
    execution.execute(slow.pk)
    html = visitor.get(url(trace)).content.decode()
    assert re.search(r'<option value="\d+" selected>Quick', html)


def test_the_notice_speaks_of_this_trace_not_of_the_run(visitor):
    ward = make_dataset()
    trace = make_trace(ward, "Ache", ["two"])
    run = make_run(ward, state="running")
    row = run.run_traces.create(trace=trace, segmentation=1, state="queued")
    assert "An audit of this trace is waiting for its turn." in visitor.get(url(trace)).content.decode()
    row.state = "running"
    row.save()
    assert "An audit of this trace is running." in visitor.get(url(trace)).content.decode()
    row.state = "done"
    row.save()
    assert "An audit of this trace" not in visitor.get(url(trace)).content.decode()


def test_the_quality_note_stands_on_the_page(visitor):
    trace, run = audited_trace(make_dataset())
    run.labeller, run.quality_note = "local", "Weak on purpose."
    run.save()
    assert "Weak on purpose." in visitor.get(url(trace)).content.decode()


def test_ih_12_texts_cannot_break_out_of_page_or_payload(visitor):
    ward = make_dataset()
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    trace = make_trace(ward, attack, [attack], context=attack, stored=[[[1], 2, "entailment"]])
    run = runs.create(dataset=ward, traces=[trace], labeller="stored")
    execution.execute(run.pk)
    html = visitor.get(url(trace)).content.decode()
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_a_case_without_sections_shows_its_text_and_question(visitor):
    ward = make_dataset()
    trace = make_trace(ward, "Ache", ["two"], context="First line.\nSecond line.")
    trace.case.question = "What now?"
    trace.case.save()
    html = visitor.get(url(trace)).content.decode()
    assert "<p>First line.</p><p>Second line.</p>" in html
    assert "<h3>Question to the model</h3><p>What now?</p>" in html
