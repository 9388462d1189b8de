"""Adjudication over the API: who sees what and when, canaries, versions and repeated requests."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from annotation.models import AdjudicationDecision, Assignment
from annotation.selectors.handed_in import handed_in
from annotation.services.adjudications import item_settle
from annotation.services.decisions import NOTE_LIMIT
from reasonaudit.lib.models import Event
from tests.annotation import factories as make

pytestmark = pytest.mark.django_db


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def hand_in(scene: make.Scene, *labels: list[str], item: int = 0) -> None:
    for assignment, said in zip(scene.work[item], labels, strict=True):
        make.submission(assignment, said)
    item_settle(scene.items[item], None)


@pytest.fixture
def scene() -> make.Scene:
    """Two items; on the first the people disagree on S3 (gap 2) and S4 (gap 1), the second waits for one of them."""
    made = make.study_with_work(items=2)
    hand_in(made, ["correct", "correct", "uncertain"], ["correct", "incorrect", "incorrect"])
    make.submission(made.work[1][0], ["correct", "correct", "correct"])
    item_settle(made.items[1], None)
    return made


def addresses(scene: make.Scene, item: int = 0) -> dict[str, str]:
    base = f"/api/v1/adjudication/{scene.items[item].public_id}/"
    return {"queue": f"/api/v1/studies/{scene.study.slug}/adjudication/", "item": base, "s3": f"{base}3/"}


def put(client: Client, address: str, key: uuid.UUID | None = None, **body: Any) -> Any:
    said = {"base_version": 0, "label": "correct", "final": False} | body
    return client.put(
        address, said, content_type="application/json", headers={"Idempotency-Key": str(key or uuid.uuid4())}
    )


def post(client: Client, address: str, **body: Any) -> Any:
    return client.post(
        address, body, content_type="application/json", headers={"Idempotency-Key": str(uuid.uuid4())}
    )


def test_the_queue_has_the_largest_gap_first_and_counts_what_everybody_handed_in(scene: make.Scene) -> None:
    body = client_of(scene.adjudicator.user).get(addresses(scene)["queue"]).json()
    assert {key: body[key] for key in ("segments", "agreed", "to_decide", "decided")} == {
        "segments": 3,
        "agreed": 1,
        "to_decide": 2,
        "decided": 0,
    }
    assert [(row["index"], row["gap"], row["decided"]) for row in body["queue"]] == [
        (3, 2, None),
        (4, 1, None),
    ]
    given = handed_in(scene.items[0]).given(3)
    assert body["queue"][0]["labels"] == [given["A"], given["B"]]


def test_ab_06_an_item_that_somebody_has_not_handed_in_is_refused(scene: make.Scene) -> None:
    answer = client_of(scene.adjudicator.user).get(addresses(scene, 1)["item"])
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_ready")
    assert "correct" not in answer.content.decode()


def test_the_item_has_everybodys_labels_by_letter(scene: make.Scene) -> None:
    body = client_of(scene.adjudicator.user).get(addresses(scene)["item"]).json()
    assert (body["letters"], body["state"]) == (["A", "B"], "open")
    by_index = {segment["index"]: segment for segment in body["segments"]}
    assert by_index[1] == {"index": 1, "text": scene.items[0].trace.case.context, "context": True}
    assert by_index[2]["agrees"]
    assert not by_index[2]["queued"]
    assert {label["label"] for label in by_index[3]["labels"].values()} == {"correct", "incorrect"}
    assert set(by_index[3]["labels"]["A"]) == {
        "label", "cannot_judge", "reasons", "comment", "spans", "flagged",
    }  # fmt: skip


def test_ab_06_letters_do_not_follow_the_order_of_assignments() -> None:
    """Over many items, the person who was assigned first is A about half of the time."""
    made = make.study_with_work(items=60, segments=2)
    for item in range(60):
        hand_in(made, ["correct"], ["incorrect"], item=item)
    firsts = 0
    client = client_of(made.adjudicator.user)
    for row in client.get(addresses(made)["queue"]).json()["queue"]:
        firsts += row["labels"][0] == "correct"
    # Binomial(60, 1/2): standard deviation 3.9; four of them are 15.5.
    assert abs(firsts - 30) < 16


def test_ab_06_no_answer_to_the_adjudicator_tells_who_or_when() -> None:
    made = make.study_with_work(items=1)
    canaries = []
    for number, member in enumerate(made.physicians):
        user = member.user
        user.username, user.first_name, user.last_name = (f"canary-{part}-{number}" for part in "ufl")
        user.email = f"canary-mail-{number}@example.org"
        user.save()
        member.pseudonym, member.seniority = f"canary-p-{number}", "senior" if number else "junior"
        member.save()
        canaries += [user.username, user.first_name, user.last_name, user.email, member.pseudonym]
    trace = made.items[0].trace
    trace.generator = "canary-generator"
    trace.meta = {"who": "canary-meta"}
    trace.save()
    trace.all_segments.update(gold="uncertain", gold_note="canary-gold-note", error_kind="canary-error")
    trace.case.reference = "canary-reference"
    trace.case.meta = {"who": "canary-case-meta"}
    trace.case.save()
    hand_in(made, ["correct", "correct", "uncertain"], ["correct", "incorrect", "incorrect"])
    for assignment in made.work[0]:
        assignment.refresh_from_db()
        canaries += [str(assignment.public_id), assignment.notes or "canary-none"]
    canaries += ["senior", "junior", "12000", str(made.study.seed), str(make.NOON.year)]
    client, where = client_of(made.adjudicator.user), addresses(made)
    page = client.get(f"/studies/{made.study.slug}/adjudication/")
    answers = [client.get(where["queue"]), client.get(where["item"]), put(client, where["s3"]), page]
    answers.append(put(client, where["s3"], base_version=0))
    answers.append(client.get(f"/api/v1/studies/{made.study.slug}/agreement/"))
    post(client, f"{where['item']}return/", letter="A", reason="Look again", remarks={})
    answers += [client.get(where["item"]), client.get(where["queue"])]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 409, 200, 409, 200]
    for answer in answers:
        text = answer.content.decode() + str(answer.headers)
        found = [word for word in canaries if word in text]
        # The year stands in no payload; Django's own headers have none either.
        assert found == [], answer.request["PATH_INFO"]
        assert "canary" not in text


def test_ab_06_two_worlds_that_differ_in_who_and_when_look_the_same() -> None:
    """Names, seniority, order of handing in and times are swapped; every answer stays byte for byte."""
    texts = []
    for swapped in (False, True):
        made = make.study_with_work(items=1, seed=77)
        item = made.items[0]
        people = list(made.work[0])
        labels = {people[0].member.pseudonym: ["correct", "correct", "uncertain"]}
        labels[people[1].member.pseudonym] = ["correct", "incorrect", "incorrect"]
        for assignment in reversed(people) if swapped else people:
            make.submission(assignment, labels[assignment.member.pseudonym])
        if swapped:
            for assignment in people:
                member = assignment.member
                member.seniority = "senior"
                member.save()
                member.user.username = f"other-{member.pk}"
                member.user.save()
            Assignment.objects.update(submitted_at=None, opened_at=None)
        item_settle(item, None)
        client = client_of(made.adjudicator.user)
        where = addresses(made)
        text = client.get(where["queue"]).content.decode() + client.get(where["item"]).content.decode()
        stable = {str(item.public_id): "ITEM", made.study.slug: "STUDY", item.trace.case.title: "CASE"}
        stable |= {segment.text: f"S{segment.index}" for segment in item.trace.all_segments.all()}
        for word, name in stable.items():
            text = text.replace(json.dumps(word, ensure_ascii=False)[1:-1], name)
        texts.append(text)
    assert texts[0] == texts[1]


def test_people_outside_and_those_who_label_find_nothing(scene: make.Scene) -> None:
    where = addresses(scene)
    outsider = make.user("adjudicator")
    for user, status in ((outsider, 404), (scene.physicians[0].user, 404), (make.user("annotator"), 403)):
        client = client_of(user)
        assert [client.get(where[name]).status_code for name in ("queue", "item")] == [status, status]
        assert put(client, where["s3"]).status_code == status
        assert client.get(f"/studies/{scene.study.slug}/adjudication/").status_code == status


def test_who_leads_reads_and_does_not_decide(scene: make.Scene) -> None:
    client, where = client_of(scene.lead.user), addresses(scene)
    assert client.get(where["item"]).json()["may_decide"] is False
    assert put(client, where["s3"]).status_code == 404
    assert not AdjudicationDecision.objects.exists()


def test_a_closed_study_is_still_decided_and_one_that_is_not_open_yet_is_not(scene: make.Scene) -> None:
    """Closing ends the labelling; what disagrees has to be settled all the same."""
    for stage, status in (("draft", 409), ("closed", 200)):
        scene.study.stage = stage
        scene.study.save()
        answer = put(client_of(scene.adjudicator.user), addresses(scene)["s3"])
        assert answer.status_code == status, answer.content


def test_ds_03_of_two_adjudicators_the_second_gets_what_stands(scene: make.Scene) -> None:
    second = make.member(scene.study, part="adjudicator")
    where = addresses(scene)
    assert put(client_of(scene.adjudicator.user), where["s3"], note="first").status_code == 200
    answer = put(client_of(second.user), where["s3"], note="second", label="incorrect")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "version_conflict")
    assert answer.json()["current"]["draft"]["note"] == "first"
    assert AdjudicationDecision.objects.get().note == "first"
    done = put(client_of(second.user), where["s3"], note="second", base_version=1)
    assert (done.status_code, done.json()["version"]) == (200, 2)


def test_ds_02_a_repeated_decision_is_made_once(scene: make.Scene) -> None:
    client, where, key = client_of(scene.adjudicator.user), addresses(scene), uuid.uuid4()
    first = put(client, where["s3"], key, final=True)
    events = Event.objects.count()
    again = put(client, where["s3"], key, final=True)
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replay"] == "true"
    assert (AdjudicationDecision.objects.count(), Event.objects.count()) == (1, events)
    other = put(client, where["s3"], key, final=True, label="incorrect")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_mismatch")


def test_a_decision_answers_with_what_comes_next(scene: make.Scene) -> None:
    client, where = client_of(scene.adjudicator.user), addresses(scene)
    body = put(client, where["s3"], final=True).json()
    assert body["decision"]["final"]["label"] == "correct"
    assert body["next"] == {"item": str(scene.items[0].public_id), "index": 4}
    last = put(client, f"{where['item']}4/", final=True, label="uncertain").json()
    assert last["next"] is None
    assert client.get(where["queue"]).json()["decided"] == 2
    assert client.get(where["item"]).json()["state"] == "decided"


def test_the_reference_impression_is_shown_when_all_is_decided(scene: make.Scene) -> None:
    case = scene.items[0].trace.case
    case.reference = "Drug-induced retention."
    case.save()
    client, where = client_of(scene.adjudicator.user), addresses(scene)
    put(client, where["s3"], final=True)
    assert client.get(where["item"]).json()["case"]["reference"] is None
    put(client, f"{where['item']}4/", final=True, label="incorrect")
    assert client.get(where["item"]).json()["case"]["reference"] == "Drug-induced retention."


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"label": "right"}, 400, "invalid"),
        ({"colour": "red"}, 400, "invalid"),
        ({"base_version": -1}, 400, "invalid"),
        ({"reasons": ["made_up"]}, 422, "unknown_reason"),
        ({"note": "x" * (NOTE_LIMIT + 1)}, 422, "note_too_long"),
        ({"note": "x" * 100_000}, 422, "note_too_long"),
        ({"final": True, "label": "uncertain"}, 422, "note_required"),
        ({"final": True, "label": None}, 422, "no_label"),
        ({"guideline": 9}, 422, "unknown_guideline"),
    ],
)
def test_ih_16_bad_bodies_are_refused_with_a_reason(
    scene: make.Scene, body: dict[str, Any], status: int, code: str
) -> None:
    answer = put(client_of(scene.adjudicator.user), addresses(scene)["s3"], **body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not AdjudicationDecision.objects.exists()


def test_a_change_from_another_persons_page_is_refused(scene: make.Scene) -> None:
    client = client_of(scene.adjudicator.user)
    answer = client.put(
        addresses(scene)["s3"],
        {"base_version": 0, "label": "correct", "final": True},
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4()), "X-Expected-User": "0"},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "other_user")


def test_reopening_returning_and_flagging_over_the_api(scene: make.Scene) -> None:
    client, where = client_of(scene.adjudicator.user), addresses(scene)
    assert post(client, f"{where['item']}2/reopen/", reason="").json()["error"]["code"] == "reason_required"
    opened = post(client, f"{where['item']}2/reopen/", reason="Both missed the dose.").json()
    assert opened["decision"]["draft"]["reason"] == "Both missed the dose."
    assert post(client, f"{where['item']}3/flag/", flagged=True, note="Which clause?").json() == {
        "flagged": True
    }
    flagged = client_of(scene.lead.user).get(where["queue"]).json()["flagged"]
    assert [(row["index"], row["note"]) for row in flagged] == [(3, "Which clause?")]
    back = post(
        client, f"{where['item']}return/", letter="A", reason="Another case?", remarks={"3": "See S3."}
    )
    assert back.json() == {"next": None}
    letter_a = Assignment.objects.get(state="returned")
    assert letter_a.segment_remarks == {"3": "See S3."}
    assert (
        post(client, f"{where['item']}return/", letter="A", reason="x", remarks={"x": "y"}).status_code == 400
    )


def test_the_history_tells_what_happened_and_not_when(scene: make.Scene) -> None:
    client, where = client_of(scene.adjudicator.user), addresses(scene)
    put(client, where["s3"], final=True)
    post(client, f"{where['item']}3/reopen/", reason="A reader asked.")
    lines = client.get(where["item"]).json()["history"]
    assert [line["what"] for line in lines] == [
        "Blind label, one person",
        "Blind label, another person",
        "Disagreement found, queued",
        "Decided by you: Correct",
        "Opened again by you: A reader asked.",
    ]


def test_the_number_of_queries_does_not_grow_with_the_queue(django_assert_max_num_queries: Any) -> None:
    made = make.study_with_work(items=12)
    for item in range(12):
        hand_in(made, ["correct", "correct", "correct"], ["correct", "incorrect", "correct"], item=item)
    client = client_of(made.adjudicator.user)
    with django_assert_max_num_queries(14):
        assert client.get(addresses(made)["queue"]).json()["to_decide"] == 12


def test_the_page_works_without_a_queue_and_without_scripts(scene: make.Scene) -> None:
    page = client_of(scene.adjudicator.user).get(f"/studies/{scene.study.slug}/adjudication/")
    text = page.content.decode()
    assert "3 segments, 1 agreed, 2 to decide, 0 decided" in text
    empty = make.study_with_work(items=1)
    page = client_of(empty.adjudicator.user).get(f"/studies/{empty.study.slug}/adjudication/")
    assert "Nothing to decide" in page.content.decode()
