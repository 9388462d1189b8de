"""The audit for people of a study: locked until the reveal or the final decision, and clean of what is hidden."""

import uuid
from typing import Any

import pytest
from django.test import Client

from annotation.models import StudyItem
from annotation.services.adjudications import item_settle
from auditing.models import AuditRun, StudyAudit
from auditing.services import runs
from auditing.services.execution import execute
from auditing.services.study_audit import NO_RESULT, NOT_CHOSEN, ONLY_LABEL, OTHER_SEGMENTS
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.auditing import factories

pytestmark = pytest.mark.django_db

# S1 -> S2 -> S3; S4 has no support (orphan), S5 rests on S4 (unsupported).
RELATIONS = [((1,), 2, "entailment"), ((2,), 3, "implied"), ((1,), 4, "neutral"), ((4,), 5, "entailment")]
LABELS = {2: "supported", 3: "supported", 4: "orphan", 5: "unsupported"}


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


class World:
    """A study of one audited case on which two people disagree on S3 and S5."""

    def __init__(self, **fields: Any) -> None:
        self.trace = factories.trace(5, relations=RELATIONS)
        self.trace.generator = "canary-author-model"
        self.trace.save()
        self.trace.all_segments.filter(index=5).update(gold="incorrect", gold_note="canary-gold")
        self.run = runs.create(dataset=self.trace.case.dataset, traces=[self.trace], labeller="stored")
        assert execute(self.run.pk) == "done"
        self.study = make.study(self.trace.case.dataset, **fields)
        self.lead = make.member(self.study, part="lead")
        self.adjudicator = make.member(self.study, part="adjudicator")
        self.people = [make.member(self.study) for _ in range(2)]
        self.item = make.item(self.study, self.trace)
        self.work = [make.assignment(self.item, person) for person in self.people]
        StudyAudit.objects.create(study=self.study, run=self.run)

    def hand_in(self) -> "World":
        for assignment, labels in zip(
            self.work, (["correct"] * 4, ["correct", "uncertain", "correct", "incorrect"]), strict=True
        ):
            make.submission(assignment, labels)
        item_settle(self.item, None)
        return self

    def decide(self, index: int, label: str = "correct", **body: Any) -> Any:
        client = client_of(self.adjudicator.user)
        return client.put(
            f"/api/v1/adjudication/{self.item.public_id}/{index}/",
            {"base_version": 0, "label": label, "final": True} | body,
            content_type="application/json",
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )

    def audit(self, index: int, user: Any = None) -> Any:
        client = client_of(user or self.adjudicator.user)
        return client.get(f"/api/v1/adjudication/{self.item.public_id}/{index}/audit/")

    def own_audit(self, who: int = 0) -> Any:
        client = client_of(self.people[who].user)
        return client.get(f"/api/v1/assignments/{self.work[who].public_id}/audit/")


def test_ab_06_the_audit_is_refused_before_the_final_decision() -> None:
    world = World().hand_in()
    assert (world.audit(3).status_code, world.audit(3).json()["error"]["code"]) == (409, "not_decided")
    assert world.decide(3, final=False).status_code == 200
    assert world.audit(3).status_code == 409
    assert world.decide(3, base_version=1).status_code == 200
    assert world.audit(3).json()["label"] == "supported"
    assert world.audit(5).status_code == 409


def test_ab_06_while_segments_are_open_only_the_decided_ones_label_is_told() -> None:
    world = World().hand_in()
    world.decide(3)
    body = world.audit(3).json()
    assert body == {
        "label": "supported",
        "explanation": None,
        "payload": None,
        "note": ONLY_LABEL,
        "judges": [],
    }
    world.decide(5, "incorrect")
    whole = world.audit(3).json()
    assert {
        row["index"]: row["label"] for row in whole["payload"]["segments"] if not row["context"]
    } == LABELS
    assert whole["explanation"]


def test_ab_08_the_first_look_of_each_person_is_recorded() -> None:
    world = World().hand_in()
    world.decide(3)
    world.audit(3)
    world.audit(3)
    (event,) = Event.objects.filter(action="unblind")
    assert (event.actor_id, event.subject_id) == (world.adjudicator.user_id, f"{world.item.public_id}:3")
    world.decide(3, "uncertain", base_version=1, reason="The audit shows a gap.")
    assert world.item.decisions.get(number=2).after_audit is True
    assert world.item.decisions.get(number=1).after_audit is False


def test_a_study_that_hides_the_audit_hides_it_from_the_adjudicator_too() -> None:
    world = World(blinding="blind").hand_in()
    world.decide(3)
    assert set(world.audit(3).json()) == {"none"}
    assert not Event.objects.filter(action="unblind").exists()


@pytest.mark.parametrize("blinding", ["blind", "reveal", "open"])
def test_ab_01_the_labeller_gets_no_audit_before_the_reveal(blinding: str) -> None:
    world = World(blinding=blinding)
    assert world.own_audit().status_code == 409
    world.hand_in()
    answer = world.own_audit()
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_revealed")
    assert not set(LABELS.values()) & set(answer.content.decode().split('"'))


def test_after_the_reveal_the_labeller_sees_the_audit_without_what_is_hidden() -> None:
    world = World().hand_in()
    world.work[0].revealed_at = make.NOON
    world.work[0].save()
    answer = world.own_audit()
    body = answer.json()
    assert {row["index"]: row["label"] for row in body["segments"] if not row["context"]} == LABELS
    assert {row["gold"] for row in body["segments"]} == {None}
    assert "canary" not in answer.content.decode()
    assert body["run"]["labeller"]["kind"] == "stored"
    assert world.own_audit(1).status_code == 409
    stranger = client_of(world.people[1].user)
    assert stranger.get(f"/api/v1/assignments/{world.work[0].public_id}/audit/").status_code == 404


def test_why_there_is_no_audit_is_said() -> None:
    world = World().hand_in()
    world.work[0].revealed_at = make.NOON
    world.work[0].save()
    other = factories.trace(3, into=world.trace.case.dataset, relations=[((1,), 2, "entailment")])
    empty = runs.create(dataset=other.case.dataset, traces=[other], labeller="stored")
    StudyAudit.objects.update(run=empty)
    assert world.own_audit().json() == {"none": NO_RESULT}
    StudyAudit.objects.all().delete()
    assert world.own_audit().json() == {"none": NOT_CHOSEN}


def test_rp_09_an_audit_of_other_segments_is_not_shown() -> None:
    world = World().hand_in()
    world.work[0].revealed_at = make.NOON
    world.work[0].save()
    StudyItem.objects.filter(pk=world.item.pk).update(segmentation=2)
    assert world.own_audit().json() == {"none": OTHER_SEGMENTS}


def test_the_lead_chooses_a_run_over_the_data_set_of_the_study() -> None:
    world = World()
    client, address = client_of(world.lead.user), f"/api/v1/studies/{world.study.slug}/audit/"
    assert client.get(address).json() == {
        "run": world.run.pk,
        "items": 1,
        "runs": [
            {
                "id": world.run.pk,
                "name": str(world.run),
                "labeller": "stored relations",
                "covers": 1,
            }
        ],
    }
    elsewhere = AuditRun.objects.create(dataset=factories.dataset(), labeller="stored")
    answer = client.put(address, {"run": elsewhere.pk}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "other_dataset")
    assert client.put(address, {"run": 99_999}, content_type="application/json").status_code == 422
    assert client.put(address, {"run": None}, content_type="application/json").json()["run"] is None
    assert (
        client.put(address, {"run": world.run.pk}, content_type="application/json").json()["run"]
        == world.run.pk
    )
    assert client.put(address, {"run": world.run.pk}, content_type="application/json").status_code == 200
    told = Event.objects.filter(action="audit.choose").order_by("number")
    assert [event.data for event in told] == [
        {"old": world.run.pk, "new": None},
        {"old": None, "new": world.run.pk},
    ]


def test_who_does_not_lead_chooses_nothing() -> None:
    world = World()
    address = f"/api/v1/studies/{world.study.slug}/audit/"
    for user, status in (
        (make.user("researcher"), 404),
        (world.people[0].user, 403),
        (world.adjudicator.user, 403),
    ):
        client = client_of(user)
        assert client.get(address).status_code == status
        assert client.put(address, {"run": None}, content_type="application/json").status_code == status
    assert StudyAudit.objects.get(study=world.study).run_id == world.run.pk


def test_ag_07_agreement_is_that_of_the_first_blind_labels() -> None:
    """By hand: 4 segments, 2 of them agreed. First: 4 x correct; second: 2 x correct, uncertain, incorrect.

    Expected agreement by chance: 1 * 1/2 = 1/2, so kappa = (1/2 - 1/2) / (1 - 1/2) = 0.
    """
    world = World().hand_in()
    world.decide(3)
    world.decide(5, "incorrect")
    answer = client_of(world.adjudicator.user).get(f"/api/v1/studies/{world.study.slug}/agreement/").json()
    assert (answer["measure"], answer["people"], answer["compared"]) == ("cohen", 2, 4)
    assert answer["raw"]["value"] == pytest.approx(0.5)
    assert answer["agreement"]["value"] == pytest.approx(0.0)


def test_ag_02_agreement_of_one_person_is_undefined_with_a_reason() -> None:
    world = World()
    make.submission(world.work[0], ["correct"] * 4)
    answer = client_of(world.adjudicator.user).get(f"/api/v1/studies/{world.study.slug}/agreement/").json()
    assert answer == {"measure": None, "undefined_because": "fewer than two people have handed in"}
