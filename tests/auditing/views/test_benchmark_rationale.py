"""The page of a rationale: what it shows before, while and after the audit; what is missing; what is hostile."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from auditing.models import AuditResult, AuditRun, RationaleAudit
from auditing.selectors.rationales import grounded_video_payload
from auditing.services import execution
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CHAIN = "Visual Cue:\n- Timeframe: 00:00 - 00:02\n- Description: A woman waits. A dog barks.\nFinal Answer: a woman"
WOMAN = videos.track("woman", (0, 50))


@pytest.fixture
def item(db):
    made = builders.item(builders.benchmark(1))
    builders.reference(made, content=builders.document(tracks={WOMAN["id"]: WOMAN}))
    return made


@pytest.fixture
def answer(item):
    return builders.answer(item, text=CHAIN)


def address(item, **query):
    return reverse("auditing:benchmark_rationale", args=[item.benchmark.slug, item.pk], query=query)


def html_of(visitor, item, **query):
    reply = visitor.get(address(item, **query))
    assert reply.status_code == 200
    return reply.content.decode()


def payload_of(html):
    return json.loads(re.search(r'id="rationale" type="application/json">(.*?)</script>', html, re.DOTALL)[1])


def run_all() -> None:
    for run in AuditRun.objects.filter(state="queued"):
        execution.execute(run.pk, should_stop=lambda: False)


def test_before_an_audit_the_page_has_steps_and_evidence_and_stores_nothing(visitor, item, answer):
    html = html_of(visitor, item, answer=answer.pk)
    payload = payload_of(html)

    assert [step["text"] for step in payload["steps"]] == ["A woman waits.", "A dog barks.", "a woman"]
    assert [(leaf["index"], leaf["kind"]) for leaf in payload["leaves"]] == [(1, "question"), (2, "track")]
    assert [step["index"] for step in payload["steps"]] == [3, 4, 5]
    assert payload["audit"] is None
    assert payload["side"] == payload["film"]["reference"]["id"]
    assert [side["name"] for side in payload["film"]["answers"]] == [str(answer)]
    assert not RationaleAudit.objects.exists()


def test_one_click_audits_with_the_embedded_model_and_shows_labels(visitor, item, answer):
    reply = visitor.post(address(item), {"answer": answer.pk, "reference": "human", "rules": "singles"})

    assert reply.status_code == 302
    assert reply["Location"] == address(item, answer=answer.pk, reference="human")
    assert "waiting for its turn" in html_of(visitor, item, answer=answer.pk)
    event = Event.objects.get(action="benchmark.audit_rationale")
    assert event.data["labeller"] == "local"
    run_all()
    html = html_of(visitor, item, answer=answer.pk)
    payload = payload_of(html)
    assert payload["audit"]["trace"]["context_segments"] == 2
    assert [row["index"] for row in payload["audit"]["segments"] if row["label"]] == [3, 4, 5]
    # One leaf and the steps before: 1 + 2 + 3.
    assert "labelled 6 of 6 relations" in re.sub(r"\s+", " ", html)
    assert "reads sentences of this kind weakly" in html


def test_a_second_click_starts_no_second_run(visitor, item, answer):
    for _ in range(2):
        visitor.post(address(item), {"answer": answer.pk, "reference": "human", "rules": "pairs"})

    run = AuditRun.objects.get()
    assert run.parameters["m_max"] == 2
    assert "no other was started" in html_of(visitor, item, answer=answer.pk)


def test_another_labeller_is_chosen_on_the_page_of_runs(visitor, item, answer):
    reply = visitor.post(address(item), {"answer": answer.pk, "reference": "human", "other": "1"})

    assert not AuditRun.objects.exists()
    html = visitor.get(reply["Location"]).content.decode()
    # One leaf for the first step, then each earlier step too: the question is no premise, as on the page itself.
    assert "6 new relation calls" in html.replace("<b>", "").replace("</b>", "")
    assert Event.objects.filter(action="benchmark.make_rationale").exists()


def test_after_a_change_the_old_labels_are_not_shown(visitor, item, answer):
    visitor.post(address(item), {"answer": answer.pk, "reference": "human"})
    run_all()
    builders.answer(item, text=CHAIN.replace("waits", "sings"))

    html = html_of(visitor, item, answer=answer.pk)

    assert payload_of(html)["audit"] is None
    assert "has changed since the last audit" in html


def test_with_another_reference_and_back_the_first_audit_is_shown_again(visitor, item, answer):
    builders.reference(item, "generated", content=builders.document(tracks={}))
    for source in ("human", "generated"):
        visitor.post(address(item), {"answer": answer.pk, "reference": source})
        run_all()

    for source, leaves in (("human", 2), ("generated", 1)):
        payload = payload_of(html_of(visitor, item, answer=answer.pk, reference=source))
        assert payload["audit"]["trace"]["context_segments"] == leaves
    assert RationaleAudit.objects.get().reference.source == "generated"


def test_a_run_that_ended_without_a_result_is_said(visitor, item, answer):
    visitor.post(address(item), {"answer": answer.pk, "reference": "human"})
    AuditRun.objects.update(state="failed", message="The model <b>is gone</b>.")

    html = html_of(visitor, item, answer=answer.pk)

    assert "ended without a result (failed)" in html
    assert "The model &lt;b&gt;is gone&lt;/b&gt;." in html
    assert payload_of(html)["audit"] is None


def test_audits_of_one_rationale_are_told_apart(visitor, item, answer):
    for rules in ("singles", "pairs"):
        visitor.post(address(item), {"answer": answer.pk, "reference": "human", "rules": rules})
        run_all()

    html = html_of(visitor, item, answer=answer.pk)

    # One leaf and three steps: 1 + 2 + 3 relations; with pairs 1, 2 + 1, 3 + 3 of them.
    assert "6 of 6 relations" in html
    assert "10 of 10 relations" in html


def test_what_is_left_out_is_counted(visitor, item, answer):
    ghost = videos.track("ghost", (500, 510))
    builders.reference(item, "tracker", content=builders.document(tracks={ghost["id"]: ghost}))

    html = html_of(visitor, item, answer=answer.pk, reference="tracker")

    assert "Left out: 1 object on no picture of the clip." in html


def test_the_references_own_rationale_is_shown_without_an_answer(visitor, item, answer):
    payload = payload_of(html_of(visitor, item))

    assert payload["name"] == "human"
    assert payload["steps"][0]["text"] == "A dog turns its head."
    assert payload["film"]["answers"] == []


def test_without_a_reference_the_page_says_what_is_missing(visitor, db):
    bare = builders.item(builders.benchmark(1))

    html = html_of(visitor, bare)

    assert "has no reference" in html
    assert visitor.post(address(bare), {}).status_code == 302
    assert not RationaleAudit.objects.exists()


def test_a_rationale_without_steps_is_said_and_refused(visitor, item):
    mute = builders.answer(item, "mute", text="I do not know")

    html = html_of(visitor, item, answer=mute.pk)
    visitor.post(address(item), {"answer": mute.pk, "reference": "human"})

    assert "Nothing to audit" in html
    assert not AuditRun.objects.exists()


@pytest.mark.parametrize(
    "query", [{"answer": "1e9"}, {"answer": "999999999"}, {"reference": "nobody"}, {"result": "x"}]
)
def test_what_is_not_there_is_as_if_not_asked_for(visitor, item, query):
    assert payload_of(html_of(visitor, item, **query))["name"] == "human"


def test_an_item_of_another_benchmark_is_not_found(visitor, item):
    other = builders.benchmark(1)

    assert visitor.get(reverse("auditing:benchmark_rationale", args=[other.slug, item.pk])).status_code == 404


def test_hostile_text_stays_text(visitor, item):
    text = f"Visual Cue:\n- Timeframe: 00:00\n- Description: {HOSTILE}\nFinal Answer: {HOSTILE}"
    wild = builders.answer(item, f"model {HOSTILE}"[:60], text=text)
    visitor.post(address(item), {"answer": wild.pk, "reference": "human"})
    run_all()

    html = html_of(visitor, item, answer=wild.pk)

    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_the_payload_of_a_film_has_boxes_times_and_speech(item, answer):
    payload = grounded_video_payload(item, [answer])

    assert payload["reference"]["times"] == {
        "visual": [[1_000_000, 2_000_000]],
        "audio": [[500_000, 900_000]],
    }
    assert list(payload["reference"]["tracks"]) == [WOMAN["id"]]
    assert payload["answers"][0]["times"] == {"visual": [[0, 2_000_000]], "audio": []}
    assert payload["speech"] == []
    assert payload["why_not"] == ""


def test_a_film_without_a_reference_or_a_file_says_so(db):
    bare = builders.item(builders.benchmark(1))
    bare.question.video.state = "failed"

    payload = grounded_video_payload(bare)

    assert payload["reference"] is None
    assert "is not there as a file" in payload["why_not"]


def test_more_answers_and_leaves_take_no_more_queries(visitor, item, answer):
    visitor.post(address(item), {"answer": answer.pk, "reference": "human"})
    run_all()
    counts = []
    for more in (0, 20):
        for number in range(more):
            builders.answer(item, f"other-{number}", text=CHAIN)
        with CaptureQueriesContext(
            connection,
        ) as caught:
            html_of(visitor, item, answer=answer.pk)
        counts.append(len(caught))

    assert counts[0] == counts[1]
    assert counts[0] <= 12
    assert AuditResult.objects.count() == 1
