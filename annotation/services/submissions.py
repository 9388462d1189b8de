"""Handing work in and taking it back."""

import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.labels import is_complete
from annotation.core.states import Part, State
from annotation.models import Assignment, Segment, SegmentLabel, StudyItem, Submission
from annotation.selectors.edit_effort import edit_effort
from annotation.selectors.guidelines import newest
from annotation.selectors.refinements import missing_parts, refinement_document
from annotation.selectors.training import training_result
from annotation.selectors.work import next_assignment, shown_state, why_no_recall
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError

from .adjudications import item_lock, item_settle
from .editing import WorkRefused, assignment_lock, check_editable, check_tab, not_editable
from .moves import assignment_move
from .qualification import training_settle


@transaction.atomic(savepoint=False)
def assignment_submit(
    *, assignment: Assignment, by: Any, base_version: int, tab: uuid.UUID | None = None
) -> dict[str, Any]:
    """Hand in all labels of a case, or the document of a video question, as one snapshot that never changes.

    The item is settled with it.

    A training case is compared with its expected labels at once; below the study's pass mark it comes back.

    Returns
    -------
    ``{"state": "submitted" | "returned", "next": id | None, "feedback": training result | None}``

    Raises
    ------
    WorkRefused
        409 ``not_editable``, ``other_tab``, ``version_conflict`` (with ``assignment``).
    UserError
        422 ``incomplete``, with the indices of the segments, or what a document lacks.
    """
    item_lock(assignment.item_id)
    row = assignment_lock(assignment, by)
    check_editable(row)
    touched = check_tab(row, tab)
    if base_version != row.version:
        raise WorkRefused(
            "version_conflict",
            "The work changed elsewhere meanwhile.",
            "Load the page again and look it over before you hand it in.",
            assignment={"state": shown_state(row.state), "version": row.version},
        )
    body = _snapshot(row) if row.item.question_id is None else _document_snapshot(row)
    now = timezone.now()
    submission = Submission.objects.create(
        assignment=row,
        number=1 + Submission.objects.filter(assignment=row).count(),
        labels=body,
        labels_sha256=sha256_of(body),
        # Now, since a later proposal changes nothing of what was handed in.
        effort=None if row.item.question_id is None else edit_effort(row, body[0]),
        submitted_at=now,
    )
    row.submitted_at, row.reason, row.segment_remarks = now, "", {}
    if row.state != State.DRAFT:
        # Handed in again as it was returned, or with nothing to judge: the draft is passed through.
        assignment_move(row, State.DRAFT, part=Part.OWNER, by=by)
    assignment_move(
        row,
        State.SUBMITTED,
        part=Part.OWNER,
        by=by,
        data={"submission": submission.number, "labels_sha256": submission.labels_sha256},
        fields=("submitted_at", "reason", "segment_remarks", *touched),
    )
    feedback = None
    if row.item.kind == StudyItem.Kind.TRAINING:
        feedback = _judge_training(row, submission, by)
    else:
        item_settle(row.item, by)
    state = State.RETURNED if feedback and not feedback["passed"] else State.SUBMITTED
    following = next_assignment(row)
    return {
        "state": state.value,
        "next": None if following is None else str(following),
        "feedback": feedback,
    }


@transaction.atomic(savepoint=False)
def assignment_recall(*, assignment: Assignment, by: Any, reason: str = "") -> dict[str, Any]:
    """Take back what was handed in by mistake, before anybody picked it up and before anything was revealed.

    The submission stays, marked as recalled, and counts as never made.

    Raises
    ------
    WorkRefused
        409 ``not_editable`` where it is too late.
    """
    item_lock(assignment.item_id)
    row = assignment_lock(assignment, by)
    if why := why_no_recall(row):
        raise not_editable(row, why)
    last = Submission.objects.filter(assignment=row, recalled_at=None).order_by("number").last()
    if last is not None:
        last.recalled_at = timezone.now()
        last.save(update_fields=["recalled_at"])
    row.submitted_at = None
    assignment_move(
        row,
        State.DRAFT,
        part=Part.OWNER,
        by=by,
        reason=reason,
        data=None if last is None else {"submission": last.number},
        fields=("submitted_at",),
    )
    return {"state": row.state, "version": row.version}


def _snapshot(row: Assignment) -> list[dict[str, Any]]:
    """All labels of round 1 in reading order; raises 422 ``incomplete`` naming the segments that are not judged."""
    segments = Segment.objects.filter(
        trace=row.item.trace_id,
        segmentation=row.item.segmentation,
        index__gt=row.item.trace.context_segments,
    ).order_by("index")
    found = SegmentLabel.objects.filter(assignment=row, round=1).select_related("guideline")
    by_segment = {label.segment_id: label for label in found}
    body, missing = [], []
    for segment in segments.only("pk", "index"):
        label = by_segment.get(segment.pk)
        if label is None or not is_complete(label.label, label.cannot_judge, label.comment):
            missing.append(segment.index)
            continue
        body.append(
            {
                "segment": segment.pk,
                "index": segment.index,
                "label": label.label or None,
                "cannot_judge": label.cannot_judge,
                "reasons": label.reasons,
                "comment": label.comment,
                "spans": label.spans,
                "flagged": label.flagged,
                "active_ms": label.active_ms,
                "guideline": label.guideline.number,
                "unblinded": label.unblinded,
            }
        )
    if missing:
        names = ", ".join(f"S{index}" for index in missing)
        raise UserError(
            "incomplete",
            f"Not judged yet, or a comment is missing: {names}.",
            "Each segment needs a label, and all but Correct a comment with at least one word.",
            status=422,
            fields={"segments": missing},
        )
    return body


def _document_snapshot(row: Assignment) -> list[dict[str, Any]]:
    """The document of a video question; raises 422 ``incomplete`` with a sentence for each part that is missing."""
    content = refinement_document(row)
    if missing := missing_parts(content):
        raise UserError(
            "incomplete",
            f"Not complete yet: {' '.join(missing)}",
            "Fill in what is missing, then hand it in again.",
            status=422,
            fields={"parts": missing},
        )
    document, guideline = row.document, newest(row.item.study)
    return [
        {
            "document": None if document is None else str(document.public_id),
            "version": 0 if document is None else document.version,
            "active_ms": 0 if document is None else document.active_ms,
            "guideline": None if guideline is None else guideline.number,
            "content": content,
        }
    ]


def _judge_training(row: Assignment, submission: Submission, by: Any) -> dict[str, Any]:
    result = training_result(row, submission)
    if not result["passed"]:
        row.reason = result["sentence"]
        assignment_move(
            row,
            State.RETURNED,
            part=Part.SYSTEM,
            by=by,
            reason=row.reason,
            data={"right": result["right"], "of": result["of"], "needed": result["needed"]},
            fields=("reason",),
        )
        return result
    training_settle(member=row.member, by=by)
    return result
