"""`assignments/<id>/flag/`: a problem with a video question, from its annotator to the study's lead."""

import uuid

import pytest
from django.core.cache import cache

from annotation.models import Study
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.annotation.desk import Desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


def flag_of(desk: Desk) -> dict[str, object]:
    return desk.client.get(f"/api/v1/refinements/{desk.work.public_id}/").json()["flag"]


def test_a_problem_is_reported_read_and_taken_back() -> None:
    desk = Desk(video_factories.work())
    flag = flag_of(desk)
    assert (flag["kind"], flag["note"], flag["at"], flag["editable"]) == ("", "", None, True)
    assert [kind for kind, _ in flag["kinds"]] == ["clip", "question", "media", "answer", "other"]
    done = desk.send("PUT", "flag/", {"kind": "media", "note": "No sound."})
    assert done.status_code == 200, done.content
    assert (done.json()["kind"], done.json()["note"]) == ("media", "No sound.")
    assert flag_of(desk) == {**done.json(), "kinds": flag["kinds"]}
    assert desk.send("PUT", "flag/", {"kind": ""}).json() == {
        "kind": "",
        "note": "",
        "at": None,
        "editable": True,
    }
    payload = desk.client.get(f"/api/v1/refinements/{desk.work.public_id}/").json()
    assert payload["urls"]["flag"] == f"{desk.url}flag/"
    assert (payload["state"], payload["assignment_version"]) == ("assigned", 1), "the work is not touched"


def test_ds_02_the_same_request_again_does_nothing_twice() -> None:
    desk, key = Desk(video_factories.work()), str(uuid.uuid4())
    first = desk.send("PUT", "flag/", {"kind": "answer"}, key=key)
    again = desk.send("PUT", "flag/", {"kind": "answer"}, key=key)
    other_key = desk.send("PUT", "flag/", {"kind": "answer"})
    assert first.json() == again.json() == other_key.json()
    assert again.headers["Idempotent-Replay"] == "true"
    assert Event.objects.filter(action="problem.report").count() == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "other"}, 422),
        ({"kind": "nonsense"}, 422),
        ({"kind": "clip", "note": "x" * 2001}, 422),
        ({"note": "no kind"}, 400),
        ({"kind": "clip", "severity": 3}, 400),
    ],
)
def test_bodies_that_are_refused_say_which_field(body: dict[str, object], status: int) -> None:
    desk = Desk(video_factories.work())
    response = desk.send("PUT", "flag/", body)
    assert response.status_code == status
    assert response.json()["error"]["fields"]
    assert flag_of(desk)["kind"] == ""


def test_nobody_else_reports_and_cases_have_no_flag() -> None:
    desk = Desk(video_factories.work())
    stranger = Desk(desk.work)
    stranger.client.force_login(
        video_factories.annotator(desk.work.item.study).user,
        backend="django.contrib.auth.backends.ModelBackend",
    )
    assert stranger.send("PUT", "flag/", {"kind": "clip"}).status_code == 404
    case = Desk(factories.study_with_work(items=1).work[0][0])
    assert case.send("PUT", "flag/", {"kind": "clip"}).status_code == 404
    Study.objects.update(stage="closed")
    closed = desk.send("PUT", "flag/", {"kind": "clip"})
    assert (closed.status_code, closed.json()["error"]["code"]) == (409, "not_editable")
