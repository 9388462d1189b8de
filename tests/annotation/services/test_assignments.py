"""Giving out work, and the lead's moves on it."""

import pytest

from annotation.core.states import TRANSITIONS, Part, State
from annotation.models import Assignment, StudyItem, Submission
from annotation.services import assignments, members, studies
from reasonaudit.lib.chain import verify
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, EventStream
from tests.annotation import factories

pytestmark = pytest.mark.django_db


def setting(items: int = 6, people: int = 3, **fields):
    study = factories.study(**fields)
    lead = factories.member(study, part="lead")
    for _ in range(items):
        factories.item(study)
    return study, lead.user, [factories.member(study) for _ in range(people)]


def orders(study) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in Assignment.objects.filter(item__study=study).order_by("member", "position"):
        found.setdefault(row.member.pseudonym, []).append(row.item.number)
    return found


def test_everybody_gets_an_equal_share_in_an_own_stored_order():
    study, lead, people = setting(items=6, people=3)
    done = assignments.assignments_make(study, lead)
    assert done.new == 12
    found = orders(study)
    assert {len(own) for own in found.values()} == {4}
    assert all(Assignment.objects.filter(item=item).count() == 2 for item in study.items.all())
    for member in people:
        own = Assignment.objects.filter(member=member).order_by("position")
        assert [row.position for row in own] == [1, 2, 3, 4]


def test_ab_04_the_stored_orders_follow_from_the_seed():
    one, lead, _ = setting(seed=5)
    other, _, _ = setting(seed=5)
    third, _, _ = setting(seed=6)
    for study in (one, other, third):
        assignments.assignments_make(study, lead)
    assert orders(one) == orders(other)
    assert orders(one) != orders(third)


def test_preview_writes_nothing_and_says_what_making_does():
    study, lead, _ = setting(people=1)
    preview = assignments.assignments_preview(study)
    assert not Assignment.objects.exists()
    assert [missing for _, missing in preview.short] == [1] * 6, "two people per item, and there is one"
    done = assignments.assignments_make(study, lead)
    assert done.plan == preview.plan


def test_making_again_only_adds_and_keeps_what_was_begun_or_opened():
    study, lead, people = setting(items=4, people=2)
    assignments.assignments_make(study, lead)
    begun, opened = Assignment.objects.filter(member=people[0]).order_by("position")[:2]
    factories.label(begun, 2)
    begun.state = "draft"
    begun.save()
    opened.opened_at = factories.NOON
    opened.save()
    before = set(Assignment.objects.values_list("pk", flat=True))
    factories.item(study, kind="gold", expected={2: "correct"})
    factories.item(study, kind="training", expected={2: "correct"})
    assert assignments.assignments_make(study, lead).new == 4
    assert before < set(Assignment.objects.values_list("pk", flat=True))
    assert [Assignment.objects.get(pk=row.pk).position for row in (begun, opened)] == [1, 2]
    training = Assignment.objects.get(member=people[1], item__kind="training")
    assert training.position == 1, "training comes before everything that nobody opened"
    assert assignments.assignments_make(study, lead).new == 0


def test_each_piece_of_work_has_its_event_and_the_chain_holds():
    study, lead, _ = setting(items=3, people=2)
    assignments.assignments_make(study, lead)
    events = Event.objects.filter(action="assignment.create")
    rows = {str(row.public_id): row for row in Assignment.objects.all()}
    assert {event.subject_id for event in events} == set(rows)
    for event in events:
        row = rows[event.subject_id]
        assert event.data == {
            "item": row.item.number,
            "member": row.member.pseudonym,
            "position": row.position,
        }
    assert verify(EventStream.objects.get(name=f"study:{study.pk}")) is None


def test_a_closed_study_gives_out_nothing():
    study, lead, _ = setting()
    studies.study_close(study=study, by=lead)
    with pytest.raises(UserError, match="closed"):
        assignments.assignments_make(study, lead)


def in_state(state: State) -> Assignment:
    scene = factories.study_with_work(items=1, physicians=2)
    row = scene.work[0][0]
    if state in {State.SUBMITTED, State.IN_ADJUDICATION, State.ADJUDICATED, State.RELEASED}:
        factories.submission(row, state=state)
        if state is not State.SUBMITTED:
            factories.submission(scene.work[0][1], ["incorrect", "correct", "correct"], state=state)
    else:
        row.state = state
        row.save()
    return row


MOVES = {
    "withdraw": (assignments.assignment_withdraw, State.WITHDRAWN),
    "restore": (assignments.assignment_restore, State.ASSIGNED),
    "return": (assignments.assignment_return, State.RETURNED),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("state", State)
def test_ds_09_a_lead_moves_work_as_the_table_says_with_an_event(state, move):
    do, target = MOVES[move]
    row = in_state(state)
    lead = row.item.study.members.get(part="lead").user
    version = row.version
    rule = TRANSITIONS.get((state, target))
    if rule is None or Part.LEAD not in rule.parts:
        with pytest.raises(UserError) as refused:
            do(assignment=row, by=lead, reason="Why not.")
        assert refused.value.status == 409
        row.refresh_from_db()
        assert (row.state, row.version) == (state, version)
        assert not Event.objects.filter(to_state=target).exists()
        return
    do(assignment=row, by=lead, reason="Because of that.")
    row.refresh_from_db()
    assert (row.state, row.version) == (target, version + 1)
    event = Event.objects.get(subject_id=str(row.public_id), to_state=target)
    assert (event.actor_id, event.from_state, event.version, event.reason) == (
        lead.pk, state, version + 1, "Because of that.",
    )  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001])
def test_without_a_usable_reason_nothing_moves(move, reason):
    do, target = MOVES[move]
    row = in_state(State.WITHDRAWN if move == "restore" else State.SUBMITTED)
    with pytest.raises(UserError, match="why"):
        do(assignment=row, by=row.item.study.members.get(part="lead").user, reason=reason)
    assert not Event.objects.filter(to_state=target).exists()


def test_returning_one_of_two_takes_the_other_out_of_adjudication():
    row = in_state(State.IN_ADJUDICATION)
    lead = row.item.study.members.get(part="lead").user
    remarks = {2: "Look at the dose.", 3: "  "}
    assignments.assignment_return(assignment=row, by=lead, reason="See S2.", remarks=remarks)
    row.refresh_from_db()
    assert (row.segment_remarks, row.reason, row.submitted_at) == (
        {"2": "Look at the dose."},
        "See S2.",
        None,
    )
    other = Assignment.objects.exclude(pk=row.pk).get(item=row.item)
    assert other.state == State.SUBMITTED
    assert Submission.objects.filter(assignment=row).exists(), "what was handed in stays"


def test_remarks_on_context_or_missing_segments_are_refused():
    row = in_state(State.SUBMITTED)
    lead = row.item.study.members.get(part="lead").user
    for index in (1, 99):
        with pytest.raises(UserError) as refused:
            assignments.assignment_return(assignment=row, by=lead, reason="Why.", remarks={index: "x"})
        assert set(refused.value.fields) == {f"remark_{index}"}
    row.refresh_from_db()
    assert row.state == State.SUBMITTED


def test_withdrawn_work_goes_to_somebody_else_and_labels_stay():
    study, lead, people = setting(items=2, people=2)
    assignments.assignments_make(study, lead)
    row = Assignment.objects.filter(member=people[0]).first()
    factories.label(row, 2)
    row.state = "draft"
    row.save()
    newcomer = factories.member(study)
    assignments.assignment_withdraw(assignment=row, by=lead, reason="On leave.")
    assert assignments.assignments_make(study, lead).new == 1
    assert Assignment.objects.get(member=newcomer).item_id == row.item_id
    assert row.labels.count() == 1
    row.refresh_from_db()
    assert row.state == State.WITHDRAWN, "making again does not bring it back"


def test_somebody_who_left_gets_no_work_back():
    study, lead, people = setting(items=2, people=2)
    assignments.assignments_make(study, lead)
    members.member_remove(member=people[0], by=lead, reason="Moved away.")
    row = Assignment.objects.filter(member=people[0]).first()
    assert row.state == State.WITHDRAWN
    with pytest.raises(UserError, match="has left"):
        assignments.assignment_restore(assignment=row, by=lead, reason="Again.")


def test_fewer_people_per_item_settle_what_waited_for_somebody():
    study, lead, people = setting(items=2, people=1)
    assignments.assignments_make(study, lead)
    for row in Assignment.objects.filter(member=people[0]):
        factories.submission(row)
    studies.study_change(study=study, by=lead, overlap=1)
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.ADJUDICATED}
    assert verify(EventStream.objects.get(name=f"study:{study.pk}")) is None


def test_one_item_can_ask_for_fewer_people():
    study, lead, people = setting(items=2, people=1)
    assignments.assignments_make(study, lead)
    first, second = Assignment.objects.filter(member=people[0]).order_by("position")
    factories.submission(first)
    factories.submission(second)
    studies.item_overlap_set(item=StudyItem.objects.get(pk=first.item_id), overlap=1, by=lead)
    assert Assignment.objects.get(pk=first.pk).state == State.ADJUDICATED
    assert Assignment.objects.get(pk=second.pk).state == State.SUBMITTED
