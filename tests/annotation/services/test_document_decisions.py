"""Settling video questions that several people refined, and deciding them: states, versions, all or nothing."""

import pytest
from django.db import DatabaseError, transaction

from annotation.core.states import Part
from annotation.models import DocumentDecision, Study, StudyMember
from annotation.services.adjudications import item_settle
from annotation.services.assignments import assignment_return, assignment_withdraw
from annotation.services.document_decisions import (
    document_decision_make,
    document_decision_reopen,
    document_decision_save,
    document_give_back,
)
from annotation.services.items import item_overlap_set
from annotation.services.release import study_release
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.annotation.video_scene import ANSWER, SAY, Scene
from tests.videos import factories as videos
from videos.selectors.documents import document_json

pytestmark = pytest.mark.django_db


def test_all_agree_and_the_software_says_so() -> None:
    scene = Scene()
    scene.hand_in(0)
    assert scene.states() == ["submitted", "assigned"]
    scene.hand_in(1, " The dog turns. ")
    assert scene.states() == ["adjudicated", "adjudicated"]
    row = DocumentDecision.objects.get()
    assert (row.number, row.by_agreement, row.adjudicator, row.matches) == (1, True, None, "AB")
    assert row.content["cot"]["final_answer"] == "It hears a whistle."
    assert row.content == document_json(row.document)
    event = Event.objects.get(action="decision.agree")
    assert (event.actor_id, event.subject_id) == (None, str(scene.item.public_id))


def test_differences_wait_and_the_seed_holds_what_is_agreed() -> None:
    scene = Scene()
    scene.differ()
    assert scene.states() == ["in_adjudication", "in_adjudication"]
    assert not DocumentDecision.objects.exists()
    reply = scene.save((SAY, "", "The cat turns."))
    assert (reply["version"], reply["assignment"]) == (1, {"state": "draft", "version": 1})
    draft = DocumentDecision.objects.get()
    content = document_json(draft.document)
    assert content["cot"]["visual"]["analysis"] == "It turns after the whistle."
    row = scene.decide(1)
    assert row.matches == scene.letter_of(1)
    assert [place["matches"] for place in row.differences] == [scene.letter_of(1)]
    assert (row.number, row.version, row.pseudonym) == (1, 2, "A1")
    assert row.sides[scene.letter_of(1)]["submission"] == scene.work[1].submissions.get().pk
    assert row.content["cot"]["visual"]["description"] == "The cat turns."
    assert scene.states() == ["adjudicated", "adjudicated"]


def test_a_sample_of_agreed_questions_is_decided_all_the_same() -> None:
    scene = Scene(recheck_percent=100)
    scene.hand_in(0)
    scene.hand_in(1)
    assert scene.states() == ["in_adjudication", "in_adjudication"]
    row = scene.decide(0)
    assert (row.by_agreement, row.matches, row.differences) == (False, "AB", [])
    assert scene.states() == ["adjudicated", "adjudicated"]


def test_a_running_draft_of_somebody_does_not_count() -> None:
    scene = Scene()
    scene.differ()
    row = scene.work[1]
    row.refresh_from_db()
    row.document.parts.filter(place="cot", key="final_answer").update(data="Changed behind its back.")
    scene.save((SAY, "", "The cat turns."))
    assert scene.decide(1).content["cot"]["final_answer"] == "It hears a whistle."


def test_a_decision_that_matches_nobody_needs_a_note() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "A horse turns."))
    error = scene.refused(lambda: scene.decide(1))
    assert (error.status, error.code) == (422, "note_required")
    assert error.fields["differences"] == ["visual.description"]
    assert scene.refused(lambda: scene.decide(1, "x" * 601)).code == "note_too_long"
    assert scene.states() == ["in_adjudication", "in_adjudication"]
    row = scene.decide(1, "It is a horse.")
    assert (row.note, row.matches, row.differences[0]["matches"]) == ("It is a horse.", "", "")


def test_what_is_missing_is_said_as_to_annotators() -> None:
    scene = Scene()
    scene.differ()
    error = scene.refused(lambda: scene.decide(0))
    assert (error.status, error.code) == (422, "incomplete")
    assert error.fields == {"parts": ["Describe at least one cue, visual or audio."]}
    assert not DocumentDecision.objects.exists(), "nothing is left behind"


def test_ds_05_an_older_page_does_not_decide_and_operations_conflict_by_value() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "The cat turns."))
    error = scene.refused(lambda: scene.decide(0))
    assert (error.status, error.code, error.as_dict()["current"]) == (409, "version_conflict", {"version": 1})
    conflict = scene.refused(lambda: scene.save((SAY, "", "Another window.")))
    assert (conflict.status, conflict.code) == (409, "version_conflict")
    operation = videos.operation((ANSWER, "It hears a whistle.", "A whistle."))
    for _ in range(2):
        reply = document_decision_save(item=scene.item, by=scene.judge.user, operations=[operation])
    assert (reply["version"], reply["assignment"]["version"], reply["applied"]) == (2, 2, [])


def test_opened_again_the_old_decision_stays_and_a_new_one_follows() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "The cat turns."))
    first = scene.decide(1, "Look.")
    assert scene.refused(lambda: scene.save((SAY, "The cat turns.", "x"))).code == "decided"
    assert scene.refused(lambda: scene.decide(2)).code == "decided"
    why = {"item": scene.item, "by": scene.lead.user, "part": Part.LEAD}
    assert scene.refused(lambda: document_decision_reopen(**why, reason=" ")).code == "reason_required"
    draft = document_decision_reopen(**why, reason="Too fast.")
    assert scene.states() == ["in_adjudication", "in_adjudication"]
    assert scene.refused(lambda: document_decision_reopen(**why, reason="Twice.")).code == "not_decided"
    scene.save((SAY, "The cat turns.", "The dog turns left."))
    second = scene.decide(draft.version + 1)
    assert (second.number, second.reason, second.matches) == (2, "Too fast.", scene.letter_of(0))
    first.refresh_from_db()
    assert first.content["cot"]["visual"]["description"] == "The cat turns."
    assert document_json(first.document) == first.content, "the document of an old decision is never touched"
    assert Event.objects.filter(action="decision.change").count() == 1


def test_ds_09_the_database_refuses_to_change_a_final_decision() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "The cat turns."))
    row = scene.decide(1)
    for change in (
        lambda: DocumentDecision.objects.filter(pk=row.pk).update(note="Other."),
        lambda: DocumentDecision.objects.filter(pk=row.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="stays as it is"), transaction.atomic():
            change()


def test_given_back_and_handed_in_again() -> None:
    scene = Scene()
    scene.differ()
    scene.save((ANSWER, "It hears a whistle.", "A whistle."))
    error = scene.refused(
        lambda: document_give_back(item=scene.item, letter="C", by=scene.judge.user, reason="No.")
    )
    assert error.code == "unknown_letter"
    document_give_back(item=scene.item, letter=scene.letter_of(0), by=scene.judge.user, reason="Which dog?")
    assert scene.states() == ["returned", "submitted"]
    assert scene.refused(lambda: scene.save((SAY, "", "x"))).code == "not_ready"
    scene.hand_in(0, "The cat turns.")
    assert scene.states() == ["adjudicated", "adjudicated"], "now they agree"
    agreed = DocumentDecision.objects.get(by_agreement=True)
    assert agreed.content["cot"]["final_answer"] == "It hears a whistle.", "not the draft that was left"
    draft = document_decision_reopen(
        item=scene.item, by=scene.judge.user, part=Part.ADJUDICATOR, reason="Look."
    )
    assert document_json(draft.document) == agreed.content


def test_a_decided_question_is_opened_before_work_goes_back() -> None:
    scene = Scene()
    scene.differ()
    scene.save((SAY, "", "The cat turns."))
    scene.decide(1)
    scene.work[0].refresh_from_db()
    lead = lambda: assignment_return(assignment=scene.work[0], by=scene.lead.user, reason="No.")  # noqa: E731
    assert scene.refused(lead).code == "wrong_state"
    judge = lambda: document_give_back(item=scene.item, letter="A", by=scene.judge.user, reason="No.")  # noqa: E731
    assert scene.refused(judge).code == "decided"


def test_one_person_more_is_compared_unless_somebody_has_decided() -> None:
    scene = Scene()
    scene.hand_in(0)
    scene.hand_in(1)
    item_overlap_set(item=scene.item, overlap=3, by=scene.lead.user)
    scene.work.append(factories.assignment(scene.item, video_factories.annotator(scene.study)))
    scene.hand_in(2, "A horse turns.")
    assert scene.states() == ["in_adjudication"] * 3, "an agreement of two is none of three"
    scene.save((SAY, "", "The dog turns."))
    row = scene.decide(2)
    assert (row.number, row.by_agreement, len(row.matches)) == (2, False, 2)
    scene.work.append(factories.assignment(scene.item, video_factories.annotator(scene.study)))
    scene.hand_in(3, "A cow turns.")
    assert scene.states() == ["adjudicated"] * 4, "what somebody decided stands"


def test_somebody_is_replaced() -> None:
    scene = Scene()
    scene.differ()
    document_give_back(item=scene.item, letter=scene.letter_of(1), by=scene.judge.user, reason="Not a cat.")
    scene.work[1].refresh_from_db()
    assignment_withdraw(assignment=scene.work[1], by=scene.lead.user, reason="On leave.")
    assert scene.states() == ["submitted", "withdrawn"]
    scene.work.append(factories.assignment(scene.item, video_factories.annotator(scene.study)))
    scene.hand_in(2, "The dog turns left.")
    assert scene.states() == ["adjudicated", "withdrawn", "adjudicated"]
    assert DocumentDecision.objects.get().matches == "AB"


def test_released_work_is_not_opened_again() -> None:
    scene = Scene()
    scene.hand_in(0)
    scene.hand_in(1)
    assert study_release(study=scene.study, by=scene.lead.user) == 2
    for do in (
        lambda: scene.save((SAY, "", "x")),
        lambda: scene.decide(1),
        lambda: document_decision_reopen(
            item=scene.item, by=scene.judge.user, part=Part.ADJUDICATOR, reason="Look."
        ),
    ):
        assert scene.refused(do).code == "released"
    item_settle(scene.item, None)
    assert scene.states() == ["released", "released"]


def test_one_persons_question_is_settled_as_before() -> None:
    scene = Scene(people=1)
    scene.hand_in(0)
    assert scene.states() == ["adjudicated"]
    assert not DocumentDecision.objects.exists()
    assert scene.refused(lambda: scene.save((SAY, "", "x"))).message.startswith("One person refined")
    scene.work[0].refresh_from_db()
    assignment_return(assignment=scene.work[0], by=scene.lead.user, reason="Which way?")
    assert scene.states() == ["returned"]


def test_a_case_is_no_question() -> None:
    traces = factories.study_with_work(items=1)
    error = Scene().refused(
        lambda: document_decision_make(
            item=traces.items[0], by=traces.adjudicator.user, base_version=0, note=""
        )
    )
    assert error.status == 404
    assert Study.objects.count() == 2
    assert StudyMember.objects.filter(part="adjudicator").count() == 2
