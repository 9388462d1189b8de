"""The API of proposed boxes: asking, reading, stopping, and whose they are."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from annotation.models import Assignment
from reasonaudit.lib.models import RunState
from tests.annotation import factories, video_factories
from tests.annotation.api.test_refinements import client_of, send
from tests.trust.test_hostile_input import BODIES
from videos.models import ProposalRun

pytestmark = pytest.mark.django_db

ASKED = {
    "proposer": "opencv", "label": "dog", "track": None, "frame": 10, "box": [10.5, 20, 30, 40], "text": "",
    "start": 10, "end": 40, "direction": "forward",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def url_of(row: Assignment) -> str:
    return f"/api/v1/refinements/{row.public_id}/proposals/"


def ask(row: Assignment, **fields: Any) -> Any:
    return send(client_of(row), url_of(row), {**ASKED, **fields}, "POST")


def test_a_proposal_is_asked_for_read_and_stopped() -> None:
    row = video_factories.work()
    client = client_of(row)
    payload = client.get(f"/api/v1/refinements/{row.public_id}/").json()
    assert payload["urls"]["proposals"] == url_of(row)
    shown = client.get(url_of(row)).json()
    assert shown["runs"] == []
    assert [(one["name"], one["box"]) for one in shown["proposers"]] == [("opencv", True), ("sam3", True)]
    assert all(one["available"] is not bool(one["why_not"]) for one in shown["proposers"])

    made = ask(row)
    assert made.status_code == 201, made.content
    run = made.json()
    assert (run["state"], run["done"], run["total"], run["tracks"]) == ("queued", 0, 30, None)
    assert run["prompt"] == {**ASKED, "box_end": None}
    assert set(run) == {
        "id", "proposer", "state", "done", "total", "message", "created_at", "prompt", "version", "tracks", "flags",
    }  # fmt: skip
    stored = ProposalRun.objects.get(public_id=run["id"])
    assert (stored.asked_in, stored.created_by, stored.question) == (
        row.public_id,
        row.member.user,
        row.item.question,
    )
    jobs = ProcrastinateJob.objects.filter(task_name="videos.propose", args__run_id=stored.pk)
    assert jobs.count() == 1

    second = ask(row, label="ball").json()
    assert [one["id"] for one in client.get(url_of(row)).json()["runs"]] == [second["id"], run["id"]]
    found = {"tracks": [{"id": str(uuid.uuid4())}], "flags": {"12": ["lost"]}}
    ProposalRun.objects.filter(pk=stored.pk).update(state=RunState.DONE, result=found)
    assert client.get(f"{url_of(row)}{run['id']}/").json()["tracks"] == found["tracks"]
    listed = client.get(url_of(row)).json()["runs"][1]
    assert (listed["tracks"], listed["flags"]) == (None, {"12": ["lost"]})

    stopped = send(client, f"{url_of(row)}{second['id']}/cancel/", {}, "POST")
    assert (stopped.status_code, stopped.json()["state"]) == (200, "cancelled")
    row.refresh_from_db()
    assert (row.document, row.state) == (None, "assigned"), "a proposal changes nothing"


def test_a_request_that_is_sent_twice_is_one_run() -> None:
    row = video_factories.work()
    client, key = client_of(row), str(uuid.uuid4())
    answers = [
        client.post(
            url_of(row), json.dumps(ASKED), content_type="application/json", headers={"Idempotency-Key": key}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert ProposalRun.objects.count() == 1


def test_ab_11_proposals_are_seen_only_in_the_work_they_were_asked_for() -> None:
    row, other = video_factories.work(), video_factories.work()
    run = ask(row).json()
    assert client_of(other).get(url_of(other)).json()["runs"] == []
    assert client_of(other).get(f"{url_of(other)}{run['id']}/").status_code == 404
    assert send(client_of(other), f"{url_of(other)}{run['id']}/cancel/", {}, "POST").status_code == 404
    for address in (url_of(row), f"{url_of(row)}{run['id']}/"):
        assert client_of(other).get(address).status_code == 404
        assert Client().get(address).status_code in (401, 403)
    case = factories.study_with_work().work[0][0]
    assert client_of(case).get(url_of(case)).status_code == 404
    assert ask(case).status_code == 404


def test_work_that_is_closed_takes_no_proposal_but_shows_those_it_has() -> None:
    row = video_factories.work()
    run = ask(row).json()
    Assignment.objects.filter(pk=row.pk).update(state="submitted")
    refused = ask(row)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_editable")
    assert client_of(row).get(f"{url_of(row)}{run['id']}/").status_code == 200
    assert ProposalRun.objects.count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"box": [1, 2, 3]},
        {"box": [1, 2, "x", 4]},
        {"box": [1, 2, "nan", 4]},
        {"box": [1, 2, 1e308, 1e308]},
        {"frame": -1},
        {"frame": 2**63},
        {"frame": 1.5},
        {"direction": "sideways"},
        {"track": "<script>"},
        {"text": "\ud800"},
        {"label": "x" * 201},
        {"proposer": "x" * 5000},
        {"proposer": "../../etc/passwd"},
        {"extra": 1},
        {"end": 101},
    ],
)
def test_ih_16_what_cannot_be_meant_is_refused_and_nothing_is_stored(fields: dict[str, Any]) -> None:
    refused = ask(video_factories.work(), **fields)
    assert refused.status_code in (400, 422), refused.content
    assert set(refused.json()["error"]) == {"code", "message", "remedy", "fields"}
    assert (ProposalRun.objects.count(), ProcrastinateJob.objects.count()) == (0, 0)


def test_ih_16_hostile_bodies_are_refused() -> None:
    row = video_factories.work()
    client = client_of(row)
    run = ask(row).json()
    for body in BODIES:
        for address in (url_of(row), f"{url_of(row)}{run['id']}/cancel/"):
            assert send(client, address, body, "POST").status_code < 500, body
    assert ProposalRun.objects.count() == 1
