"""Adjudication of video questions over the API: who sees what and when, canaries, versions and repeated requests."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from annotation.models import Assignment, DocumentDecision, StudyMember
from annotation.services.refinements import refinement_save
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.annotation.desk import code
from tests.annotation.video_scene import ANSWER, SAY, Scene
from tests.videos import factories as videos
from videos.core.document import validate

pytestmark = pytest.mark.django_db


class Page:
    """The page of one question, as somebody who is logged in has it."""

    def __init__(self, scene: Scene, user: Any = None) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(user or scene.judge.user)
        self.address = f"/api/v1/adjudication/{scene.item.public_id}/document/"

    def get(self) -> dict[str, Any]:
        response = self.client.get(self.address)
        assert response.status_code == 200, response.content
        return response.json()

    def send(self, path: str, body: Any, *, method: str = "post", key: str = "") -> Any:
        return getattr(self.client, method)(
            f"{self.address}{path}",
            body,
            content_type="application/json",
            headers={"Idempotency-Key": key or str(uuid.uuid4())},
        )

    def save(self, *changes: Any, key: str = "") -> Any:
        body = {"operations": [videos.operation(*changes)], "base_version": 0}
        return self.send("operations/", body, method="put", key=key)

    def decide(self, version: int, note: str = "") -> Any:
        return self.send("decide/", {"base_version": version, "note": note})


@pytest.fixture
def scene() -> Scene:
    made = Scene()
    made.differ()
    return made


def test_the_page_has_a_valid_seed_and_everybodys_document_by_letter(scene: Scene) -> None:
    found = Page(scene).get()
    validate(found["document"])
    assert (found["version"], found["assignment_version"], found["state"]) == (0, 0, "draft")
    assert (found["editable"], found["question"]["number"], found["question"]["of"]) == (True, 1, 1)
    told = found["adjudication"]
    assert told["letters"] == [side["letter"] for side in told["sides"]] == ["A", "B"]
    said = {side["letter"]: side["document"]["cot"]["visual"]["description"] for side in told["sides"]}
    assert said == {scene.letter_of(0): "The dog turns left.", scene.letter_of(1): "The cat turns."}
    (difference,) = told["differences"]
    # the, dog/cat, turns, left, . -> The, turns and the full stop are in common: 2 x 3 / (5 + 4).
    assert (difference["id"], difference["agreement"]) == ("visual.description", 0.6667)
    assert difference["sides"] == said
    assert found["document"]["cot"]["visual"]["description"] == ""
    assert found["document"]["cot"]["final_answer"] == "It hears a whistle."


def test_a_decision_from_saving_to_reopening(scene: Scene) -> None:
    page = Page(scene)
    saved = page.save((SAY, "", "The cat turns.")).json()
    assert saved["assignment"] == {"state": "draft", "version": 1}
    found = page.get()
    assert (found["version"], found["assignment_version"]) == (1, 1)
    assert found["document"]["cot"]["visual"]["description"] == "The cat turns."
    assert page.decide(1).json() == {"state": "adjudicated", "next": None}
    found = page.get()
    assert (found["state"], found["editable"], found["urls"]["next"]) == ("adjudicated", False, None)
    cat = scene.letter_of(1)
    assert found["adjudication"]["decided"] == {
        "note": "",
        "matches": {"visual.description": cat},
        "overall": cat,
        "by_agreement": False,
        "after": 1,
    }
    assert found["adjudication"]["may_reopen"]
    assert code(page.save((SAY, "The cat turns.", "x"))) == (409, "decided")
    assert page.send("reopen/", {"reason": "Too fast."}).json() == {"state": "draft", "version": 3}
    found = page.get()
    assert (found["state"], found["assignment_version"], found["adjudication"]["decided"]) == (
        "draft",
        3,
        None,
    )
    assert [line["what"] for line in found["adjudication"]["history"]] == [
        "Refined by one person",
        "Refined by another person",
        "Decided by you",
        "Opened again by you: Too fast.",
    ]


def test_refusals_say_what_to_do(scene: Scene) -> None:
    page = Page(scene)
    assert code(page.decide(0)) == (422, "incomplete")
    page.save((SAY, "", "A horse turns."))
    refused = page.decide(1)
    assert code(refused) == (422, "note_required")
    assert refused.json()["error"]["fields"]["differences"] == ["visual.description"]
    stale = page.decide(0, "A horse.")
    assert code(stale) == (409, "version_conflict")
    assert stale.json()["current"] == {"version": 1}
    conflict = page.save((SAY, "", "Another window."))
    assert code(conflict) == (409, "version_conflict")
    assert conflict.json()["current"]["conflicts"][0]["theirs"] == "A horse turns."
    assert code(page.save((["cot", "visual"], "", "x"))) == (422, "invalid_operation")
    assert code(page.send("reopen/", {"reason": "Why not."})) == (409, "not_decided")
    assert code(page.send("return/", {"letter": "C", "reason": "Look."})) == (422, "unknown_letter")
    assert code(page.send("return/", {"letter": "A", "reason": ""})) == (422, "reason_required")


def test_ds_07_a_repeated_request_does_nothing_twice(scene: Scene) -> None:
    page, key = Page(scene), str(uuid.uuid4())
    body = {"operations": [videos.operation((SAY, "", "The cat turns."))], "base_version": 0}
    answers = [page.send("operations/", body, method="put", key=key) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["Idempotent-Replay"] == "true"
    answers = [page.send("decide/", {"base_version": 1}, key=str(uuid.UUID(int=4))) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert DocumentDecision.objects.count() == 1
    assert Event.objects.filter(action="decision.save").count() == 1


def test_work_goes_back_and_the_question_leaves_the_queue(scene: Scene) -> None:
    page = Page(scene)
    answer = page.send("return/", {"letter": scene.letter_of(0), "reason": "Which dog?"})
    assert answer.json() == {"next": None}
    assert scene.states() == ["returned", "submitted"]
    assert code(page.client.get(page.address)) == (409, "not_ready")
    response = page.client.get(f"/adjudication/{scene.item.public_id}/")
    assert (response.status_code, response.url) == (302, f"/studies/{scene.study.slug}/adjudication/")


def test_nothing_is_shown_before_everybody_has_handed_in() -> None:
    scene = Scene()
    scene.hand_in(0, "The dog turns left.")
    assert code(Page(scene).client.get(Page(scene).address)) == (409, "not_ready")
    page = Page(scene).client.get(f"/studies/{scene.study.slug}/adjudication/")
    assert b"1 question comes here by itself" in page.content
    assert b"The dog turns left." not in page.content


def test_leads_look_on_and_open_again_and_nobody_else_sees_anything(scene: Scene) -> None:
    lead = Page(scene, scene.lead.user)
    found = lead.get()
    assert (found["editable"], found["why_not"][:14]) == (False, "You lead this ")
    assert lead.save((SAY, "", "x")).status_code == 404
    assert lead.decide(0).status_code == 404
    scene.save((SAY, "", "The cat turns."))
    scene.decide(1)
    assert lead.send("reopen/", {"reason": "Too fast."}).status_code == 200
    for user in (scene.work[0].member.user, factories.user("adjudicator"), factories.user("researcher")):
        stranger = Page(scene, user)
        assert stranger.client.get(stranger.address).status_code in {403, 404}
        assert stranger.save((SAY, "", "x")).status_code in {403, 404}
        assert stranger.client.get(f"/adjudication/{scene.item.public_id}/").status_code in {403, 404}


def test_the_adjudicator_may_see_the_clip(scene: Scene) -> None:
    page = Page(scene)
    assert page.client.get(page.get()["video"]["urls"]["index"]).status_code == 200


def test_a_case_of_a_study_of_traces_is_no_question() -> None:
    traces = factories.study_with_work(items=1)
    client = Client()
    client.force_login(traces.adjudicator.user)
    for address in ("/api/v1/adjudication/{}/document/", "/adjudication/{}/"):
        assert client.get(address.format(traces.items[0].public_id)).status_code == 404


def test_the_queue_has_the_lowest_agreement_first() -> None:
    scene = Scene()
    scene.differ()
    others = []
    for said in ("It sits.", "The dog turns."):
        question = videos.question(scene.item.question.video)
        item = video_factories.item(scene.study, question)
        others.append(item)
        for number, first in enumerate(scene.work[:2]):
            row = factories.assignment(item, first.member)
            scene.work.append(row)
            scene.hand_in(len(scene.work) - 1, "The dog turns." if number else said)
    client = Page(scene).client
    page = client.get(f"/studies/{scene.study.slug}/adjudication/").content.decode()
    # Of the words, 2 x 1 / (3 + 4) are in common on the second question and 2 x 3 / (5 + 4) on the first.
    places = [page.index(f"/adjudication/{item.public_id}/") for item in (scene.item, *others)]
    assert places[1] < places[0] < places[2], "what all agree on comes last"
    assert "All agree" in page
    assert page.count("To decide") == 2
    found = Page(scene).get()
    assert (found["question"]["of"], found["progress"]) == (3, {"submitted": 0, "of": 2})
    assert found["urls"]["next"] == f"/adjudication/{others[0].public_id}/"


def test_ab_06_nothing_says_who_is_who() -> None:
    scene = Scene()
    canaries = []
    for number, row in enumerate(scene.work):
        user, member = row.member.user, row.member
        user.username, user.first_name, user.last_name = (f"canary-{part}-{number}" for part in "ufl")
        user.email = f"canary-mail-{number}@example.org"
        user.save()
        member.pseudonym = f"canary-p-{number}"
        member.save()
        canaries += [user.username, user.first_name, user.last_name, user.email, member.pseudonym]
        refinement_save(
            assignment=row,
            by=user,
            operations=[videos.operation((ANSWER, "It hears a whistle.", f"It hears whistle {number}."))],
            active_ms=777_000 + number,
        )
    scene.differ()
    for row in scene.work:
        row.refresh_from_db()
        canaries += [str(row.public_id), str(row.document.public_id), str(row.submitted_at.year)]
    canaries += ["77700", str(scene.study.seed)]
    page = Page(scene)
    answers = [page.client.get(page.address), page.save((SAY, "", "The cat turns.")), page.decide(0)]
    answers += [
        page.client.get(f"/studies/{scene.study.slug}/adjudication/"),
        page.client.get(f"/adjudication/{scene.item.public_id}/"),
        page.send("return/", {"letter": "A", "reason": "Look again."}),
    ]
    scene.hand_in(next(k for k, state in enumerate(scene.states()) if state == "returned"), "The dog sits.")
    answers.append(page.client.get(page.address))
    for answer in answers:
        text = answer.content.decode()
        # The page's own moment of saving is the adjudicator's.
        text = text.replace(json.loads(text).get("saved_at", "-"), "") if text.startswith("{") else text
        assert [canary for canary in canaries if canary in text] == [], answer.request["PATH_INFO"]


def test_ab_06_order_time_and_effort_of_the_people_do_not_show() -> None:
    answers = []
    for first, effort in ((0, 1), (1, 3)):
        scene = Scene(seed=7)
        for number, row in enumerate(scene.work):
            StudyMember.objects.filter(pk=row.member_id).update(pseudonym=f"P{number + 10}")
        said = ["The dog turns left.", "The cat turns."]
        for which in (first, 1 - first):
            row = scene.work[which]
            for _ in range(effort):
                refinement_save(
                    assignment=row,
                    by=row.member.user,
                    operations=[
                        videos.operation((SAY, "The dog turns.", "x")),
                        videos.operation((SAY, "x", "The dog turns.")),
                    ],
                    active_ms=1000 * effort,
                )
            scene.hand_in(which, said[which])
        found = Page(scene).get()
        names = (
            "adjudication",
            "document",
            "version",
            "active_ms",
            "progress",
            "state",
            "assignment_version",
        )
        answers.append({name: found[name] for name in names})
    assert answers[0] == answers[1]
    assert Assignment.objects.filter(state="in_adjudication").count() == 4
