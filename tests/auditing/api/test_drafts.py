"""The API of drafts: asking, reading, cancelling, and whose they are."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from annotation.models import Assignment
from auditing.models import DraftRun
from auditing.services.drafts.execution import execute
from reasonaudit.lib.models import RunState
from tests.annotation import factories, video_factories
from tests.annotation.api.test_refinements import client_of, send
from tests.auditing.drafting.test_reading import PLAIN
from tests.trust.test_hostile_input import BODIES
from tests.videos import factories as videos

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draft_models")]


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def url_of(row: Assignment) -> str:
    return f"/api/v1/refinements/{row.public_id}/drafts/"


def ask(row: Assignment, **fields: Any) -> Any:
    return send(client_of(row), url_of(row), {"kind": "reasoning", **fields}, "POST")


def test_a_draft_is_asked_for_written_and_read(says) -> None:
    row = video_factories.work()
    client = client_of(row)
    assert client.get(f"/api/v1/refinements/{row.public_id}/").json()["urls"]["drafts"] == url_of(row)
    shown = client.get(url_of(row)).json()
    assert shown == {
        "available": True,
        "why_not": "",
        "connections": [{"name": "writer", "pictures": 0}, {"name": "seer", "pictures": 3}],
        "runs": [],
        "versions": [],
    }
    made = ask(row)
    assert made.status_code == 201, made.content
    run = made.json()
    assert (run["kind"], run["model"], run["state"], run["done"], run["total"]) == (
        "reasoning", "writer", "queued", 0, 1,
    )  # fmt: skip
    stored = DraftRun.objects.get(public_id=run["id"])
    assert (stored.asked_in, stored.created_by) == (row.public_id, row.member.user)
    assert ProcrastinateJob.objects.filter(task_name="auditing.draft", args__run_id=stored.pk).count() == 1
    assert execute(stored.pk, drafter=says(PLAIN)) == RunState.DONE
    shown = client.get(url_of(row)).json()
    assert [(one["id"], one["state"]) for one in shown["runs"]] == [(run["id"], "done")]
    (version,) = shown["versions"]
    assert set(version) == {"id", "number", "kind", "created_at", "model", "prompt", "warnings", "document"}
    assert (version["number"], version["model"], version["prompt"]) == (1, "writer", "video-reasoning-v1")
    assert version["document"]["cot"]["final_answer"] == "It hears a whistle."
    row.refresh_from_db()
    assert (row.document, row.state) == (None, "assigned"), "a draft changes nothing"


def test_a_label_is_asked_for_with_the_reasoning_as_it_is_now() -> None:
    row = video_factories.work()
    detail = client_of(row).get(f"/api/v1/refinements/{row.public_id}/").json()
    change = videos.operation((["cot", "visual", "description"], "The dog turns.", "A cat sleeps."))
    body = {"operations": [change], "base_version": 0, "tab": None, "active_ms": 0}
    assert send(client_of(row), detail["urls"]["save"], body).status_code == 200
    assert ask(row, kind="target_label", connection="seer").status_code == 201
    item = DraftRun.objects.get().items.get()
    assert "A cat sleeps." in item.cues
    assert item.run.drafter == "openai:seer"


def test_a_request_that_is_sent_twice_is_one_run() -> None:
    row = video_factories.work()
    client, key = client_of(row), str(uuid.uuid4())
    answers = [
        client.post(
            url_of(row),
            json.dumps({"kind": "reasoning"}),
            content_type="application/json",
            headers={"Idempotency-Key": key},
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert DraftRun.objects.count() == 1
    assert ask(row).status_code == 409


def test_a_draft_is_cancelled_and_one_that_has_ended_stays_so() -> None:
    row = video_factories.work()
    run = ask(row).json()
    for _ in range(2):
        stopped = send(client_of(row), f"{url_of(row)}{run['id']}/cancel/", {}, "POST")
        assert (stopped.status_code, stopped.json()["state"]) == (200, "cancelled")


def test_ab_11_drafts_are_seen_only_in_the_work_they_were_asked_for(says) -> None:
    study = video_factories.study(questions=1)
    (item,) = study.items.all()
    row, other = (factories.assignment(item, video_factories.annotator(study)) for _ in range(2))
    run = ask(row).json()
    execute(DraftRun.objects.get().pk, drafter=says(PLAIN))
    shown = client_of(other).get(url_of(other)).json()
    assert (shown["runs"], shown["versions"]) == ([], [])
    assert send(client_of(other), f"{url_of(other)}{run['id']}/cancel/", {}, "POST").status_code == 404
    assert client_of(other).get(url_of(row)).status_code == 404
    assert send(client_of(other), url_of(row), {"kind": "reasoning"}, "POST").status_code == 404
    assert Client().get(url_of(row)).status_code in (401, 403)
    case = factories.study_with_work().work[0][0]
    assert client_of(case).get(url_of(case)).status_code == 404
    assert ask(case).status_code == 404


def test_work_that_is_closed_takes_no_draft_but_shows_those_it_has() -> None:
    row = video_factories.work()
    ask(row)
    Assignment.objects.filter(pk=row.pk).update(state="submitted")
    refused = ask(row, kind="target_label")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_editable")
    assert len(client_of(row).get(url_of(row)).json()["runs"]) == 1


def test_without_a_model_that_drafts_the_page_is_told_why(settings) -> None:
    settings.LLM_DRAFT_MODELS = []
    row = video_factories.work()
    shown = client_of(row).get(url_of(row)).json()
    assert not shown["available"]
    assert "No model is set up here that writes drafts." in shown["why_not"]
    refused = ask(row)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "drafts_unavailable")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "poem"},
        {"kind": "reasoning", "base_url": "http://x"},
        {"kind": "reasoning", "connection": "x" * 201},
    ],
)
def test_ih_01_what_is_not_known_is_refused(body: dict[str, Any]) -> None:
    row = video_factories.work()
    assert send(client_of(row), url_of(row), body, "POST").status_code == 400
    assert ask(row, connection="http://169.254.169.254/").status_code == 422
    assert not DraftRun.objects.exists()


@pytest.mark.parametrize("body", BODIES)
def test_ih_01_hostile_bodies_never_fail(body: bytes) -> None:
    row = video_factories.work()
    answer = client_of(row).post(
        url_of(row), body, content_type="application/json", headers={"Idempotency-Key": str(uuid.uuid4())}
    )
    assert 400 <= answer.status_code < 500
