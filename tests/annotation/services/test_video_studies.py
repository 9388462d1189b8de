"""Setting up a study of videos: settings, questions, people, opening, progress, record."""

import re

import pytest

from annotation.models import Assignment, Study, StudyItem
from annotation.selectors.checklist import checklist
from annotation.selectors.study_events import event_lines, events_of
from annotation.selectors.study_progress import item_rows, items_of, refiner_progress, totals
from annotation.selectors.study_questions import (
    QuestionChoice,
    clips_not_ready,
    clips_to_make_playable,
    free_questions,
    question_facets,
)
from annotation.services import assignments, guidelines, release, studies
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from reasonaudit.lib import markdown
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.videos import factories as videos
from videos.models import Document, Video

pytestmark = pytest.mark.django_db
SAY = ["cot", "visual", "description"]


@pytest.fixture
def lead():
    return factories.user("researcher")


@pytest.fixture
def study(lead):
    return studies.study_create(video_set=videos.video_set(), name="Dogs at home", by=lead)


def missing(study: Study) -> set[str]:
    return {check.words for check in checklist(study) if check.needed and not check.done}


def refine(row: Assignment, before: str, *after: str, active_ms: int = 0) -> None:
    """Save one operation for each new text, then hand in."""
    operations = []
    for text in after:
        operations.append(videos.operation((SAY, before, text)))
        before = text
    refinement_save(assignment=row, by=row.member.user, operations=operations, active_ms=active_ms)
    row.refresh_from_db()
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    row.refresh_from_db()


# Settings


def test_a_new_study_has_one_person_a_question_and_the_guideline_of_videos(study, lead):
    assert (study.is_video, study.dataset_id, study.overlap) == (True, None, 1)
    draft = study.guidelines.get()
    assert draft.text.startswith("# How to refine a question about a video")
    assert draft.reasons == {"correct": [], "uncertain": [], "incorrect": []}
    event = Event.objects.get(action="study.create", actor_id=lead.pk)
    assert event.data == {
        "name": "Dogs at home",
        "description": "",
        "overlap": 1,
        "recheck_percent": 0,
        "video_set": study.video_set.slug,
    }


@pytest.mark.parametrize("both", [True, False])
def test_a_study_is_about_exactly_one_thing(lead, both):
    given = {"dataset": factories.dataset(), "video_set": videos.video_set()} if both else {}
    with pytest.raises(UserError, match="both was chosen" if both else "none was chosen") as refused:
        studies.study_create(name="Mixed", by=lead, **given)
    assert set(refused.value.fields) == {"dataset", "video_set"}
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("blinding", "open"), ("in_order", False), ("training_pass", 0.5)],
)
def test_settings_of_traces_are_refused_and_not_stored(study, lead, name, value):
    before = getattr(study, name)
    with pytest.raises(UserError) as made:
        studies.study_create(video_set=study.video_set, name="Other", by=lead, **{name: value})
    with pytest.raises(UserError) as changed:
        studies.study_change(study=study, by=lead, **{name: value})
    assert set(made.value.fields) == set(changed.value.fields) == {name}
    study.refresh_from_db()
    assert getattr(study, name) == before
    assert studies.study_change(study=study, by=lead, overlap=2).overlap == 2


def test_the_guideline_of_videos_fits_its_limits_and_its_links_lead_to_clauses():
    default = guidelines.default_guideline(videos=True)
    anchors = {anchor for anchor, _ in markdown.headings(default["text"])}
    for clause in ("visual-cue", "audio-cue", "timeframe", "boxes", "evidence-links", "when-to-flag"):
        assert f"clause-{clause}" in anchors
    html = str(markdown.render(default["text"]))
    assert {f"clause-{name}" for name in re.findall(r'href="#(?:clause-)?([^"]+)"', html)} == {
        "clause-when-to-flag"
    }
    assert len(default["question"]) <= guidelines.LONGEST_QUESTION


def test_reasons_of_labels_do_not_belong_in_a_guideline_of_videos(study, lead):
    with pytest.raises(UserError, match="no labels"):
        guidelines.guideline_draft_save(
            study=study, text="# x", question="y", reasons={"correct": [{"words": "Fine"}]}, by=lead
        )


# Questions


def test_questions_are_added_once_with_numbers_that_tell_nothing(study, lead):
    clip = videos.video(study.video_set)
    questions = [videos.question(clip) for _ in range(3)]
    first = studies.questions_add(study=study, questions=questions[:2], by=lead)
    again = studies.questions_add(study=study, questions=questions, by=lead)
    assert [item.question_id for item in again] == [questions[2].pk]
    assert {len(str(item.number)) for item in (*first, *again)} == {3}
    assert {item.kind for item in first} == {"main"}
    assert str(first[0]) == f"Question {first[0].number}"
    data = [event.data for event in Event.objects.filter(action="item.add").order_by("pk")]
    assert data[0] == {"kind": "main", "items": {str(item.number): item.question_id for item in first}}
    with pytest.raises(UserError, match="new to the study"):
        studies.questions_add(study=study, questions=questions, by=lead)


@pytest.mark.parametrize("kind", ["training", "gold", "nonsense"])
def test_questions_are_main_items_only(study, lead, kind):
    question = videos.question(videos.video(study.video_set))
    with pytest.raises(UserError, match="all items are main ones"):
        studies.questions_add(study=study, questions=[question], kind=kind, by=lead)
    assert not StudyItem.objects.exists()


def test_questions_of_other_sets_and_in_other_studies_are_refused(study, lead):
    with pytest.raises(UserError, match="another set of videos"):
        studies.questions_add(study=study, questions=[videos.question()], by=lead)
    of_traces = studies.study_create(dataset=factories.dataset(), name="Traces", by=lead)
    with pytest.raises(UserError, match="a study of traces"):
        studies.questions_add(study=of_traces, questions=[videos.question()], by=lead)
    with pytest.raises(UserError, match="another data set"):
        studies.items_add(study=study, traces=[factories.trace()], kind="main", by=lead)
    Study.objects.update(stage="closed")
    with pytest.raises(UserError, match="closed"):
        studies.questions_add(
            study=study, questions=[videos.question(videos.video(study.video_set))], by=lead
        )
    assert not StudyItem.objects.exists()


def test_a_question_is_taken_out_again_until_somebody_has_it(study, lead):
    clip = videos.video(study.video_set)
    items = studies.questions_add(
        study=study, questions=[videos.question(clip), videos.question(clip)], by=lead
    )
    studies.item_remove(item=items[0], by=lead)
    event = Event.objects.get(action="item.remove")
    assert event.data == {"question": items[0].question_id, "kind": "main"}
    factories.assignment(items[1], video_factories.annotator(study))
    with pytest.raises(UserError, match="given to somebody"):
        studies.item_remove(item=items[1], by=lead)


def test_free_questions_are_filtered_by_clip_difficulty_category_and_words(study, lead):
    first, second = (
        videos.video(study.video_set, title="Kitchen"),
        videos.video(study.video_set, title="Yard"),
    )
    hard = videos.question(first, difficulty="hard", category="Egocentric Agent", text="Who barks?")
    easy = videos.question(first, difficulty="easy", text="Who eats?")
    other = videos.question(second, difficulty="hard", category="Gaming", text="Who sleeps?")
    videos.question(text="In another set")
    taken = videos.question(second)
    studies.questions_add(study=study, questions=[taken], by=lead)

    def found(**choice: object) -> list[object]:
        return list(free_questions(study, QuestionChoice(**choice)))

    assert found() == [hard, easy, other]
    assert found(difficulties=("hard",)) == [hard, other]
    assert found(categories=("Gaming",)) == [other]
    assert found(videos=(str(first.public_id),), search="eats") == [easy]
    assert found(search="yard") == [other]
    facets = question_facets(study)
    assert facets["difficulty"] == [("easy", "Easy", 1), ("hard", "Hard", 2)]
    assert facets["category"] == [
        ("", "Not said", 1),
        ("Egocentric Agent", "Egocentric Agent", 1),
        ("Gaming", "Gaming", 1),
    ]
    assert facets["clip"] == [(str(first.public_id), "Kitchen", 2), (str(second.public_id), "Yard", 1)]


def test_only_prepared_clips_that_need_a_playback_file_and_have_none_get_one(study):
    needs = videos.video(study.video_set, needs_proxy="its times are uneven")
    has = videos.video(study.video_set, needs_proxy="its times are uneven", proxy={"width": 640})
    plays = videos.video(study.video_set)
    waits = videos.video(study.video_set, state=Video.State.PREPARING)
    ids = [videos.question(clip).pk for clip in (needs, needs, has, plays, waits)]
    assert clips_to_make_playable(ids) == [needs]
    assert clips_not_ready(ids) == 1


# Opening, work and progress


def test_the_checklist_names_questions_and_annotators_and_nothing_of_traces(study, lead):
    words = [check.words for check in checklist(study)]
    assert words == [
        "questions to refine",
        "a published guideline",
        "at least 1 annotator",
        "work given out to everybody",
        "clips prepared",
    ]
    assert missing(study) == set(words[:4])
    question = videos.question(videos.video(study.video_set, state=Video.State.PREPARING))
    studies.questions_add(study=study, questions=[question], by=lead)
    guidelines.guideline_publish(study=study, by=lead)
    studies.member_add(study=study, user=factories.user("annotator"), part="physician", by=lead)
    assert missing(study) == {"work given out to everybody"}
    assignments.assignments_make(study, lead)
    assert missing(study) == set()
    assert [check.note for check in checklist(study) if not check.done] == ["1 not ready yet"]
    assert studies.study_open(study=study, by=lead).stage == "open"


@pytest.mark.django_db(transaction=True)
def test_progress_is_over_what_was_handed_in():
    """By hand: handed in with 2, 6 and 10 active minutes and 1, 2 and 3 operations; the median is 6 minutes."""
    study = video_factories.study(questions=4)
    person, other = video_factories.annotator(study), video_factories.annotator(study)
    rows = [factories.assignment(item, person) for item in study.items.order_by("number")]
    for row, texts, minutes in zip(rows, (["a"], ["a", "b"], ["a", "b", "c"]), (2, 6, 10), strict=False):
        refine(row, "The dog turns.", *texts, active_ms=minutes * 60_000)
    refinement_save(
        assignment=rows[3],
        by=person.user,
        operations=[videos.operation((SAY, "The dog turns.", "draft"))],
        active_ms=3_600_000,
    )
    first, second = refiner_progress(study)
    assert (first.member, first.assigned, first.handed_in, first.begun) == (person, 4, 3, 1)
    assert (first.timed, first.median_minutes, first.operations) == (3, 6.0, 6)
    assert (second.member, second.assigned, second.median_minutes, second.operations) == (other, 0, None, 0)
    lines = item_rows(items_of(study))
    assert [line.minutes for line in lines] == [2.0, 6.0, 10.0, None]
    assert [line.agreement_words for line in lines] == ["Settled"] * 3 + ["Being refined"]
    counts = totals(study)
    assert (counts.items, counts.work, counts.handed_in, counts.settled) == (4, 4, 3, 3)
    assert release.study_release(study=study, by=factories.user("manager")) == 3


def test_items_are_found_by_question_clip_and_number(study, lead):
    kitchen, yard = (
        videos.video(study.video_set, title="Kitchen"),
        videos.video(study.video_set, title="Yard"),
    )
    items = studies.questions_add(
        study=study, questions=[videos.question(kitchen, text="Who barks?"), videos.question(yard)], by=lead
    )
    by_clip = {item.question.video_id: item for item in StudyItem.objects.filter(study=study)}
    assert list(items_of(study, search="barks")) == [by_clip[kitchen.pk]]
    assert list(items_of(study, search="yard")) == [by_clip[yard.pk]]
    assert list(items_of(study, search=str(items[0].number))) == [items[0]]


@pytest.mark.django_db(transaction=True)
def test_work_is_returned_with_a_reason_and_no_remark_on_segments(lead):
    row = video_factories.work(overlap=2)
    refine(row, "The dog turns.", "It turns.")
    with pytest.raises(UserError, match="no segments"):
        assignments.assignment_return(assignment=row, by=lead, reason="Too short.", remarks={2: "here"})
    row.refresh_from_db()
    assert row.state == "submitted"
    assignments.assignment_return(assignment=row, by=lead, reason="Too short.", remarks={2: " "})
    row.refresh_from_db()
    assert (row.state, row.reason, row.segment_remarks) == ("returned", "Too short.", {})
    assignments.assignment_withdraw(assignment=row, by=lead, reason="Other plans.")
    assignments.assignment_restore(assignment=row, by=lead, reason="Back.")
    row.refresh_from_db()
    assert row.state == "assigned"
    assert Document.objects.get().version == 1, "what was done stays stored"


@pytest.mark.django_db(transaction=True)
def test_a_lone_refinement_is_settled_and_can_be_returned_until_it_is_released(lead):
    row = video_factories.work()
    refine(row, "The dog turns.", "It turns.")
    assert row.state == "adjudicated"
    assignments.assignment_return(assignment=row, by=lead, reason="Which way?")
    row.refresh_from_db()
    assert (row.state, row.reason) == ("returned", "Which way?")
    moves = Event.objects.filter(subject_id=str(row.public_id), actor_id=lead.pk).order_by("pk")
    assert [(event.from_state, event.to_state, event.reason) for event in moves] == [
        ("adjudicated", "in_adjudication", "Which way?"),
        ("in_adjudication", "returned", "Which way?"),
    ]
    refine(row, "It turns.", "It turns left.")
    assert row.state == "adjudicated"
    assert release.study_release(study=row.item.study, by=lead) == 1
    row.refresh_from_db()
    with pytest.raises(UserError):
        assignments.assignment_return(assignment=row, by=lead, reason="Too late.")


@pytest.mark.django_db(transaction=True)
def test_the_record_says_questions_and_operations():
    row = video_factories.work()
    refine(row, "The dog turns.", "One.", "Two.")
    study, number = row.item.study, row.item.number
    changes = event_lines(study, events_of(study, "changes"))
    assert [(line.what, line.more) for line in changes] == [
        (f"changed Question {number} of {row.member.pseudonym}", "2 operations, version 2")
    ]
    assert "handed Question" in " ".join(line.what for line in event_lines(study, events_of(study, "work")))
    everything = list(events_of(study))
    assert list(events_of(study, "labels")) == everything, "a kind that does not exist there filters nothing"
