"""Labelling: `segment_label_save` is the only way to say something of a segment, `label_revise` after the reveal.

Both hold the assignment, check everything, write one row of labels and one event, all in one transaction. A refused
change leaves nothing behind.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core import labels as rules
from annotation.core.states import Part, State
from annotation.models import Assignment, GuidelineVersion, Segment, SegmentLabel
from annotation.selectors.work import (
    first_incomplete,
    label_object,
    shown_state,
    why_no_notes,
    why_no_revision,
)
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .editing import WorkRefused, assignment_lock, check_editable, check_tab, not_editable
from .moves import assignment_move

LABEL_FIELDS = (
    "label",
    "cannot_judge",
    "reasons",
    "comment",
    "spans",
    "flagged",
    "active_ms",
    "unblinded",
    "reason",
)


@dataclass(frozen=True, slots=True)
class LabelChange:
    """What a person says of a segment now. `guideline` is the number of the version that was on the screen.

    `label` None is no label (yet, or "cannot judge"); `spans` are `[start, end)` in code points of the text.
    """

    label: str | None
    guideline: int
    cannot_judge: bool = False
    reasons: Sequence[str] = ()
    comment: str = ""
    spans: Sequence[Sequence[int]] = ()
    flagged: bool = False
    active_ms: int = 0
    # The browser's clock; kept in the event, believed in nothing.
    client_at: datetime | None = None


@transaction.atomic(savepoint=False)
def segment_label_save(
    *,
    assignment: Assignment,
    index: int,
    by: Any,
    base_version: int,
    change: LabelChange,
    tab: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Store what `by` says of segment `index` (1-based) before anything was revealed.

    The first save makes the work a draft. A draft may hold a label whose comment is still missing; it is then not
    complete. `base_version` is the version that the change was made on, 0 where there was none.

    Returns
    -------
    ``{"version", "saved_at", "complete", "assignment": {"state", "version"}}``

    Raises
    ------
    WorkRefused
        409 ``not_editable``, ``other_tab``, ``version_conflict`` (with ``current``) or ``not_in_order``.
    UserError
        404 ``no_such_segment``; 422 for what cannot be stored (see `checked`).
    """
    row = assignment_lock(assignment, by)
    check_editable(row)
    touched = check_tab(row, tab)
    segment, stored = _segment_and_label(row, index, round_number=1)
    guideline = checked(row, segment, change, stored)
    _check_version(stored, base_version)
    if row.item.study.in_order and (stored is None or stored.first_label_at is None):
        _check_order(row, index)
    # Work that was opened in an open study, or that came back after the reveal, is not blind.
    unblinded = row.revealed_at is not None or row.item.study.blinding == "open"
    label, old, new = _written(row, segment, stored, change, guideline, round_number=1, unblinded=unblinded)
    if row.opened_at is None:
        row.opened_at = label.updated_at
        touched = (*touched, "opened_at")
    if row.state == State.DRAFT:
        if touched:
            row.save(update_fields=touched)
    else:
        assignment_move(row, State.DRAFT, part=Part.OWNER, by=by, fields=touched)
    _record(row, label, "label.save", by, old, new, change)
    return _reply(row, label)


@transaction.atomic(savepoint=False)
def label_revise(
    *,
    assignment: Assignment,
    index: int,
    by: Any,
    base_version: int,
    change: LabelChange,
    reason: str,
    tab: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Store what `by` says of a segment after the audit was shown (round 2); what was handed in stays as it is.

    A revision is complete or it is refused: it is a second answer, not a draft of one.

    Raises
    ------
    WorkRefused
        409 as for a save.
    UserError
        422 ``reason_required``, ``label_required``, ``comment_required``, or what cannot be stored.
    """
    row = assignment_lock(assignment, by)
    if why := why_no_revision(row):
        raise not_editable(row, why)
    touched = check_tab(row, tab)
    segment, stored = _segment_and_label(row, index, round_number=2)
    guideline = checked(row, segment, change, stored)
    check_text(reason, "reason", "The reason")
    _check_revision(change, reason)
    _check_version(stored, base_version)
    label, old, new = _written(
        row, segment, stored, change, guideline, round_number=2, unblinded=True, reason=reason
    )
    if touched:
        row.save(update_fields=touched)
    _record(row, label, "label.revise", by, old, new, change, reason=reason)
    return _reply(row, label)


@transaction.atomic(savepoint=False)
def notes_save(
    *,
    assignment: Assignment,
    by: Any,
    notes: str,
    base_version: int | None = None,
    tab: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Store a person's own notes on a case.

    `base_version` is the version of the text that they replace, 0 where there was none; None replaces whatever is
    there.

    Returns
    -------
    ``{"version", "saved_at"}``

    Raises
    ------
    WorkRefused
        409 ``not_editable`` (withdrawn, or the study is closed), ``other_tab``, ``version_conflict``.
    UserError
        422 ``note_too_long``, ``bad_text``.
    """
    row = assignment_lock(assignment, by)
    if why := why_no_notes(row):
        raise not_editable(row, why)
    touched = check_tab(row, tab)
    check_text(notes, "notes", "The note", rules.LONGEST_NOTES, code="note_too_long")
    version = rules.text_version(row.notes)
    if base_version not in (None, version):
        raise WorkRefused(
            "version_conflict",
            "Your notes were changed elsewhere meanwhile.",
            "Compare both texts and save the one that you want.",
            current={"notes": row.notes, "version": version, "saved_at": row.updated_at.isoformat()},
        )
    old, row.notes = row.notes, notes
    row.save(update_fields=["notes", "updated_at", *touched])
    record_event(
        stream=f"study:{row.item.study_id}",
        actor=by,
        action="notes.save",
        subject_type="assignment",
        subject_id=row.public_id,
        data={"old": old, "new": notes},
    )
    return {"version": rules.text_version(notes), "saved_at": row.updated_at.isoformat()}


def checked(
    row: Assignment, segment: Segment, change: LabelChange, stored: SegmentLabel | None = None
) -> GuidelineVersion:
    """The guideline version that was shown, if everything in `change` can be stored.

    A version that the stored label points to already is not looked up again: it is published and never changes.

    Raises
    ------
    UserError
        422 ``unknown_label``, ``label_and_cannot_judge``, ``comment_too_long``, ``bad_text``, ``bad_spans``,
        ``unknown_guideline``, ``unknown_reason``.
    """
    if change.label is not None and change.label not in rules.LABELS:
        raise refused(
            "unknown_label", f"{change.label!r} is no label.", "label", "Use correct, uncertain or incorrect."
        )
    if change.label is not None and change.cannot_judge:
        message = 'A segment that cannot be judged has no label: choose one or "cannot judge".'
        raise refused("label_and_cannot_judge", message, "cannot_judge", "Choose one of both.")
    check_text(change.comment, "comment", "The comment")
    if problem := rules.bad_spans(change.spans, len(segment.text)):
        raise refused(
            "bad_spans", f"The marked words do not fit segment S{segment.index}: {problem}.", "spans", problem
        )
    guideline: GuidelineVersion | None
    if stored is not None and stored.guideline.number == change.guideline:
        guideline = stored.guideline
    else:
        shown = GuidelineVersion.objects.filter(study=row.item.study_id, number=change.guideline)
        guideline = shown.exclude(published_at=None).order_by("pk").first()
    if guideline is None:
        message = f"This study has no published guideline version {change.guideline}."
        raise refused("unknown_guideline", message, "guideline", "Load the page again.")
    if unknown := rules.unknown_reasons(change.reasons, change.label, guideline.reasons):
        message = f"Version {guideline.number} of the guideline has no reason {unknown[0]!r} for this label."
        raise refused("unknown_reason", message, "reasons", "Choose from the reasons that are shown.")
    return guideline


def refused(code: str, message: str, field: str, remedy: str) -> UserError:
    """The refusal of one field, whose message stands both above and at the field."""
    return UserError(code, message, remedy, status=422, fields={field: message})


def check_text(
    text: str, field: str, name: str, longest: int = rules.LONGEST_COMMENT, code: str = "comment_too_long"
) -> None:
    """Raise 422 `code` where a text is too long to be stored, and ``bad_text`` where a character of it cannot be."""
    if len(text) > longest:
        message = f"{name} has {len(text):,} characters; at most {longest:,} can be stored."
        raise refused(code, message, field, "Shorten it; nothing was cut off.")
    if not rules.storable(text):
        message = f"{name} holds a character that cannot be stored (NUL or half of a surrogate pair)."
        raise refused("bad_text", message, field, "Remove it and save again.")


def _check_revision(change: LabelChange, reason: str) -> None:
    if not rules.has_word(reason):
        raise refused("reason_required", "Say in a word why you revise the label.", "reason", "")
    if change.label is None and not change.cannot_judge:
        raise refused("label_required", "A revision needs a label.", "label", "")
    if not rules.is_complete(change.label, change.cannot_judge, change.comment):
        raise refused("comment_required", "Say in a word why.", "comment", "")


def _segment_and_label(
    row: Assignment, index: int, *, round_number: int
) -> tuple[Segment, SegmentLabel | None]:
    """The judged segment and what is stored of it; one query where there is a label, two where there is none yet."""
    item = row.item
    if index > item.trace.context_segments:
        place = {"trace": item.trace_id, "segmentation": item.segmentation, "index": index}
        stored = (
            SegmentLabel.objects.filter(
                assignment=row,
                round=round_number,
                **{f"segment__{name}": value for name, value in place.items()},
            )
            .select_related("segment", "guideline")
            .order_by("pk")
            .first()
        )
        if stored is not None:
            return stored.segment, stored
        segment = Segment.objects.filter(**place).order_by("pk").first()
        if segment is not None:
            return segment, None
    raise UserError("no_such_segment", f"There is no segment S{index} to judge in this case.", status=404)


def _check_version(stored: SegmentLabel | None, base_version: int) -> None:
    if base_version != (0 if stored is None else stored.version):
        raise WorkRefused(
            "version_conflict",
            "This segment was saved elsewhere meanwhile.",
            "Compare both texts and save the one that you want.",
            current=None if stored is None else label_object(stored),
        )


def _check_order(row: Assignment, index: int) -> None:
    if (before := first_incomplete(row, before=index)) is not None:
        raise WorkRefused(
            "not_in_order",
            f"Segments are judged in order, and S{before} is not complete yet.",
            f"Finish S{before} first; you can come back at any time.",
            fields={"segment": before},
        )


def _written(
    row: Assignment,
    segment: Segment,
    stored: SegmentLabel | None,
    change: LabelChange,
    guideline: GuidelineVersion,
    *,
    round_number: int,
    unblinded: bool,
    reason: str = "",
) -> tuple[SegmentLabel, dict[str, Any] | None, dict[str, Any]]:
    """Write the row; returns it with the values that changed, before (None for a new row) and after."""
    now = timezone.now()
    label = stored or SegmentLabel(assignment=row, segment=segment, round=round_number, version=0)
    old = None if stored is None else _values(label)
    wall_ms = int((now - (row.opened_at or row.created_at)).total_seconds() * 1000)
    label.label = change.label or ""
    label.cannot_judge = change.cannot_judge
    label.reasons = list(change.reasons)
    label.comment = change.comment
    label.spans = sorted([start, end] for start, end in change.spans)
    label.flagged = change.flagged
    label.active_ms = rules.believable_ms(label.active_ms, change.active_ms, wall_ms)
    # A label that was once made while the audit could be seen stays marked.
    label.unblinded = label.unblinded or unblinded
    label.reason = reason
    label.guideline = guideline
    label.version += 1
    if label.first_label_at is None and (label.label or label.cannot_judge):
        label.first_label_at = now
    label.save(force_insert=stored is None, force_update=stored is not None)
    new = _values(label)
    if old is not None:
        changed = {name for name, value in new.items() if old[name] != value}
        old, new = ({name: values[name] for name in sorted(changed)} for values in (old, new))
    return label, old, new


def _values(label: SegmentLabel) -> dict[str, Any]:
    return {**{name: getattr(label, name) for name in LABEL_FIELDS}, "guideline": label.guideline.number}


def _record(
    row: Assignment,
    label: SegmentLabel,
    action: str,
    by: Any,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any],
    change: LabelChange,
    reason: str = "",
) -> None:
    client_at = None if change.client_at is None else change.client_at.isoformat()
    place = {"segment": label.segment_id, "index": label.segment.index, "round": label.round}
    record_event(
        stream=f"study:{row.item.study_id}",
        actor=by,
        action=action,
        subject_type="assignment",
        subject_id=row.public_id,
        version=label.version,
        reason=reason,
        data={**place, "client_at": client_at, "old": old, "new": dict(new)},
    )


def _reply(row: Assignment, label: SegmentLabel) -> dict[str, Any]:
    return {
        "version": label.version,
        "saved_at": label.updated_at.isoformat(),
        "complete": rules.is_complete(label.label, label.cannot_judge, label.comment),
        "assignment": {"state": shown_state(row.state), "version": row.version},
    }
