"""Reporting a problem with a video question, and taking the report back. The work goes on either way."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Problem
from annotation.selectors.work import problem_object, why_no_notes
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .editing import assignment_lock, not_editable
from .labels import check_text, refused

LONGEST_PROBLEM = 2000


@transaction.atomic
def problem_report(*, assignment: Assignment, by: Any, kind: str, note: str = "") -> dict[str, Any]:
    """Store what is wrong with a question, for the study's lead; "" as `kind` takes the report back.

    The same report again changes nothing, and neither does taking back what was not reported. What was reported before
    stays in the record.

    Returns
    -------
    ``{"kind", "note", "at", "editable"}``, see `annotation.selectors.work.problem_object`

    Raises
    ------
    WorkRefused
        409 ``not_editable``: withdrawn, or the study is not open. As with notes, handed-in work may be reported.
    UserError
        422 ``unknown_problem``, ``note_required`` (of "something else"), ``note_too_long``, ``bad_text``; 404 where the
        work is no video question.
    """
    row = assignment_lock(assignment, by)
    if row.item.question_id is None:
        raise UserError("not_found", "This work is no video question.", status=404)
    if why := why_no_notes(row):
        raise not_editable(row, why)
    note = note.strip() if kind else ""
    _check(kind, note)
    old = {"kind": row.problem, "note": row.problem_note}
    new = {"kind": kind, "note": note}
    if old == new:
        return problem_object(row)
    row.problem, row.problem_note, row.problem_at = kind, note, timezone.now() if kind else None
    row.save(update_fields=["problem", "problem_note", "problem_at", "updated_at"])
    record_event(
        stream=f"study:{row.item.study_id}",
        actor=by,
        action="problem.report" if kind else "problem.take_back",
        subject_type="assignment",
        subject_id=row.public_id,
        version=row.version,
        data={"old": old, "new": new},
    )
    return problem_object(row)


def _check(kind: str, note: str) -> None:
    if kind and kind not in Problem.values:
        raise refused(
            "unknown_problem", f"There is no problem called {kind!r}.", "kind", "Choose one of the list."
        )
    check_text(note, "note", "The note", LONGEST_PROBLEM, code="note_too_long")
    if kind == Problem.OTHER and not note:
        raise refused("note_required", "Say in a sentence what is wrong.", "note", "")
