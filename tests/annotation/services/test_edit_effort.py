"""Edit effort is computed when a question is handed in, and put together for leads and exports."""

import copy

import pytest

from annotation.models import Assignment, Submission
from annotation.selectors.edit_effort import effort_by_member, proposed_document
from annotation.selectors.refinement_rows import effort_rows, problem_rows
from annotation.selectors.study_progress import refiner_progress
from annotation.services.problems import problem_report
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_recall, assignment_submit
from tests.annotation import factories, video_factories
from tests.annotation.desk import Desk
from tests.videos import factories as videos
from videos.models import GeneratedDocument, ProposalRun

pytestmark = pytest.mark.django_db(transaction=True)
SAY = ["cot", "visual", "description"]


def save(row: Assignment, *changes, active_ms: int = 0) -> None:
    operation = videos.operation(*changes)
    refinement_save(assignment=row, by=row.member.user, operations=[operation], active_ms=active_ms)
    row.refresh_from_db()


def hand_in(row: Assignment) -> Submission:
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    row.refresh_from_db()
    return Submission.objects.filter(assignment=row).order_by("number").last()


def test_e4_what_was_handed_in_is_compared_with_what_came_with_the_question():
    """By hand: of "The dog turns." and "The cat turns." 2 of 3 words stay; analysis and answer are as they came."""
    row = video_factories.work(overlap=2)
    save(row, (SAY, "The dog turns.", "The cat turns."), active_ms=83_000)
    effort = hand_in(row).effort
    assert effort["seconds"] == 83.0
    assert {name: one["words"] for name, one in effort["texts"].items()} == {
        "visual.description": pytest.approx(1 / 3),
        "visual.analysis": 0.0,
        "final_answer": 0.0,
    }
    assert effort["timeframe_tiou"] == {"visual": 1.0, "audio": None}
    assert (effort["box_iou"], effort["tracks"]) == (None, {"kept": 0, "added": 0, "removed": 0})


def test_handed_in_as_it_came_has_no_change_and_a_case_has_no_effort():
    effort = hand_in(video_factories.work()).effort
    assert {one["words"] for one in effort["texts"].values()} == {0.0}
    assert effort["seconds"] is None
    case = factories.study_with_work(items=1).work[0][0]
    Desk(case).hand_in()
    assert Submission.objects.get(assignment=case).effort is None


def test_proposed_boxes_that_were_taken_over_are_compared_and_others_are_not():
    """Proposed on pictures 0 to 10 at x 10 to 20; final 10 pixels to the right: IoU 20/40 = 1/2 on each."""
    row = video_factories.work()
    taken, left = (videos.track(source="model") for _ in range(2))
    for key in taken["keyframes"].values():
        key["box"] = [10.0, 0.0, 30.0, 40.0]
    ProposalRun.objects.create(
        video=row.item.question.video,
        question=row.item.question,
        asked_in=row.public_id,
        proposer="csrt",
        start=0,
        end=20,
        direction="forward",
        result={"tracks": [taken, left], "flags": {}},
    )
    final = copy.deepcopy(taken)
    for key in final["keyframes"].values():
        key["box"] = [20.0, 0.0, 30.0, 40.0]
    save(row, (["tracks", taken["id"]], None, final))
    effort = hand_in(row).effort
    assert effort["box_iou"] == pytest.approx(0.5)
    assert effort["tracks"] == {"kept": 1, "added": 0, "removed": 0}


def test_reasoning_that_a_model_wrote_here_stands_in_where_none_came_with_the_question():
    row = video_factories.work()
    question = row.item.question
    other = video_factories.work()
    for number, (asked_in, text) in enumerate(
        [(None, "First."), (row.public_id, "Second."), (other.public_id, "Of another.")], start=1
    ):
        document = copy.deepcopy(question.document)
        document["cot"]["visual"]["description"] = text
        GeneratedDocument.objects.create(
            question=question, number=number, kind="reasoning", document=document, asked_in=asked_in
        )
    assert proposed_document(row, question.document)["cot"] == question.document["cot"], "what came counts"
    question.document = {}
    assert proposed_document(row, videos.generated())["cot"]["visual"]["description"] == "Second."


def test_a_person_is_put_together_from_the_last_of_each_question():
    study = video_factories.study(questions=3, overlap=2)
    person, other = video_factories.annotator(study), video_factories.annotator(study)
    first, second, old = (factories.assignment(item, person) for item in study.items.order_by("number"))
    save(first, (SAY, "The dog turns.", "All new words here."))
    hand_in(first)
    assignment_recall(assignment=first, by=person.user)
    first.refresh_from_db()
    save(first, (SAY, "All new words here.", "The dog turns."))
    hand_in(first)
    save(second, (SAY, "The dog turns.", "The cat turns."))
    hand_in(second)
    Assignment.objects.filter(pk=old.pk).update(state="submitted")
    Submission.objects.create(
        assignment=old, number=1, labels=[], labels_sha256="", submitted_at=factories.NOON
    )
    found = effort_by_member(study)[person.pk]
    assert (found.n, found.missing) == (2, 1), (
        "what was handed in before it was computed is counted as missing"
    )
    assert (found.changed, found.texts) == (1, 6)
    assert found.words.value == pytest.approx((0 + 1 / 9) / 2)
    mine, theirs = refiner_progress(study)
    assert mine.effort == found
    assert (theirs.member, theirs.effort.n, theirs.effort.words.value) == (other, 0, None)


def test_progress_takes_the_same_queries_for_many_people(django_assert_num_queries):
    study = video_factories.study(questions=2)
    for _ in range(4):
        video_factories.annotator(study)
    with django_assert_num_queries(3):
        refiner_progress(study)


def test_rows_of_the_export_name_people_by_pseudonym_and_say_when_they_were_computed():
    study = video_factories.study(questions=2, overlap=2)
    person = video_factories.annotator(study, pseudonym="P7")
    first, second = (factories.assignment(item, person) for item in study.items.order_by("number"))
    save(first, (SAY, "The dog turns.", "The cat turns."), active_ms=5000)
    made = hand_in(first)
    snapshot = [{**made.labels[0], "document": None}]
    Submission.objects.create(
        assignment=second, number=1, labels=snapshot, labels_sha256="a", submitted_at=factories.NOON
    )
    problem_report(assignment=first, by=person.user, kind="media", note="No sound.")
    now, later = effort_rows(study)
    assert (now["item"], now["annotator"], now["submission"], now["computed"]) == (1, "P7", 1, "at hand-in")
    assert (later["item"], later["computed"], later["submitted_at"]) == (
        2,
        "at export",
        "2026-11-30T12:00:00.000000+00:00",
    )
    assert {name: now[name] for name in ("texts", "seconds")} == {
        name: later[name] for name in ("texts", "seconds")
    }
    (problem,) = problem_rows(study)
    assert (problem["item"], problem["annotator"], problem["problem"], problem["note"]) == (
        1,
        "P7",
        "media",
        "No sound.",
    )
