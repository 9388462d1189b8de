"""Showing the audit to somebody who labels: an act of its own, on the record, after which nothing is blind."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment
from annotation.selectors.work import why_no_reveal
from reasonaudit.lib.chain import record_event

from .editing import assignment_lock, not_editable


@transaction.atomic(savepoint=False)
def assignment_reveal(*, assignment: Assignment, by: Any, reason: str = "") -> dict[str, Any]:
    """Open the audit of a case to the person who labels it, where the study allows it. Asking again changes nothing.

    Where the study reveals after handing in, the work can from now on not be taken back; labels that are made from
    now on are marked as unblinded.

    Raises
    ------
    WorkRefused
        409 ``not_editable``: the study is blind, or the work is not handed in.
    """
    row = assignment_lock(assignment, by)
    if why := why_no_reveal(row):
        raise not_editable(row, why)
    if row.revealed_at is None:
        row.revealed_at = timezone.now()
        row.save(update_fields=["revealed_at", "updated_at"])
        record_event(
            stream=f"study:{row.item.study_id}",
            actor=by,
            action="unblind",
            subject_type="assignment",
            subject_id=row.public_id,
            version=row.version,
            reason=reason or f"the study's mode is {row.item.study.blinding}",
            data={"state": row.state},
        )
    return {"revealed_at": row.revealed_at.isoformat()}
