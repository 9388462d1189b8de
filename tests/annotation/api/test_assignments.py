"""The workspace's API: its contract, its refusals, and what one save costs."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, SegmentLabel, Study, Submission
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.annotation.desk import BACKEND, Desk, code

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


# What the workspace shows


def test_the_payload_holds_case_segments_and_guideline(scene: make.Scene, desk: Desk) -> None:
    shown = desk.payload()
    assert shown["state"] == "assigned"
    assert shown["editable"] is True
    assert shown["kind"] == "main"
    assert shown["position"] == {"number": 1, "of": 2}
    assert shown["progress"] == {"submitted": 0, "of": 2}
    assert shown["next"] == str(scene.work[1][0].public_id)
    assert shown["guideline"]["version"] == 1
    assert shown["guideline"]["question"] == make.QUESTION
    assert [segment["context"] for segment in shown["segments"]] == [True, False, False, False]
    assert "label" not in shown["segments"][0]
    assert shown["segments"][1]["label"] is None
    assert shown["user"]["id"] == desk.work.member.user_id


def test_a_saved_label_comes_back_as_it_was_sent(desk: Desk) -> None:
    said = {
        "label": "incorrect",
        "cannot_judge": False,
        "reasons": ["contradicts_case"],
        "comment": " Wrong side.\n\nSee the picture. ",
        "spans": [[0, 5], [6, 7]],
        "flagged": True,
    }
    reply = desk.save(2, **said)
    assert reply.status_code == 200
    assert reply.json()["version"] == 1
    assert reply.json()["complete"] is True
    assert reply.json()["assignment"] == {"state": "draft", "version": 2}
    shown = desk.payload()["segments"][1]["label"]
    assert {name: shown[name] for name in said} == said
    assert shown["version"] == 1
    assert shown["saved_at"] == reply.json()["saved_at"]


def test_the_page_carries_the_same_payload_as_the_api(desk: Desk) -> None:
    desk.save(2)
    page = desk.client.get(f"/work/{desk.work.public_id}/")
    assert page.status_code == 200
    text = page.content.decode()
    start = text.index('<script id="assignment" type="application/json">') + 48
    assert json.loads(text[start : text.index("</script>", start)]) == desk.payload()


def test_ag_10_a_hidden_gold_case_looks_like_any_other(scene: make.Scene) -> None:
    gold = make.item(scene.study, kind="gold", segments=4, expected={2: "incorrect"})
    desk = Desk(make.assignment(gold, scene.physicians[0]))
    shown = desk.payload()
    assert shown["kind"] == "main"
    assert shown["position"] == {"number": 3, "of": 3}
    assert shown["urls"]["feedback"] is None
    desk.hand_in()
    other = Desk(scene.work[0][0], desk.client)
    other.hand_in()
    for one in (desk, other):
        assert code(one.send("GET", "feedback/")) == (404, "no_feedback")
        assert one.payload()["state"] == "submitted"
    assert set(desk.payload()) == set(other.payload())


def test_the_reference_appears_when_nothing_can_be_changed_any_more() -> None:
    scene = make.study_with_work(items=1, blinding="reveal")
    item = scene.items[0]
    item.trace.case.reference = "Torsion of the appendix."
    item.trace.case.save()
    desk = Desk(scene.work[0][0])
    assert desk.payload()["case"]["reference"] is None
    desk.hand_in()
    assert desk.payload()["recall"]["allowed"] is True
    assert desk.payload()["case"]["reference"] is None, "it could be read, the work taken back and changed"
    assert desk.send("POST", "reveal/").status_code == 200
    assert desk.payload()["recall"]["allowed"] is False
    assert desk.payload()["case"]["reference"] == "Torsion of the appendix."


def test_handed_in_work_never_tells_whether_others_agree(scene: make.Scene) -> None:
    mine, theirs = (Desk(work) for work in scene.work[0])
    mine.hand_in("correct")
    alone = mine.payload()["state"]
    theirs.hand_in("incorrect")
    assert mine.state() == "in_adjudication"
    assert mine.payload()["state"] == alone == "submitted"


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
    assert mine.client.get(f"/work/{theirs.work.public_id}/").status_code == 404
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


# Handing in, taking back, the reveal


def test_handing_in_needs_every_segment(desk: Desk) -> None:
    desk.save(2)
    desk.save(3, "incorrect")
    response = desk.submit()
    assert code(response) == (422, "incomplete")
    assert response.json()["error"]["fields"] == {"segments": [3, 4]}
    assert desk.state() == "draft"
    assert not Submission.objects.exists()


def test_what_is_handed_in_is_a_snapshot(desk: Desk) -> None:
    desk.save(2, "incorrect", comment="why", reasons=["contradicts_case"], spans=[[0, 4]])
    desk.save(3, None, cannot_judge=True, comment="no picture")
    desk.save(4)
    reply = desk.submit().json()
    assert reply["state"] == "submitted"
    assert reply["next"] == desk.payload()["next"]
    row = Submission.objects.get()
    assert [entry["index"] for entry in row.labels] == [2, 3, 4]
    assert [entry["label"] for entry in row.labels] == ["incorrect", None, "correct"]
    assert row.labels[1]["cannot_judge"] is True
    assert row.labels[0]["spans"] == [[0, 4]]
    assert not any(entry["unblinded"] for entry in row.labels)
    assert code(desk.save(4, "incorrect", comment="late")) == (409, "not_editable")


def test_a_stale_page_hands_nothing_in(desk: Desk) -> None:
    desk.save_all()
    response = desk.send("POST", "submit/", {"base_version": 1})
    assert code(response) == (409, "version_conflict")
    assert response.json()["assignment"] == {"state": "draft", "version": 2}


def test_a_submit_repeated_by_the_browser_happens_once(desk: Desk) -> None:
    desk.save_all()
    key = str(uuid.uuid4())
    body = {"base_version": 2}
    first, again = (desk.send("POST", "submit/", body, key=key) for _ in range(2))
    assert first.json() == again.json()
    assert "Idempotent-Replay" not in first.headers
    assert again.headers["Idempotent-Replay"] == "true"
    assert Submission.objects.count() == 1
    assert code(desk.send("POST", "submit/", body)) == (409, "not_editable")


def test_ab_09_work_is_taken_back_only_before_reveal_and_adjudication(scene: make.Scene) -> None:
    desk = Desk(scene.work[0][0])
    assert code(desk.send("POST", "recall/")) == (409, "not_editable")
    desk.hand_in()
    assert desk.send("POST", "recall/", {"reason": "wrong case"}).json()["state"] == "draft"
    assert Submission.objects.get().recalled_at is not None
    assert desk.save(2, "incorrect", comment="changed").status_code == 200
    assert desk.submit().status_code == 200
    assert desk.send("POST", "reveal/").status_code == 200
    assert code(desk.send("POST", "recall/")) == (409, "not_editable")
    other = Desk(scene.work[1][0])
    other.hand_in("correct")
    Desk(scene.work[1][1]).hand_in("incorrect")
    response = other.send("POST", "recall/")
    assert code(response) == (409, "not_editable")
    assert "picked up" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("blinding", "before", "after"), [("blind", 409, 409), ("reveal", 409, 200), ("open", 200, 200)]
)
def test_ab_08_the_audit_is_shown_where_the_study_says_so(blinding: str, before: int, after: int) -> None:
    scene = make.study_with_work(items=1, blinding=blinding)
    desk = Desk(scene.work[0][0])
    assert desk.payload()["reveal"]["allowed"] is (before == 200)
    assert desk.send("POST", "reveal/").status_code == before
    desk.hand_in()
    assert desk.payload()["reveal"]["allowed"] is (after == 200)
    assert desk.send("POST", "reveal/").status_code == after
    assert desk.send("POST", "reveal/").status_code == after
    assert desk.payload()["reveal"]["done"] is (after == 200)
    assert Event.objects.filter(action="unblind").count() == (after == 200), "once, however often it is asked"
    assert desk.stored(2).unblinded is (blinding == "open")


def test_ab_08_what_is_said_after_the_reveal_is_marked(scene: make.Scene) -> None:
    desk = Desk(scene.work[0][0])
    desk.hand_in()
    desk.send("POST", "reveal/")
    Assignment.objects.filter(pk=desk.work.pk).update(state="returned", reason="again")
    assert desk.payload()["reveal"]["done"] is False, "hidden while the work is open again"
    desk.save(2, "incorrect", comment="I have seen the audit")
    assert desk.stored(2).unblinded is True
    assert desk.stored(3).unblinded is False


def revise(desk: Desk, index: int, label: str | None = "incorrect", **fields: Any) -> Any:
    body = {
        "guideline": 1,
        "label": label,
        "comment": "Now I see.",
        "reason": "The audit is right.",
        **fields,
    }
    return desk.send("PUT", f"revisions/{index}/", {"base_version": desk.version_of(index, 2), **body})


def test_a_revision_keeps_the_first_label(scene: make.Scene) -> None:
    desk = Desk(scene.work[0][0])
    assert code(revise(desk, 2)) == (409, "not_editable")
    desk.hand_in()
    assert code(revise(desk, 2)) == (409, "not_editable"), "nothing was revealed"
    desk.send("POST", "reveal/")
    for fields, error in [
        ({"reason": " … "}, "reason_required"),
        ({"label": None}, "label_required"),
        ({"comment": ""}, "comment_required"),
        ({"base_version": 1}, "version_conflict"),
    ]:
        assert revise(desk, 2, **{"label": "incorrect", **fields}).json()["error"]["code"] == error
    assert revise(desk, 2).json()["version"] == 1
    assert revise(desk, 2, "uncertain").json()["version"] == 2
    assert desk.stored(2).label == "correct"
    assert desk.stored(2, 2).label == "uncertain"
    assert desk.stored(2, 2).unblinded is True
    assert desk.payload()["segments"][1]["revision"]["reason"] == "The audit is right."
    assert Submission.objects.get().labels[0]["label"] == "correct"
    Assignment.objects.filter(pk=desk.work.pk).update(state="released")
    assert code(revise(desk, 2)) == (409, "not_editable")


def test_others_labels_come_after_the_own_ones_and_the_reveal_without_names(scene: make.Scene) -> None:
    mine, theirs = (Desk(work) for work in scene.work[0])
    theirs.hand_in("incorrect")
    mine.save_all()
    assert code(mine.send("GET", "others/")) == (409, "not_yet")
    mine.submit()
    assert code(mine.send("GET", "others/")) == (409, "not_yet")
    mine.send("POST", "reveal/")
    (other,) = mine.send("GET", "others/").json()["others"]
    assert other["name"] == "Second physician"
    assert other["segments"]["2"] == {"label": "incorrect", "cannot_judge": False, "comment": "Because."}


def test_notes_are_kept_and_never_overwritten_unseen(desk: Desk) -> None:
    assert desk.send("PUT", "notes/", {"notes": "ask about S3", "base": ""}).status_code == 200
    response = desk.send("PUT", "notes/", {"notes": "else", "base": ""})
    assert code(response) == (409, "version_conflict")
    assert response.json()["current"] == {"notes": "ask about S3"}
    assert code(desk.send("PUT", "notes/", {"notes": "x" * 20_001})) == (422, "note_too_long")
    assert desk.payload()["notes"] == "ask about S3"


# Training


@pytest.fixture
def trainee() -> Desk:
    study = make.study(training_pass=0.75)
    person = make.member(study)
    person.qualified_at = None
    person.save()
    labels = {2: "correct", 3: "incorrect", 4: "correct", 5: "correct"}
    training = make.item(study, kind="training", segments=5, expected=labels)
    main = make.item(study, segments=4)
    desk = Desk(make.assignment(training, person))
    make.assignment(main, person)
    return desk


def test_ag_09_training_opens_the_study_at_the_pass_mark(trainee: Desk) -> None:
    main = Desk(Assignment.objects.exclude(pk=trainee.work.pk).get(), trainee.client)
    assert main.payload()["qualified"] is False
    response = main.save(2)
    assert code(response) == (409, "not_editable")
    assert "training" in response.json()["error"]["message"]
    assert trainee.client.get(f"/work/{main.work.public_id}/").status_code == 302
    assert code(trainee.send("GET", "feedback/")) == (404, "no_feedback")

    trainee.save_all("incorrect")
    reply = trainee.submit().json()
    assert reply["state"] == "returned"
    assert reply["feedback"]["right"] == 1
    assert reply["feedback"]["of"] == 4
    assert reply["feedback"]["passed"] is False
    assert "1 of 4" in trainee.payload()["returned"]["reason"]
    assert code(main.save(2)) == (409, "not_editable")
    shown = trainee.send("GET", "feedback/").json()
    assert shown["segments"]["2"] == {"expected": "correct", "why": "", "agrees": False}
    assert shown["segments"]["3"]["agrees"] is True

    trainee.save_all("correct")  # 3 of 4 = the pass mark
    reply = trainee.submit().json()
    assert reply["state"] == "submitted"
    assert reply["feedback"]["passed"] is True
    assert reply["next"] == str(main.work.public_id)
    assert code(trainee.send("POST", "recall/")) == (409, "not_editable")
    assert main.save(2).status_code == 200


# Costs


def test_a_save_costs_a_fixed_number_of_queries(desk: Desk) -> None:
    """4 to find out who and what; 4 for the key, 3 for the label, 3 for the chain, 1 for the reply, 1 to end. A segment
    that was never judged costs 3 more: the segment, the guideline, what stands before it."""
    desk.save(2)
    desk.save(2)
    for index, cost in ((2, 16), (3, 19)):
        version = desk.version_of(index)
        with CaptureQueriesContext(connection) as asked:
            assert desk.save(index, base_version=version).status_code == 200
        assert len(asked) == cost, [query["sql"][:80] for query in asked]


def test_the_payload_costs_the_same_for_long_lists(scene: make.Scene, desk: Desk) -> None:
    with CaptureQueriesContext(connection) as short:
        desk.payload()
    for _ in range(5):
        make.assignment(make.item(scene.study, segments=9), scene.physicians[0])
    with CaptureQueriesContext(connection) as long:
        desk.payload()
    assert len(long) == len(short) <= 12


def test_ih_17_saving_has_a_limit_of_its_own(settings, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from rest_framework.throttling import ScopedRateThrottle

    monkeypatch.setattr(ScopedRateThrottle, "THROTTLE_RATES", {"save": "3/minute"})
    for _ in range(3):
        assert desk.save(2).status_code == 200
    response = desk.save(2)
    assert response.status_code == 429
    assert int(response.headers["Retry-After"]) > 0
    assert desk.stored(2).version == 3
    assert desk.send("POST", "recall/").status_code == 409, "other writes have their own count"


def test_a_token_of_the_owner_works_without_a_tab(scene: make.Scene) -> None:
    from reasonaudit.accounts.models import ApiToken

    work = scene.work[0][0]
    token = ApiToken.issue(work.member.user, "script", "write")[1]
    desk = Desk(work, Client(headers={"Authorization": f"Bearer {token}"}))
    assert desk.save(2).status_code == 200
    reader = ApiToken.issue(work.member.user, "script", "read")[1]
    assert Desk(work, Client(headers={"Authorization": f"Bearer {reader}"})).save(3).status_code == 403


def test_the_list_page_shows_progress_and_one_way_on(scene: make.Scene, desk: Desk) -> None:
    desk.save(2)
    desk.save(3, "incorrect")
    page = desk.client.get("/work/").content.decode()
    assert "Go on with Case 1" in page
    assert "1 of 3" in page
    desk.save_all()
    desk.submit()
    assert "Begin Case 2" in desk.client.get("/work/").content.decode()
    Desk(scene.work[1][0], desk.client).hand_in()
    assert "You have handed in all cases" in desk.client.get("/work/").content.decode()
    Study.objects.update(stage="closed")
    assert "closed" in desk.client.get("/work/").content.decode()


def test_the_list_page_is_empty_without_a_study_and_home_leads_to_it() -> None:
    client = Client()
    client.force_login(make.user("physician"), backend=BACKEND)
    assert client.get("/").headers["Location"] == "/work/"
    assert "No study yet" in client.get("/work/").content.decode()
