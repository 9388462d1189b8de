"""Segments, cases and downloads."""

import io
import json
import re
import zipfile

import pytest
from django.urls import reverse

from annotation.models import Case
from annotation.selectors import current_segments
from auditing.services import execution, runs
from auditing.views.segments import sentence_places, word_places
from tests.auditing.views.rows import make_dataset, make_trace

TEXT = "He has pain. He needs a scan."


@pytest.fixture
def ward(db):
    return make_dataset()


def segments_url(trace) -> str:
    return reverse("auditing:trace_segments", args=[trace.pk])


def texts(trace) -> list[str]:
    trace.refresh_from_db()
    return [segment.text for segment in current_segments(trace)]


def change(visitor, trace, **data):
    """Send a change as a page that was loaded just now would."""
    trace.refresh_from_db()
    return visitor.post(segments_url(trace), {"segmentation": trace.segmentation, **data})


def test_places_to_split_at_are_code_points(ward):
    segment = make_trace(ward, "Ache", [TEXT]).all_segments.get(index=2)
    assert [offset for offset, _, _ in sentence_places(segment)] == [13]
    assert sentence_places(segment)[0][1:] == ("He has pain.", "He needs a scan.")
    assert [offset for offset, _, _ in word_places(segment)] == [3, 7, 13, 16, 22, 24]


def test_split_at_a_sentence_then_merge(visitor, ward):
    trace = make_trace(ward, "Ache", [TEXT, "He goes home."])
    html = visitor.get(segments_url(trace)).content.decode()
    assert 'type="radio" name="offset" value="13"' in html
    change(visitor, trace, action="split", index=2, offset=13)
    assert texts(trace) == ["A case.", "He has pain.", "He needs a scan.", "He goes home."]
    change(visitor, trace, action="merge", index=3)
    assert texts(trace) == ["A case.", "He has pain.", "He needs a scan. He goes home."]
    assert trace.segmentation == 3


def test_a_split_is_undone_by_merging_and_a_merge_by_splitting(visitor, ward):
    trace = make_trace(ward, "Ache", [TEXT, "He goes home."])
    change(visitor, trace, action="split", index=2, cursor="13")
    html = visitor.get(segments_url(trace)).content.decode()
    assert "Undo: merge S2 and S3 again" in html
    change(visitor, trace, action="merge", index=2)
    assert texts(trace) == ["A case.", TEXT, "He goes home."]

    change(visitor, trace, action="merge", index=2)
    html = visitor.get(segments_url(trace)).content.decode()
    assert "Undo: split S2 again" in html
    offset = re.search(r'name="offset" value="(\d+)">S2 and the segment after it were merged', html)[1]
    change(visitor, trace, action="split", index=2, offset=offset)
    assert texts(trace) == ["A case.", TEXT, "He goes home."]


def test_undo_is_offered_for_the_last_change_of_this_trace_only(visitor, ward):
    trace, other = make_trace(ward, "Ache", [TEXT]), make_trace(ward, "Bleed", [TEXT])
    change(visitor, trace, action="split", index=2, offset=13)
    assert "Undo:" not in visitor.get(segments_url(other)).content.decode()
    trace.refresh_from_db()
    trace.segmentation += 1  # somebody else changed it
    trace.save()
    assert "Undo:" not in visitor.get(segments_url(trace)).content.decode()


@pytest.mark.parametrize(
    "stale",
    [
        {"action": "merge", "index": 3},
        {"action": "split", "index": 2, "offset": "4"},
        {"action": "split", "index": 2, "offset": "13"},  # the undo of a merge
    ],
)
def test_a_page_of_an_older_segmentation_changes_nothing(visitor, ward, stale):
    """Two tabs: after S2 was merged in one, S3 of the other is another segment."""
    trace = make_trace(ward, "Ache", ["He has pain.", "He needs a scan.", "It is clear.", "He goes home."])
    page = visitor.get(segments_url(trace)).content.decode()
    (shown,) = set(re.findall(r'name="segmentation" value="(\d+)"', page))
    assert visitor.post(
        segments_url(trace), {"action": "merge", "index": 2, "segmentation": shown}
    ).url.endswith("#S2")
    now = ["A case.", "He has pain. He needs a scan.", "It is clear.", "He goes home."]
    assert texts(trace) == now
    answer = visitor.post(segments_url(trace), {**stale, "segmentation": shown})
    assert answer.status_code == 409
    html = answer.content.decode()
    assert "The trace was split or merged meanwhile; here is how it stands now. Nothing was changed." in html
    assert now[1] in html
    assert texts(trace) == now
    # What the page holds now can be sent: its forms and the undo name the current segmentation.
    assert set(re.findall(r'name="segmentation" value="(\d+)"', html)) == {str(trace.segmentation)}
    assert html.count("Undo:") == 1


def test_the_cursor_is_not_offered_where_its_places_would_differ(visitor, ward):
    plain, odd = make_trace(ward, "Ache", ["He\nhas pain."]), make_trace(ward, "Bleed", ["He\r\nhas pain."])
    assert "data-split-cursor" in visitor.get(segments_url(plain)).content.decode()
    html = visitor.get(segments_url(odd)).content.decode()
    assert "data-split-cursor" not in html
    assert 'name="word"' in html


def test_split_before_a_word(visitor, ward):
    trace = make_trace(ward, "Ache", [TEXT])
    change(visitor, trace, action="split", index=2, offset="13", word="3")
    assert texts(trace) == ["A case.", "He", "has pain. He needs a scan."]


@pytest.mark.parametrize(
    "data",
    [
        {"action": "split", "index": 2},
        {"action": "split", "index": 2, "offset": "0"},
        {"action": "split", "index": 1, "offset": 2},
        {"action": "split", "index": "x", "offset": 2},
        {"action": "merge", "index": 9},
        {"action": "explode", "index": 2},
        {"action": "split", "index": 2, "offset": 13, "segmentation": ""},
    ],
)
def test_bad_changes_leave_the_segments_as_they_were(visitor, ward, data):
    trace = make_trace(ward, "Ache", [TEXT])
    answer = change(visitor, trace, **data)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert texts(trace) == ["A case.", TEXT]


def test_labelled_segments_are_locked_and_it_says_why(visitor, ward):
    trace = make_trace(ward, "Ache", [TEXT], ["correct"])
    html = visitor.get(segments_url(trace)).content.decode()
    assert "have labels" in html
    assert 'value="split"' not in html
    assert change(visitor, trace, action="split", index=2, offset=13).status_code == 409
    assert texts(trace) == ["A case.", TEXT]


def test_a_case_without_a_trace(visitor, ward):
    case = Case.objects.create(
        dataset=ward, external_id="c", title="Waiting", context="A case.", domain="clinical"
    )
    url = reverse("auditing:case_answer", args=[case.pk])
    assert url in visitor.get(reverse("auditing:dataset_detail", args=[ward.slug])).content.decode()
    html = visitor.get(url).content.decode()
    assert "Have a model answer this case" in html
    assert 'name="base_url"' not in html
    refused = visitor.post(url, {"model": ""})
    assert refused.status_code == 422


def test_without_a_server_the_form_says_so(visitor, ward, settings):
    settings.LLM_BASE_URL = ""
    case = Case.objects.create(
        dataset=ward, external_id="c", title="Waiting", context="A case.", domain="clinical"
    )
    answer = visitor.post(reverse("auditing:case_answer", args=[case.pk]), {"model": "some-model"})
    assert answer.status_code == 422
    assert "No address of a model server is known" in answer.content.decode()


def test_the_export_is_an_archive_of_the_audits(visitor, ward):
    trace = make_trace(
        ward, "Ache", ["two", "three"], stored=[[[1], 2, "entailment"], [[2], 3, "entailment"]]
    )
    export = reverse("auditing:dataset_export", args=[ward.slug])
    assert visitor.get(export).status_code == 302  # nothing to export yet
    run = runs.create(dataset=ward, traces=[trace], labeller="stored")
    execution.execute(run.pk)
    answer = visitor.get(export)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {"audits.jsonl", "manifest.json", "SHA256SUMS"} <= set(archive.namelist())
        (line,) = archive.read("audits.jsonl").decode().splitlines()
    assert [segment["label"] for segment in json.loads(line)["segments"]] == [None, "supported", "supported"]
    assert f"run-{run.pk}" in visitor.get(f"{export}?run={run.pk}").headers["Content-Disposition"]


def test_a_case_that_is_being_answered_is_polled(visitor, ward):
    from auditing import tasks

    case = Case.objects.create(
        dataset=ward, external_id="c", title="Waiting", context="A case.", domain="clinical"
    )
    url = reverse("auditing:case_answer", args=[case.pk])
    assert "every 3s" not in visitor.get(url).content.decode()
    tasks.answer_case.defer(case_id=case.pk, labeller="openai:m", options={}, user_id=None)
    html = visitor.get(url).content.decode()
    assert "A model is answering this case" in html
    assert 'hx-trigger="every 3s"' in html


def test_a_case_says_why_a_model_gave_no_answer(visitor, ward):
    case = Case.objects.create(
        dataset=ward, external_id="c", title="Waiting", context="A case.", domain="clinical"
    )
    case.meta = {
        "answer_problem": {"model": "m", "message": "The server <b>refused</b> the key.", "at": "now"}
    }
    case.save()
    html = visitor.get(reverse("auditing:case_answer", args=[case.pk])).content.decode()
    assert "m gave no answer: The server &lt;b&gt;refused&lt;/b&gt; the key." in html
