"""Reading the guideline and passing the training before the study's items open (AG-09)."""

import pytest

from annotation.models import Assignment, Study
from annotation.selectors import studies as selectors
from annotation.services import qualification
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return factories.study()


def member_with_work(study, *, training: int = 0, main: int = 1):
    member = factories.member(study, qualified=False)
    for _ in range(training):
        factories.assignment(factories.item(study, kind="training", expected={2: "correct"}), member)
    for _ in range(main):
        factories.assignment(factories.item(study), member)
    return member


def fresh(member):
    return type(member).objects.select_related("study").get(pk=member.pk)


def test_ag_09_nothing_opens_before_the_guideline_was_read(study):
    member = member_with_work(study, training=1)
    assert selectors.next_assignment(member) is None
    assert "Read version 1" in selectors.gate_of(member).why_not_main()
    for row in Assignment.objects.filter(member=member):
        assert "Read version 1" in selectors.why_not_open(row)


def test_ag_09_training_comes_before_the_items_of_the_study(study):
    member = member_with_work(study, training=2)
    qualification.guideline_read(member=member, version=1, by=member.user)
    member = fresh(member)
    assert (member.qualified_version, member.qualified_at) == (1, None)
    first, second, main = Assignment.objects.filter(member=member).order_by("position")
    assert selectors.next_assignment(member) == first
    assert selectors.may_open(second)
    assert selectors.why_not_open(main) == selectors.TRAINING_FIRST
    factories.submission(first)
    assert not qualification.training_settle(member=member, by=member.user)
    # Below the pass mark it comes back, and waits again.
    factories.submission(second, state="returned")
    assert not qualification.training_settle(member=member, by=member.user)
    assert selectors.next_assignment(fresh(member)) == second
    second.state = "submitted"
    second.save()
    assert qualification.training_settle(member=member, by=member.user)
    assert selectors.next_assignment(fresh(member)) == main
    assert Event.objects.filter(action="member.qualify").count() == 1


def test_ag_09_a_new_version_is_read_before_new_work_and_begun_work_goes_on(study):
    member = member_with_work(study, main=2)
    qualification.guideline_read(member=member, version=1, by=member.user)
    member = fresh(member)
    assert member.qualified_at is not None, "no training, so reading is all"
    begun, waiting = Assignment.objects.filter(member=member).order_by("position")
    begun.state = "draft"
    begun.save()
    factories.guideline(study, number=2, change_note="Doses.")
    assert selectors.why_not_editable(begun) == ""
    assert "Read version 2" in selectors.why_not_open(waiting)
    with pytest.raises(UserError, match="newer version"):
        qualification.guideline_read(member=member, version=1, by=member.user)
    qualification.guideline_read(member=member, version=2, by=member.user)
    qualification.guideline_read(member=member, version=2, by=member.user)
    assert selectors.may_open(Assignment.objects.get(pk=waiting.pk))
    assert list(Event.objects.filter(action="guideline.read").values_list("version", flat=True)) == [1, 2]


@pytest.mark.parametrize(
    ("stage", "state", "opens", "writes"),
    [
        ("draft", "assigned", False, False),
        ("open", "assigned", True, True),
        ("open", "draft", True, True),
        ("open", "returned", True, True),
        ("open", "submitted", True, False),
        ("open", "in_adjudication", True, False),
        ("open", "released", True, False),
        ("open", "withdrawn", False, False),
        ("closed", "assigned", False, False),
        ("closed", "draft", True, False),
        ("closed", "adjudicated", True, False),
    ],
)
def test_what_is_open_and_what_can_be_written(stage, state, opens, writes):
    study = factories.study(stage=stage)
    row = factories.assignment(factories.item(study), factories.member(study), state=state)
    assert selectors.may_open(row) is opens
    assert (selectors.why_not_editable(row) == "") is writes
    assert (selectors.next_assignment(row.member) == row) is writes


def test_somebody_who_left_opens_nothing(study):
    row = factories.assignment(factories.item(study), factories.member(study, active=False))
    assert "no longer part" in selectors.why_not_open(row)


def test_the_next_work_is_the_first_of_the_own_order(study):
    member = factories.member(study)
    rows = [factories.assignment(factories.item(study), member, position=place) for place in (3, 1, 2)]
    assert selectors.next_assignment(member) == rows[1]
    factories.submission(rows[1])
    assert selectors.next_assignment(member) == rows[2]
    Study.objects.filter(pk=study.pk).update(stage="closed")
    assert selectors.next_assignment(fresh(member)) is None
