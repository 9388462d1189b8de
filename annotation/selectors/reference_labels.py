"""What people said of each segment, blind, and what the reference label is.

Rules: the newest final decision; else the label on which all agree who handed in (at least two); else the only label
where one person was asked; else none. "Cannot judge" is never agreement. Revisions after the reveal never count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.core.adjudication import agrees
from annotation.core.states import HANDED_IN, State
from annotation.models import AdjudicationDecision, Assignment, Segment, Study, StudyItem, Submission

KINDS = ("main", "gold")

# One entry of `Submission.labels`.
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BlindLabel:
    """One person's first handed-in word on a segment; label is None only where the person could not judge."""

    member_id: int
    label: str | None
    cannot_judge: bool
    reasons: tuple[str, ...]
    comment: str
    flagged: bool
    active_ms: int
    guideline: int
    unblinded: bool
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """Where a segment stands."""

    segment_id: int
    index: int
    item_id: int
    item_number: int
    trace_id: int
    case_id: int
    kind: str


@dataclass(frozen=True, slots=True)
class ReferenceLabel:
    """The label of a segment, None while it is open, and how it came about.

    `status` is adjudicated, unanimous, single or open. `blinded` is False where it rests on a label that was made
    unblinded or on a decision made after the audit was seen. `labels` counts what was handed in.
    """

    segment: SegmentRef
    label: str | None
    status: str
    blinded: bool
    labels: int


def segments_of(study: Study, kinds: Sequence[str] = KINDS) -> list[SegmentRef]:
    """The judged segments of a study, by item number and index."""
    rows = StudyItem.objects.filter(study=study, kind__in=kinds).select_related("trace")
    rows = rows.only("number", "kind", "segmentation", "trace__case", "trace__context_segments")
    items = {item.trace_id: item for item in rows}
    segments = Segment.objects.filter(trace__in=list(items)).order_by()
    found = [
        SegmentRef(pk, index, item.pk, item.number, trace_id, item.trace.case_id, item.kind)
        for pk, index, trace_id, segmentation in segments.values_list(
            "pk", "index", "trace_id", "segmentation"
        )
        if (item := items[trace_id]).segmentation == segmentation and index > item.trace.context_segments
    ]
    return sorted(found, key=lambda ref: (ref.item_number, ref.index))


def blind_labels(study: Study, kinds: Sequence[str] = KINDS) -> dict[int, dict[int, BlindLabel]]:
    """Segment -> member -> the first word that was handed in and not recalled; every judged segment is a key."""
    refs = {(ref.item_id, ref.index): ref for ref in segments_of(study, kinds)}
    found: dict[int, dict[int, BlindLabel]] = {ref.segment_id: {} for ref in refs.values()}
    done: set[int] = set()
    for submission in _submissions(study, kinds):
        if submission.assignment_id in done:
            continue
        done.add(submission.assignment_id)
        for entry in submission.labels:
            ref = refs.get((submission.assignment.item_id, entry["index"]))
            if ref is not None:
                member = submission.assignment.member_id
                found[ref.segment_id][member] = _blind(member, entry, submission.submitted_at)
    return found


def _blind(member: int, entry: Entry, at: datetime) -> BlindLabel:
    return BlindLabel(
        member_id=member,
        label=entry["label"],
        cannot_judge=bool(entry.get("cannot_judge")),
        reasons=tuple(entry.get("reasons", ())),
        comment=entry.get("comment", ""),
        flagged=bool(entry.get("flagged")),
        active_ms=int(entry.get("active_ms", 0)),
        guideline=int(entry.get("guideline", 0)),
        unblinded=bool(entry.get("unblinded")),
        submitted_at=at,
    )


def _submissions(study: Study, kinds: Sequence[str]) -> QuerySet[Submission]:
    """What was handed in and neither taken back nor withdrawn, in order."""
    return (
        Submission.objects.filter(
            assignment__item__study=study, assignment__item__kind__in=kinds, recalled_at=None
        )
        .exclude(assignment__state=State.WITHDRAWN)
        .select_related("assignment")
        .order_by("assignment_id", "number")
    )


def reference_labels(study: Study, kinds: Sequence[str] = KINDS) -> dict[int, ReferenceLabel]:
    """Segment -> its reference label; every judged segment is a key. What is not handed in now does not count."""
    latest = {row.assignment_id: row for row in _submissions(study, kinds)}
    entries: dict[tuple[int, int], list[Entry]] = {}
    for submission in latest.values():
        if submission.assignment.state in HANDED_IN:
            for entry in submission.labels:
                entries.setdefault((submission.assignment.item_id, entry["index"]), []).append(entry)
    wanted, complete = _completeness(study, kinds)
    decisions = {
        (row.item_id, row.segment_id): row
        for row in AdjudicationDecision.objects.filter(item__study=study, number__gt=0).order_by("number")
    }
    return {
        ref.segment_id: _reference(
            ref,
            entries.get((ref.item_id, ref.index), []),
            decisions.get((ref.item_id, ref.segment_id)),
            complete=ref.item_id in complete,
            wanted=wanted[ref.item_id],
        )
        for ref in segments_of(study, kinds)
    }


def _completeness(study: Study, kinds: Sequence[str]) -> tuple[dict[int, int], set[int]]:
    """How many people each item asks for, and the items that so many, and all who were asked, have handed in."""
    items = StudyItem.objects.filter(study=study, kind__in=kinds).values_list("pk", "overlap")
    wanted = {pk: max(1, study.overlap if overlap is None else overlap) for pk, overlap in items}
    states: dict[int, list[str]] = {}
    rows = Assignment.objects.filter(item__in=wanted).exclude(state=State.WITHDRAWN).order_by()
    for item, state in rows.values_list("item_id", "state"):
        states.setdefault(item, []).append(state)
    complete = {
        item for item, found in states.items() if len(found) >= wanted[item] and set(found) <= HANDED_IN
    }
    return wanted, complete


def _reference(
    ref: SegmentRef,
    entries: list[Entry],
    decision: AdjudicationDecision | None,
    *,
    complete: bool,
    wanted: int,
) -> ReferenceLabel:
    blinded = not any(entry.get("unblinded") for entry in entries)
    if decision is not None:
        return ReferenceLabel(
            ref, decision.label, "adjudicated", blinded and not decision.after_audit, len(entries)
        )
    if complete and agrees([entry["label"] for entry in entries]):
        if len(entries) > 1:
            return ReferenceLabel(ref, entries[0]["label"], "unanimous", blinded, len(entries))
        if wanted == 1:
            return ReferenceLabel(ref, entries[0]["label"], "single", blinded, 1)
    return ReferenceLabel(ref, None, "open", blinded, len(entries))
