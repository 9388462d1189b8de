"""Reporting a problem with a video question: reversible, on record, and the work goes on."""

import pytest

from annotation.models import Assignment, Study
from annotation.selectors.study_events import event_lines, events_of
from annotation.selectors.study_progress import item_rows, items_of, refiner_progress
from annotation.services.editing import WorkRefused
from annotation.services.problems import LONGEST_PROBLEM, problem_report
from annotation.services.refinements import refinement_save
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories, video_factories
from tests.videos import factories as videos

pytestmark = pytest.mark.django_db


def report(row: Assignment, kind: str, note: str = "") -> dict[str, object]:
    found = problem_report(assignment=row, by=row.member.user, kind=kind, note=note)
    row.refresh_from_db()
    return found


def test_a_report_is_stored_once_changed_and_taken_back_on_record():
    row = video_factories.work()
    said = report(row, "media", " No sound. ")
    assert (row.problem, row.problem_note, said["note"]) == ("media", "No sound.", "No sound.")
    at = row.problem_at
    assert report(row, "media", "No sound.") == said
    assert row.problem_at == at, "the same report again changes nothing"
    report(row, "answer")
    gone = report(row, "", "left over")
    assert (row.problem, row.problem_note, row.problem_at) == ("", "", None)
    assert gone == {"kind": "", "note": "", "at": None, "editable": True}
    report(row, "")
    events = Event.objects.filter(action__startswith="problem.").order_by("number")
    media, answer, nothing = (
        {"kind": "media", "note": "No sound."},
        {"kind": "answer", "note": ""},
        {"kind": "", "note": ""},
    )
    assert [(event.action, event.data) for event in events] == [
        ("problem.report", {"old": nothing, "new": media}),
        ("problem.report", {"old": media, "new": answer}),
        ("problem.take_back", {"old": answer, "new": nothing}),
    ]
    study = row.item.study
    lines = event_lines(study, events_of(study, "work"))
    assert [(line.what, line.more) for line in lines] == [
        (f"took back the report on Question 1 of {row.member.pseudonym}", ""),
        (f"reported a problem with Question 1 of {row.member.pseudonym}", "The answer seems wrong"),
        (
            f"reported a problem with Question 1 of {row.member.pseudonym}",
            "Sound or picture cannot be used: No sound.",
        ),
    ]


def test_the_work_goes_on_and_its_state_is_not_touched():
    row = video_factories.work()
    report(row, "question")
    assert (row.state, row.version) == ("assigned", 1)
    change = videos.operation((["cot", "final_answer"], "It hears a whistle.", "A whistle."))
    refinement_save(assignment=row, by=row.member.user, operations=[change])
    row.refresh_from_db()
    assert (row.state, row.problem) == ("draft", "question")


@pytest.mark.parametrize(
    ("kind", "note", "code"),
    [
        ("nonsense", "", "unknown_problem"),
        ("other", "  ", "note_required"),
        ("clip", "x" * (LONGEST_PROBLEM + 1), "note_too_long"),
        ("clip", "a\x00b", "bad_text"),
    ],
)
def test_what_cannot_be_reported_leaves_nothing(kind, note, code):
    row = video_factories.work()
    with pytest.raises(UserError) as refused:
        report(row, kind, note)
    assert (refused.value.code, refused.value.status) == (code, 422)
    row.refresh_from_db()
    assert row.problem == ""
    assert not Event.objects.filter(action__startswith="problem.").exists()


@pytest.mark.parametrize("state", ["submitted", "adjudicated", "returned"])
def test_handed_in_work_can_be_reported_too(state):
    row = video_factories.work()
    Assignment.objects.filter(pk=row.pk).update(state=state)
    report(row, "answer")
    assert row.state == state


def test_withdrawn_work_closed_studies_other_people_and_cases_are_refused():
    row = video_factories.work()
    with pytest.raises(UserError) as other:
        problem_report(assignment=row, by=factories.user("annotator"), kind="clip")
    assert other.value.status == 404
    Assignment.objects.filter(pk=row.pk).update(state="withdrawn")
    with pytest.raises(WorkRefused, match="taken off"):
        report(row, "clip")
    Assignment.objects.filter(pk=row.pk).update(state="draft")
    Study.objects.update(stage="closed")
    with pytest.raises(WorkRefused, match="closed"):
        report(row, "clip")
    case = factories.study_with_work(items=1).work[0][0]
    with pytest.raises(UserError) as of_case:
        problem_report(assignment=case, by=case.member.user, kind="clip")
    assert of_case.value.status == 404


def test_leads_count_and_filter_reports():
    study = video_factories.study(questions=3)
    person = video_factories.annotator(study)
    first, second, third = (factories.assignment(item, person) for item in study.items.order_by("number"))
    report(first, "media", "No sound.")
    report(second, "answer")
    report(third, "answer")
    Assignment.objects.filter(pk=third.pk).update(state="withdrawn")
    assert [one.problems for one in refiner_progress(study)] == [2]
    assert list(items_of(study, problems=("media",))) == [first.item]
    assert list(items_of(study, problems=("media", "answer"))) == [first.item, second.item]
    rows = item_rows(items_of(study))
    assert [[work.problem for work in row.reports] for row in rows] == [["media"], ["answer"], []]
