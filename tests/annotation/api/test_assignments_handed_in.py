"""The workspace's API: handing in, taking back, the reveal and after, notes, training."""

import uuid
from typing import Any

import pytest
from django.core.cache import cache

from annotation.models import Assignment, Submission
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
    assert desk.payload()["notes"] == {"text": "", "version": 0, "editable": True}
    first = desk.send("PUT", "notes/", {"notes": "ask about S3", "base_version": 0})
    assert first.status_code == 200
    response = desk.send("PUT", "notes/", {"notes": "else", "base_version": 0})
    assert code(response) == (409, "version_conflict")
    current = response.json()["current"]
    assert (current["notes"], current["version"]) == ("ask about S3", first.json()["version"])
    assert desk.payload()["notes"]["version"] == first.json()["version"]
    assert code(desk.send("PUT", "notes/", {"notes": "x" * 20_001})) == (422, "note_too_long")
    assert desk.payload()["notes"]["text"] == "ask about S3"
    on_top = {"notes": "ask about S3 and S4", "base_version": first.json()["version"]}
    assert desk.send("PUT", "notes/", on_top).status_code == 200
    assert desk.send("PUT", "notes/", {"notes": "whatever was there"}).status_code == 200, (
        "no base, no question"
    )


def test_notes_are_written_after_handing_in_but_not_of_withdrawn_work(desk: Desk) -> None:
    desk.hand_in()
    assert desk.payload()["notes"]["editable"] is True
    assert desk.send("PUT", "notes/", {"notes": "seen again", "base_version": 0}).status_code == 200
    Assignment.objects.filter(pk=desk.work.pk).update(state="withdrawn", reason="Double booking.")
    assert desk.payload()["notes"]["editable"] is False
    assert code(desk.send("PUT", "notes/", {"notes": "late"})) == (409, "not_editable")


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
    assert trainee.client.get(f"/my-cases/{main.work.public_id}/").status_code == 302
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
