"""Refining a video question: `refinement_save` is the only way to change a person's document of it.

Like the label of a segment: the assignment is held, everything is checked, and operations, state and event are written
in one transaction, so that a refused change leaves nothing behind.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.states import Part, State
from annotation.models import Assignment
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.models import Document
from videos.services.documents import document_create, operations_apply

from .editing import assignment_lock, check_editable, check_tab
from .moves import assignment_move

MOST_OPERATIONS = 2000


@transaction.atomic
def refinement_save(
    *,
    assignment: Assignment,
    by: Any,
    operations: Sequence[Mapping[str, Any]],
    active_ms: int = 0,
    tab: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Apply operations to the document of a video question; the first ones make it, and the work a draft.

    Operations that were applied before are passed over, so a body may be sent again, alone or with later ones.
    `active_ms` is how long the person has been busy with the question so far, by the browser's measure.

    Returns
    -------
    ``{"version": operations so far, "saved_at", "applied": ids, "assignment": {"state", "version"}}``

    Raises
    ------
    WorkRefused
        409 ``not_editable``, ``other_tab``.
    UserError
        409 ``version_conflict`` (an `OperationConflict`, with both sides); 422 ``invalid_operation``,
        ``too_many_operations``; 404 where the work is no video question.
    """
    check_count(operations)
    row = assignment_lock(assignment, by)
    if row.item.question_id is None:
        raise UserError("not_found", "This work is no video question.", status=404)
    check_editable(row)
    touched = check_tab(row, tab)
    if row.document is None:
        row.document = document_create(question=row.item.question)
        touched = (*touched, "document")
    done = operations_apply(document=row.document, operations=operations, by=by)
    now = timezone.now()
    active_time_keep(row.document, active_ms)
    if row.opened_at is None:
        row.opened_at = now
        touched = (*touched, "opened_at")
    if row.state == State.DRAFT:
        if touched:
            row.save(update_fields=touched)
    else:
        assignment_move(row, State.DRAFT, part=Part.OWNER, by=by, fields=touched)
    if done["applied"]:
        record_event(
            stream=f"study:{row.item.study_id}",
            actor=by,
            action="document.change",
            subject_type="assignment",
            subject_id=row.public_id,
            version=done["version"],
            data={"operations": done["applied"], "version": done["version"]},
        )
    return {
        "version": done["version"],
        "saved_at": now.isoformat(),
        "applied": done["applied"],
        "assignment": {"state": row.state, "version": row.version},
    }


def check_count(operations: Sequence[Mapping[str, Any]]) -> None:
    """Raise 422 ``too_many_operations`` where one request brings more than can be applied at once."""
    if len(operations) > MOST_OPERATIONS:
        raise UserError(
            "too_many_operations",
            f"{len(operations):,} operations came at once; at most {MOST_OPERATIONS:,} can.",
            "Send them in several requests.",
            status=422,
        )


def active_time_keep(document: Document, active_ms: int) -> None:
    """Store how long somebody has been busy with a document so far; it never gets less."""
    if active_ms > document.active_ms:
        document.active_ms = active_ms
        document.save(update_fields=["active_ms"])
