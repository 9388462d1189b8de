"""The workspace's API: what it refuses, and in which order, state and tab work goes on."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.models import Assignment, SegmentLabel, Study, Submission
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> None:
    cache.clear()


@pytest.fixture
def scene() -> make.Scene:
    return make.study_with_work(items=2, physicians=2, segments=4)


@pytest.fixture
def desk(scene: make.Scene) -> Desk:
    return Desk(scene.work[0][0])


# Refusals


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"label": "wrong"}, 400, "invalid"),
        ({"labels": "correct"}, 400, "invalid"),
        ({"base_version": -1}, 400, "invalid"),
        ({"comment": None}, 400, "invalid"),
        ({"reasons": "vague"}, 400, "invalid"),
        ({"active_ms": -1}, 400, "invalid"),
        ({"active_ms": 2**40}, 400, "invalid"),
        ({"tab": "first"}, 400, "invalid"),
        ({"client_at": "noon"}, 400, "invalid"),
        ({"cannot_judge": True}, 422, "label_and_cannot_judge"),
        ({"spans": [[0, 9999]]}, 422, "bad_spans"),
        ({"spans": [[0, 3], [2, 4]]}, 422, "bad_spans"),
        ({"spans": "all"}, 422, "bad_spans"),
        ({"spans": [[0, "3"]]}, 422, "bad_spans"),
        ({"guideline": 2}, 422, "unknown_guideline"),
        ({"reasons": ["contradicts_case"]}, 422, "unknown_reason"),
        ({"label": None, "reasons": ["vague"]}, 422, "unknown_reason"),
        ({"comment": "x" * 10_001}, 422, "comment_too_long"),
        ({"base_version": 1}, 409, "version_conflict"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_leaves_nothing(
    desk: Desk, fields: dict[str, Any], status: int, error: str
) -> None:
    assert code(desk.save(2, **{"label": "correct", **fields})) == (status, error)
    assert not SegmentLabel.objects.exists()
    assert not Event.objects.filter(action="label.save").exists()
    assert desk.state() == "assigned"


@pytest.mark.parametrize("index", [1, 5, 0, 99999])
def test_there_is_nothing_to_judge_but_judged_segments(desk: Desk, index: int) -> None:
    assert desk.save(index).status_code == 404


def test_ih_16_a_body_must_be_an_object(desk: Desk) -> None:
    for body in ([], "text", 7, [{"label": "correct"}]):
        assert desk.send("PUT", "segments/2/", body).status_code == 400


def test_a_comment_of_100_000_characters_is_refused_with_both_numbers(desk: Desk) -> None:
    response = desk.save(2, "incorrect", comment="é" * 100_000)
    assert code(response) == (422, "comment_too_long")
    message = response.json()["error"]["message"]
    assert "100,000" in message
    assert "10,000" in message
    assert desk.save(2, "incorrect", comment="\U0001f9ec" * 10_000).status_code == 200, "code points count"


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800", "\\udfff x"])
def test_ih_15_nul_and_half_characters_are_refused(desk: Desk, text: str) -> None:
    body = '{"base_version": 0, "guideline": 1, "label": "incorrect", "comment": "' + text + '"}'
    response = desk.client.put(
        f"{desk.url}segments/2/",
        body,
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )
    assert response.status_code == 400
    assert not SegmentLabel.objects.exists()


def test_a_guideline_of_another_study_or_a_draft_is_unknown(scene: make.Scene, desk: Desk) -> None:
    make.guideline(scene.study, number=2, published=False)
    make.guideline(make.study(published=False), number=3)
    for number in (2, 3):
        assert code(desk.save(2, guideline=number)) == (422, "unknown_guideline")


def test_a_change_from_another_persons_page_is_refused(scene: make.Scene, desk: Desk) -> None:
    other = scene.physicians[1].user_id
    body = {"base_version": 0, "guideline": 1, "label": "correct"}
    response = desk.send("PUT", "segments/2/", body, **{"X-Expected-User": str(other)})
    assert code(response) == (409, "other_user")
    assert not SegmentLabel.objects.exists()
    mine = str(desk.work.member.user_id)
    assert desk.send("PUT", "segments/2/", body, **{"X-Expected-User": mine}).status_code == 200


def test_without_a_key_nothing_is_saved(desk: Desk) -> None:
    body = json.dumps({"base_version": 0, "guideline": 1, "label": "correct"})
    for headers in ({}, {"Idempotency-Key": "seven"}):
        response = desk.client.put(
            f"{desk.url}segments/2/", body, content_type="application/json", headers=headers
        )
        assert code(response) == (400, "no_idempotency_key")
    assert not SegmentLabel.objects.exists()


def test_other_peoples_work_is_not_there(scene: make.Scene) -> None:
    mine, theirs = (Desk(work) for work in scene.work[0])
    strangers = Desk(scene.work[0][1], mine.client)
    assert mine.client.get(f"/my-cases/{theirs.work.public_id}/").status_code == 404
    for method, path in [
        ("GET", ""), ("PUT", "segments/2/"), ("POST", "submit/"), ("POST", "tab/"), ("POST", "recall/"),
        ("POST", "reveal/"), ("PUT", "revisions/2/"), ("PUT", "notes/"), ("GET", "guideline/"), ("GET", "feedback/"),
        ("GET", "others/"),
    ]:  # fmt: skip
        assert code(strangers.send(method, path)) == (404, "not_found"), path
    assert theirs.payload()["state"] == "assigned"


def test_a_person_who_left_the_study_has_no_work(scene: make.Scene, desk: Desk) -> None:
    scene.physicians[0].active = False
    scene.physicians[0].save()
    assert code(desk.save(2)) == (404, "not_found")


# Order, states, stages


def test_segments_are_judged_in_order_and_can_be_changed_later(desk: Desk) -> None:
    response = desk.save(3)
    assert code(response) == (409, "not_in_order")
    assert response.json()["error"]["fields"] == {"segment": 2}
    assert desk.save(2, "incorrect").json()["complete"] is False
    assert code(desk.save(3)) == (409, "not_in_order")
    assert desk.save(2, "incorrect", comment="why").status_code == 200
    assert desk.save(3).status_code == 200
    assert desk.save(2, "uncertain").status_code == 200, "going back is free, also to something unfinished"
    assert desk.save(3, "incorrect", comment="why").status_code == 200, "what was judged may be changed"
    assert code(desk.save(4)) == (409, "not_in_order")


def test_where_the_study_has_no_order_any_segment_comes_first() -> None:
    desk = Desk(make.study_with_work(items=1, in_order=False).work[0][0])
    assert desk.save(4).status_code == 200


@pytest.mark.parametrize("stage", [Study.Stage.DRAFT, Study.Stage.CLOSED])
def test_nothing_is_saved_while_the_study_is_not_open(scene: make.Scene, desk: Desk, stage: str) -> None:
    desk.save(2)
    Study.objects.update(stage=stage)
    for response in (
        desk.save(2, "incorrect", comment="late"),
        desk.submit(),
        desk.send("PUT", "notes/", {"notes": "late"}),
    ):
        assert code(response) == (409, "not_editable")
        assert "study" in response.json()["error"]["message"]
    assert desk.stored(2).label == "correct"
    shown = desk.payload()
    assert shown["editable"] is False
    assert shown["why_not"]


def test_withdrawn_while_open_nothing_is_written_and_the_reason_is_said(desk: Desk) -> None:
    desk.save(2)
    Assignment.objects.filter(pk=desk.work.pk).update(state="withdrawn", reason="Double booking.")
    response = desk.save(2, "incorrect", comment="late")
    assert code(response) == (409, "not_editable")
    assert "Double booking." in response.json()["error"]["message"]
    assert response.json()["state"] == "withdrawn"
    assert desk.stored(2).label == "correct"
    assert "Double booking." in desk.payload()["why_not"]


def test_returned_work_says_why_and_becomes_a_draft_by_the_first_save(desk: Desk) -> None:
    desk.hand_in()
    Assignment.objects.filter(pk=desk.work.pk).update(
        state="returned", reason="Look at S3 again.", segment_remarks={"3": "Which side?"}
    )
    shown = desk.payload()
    assert shown["editable"] is True
    assert shown["returned"] == {"reason": "Look at S3 again.", "segments": {"3": "Which side?"}}
    assert desk.save(3, "incorrect", comment="left").json()["assignment"]["state"] == "draft"
    assert desk.payload()["returned"] is not None
    assert desk.submit().status_code == 200
    assert desk.payload()["returned"] is None
    assert Submission.objects.filter(assignment=desk.work).count() == 2


def test_a_new_guideline_while_work_is_open_is_stored_as_it_was_shown(scene: make.Scene, desk: Desk) -> None:
    desk.save(2, "uncertain", comment="x", reasons=["vague"])
    new = {"correct": [], "uncertain": [{"code": "other", "words": "Other"}], "incorrect": []}
    make.guideline(scene.study, number=2, reasons=new)
    assert desk.save(3, "uncertain", comment="y", reasons=["vague"]).status_code == 200, "still on the screen"
    assert code(desk.save(4, "uncertain", comment="z", reasons=["vague"], guideline=2)) == (
        422,
        "unknown_reason",
    )
    assert desk.save(4, "uncertain", comment="z", reasons=["other"], guideline=2).status_code == 200
    assert [desk.stored(i).guideline.number for i in (2, 3, 4)] == [1, 1, 2]
    assert desk.payload()["guideline"]["version"] == 2
    assert desk.client.get(f"{desk.url}guideline/").json()["version"] == 2


# Tabs


def test_ds_06_one_tab_writes_until_another_takes_over(desk: Desk) -> None:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    assert desk.send("POST", "tab/", {"tab": first}).json()["held"] is True
    assert desk.save(2, tab=first).status_code == 200
    refused = desk.send("POST", "tab/", {"tab": second}).json()
    assert refused["held"] is False
    assert refused["since"]
    response = desk.save(3, tab=second)
    assert code(response) == (409, "other_tab")
    assert response.json()["since"] == refused["since"]
    assert code(desk.save(3)) == (409, "other_tab"), "a program does not write between"
    assert desk.send("POST", "tab/", {"tab": second, "take": True}).json()["held"] is True
    assert desk.save(3, tab=second).status_code == 200
    assert code(desk.save(4, tab=first)) == (409, "other_tab")
    assert Event.objects.filter(action="tab.take").count() == 1


def test_ds_06_a_silent_tab_is_replaced_by_whoever_asks(desk: Desk) -> None:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    desk.send("POST", "tab/", {"tab": first})
    Assignment.objects.update(tab_seen_at=timezone.now() - timedelta(seconds=61))
    assert desk.save(2, tab=second).status_code == 200
    assert desk.send("POST", "tab/", {"tab": first}).json()["held"] is False
    assert not Event.objects.filter(action="tab.take").exists(), "nothing was taken from anybody"


def test_ab_14_the_tabs_own_messages_keep_no_login_alive(desk: Desk) -> None:
    from reasonaudit.accounts import sessions

    session = desk.client.session
    session[sessions.LAST_SEEN] -= 120
    session.save()
    before = session[sessions.LAST_SEEN]
    desk.send("POST", "tab/", {"tab": str(uuid.uuid4())})
    assert desk.client.session[sessions.LAST_SEEN] == before
    desk.save(2)
    assert desk.client.session[sessions.LAST_SEEN] > before
