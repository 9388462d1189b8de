"""Settling items and deciding segments: states, letters, versions, and all or nothing."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction

from annotation.core.states import Part
from annotation.models import AdjudicationDecision, Assignment
from annotation.selectors import adjudication as selectors
from annotation.selectors.handed_in import handed_in
from annotation.services import decisions
from annotation.services.adjudications import item_settle
from annotation.services.decisions import (
    DecisionConflict,
    Draft,
    decision_reopen,
    decision_save,
    labeller_return,
)
from reasonaudit.lib.chain import verify
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, EventStream
from tests.annotation import factories as make

pytestmark = pytest.mark.django_db


def states(scene: make.Scene, item: int = 0) -> list[str]:
    rows = Assignment.objects.filter(item=scene.items[item]).order_by("pk")
    return list(rows.values_list("state", flat=True))


def hand_in(scene: make.Scene, *labels: Any, item: int = 0) -> None:
    """Hand in the labels of each person, one after the other, as the workspace does."""
    for assignment, said in zip(scene.work[item], labels, strict=True):
        make.submission(assignment, said)
        item_settle(scene.items[item], assignment.member.user)


def disagreeing(**fields: Any) -> make.Scene:
    """One item of S2, S3, S4: the people disagree on S3 by two and on S4 by one."""
    scene = make.study_with_work(items=1, **fields)
    hand_in(scene, ["correct", "correct", "uncertain"], ["correct", "incorrect", "incorrect"])
    return scene


def save(scene: make.Scene, index: int, label: str = "correct", *, final: bool = True, **fields: Any) -> Any:
    item = scene.items[0]
    return decision_save(
        item=item,
        index=index,
        by=scene.adjudicator.user,
        base_version=fields.pop("base", selectors.decision_of(item, index)["version"]),
        says=Draft(label=label, note=fields.pop("note", ""), **fields),
        final=final,
    )


def refused(code: str) -> Any:
    class Expected:
        def __enter__(self) -> Any:
            self.raises = pytest.raises(UserError)
            self.found = self.raises.__enter__()
            return self.found

        def __exit__(self, *problem: Any) -> Any:
            done = self.raises.__exit__(*problem)
            assert self.found.value.code == code
            return done

    return Expected()


# Settling


def test_ab_06_nothing_is_settled_or_shown_before_everybody_has_handed_in() -> None:
    scene = make.study_with_work(items=1)
    make.submission(scene.work[0][0], ["correct", "incorrect", "correct"])
    item_settle(scene.items[0], None)
    assert states(scene) == ["submitted", "assigned"]
    assert selectors.item_payload(scene.items[0], scene.adjudicator.user) is None
    assert selectors.queue(scene.study) == {
        "segments": 0, "agreed": 0, "to_decide": 0, "decided": 0, "queue": [],
    }  # fmt: skip
    assert handed_in(scene.items[0]).labels == {}
    with refused("not_ready"):
        save(scene, 3)


def test_unanimous_items_are_adjudicated_by_the_software() -> None:
    scene = make.study_with_work(items=1)
    hand_in(scene, ["correct", "incorrect", "correct"], ["correct", "incorrect", "correct"])
    assert states(scene) == ["adjudicated", "adjudicated"]
    moves = Event.objects.filter(action="assignment.adjudicated")
    assert [(move.actor_id, move.reason) for move in moves] == [(None, "unanimous")] * 2


@pytest.mark.parametrize(
    "second", [["correct", "incorrect", "correct"], ["correct", "correct", "cannot_judge"]]
)
def test_disagreement_or_cannot_judge_goes_to_adjudication(second: list[str]) -> None:
    scene = make.study_with_work(items=1)
    hand_in(scene, ["correct", "correct", "correct"], second)
    assert states(scene) == ["in_adjudication", "in_adjudication"]


def test_cannot_judge_by_both_is_no_agreement() -> None:
    scene = make.study_with_work(items=1)
    hand_in(scene, *[["cannot_judge", "correct", "correct"]] * 2)
    assert states(scene) == ["in_adjudication", "in_adjudication"]
    assert handed_in(scene.items[0]).to_decide == [2]


def test_a_single_label_is_adjudicated_when_one_was_asked_for() -> None:
    scene = make.study_with_work(items=1, physicians=1, overlap=1)
    hand_in(scene, ["correct", "incorrect", "correct"])
    assert states(scene) == ["adjudicated"]
    assert selectors.queue(scene.study)["queue"] == []


def test_a_single_label_waits_when_two_were_asked_for() -> None:
    scene = make.study_with_work(items=1, physicians=1, overlap=2)
    hand_in(scene, ["correct", "incorrect", "correct"])
    assert states(scene) == ["submitted"]


def test_ag_13_all_agreed_segments_are_decided_when_all_are_sampled() -> None:
    scene = make.study_with_work(items=1, recheck_percent=100)
    hand_in(scene, *[["correct", "incorrect", "correct"]] * 2)
    assert states(scene) == ["in_adjudication", "in_adjudication"]
    assert [(row["index"], row["sampled"], row["gap"]) for row in selectors.queue(scene.study)["queue"]] == [
        (2, True, 0),
        (3, True, 0),
        (4, True, 0),
    ]


@pytest.mark.parametrize(("kind", "after"), [("gold", "adjudicated"), ("training", "submitted")])
def test_ag_10_gold_and_training_never_come_into_the_queue(kind: str, after: str) -> None:
    scene = make.study_with_work(items=1, recheck_percent=100)
    scene.items[0].kind = kind
    scene.items[0].save()
    hand_in(scene, ["correct", "correct", "correct"], ["incorrect", "correct", "correct"])
    assert states(scene) == [after, after]
    assert selectors.queue(scene.study)["queue"] == []


def test_a_label_that_comes_in_late_opens_a_settled_item_again() -> None:
    scene = make.study_with_work(items=1)
    hand_in(scene, ["correct"] * 3, ["correct"] * 3)
    third = make.assignment(scene.items[0], make.member(scene.study))
    item_settle(scene.items[0], None)
    assert states(scene) == ["adjudicated", "adjudicated", "assigned"]
    make.submission(third, ["incorrect", "correct", "correct"])
    item_settle(scene.items[0], None)
    assert states(scene) == ["in_adjudication"] * 3


def test_released_items_stay_as_they_are() -> None:
    scene = make.study_with_work(items=1)
    hand_in(scene, ["correct"] * 3, ["incorrect"] * 3)
    Assignment.objects.update(state="released")
    item_settle(scene.items[0], None)
    assert states(scene) == ["released", "released"]
    with refused("released"):
        save(scene, 3)


def test_ag_07_revisions_after_the_reveal_change_nothing() -> None:
    scene = disagreeing()
    for assignment in scene.work[0]:
        make.label(assignment, 3, "uncertain", round=2, reason="seen the audit", unblinded=True)
    assert sorted(map(str, handed_in(scene.items[0]).given(3).values())) == ["correct", "incorrect"]


# Deciding


def test_the_last_final_decision_ends_the_adjudication() -> None:
    scene = disagreeing()
    save(scene, 3, "correct")
    assert states(scene) == ["in_adjudication", "in_adjudication"]
    row = save(scene, 4, "correct", note="Both are too strict.")
    assert states(scene) == ["adjudicated", "adjudicated"]
    assert (row.number, row.matches, row.after_audit) == (1, "", False)
    moves = Event.objects.filter(action="assignment.adjudicated")
    assert {move.reason for move in moves} == {"decided"}
    assert verify(EventStream.objects.get(name=f"study:{scene.study.pk}")) is None


def test_a_decision_names_the_letters_that_it_agrees_with() -> None:
    scene = disagreeing()
    given = handed_in(scene.items[0]).given(3)
    assert save(scene, 3, "incorrect").matches == next(k for k, v in given.items() if v == "incorrect")


@pytest.mark.parametrize("note", ["", "  \n ", "...", "\u200b"])
def test_a_decision_that_matches_nobody_needs_a_word(note: str) -> None:
    scene = disagreeing()
    with refused("note_required"):
        save(scene, 3, "uncertain", note=note)
    assert not AdjudicationDecision.objects.exists()


def test_agreed_segments_are_not_decided_until_they_are_opened() -> None:
    scene = disagreeing()
    with refused("not_queued"):
        save(scene, 2)
    decision_reopen(
        item=scene.items[0],
        index=2,
        by=scene.adjudicator.user,
        part=Part.ADJUDICATOR,
        reason="Both missed it.",
    )
    assert save(scene, 2, "incorrect", note="The dose is wrong.").number == 1


@pytest.mark.parametrize("index", [1, 9])
def test_context_and_unknown_segments_are_refused(index: int) -> None:
    with refused("bad_segment"):
        save(disagreeing(), index, base=0)


def test_unknown_words_are_refused() -> None:
    scene = disagreeing()
    with refused("unknown_reason"):
        save(scene, 3, reasons=["made_up"])
    with refused("unknown_label"):
        save(scene, 3, "right")
    with refused("unknown_guideline"):
        save(scene, 3, guideline=7)
    with refused("no_label"):
        save(scene, 3, "")
    save(scene, 3, note="x" * 600)
    with refused("note_too_long"):
        save(scene, 4, note="x" * 601)


def test_rp_05_the_decision_points_to_the_version_of_the_guideline_that_was_shown() -> None:
    scene = disagreeing()
    make.guideline(scene.study, number=2)
    make.guideline(scene.study, number=3, published=False)
    assert save(scene, 3, guideline=1).guideline.number == 1
    assert save(scene, 4, "incorrect").guideline.number == 2


def test_ds_03_a_stale_version_is_refused_and_nothing_is_written() -> None:
    scene = disagreeing()
    save(scene, 3, "correct", final=False, note="first")
    with pytest.raises(DecisionConflict) as found:
        save(scene, 3, "incorrect", final=False, note="second", base=0)
    assert found.value.status == 409
    assert found.value.current["draft"]["note"] == "first"
    assert AdjudicationDecision.objects.get().note == "first"


def test_drafts_are_overwritten_and_become_the_final_decision() -> None:
    scene = disagreeing()
    save(scene, 3, "", final=False, note="Hm")
    save(scene, 3, "uncertain", final=False, note="Hmm")
    assert AdjudicationDecision.objects.get().number == 0
    save(scene, 3, "uncertain", note="Hmmm")
    (row,) = AdjudicationDecision.objects.all()
    assert (row.number, row.version, row.note) == (1, 3, "Hmmm")


def test_final_decisions_stay_and_a_later_one_is_a_new_record_after_the_audit() -> None:
    scene = disagreeing()
    first = save(scene, 3, "correct")
    with refused("reason_required"):
        save(scene, 3, "incorrect")
    with refused("decided"):
        save(scene, 3, "incorrect", final=False)
    save(scene, 4, "incorrect")
    second = save(scene, 3, "incorrect", reason="The audit points to S2.")
    assert [second.number, second.after_audit, first.after_audit] == [2, True, False]
    assert AdjudicationDecision.objects.get(pk=first.pk).label == "correct"
    assert states(scene) == ["adjudicated", "adjudicated"]
    with pytest.raises(DatabaseError), transaction.atomic():
        AdjudicationDecision.objects.filter(pk=first.pk).update(label="incorrect")


def test_a_later_decision_is_not_after_the_audit_where_the_study_never_shows_it() -> None:
    scene = disagreeing(blinding="blind")
    save(scene, 3, "correct")
    assert save(scene, 3, "incorrect", reason="Misread it.").after_audit is False


def test_reopening_waits_for_a_new_decision_and_keeps_its_reason() -> None:
    scene = disagreeing()
    save(scene, 3, "correct")
    save(scene, 4, "incorrect")
    with refused("reason_required"):
        decision_reopen(item=scene.items[0], index=3, by=scene.lead.user, part=Part.LEAD, reason=" ")
    decision_reopen(
        item=scene.items[0], index=3, by=scene.lead.user, part=Part.LEAD, reason="A reader asked."
    )
    assert states(scene) == ["in_adjudication", "in_adjudication"]
    assert selectors.queue(scene.study)["decided"] == 1
    save(scene, 3, "incorrect", final=False, note="Looking")
    second = save(scene, 3, "incorrect")
    assert (second.number, second.reason, second.after_audit) == (2, "A reader asked.", True)
    assert states(scene) == ["adjudicated", "adjudicated"]


# Giving work back


def test_ab_09_work_goes_back_by_letter_and_comes_in_again() -> None:
    scene = disagreeing()
    work = handed_in(scene.items[0])
    labeller_return(
        item=scene.items[0],
        letter="B",
        by=scene.adjudicator.user,
        reason="S3 has the label of another case.",
        remarks={3: "Please look again.", 4: " "},
    )
    row = Assignment.objects.get(pk=work.people["B"].pk)
    other = Assignment.objects.get(pk=work.people["A"].pk)
    assert (row.state, row.reason) == ("returned", "S3 has the label of another case.")
    assert row.segment_remarks == {"3": "Please look again."}
    assert other.state == "submitted"
    assert selectors.item_payload(scene.items[0], scene.adjudicator.user) is None
    other_labels = [entry["label"] for entry in work.submissions["A"].labels]
    row.labels.all().delete()
    make.submission(row, other_labels, number=2)
    item_settle(scene.items[0], None)
    assert states(scene) == ["adjudicated", "adjudicated"]


def test_returning_needs_a_letter_a_reason_and_judged_segments() -> None:
    scene = disagreeing()
    common: dict[str, Any] = {"item": scene.items[0], "by": scene.adjudicator.user}
    with refused("unknown_letter"):
        labeller_return(letter="C", reason="Look again.", **common)
    with refused("reason_required"):
        labeller_return(letter="A", reason="", **common)
    with refused("bad_remarks"):
        labeller_return(letter="A", reason="Look again.", remarks={1: "The case"}, **common)
    assert states(scene) == ["in_adjudication", "in_adjudication"]


def test_unclear_clauses_reach_the_lead_until_they_are_taken_back() -> None:
    scene = disagreeing()
    who = scene.adjudicator.user
    decisions.clause_flag(
        item=scene.items[0], index=3, by=who, flagged=True, note="Main claim or side remark?"
    )
    (found,) = selectors.flagged_clauses(scene.study)
    assert (found["index"], found["note"], found["guideline"]) == (3, "Main claim or side remark?", 1)
    decisions.clause_flag(item=scene.items[0], index=3, by=who, flagged=False)
    assert selectors.flagged_clauses(scene.study) == []


# Faults


class Broken(Exception):
    """Injected."""


@pytest.mark.parametrize("place", ["item_settle", "record_event", "said"])
def test_ds_07_a_fault_in_the_middle_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    scene = disagreeing()
    save(scene, 3, "correct", final=False, note="draft")
    save(scene, 4, "incorrect")
    events = Event.objects.count()
    real = getattr(decisions, place)

    def fails(*arguments: Any, **named: Any) -> Any:
        real(*arguments, **named)
        raise Broken

    monkeypatch.setattr(decisions, place, fails)
    with pytest.raises(Broken), transaction.atomic():
        save(scene, 3, "correct")
    assert AdjudicationDecision.objects.get(segment__index=3).number == 0
    assert states(scene) == ["in_adjudication", "in_adjudication"]
    assert Event.objects.count() == events
