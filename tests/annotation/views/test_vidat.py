"""VidAT's submit: an address of one's own, from another site, for as long as the work is one's own."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.models import StudyMember, VidatAddress
from annotation.services import vidat as services
from annotation.services.assignments import assignment_restore, assignment_withdraw
from reasonaudit.lib.logs import JsonFormatter
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.annotation.desk import BACKEND
from tests.annotation.vidat_desk import ELSEWHERE, HERE, Desk, boxes
from videos.core.tracks import Track, box_at

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_submit_changes_the_owners_document_once(desk: Desk) -> None:
    url, file = desk.address(), desk.file()
    (dog,) = desk.document()["tracks"]
    for box in boxes(file):
        box["x"] += 40
    extra = {
        "instance": 7,
        "score": None,
        "labelId": 1,
        "color": "#ff0000",
        "x": 1,
        "y": 2,
        "width": 30,
        "height": 9,
    }
    file["annotation"]["objectAnnotationListMap"]["3"].append(extra)
    answer = desk.send(url, file)
    assert answer.status_code == 200
    said = answer.json()
    assert set(said) == {"message", "type", "clipboard"}
    assert said["type"] == "positive", said
    assert said["message"].startswith(
        "Stored for question 1: 2 objects, 12 boxes, 1 sound. 1 new, 1 changed."
    )
    assert "It is not handed in: do that in the workspace." in said["message"]
    content = desk.document()
    assert set(content["tracks"]) > {dog}
    assert len(content["tracks"]) == 2
    assert box_at(Track.from_json(content["tracks"][dog]), 5) == (45, 20, 30, 40)
    assert len(content["events"]) == 1
    assert desk.state() == ("draft", 1)
    last = desk.row.item.study
    actions = Event.objects.filter(stream__name=f"study:{last.pk}").order_by("number")
    assert list(actions.values_list("action", "actor_id"))[-3:] == [
        ("vidat.make", desk.row.member.user_id),
        ("assignment.draft", desk.row.member.user_id),
        ("document.change", desk.row.member.user_id),
    ]
    again = desk.send(url, file).json()
    assert "Nothing had changed." in again["message"]
    assert (desk.document(), desk.state()) == (content, ("draft", 1))
    del file["annotation"]["objectAnnotationListMap"]["3"][1]
    assert "1 removed." in desk.send(url, file).json()["message"]
    assert set(desk.document()["tracks"]) == {dog}


def test_vidats_work_from_nothing_stands_beside_what_is_there(desk: Desk) -> None:
    url, file = desk.address(), desk.file()
    before = desk.document()
    file["annotation"]["objectAnnotationListMap"] = {"2": [{**boxes(file)[0], "x": 300}]}
    file["annotation"]["actionAnnotationList"] = []
    said = desk.send(url, file).json()
    assert "1 new. 2 that are not in VidAT's file stay as they are." in said["message"]
    after = desk.document()
    assert len(after["tracks"]) == 2
    assert after["events"] == before["events"]


# From where


def test_ih_13_pages_of_the_allowed_origins_may_submit_and_read_the_answer(desk: Desk, settings) -> None:
    settings.VIDAT_ORIGINS = [ELSEWHERE]
    url, file = desk.address(), desk.file()
    asked = desk.vidat.options(
        url,
        headers={
            "Origin": ELSEWHERE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        },
    )
    assert asked.status_code == 204
    assert asked.headers["Access-Control-Allow-Origin"] == ELSEWHERE
    assert asked.headers["Access-Control-Allow-Methods"] == "POST"
    assert asked.headers["Access-Control-Allow-Headers"] == "Content-Type"
    answer = desk.send(url, file, ELSEWHERE)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == ELSEWHERE
    assert "Origin" in answer.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert not answer.cookies
    refused = desk.send(f"{HERE}/vidat/ra_{'0' * 64}/", file, ELSEWHERE)
    assert refused.status_code == 404
    assert refused.headers["Access-Control-Allow-Origin"] == ELSEWHERE, "VidAT could not show it otherwise"


@pytest.mark.parametrize(
    "origin", ["https://evil.example.org", "null", "https://testserver", f"{ELSEWHERE}.evil.org"]
)
def test_ih_13_no_other_page_may(desk: Desk, settings, origin: str) -> None:
    settings.VIDAT_ORIGINS = [ELSEWHERE]
    url, file = desk.address(), desk.file()
    asked = desk.vidat.options(url, headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert "Access-Control-Allow-Origin" not in asked.headers
    answer = desk.send(url, file, origin)
    assert (answer.status_code, answer.json()["type"]) == (403, "negative")
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert desk.state() == ("assigned", 0)


def test_a_copy_of_vidat_that_is_opened_as_a_file_only_by_setting(desk: Desk, settings) -> None:
    settings.VIDAT_ORIGINS = ["null"]
    answer = desk.send(desk.address(), desk.file(), "null")
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "null")


def test_a_program_without_an_origin_may_submit(desk: Desk) -> None:
    assert desk.send(desk.address(), desk.file(), None).status_code == 200
    assert VidatAddress.objects.get().submits == 1
    assert desk.state() == ("assigned", 0), "nothing was changed in it, so nobody has begun"


# With which address


def ways_to_end(desk: Desk, how: str) -> None:
    study = desk.row.item.study
    address = VidatAddress.objects.get()
    if how == "expired":
        VidatAddress.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "withdrawn":
        assert desk.own.delete(f"{desk.base}vidat/").status_code == 200
    elif how == "made anew":
        desk.address()
    elif how == "work withdrawn":
        lead = factories.member(study, part="lead").user
        assignment_withdraw(assignment=desk.row, by=lead, reason="Too many.")
    elif how == "work withdrawn and given back":
        lead = factories.member(study, part="lead").user
        assignment_withdraw(assignment=desk.row, by=lead, reason="Too many.")
        assignment_restore(assignment=desk.row, by=lead, reason="After all.")
    elif how == "out of the study":
        StudyMember.objects.filter(pk=desk.row.member_id).update(active=False)
    elif how == "account switched off":
        user = desk.row.member.user
        user.is_active = False
        user.save()
    elif how == "other role":
        user = desk.row.member.user
        user.role = "adjudicator"
        user.save()
    assert address.pk


ENDS = (
    "expired", "withdrawn", "made anew", "work withdrawn", "work withdrawn and given back", "out of the study",
    "account switched off", "other role",
)  # fmt: skip


@pytest.mark.parametrize("how", ENDS)
def test_ab_15_an_address_that_has_ended_looks_like_one_that_never_was(desk: Desk, how: str) -> None:
    url, file = desk.address(), desk.file()
    ways_to_end(desk, how)
    ended = desk.send(url, file)
    wrong = desk.send(f"{HERE}/vidat/ra_{'f' * 64}/", file)
    assert ended.status_code == wrong.status_code == 404
    assert ended.content == wrong.content
    assert ended.json()["type"] == "negative"
    assert not desk.row.item.question.documents.exists()


def test_ab_15_the_address_is_shown_once_and_stored_as_a_hash(desk: Desk) -> None:
    made = desk.own.post(f"{desk.base}vidat/").json()
    token = made["url"].rstrip("/").rpartition("/")[2]
    assert len(token) == len("ra_") + 64, "256 bits"
    assert made["query"] == f"?submitURL=http%3A%2F%2Ftestserver%2Fvidat%2F{token}%2F"
    row = VidatAddress.objects.get()
    assert token not in json.dumps([str(value) for value in vars(row).values()])
    assert row.token_sha256 == services.token_hash(token)
    assert timedelta(days=13, hours=23) < row.expires_at - timezone.now() <= timedelta(days=14)
    shown = desk.own.get(f"{desk.base}vidat/")
    assert token not in shown.content.decode()
    assert shown.json()["address"]["submits"] == 0
    desk.send(made["url"], desk.file())
    assert desk.own.get(f"{desk.base}vidat/").json()["address"]["submits"] == 1
    assert desk.own.delete(f"{desk.base}vidat/").json()["address"] is None


def test_only_the_owner_makes_an_address(desk: Desk) -> None:
    for user in (
        video_factories.annotator(desk.row.item.study).user,
        factories.member(desk.row.item.study, part="lead").user,
    ):
        client = Client()
        client.force_login(user, backend=BACKEND)
        for method in ("get", "post", "delete"):
            assert getattr(client, method)(f"{desk.base}vidat/").status_code in {403, 404}
    assert not VidatAddress.objects.exists()


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What every logger of the process writes in production's format, down to DEBUG."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root, django = logging.getLogger(), logging.getLogger("django")
    before = root.level, django.propagate
    root.level, django.propagate = logging.DEBUG, True
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    root.level, django.propagate = before


def test_lj_18_no_log_has_the_token(desk: Desk, log: io.StringIO, monkeypatch) -> None:
    url = desk.address()
    token = url.rstrip("/").rpartition("/")[2]
    wrong = "ra_" + "ab" * 32
    desk.send(url, desk.file())
    desk.send(f"{HERE}/vidat/{wrong}/", desk.file())
    desk.vidat.get(url)

    def fail(**_: Any) -> None:
        raise RuntimeError(f"canary at {url}")

    monkeypatch.setattr("annotation.views.vidat.vidat_submit", fail)
    assert desk.send(url, desk.file()).status_code == 500
    text = log.getvalue()
    assert "canary at" in text, "the test looks at the right text"
    assert "/vidat/[redacted]/" in text
    assert token not in text
    assert wrong not in text
    assert "vidat.refused" in text


def test_the_event_says_who_made_and_who_withdrew(desk: Desk) -> None:
    desk.address()
    desk.own.delete(f"{desk.base}vidat/")
    desk.own.delete(f"{desk.base}vidat/")
    rows = Event.objects.filter(action__startswith="vidat.").order_by("pk")
    assert list(rows.values_list("action", "subject_id", "actor_id")) == [
        ("vidat.make", str(desk.row.public_id), desk.row.member.user_id),
        ("vidat.withdraw", str(desk.row.public_id), desk.row.member.user_id),
    ]
