"""The API and the pages of a video question, as the workspace uses them."""

import json
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Assignment
from tests.annotation import factories, video_factories
from tests.annotation.desk import BACKEND
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def client_of(row: Assignment) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(row.member.user, backend=BACKEND)
    return client


def send(client: Client, url: str, body: Any, method: str = "PUT") -> Any:
    return client.generic(
        method,
        url,
        json.dumps(body),
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )


def test_an_annotator_reads_refines_and_hands_in() -> None:
    row = video_factories.work()
    client = client_of(row)
    page = client.get(f"/my-cases/{row.public_id}/")
    assert page.status_code == 200
    assert b'data-island="video-refine"' in page.content
    payload = client.get(f"/api/v1/refinements/{row.public_id}/").json()
    assert payload["editable"]
    assert payload["why_not"] == ""
    assert payload["document"] == payload["generated"] == row.item.question.document
    assert (payload["video"]["n"], payload["video"]["mean_rate"]) == (100, "25")
    here, other = payload["question"]["others"]
    assert client.get(other["detail"]).json()["id"] == other["id"]
    assert here == {
        "number": 1,
        "id": str(row.public_id),
        "url": f"/my-cases/{row.public_id}/",
        "detail": f"/api/v1/refinements/{row.public_id}/",
        "state": "assigned",
        "here": True,
    }

    operation = videos.operation((["cot", "final_answer"], "It hears a whistle.", "A whistle."))
    body = {"operations": [operation], "base_version": 0, "tab": None, "active_ms": 1500}
    saved = send(client, payload["urls"]["save"], body)
    assert saved.status_code == 200, saved.content
    assert (saved.json()["version"], saved.json()["applied"]) == (1, [operation["id"]])

    payload = client.get(payload["urls"]["detail"]).json()
    assert payload["document"]["cot"]["final_answer"] == "A whistle."
    assert (payload["version"], payload["state"], payload["active_ms"]) == (1, "draft", 1500)
    handed_in = send(
        client, payload["urls"]["submit"], {"base_version": payload["assignment_version"]}, "POST"
    )
    assert handed_in.status_code == 200, handed_in.content
    payload = client.get(payload["urls"]["detail"]).json()
    assert (payload["state"], payload["editable"]) == ("submitted", False)


def test_ds_03_a_conflict_comes_back_with_the_document_and_both_sides() -> None:
    row = video_factories.work()
    client = client_of(row)
    url = f"/api/v1/refinements/{row.public_id}/operations/"
    first = videos.operation((["target_label"], "dog", "hound"))
    second = videos.operation((["target_label"], "dog", "puppy"))
    assert send(client, url, {"operations": [first]}).status_code == 200
    refused = send(client, url, {"operations": [second]})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "version_conflict"
    current = refused.json()["current"]
    assert current["document"]["target_label"] == "hound"
    assert current["conflicts"] == [
        {"path": ["target_label"], "mine": "puppy", "theirs": "hound", "before": "dog"}
    ]


def test_what_is_missing_is_named_when_it_is_handed_in() -> None:
    row = video_factories.work()
    client = client_of(row)
    operation = videos.operation((["cot", "final_answer"], "It hears a whistle.", ""))
    send(client, f"/api/v1/refinements/{row.public_id}/operations/", {"operations": [operation]})
    row.refresh_from_db()
    refused = send(
        client, f"/api/v1/assignments/{row.public_id}/submit/", {"base_version": row.version}, "POST"
    )
    assert refused.status_code == 422
    assert refused.json()["error"]["fields"] == {"parts": ["The final answer is empty."]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"operations": []},
        {"operations": "all"},
        {"operations": [5]},
        {"operations": [{}]},
        {"operations": [videos.operation((["tracks", "x"], None, {}))]},
        {"operations": [videos.operation((["target_label"], "dog", "\ud800"))]},
    ],
)
def test_ih_16_what_cannot_be_read_is_refused_and_nothing_is_stored(body: dict[str, Any]) -> None:
    row = video_factories.work()
    refused = send(client_of(row), f"/api/v1/refinements/{row.public_id}/operations/", body)
    assert refused.status_code in (400, 422), refused.content
    row.refresh_from_db()
    assert (row.document, row.state) == (None, "assigned")


def test_a_question_has_no_segments_and_a_case_no_operations() -> None:
    question, case = video_factories.work(), factories.study_with_work().work[0][0]
    client = client_of(question)
    base = f"/api/v1/assignments/{question.public_id}/"
    assert client.get(base).status_code == 404
    assert send(client, f"{base}segments/2/", {}).status_code == 404
    assert client.get(f"{base}audit/").status_code == 404
    assert client_of(case).get(f"/api/v1/refinements/{case.public_id}/").status_code == 404


def test_ab_11_the_clip_is_open_to_its_annotator_and_to_no_other() -> None:
    row = video_factories.work()
    index = client_of(row).get(f"/api/v1/refinements/{row.public_id}/").json()["video"]["urls"]["index"]
    assert client_of(row).get(index).status_code == 200
    stranger = Client(raise_request_exception=False)
    stranger.force_login(factories.user("annotator"), backend=BACKEND)
    assert stranger.get(index).status_code in (403, 404)
    assert stranger.get(f"/api/v1/refinements/{row.public_id}/").status_code in (403, 404)


def test_the_list_of_own_work_names_questions() -> None:
    row = video_factories.work()
    page = client_of(row).get("/my-cases/").content.decode()
    assert "Begin Question 1" in page
    assert "Why does the dog run?" in page
    assert "Segments judged" not in page
