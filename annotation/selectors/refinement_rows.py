"""Rows of a study of videos for its export, beside the documents: edit effort, and problems that were reported."""

from collections.abc import Iterator

from annotation.models import Assignment, Study, Submission

from .edit_effort import edit_effort
from .study_rows import Row, moment


def effort_rows(study: Study) -> Iterator[Row]:
    """Edit effort of everything that was ever handed in, in the order of items, people and times.

    What was handed in before it was computed with it is compared now; `computed` says which.
    """
    rows = (
        Submission.objects.filter(assignment__item__study=study)
        .select_related("assignment__item__question", "assignment__member")
        .defer("labels", "assignment__item__question__document")
        .order_by("assignment__item__number", "assignment__member__pseudonym", "number")
    )
    for row in rows:
        effort, computed = row.effort, "at hand-in"
        if effort is None:
            effort = edit_effort(row.assignment, row.labels[0])
            computed = "at export"
        yield {
            "item": row.assignment.item.number,
            "question": row.assignment.item.question.external_id,
            "annotator": row.assignment.member.pseudonym,
            "submission": row.number,
            "labels_sha256": row.labels_sha256,
            "submitted_at": moment(row.submitted_at),
            "recalled_at": moment(row.recalled_at),
            "computed": computed,
            **effort,
        }


def problem_rows(study: Study) -> Iterator[Row]:
    """Problems that are reported now; the record of the study has those that were taken back."""
    rows = (
        Assignment.objects.filter(item__study=study)
        .exclude(problem="")
        .select_related("item__question", "member")
        .order_by("item__number", "member__pseudonym")
    )
    for row in rows:
        yield {
            "item": row.item.number,
            "question": row.item.question.external_id,
            "annotator": row.member.pseudonym,
            "state": row.state,
            "problem": row.problem,
            "note": row.problem_note,
            "reported_at": moment(row.problem_at),
        }
