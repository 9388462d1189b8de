"""Questions are given out clip by clip, and the list of work shows them so."""

from collections import Counter

import pytest

from annotation.models import Assignment, StudyItem
from annotation.selectors.work_list import own_work
from annotation.services import assignments
from tests.annotation import factories, video_factories
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """Clips with 3, 2, 2 and 1 questions, their items mixed, for two annotators."""
    first = videos.video(title="Kitchen")
    made = video_factories.study(questions=3, of=first)
    for title, count in (("Yard", 2), ("Beach", 2), ("Street", 1)):
        clip = videos.video(made.video_set, title=title)
        for _ in range(count):
            video_factories.item(made, videos.question(clip))
    for _ in range(2):
        video_factories.annotator(made)
    return made


def people(study) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    rows = Assignment.objects.filter(item__study=study).exclude(state="withdrawn")
    for clip, person in rows.values_list("item__question__video__title", "member__pseudonym"):
        found.setdefault(clip, set()).add(person)
    return found


def test_each_clip_goes_whole_to_one_person_and_loads_are_even(study):
    lead = factories.user("manager")
    preview = assignments.assignments_preview(study)
    assert sorted((load.main_new, load.clips) for load in preview.loads) == [(4, 2), (4, 2)]
    assignments.assignments_make(study, lead)
    who = people(study)
    assert {len(names) for names in who.values()} == {1}
    loads = Counter(Assignment.objects.values_list("member__pseudonym", flat=True))
    assert sorted(loads.values()) == [4, 4], "by hand: 3 + 1 and 2 + 2"
    assert assignments.assignments_make(study, lead).new == 0


def test_one_question_is_moved_by_hand_and_the_rest_of_its_clip_stays(study):
    lead = factories.user("manager")
    assignments.assignments_make(study, lead)
    before = people(study)
    one = Assignment.objects.filter(item__question__video__title="Kitchen").order_by("pk").first()
    assignments.assignment_withdraw(assignment=one, by=lead, reason="Somebody else hears better.")
    assignments.assignments_make(study, lead)
    assert len(people(study)["Kitchen"]) == 2
    assert {clip: names for clip, names in people(study).items() if clip != "Kitchen"} == {
        clip: names for clip, names in before.items() if clip != "Kitchen"
    }
    now = Assignment.objects.filter(item=one.item).exclude(state="withdrawn").get()
    assert now.member != one.member


def test_a_question_that_is_added_later_goes_to_whoever_has_its_clip(study):
    lead = factories.user("manager")
    assignments.assignments_make(study, lead)
    before = people(study)
    kitchen = StudyItem.objects.filter(question__video__title="Kitchen").first().question.video
    late = video_factories.item(study, videos.question(kitchen))
    assignments.assignments_make(study, lead)
    assert people(study) == before
    assert Assignment.objects.get(item=late).member.pseudonym in before["Kitchen"]


def test_the_list_of_work_is_clip_by_clip_with_how_far_each_is(study):
    assignments.assignments_make(study, factories.user("manager"))
    member = next(row.member for row in Assignment.objects.filter(item__question__video__title="Kitchen"))
    done = Assignment.objects.filter(member=member, item__question__video__title="Kitchen").order_by(
        "position"
    )
    Assignment.objects.filter(pk__in=[row.pk for row in done[:2]]).update(state="submitted")
    (work,) = own_work(member.user)
    clips = {clip.title: clip for clip in work.clips}
    assert set(clips) == {"Kitchen", "Street"}
    assert (clips["Kitchen"].done, len(clips["Kitchen"].cases), clips["Kitchen"].is_finished) == (2, 3, False)
    assert [case.number for clip in work.clips for case in clip.cases] == [1, 2, 3, 4], (
        "in the person's order"
    )
