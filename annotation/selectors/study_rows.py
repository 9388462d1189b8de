"""A study as the rows of its export: people by pseudonym, segments by place, no number of this database."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from annotation.formats.chains import case_meta_of, meta_of
from annotation.formats.records import RelationRecord, SegmentRecord, TraceRecord
from annotation.formats.study_bundle import SCHEMA
from annotation.models import (
    AdjudicationDecision,
    Assignment,
    Segment,
    SegmentLabel,
    Study,
    StudyItem,
    Submission,
)
from reasonaudit.lib.canonical import sha256_of

Row = dict[str, Any]


def moment(at: datetime | None) -> str | None:
    """A time as exports write it: UTC, to the microsecond."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")


def study_row(study: Study) -> Row:
    """Settings of the study and of its data set."""
    dataset = study.dataset
    return {
        "schema": SCHEMA,
        "name": study.name,
        "description": study.description,
        "stage": study.stage,
        "blinding": study.blinding,
        "overlap": study.overlap,
        "in_order": study.in_order,
        "training_pass": study.training_pass,
        "recheck_percent": study.recheck_percent,
        "seed": study.seed,
        "dataset": {
            "name": dataset.name,
            "description": dataset.description,
            "licence": dataset.licence,
            "attribution": dataset.attribution,
            "invented": dataset.invented,
        },
    }


def guideline_rows(study: Study) -> Iterator[Row]:
    """Every version, drafts too."""
    for row in study.guidelines.order_by("number"):
        yield {
            "number": row.number,
            "text": row.text,
            "question": row.question,
            "reasons": row.reasons,
            "change_note": row.change_note,
            "published_at": moment(row.published_at),
        }


def member_rows(study: Study) -> Iterator[Row]:
    """People by pseudonym; who they are stays here."""
    for row in study.members.order_by("pseudonym"):
        yield {
            "pseudonym": row.pseudonym,
            "part": row.part,
            "seniority": row.seniority,
            "active": row.active,
            "qualified_at": moment(row.qualified_at),
            "qualified_version": row.qualified_version,
        }


def items_of(study: Study) -> list[StudyItem]:
    """Items in the order of their numbers, with trace, case and expected labels."""
    rows = study.items.select_related("trace__case").prefetch_related("gold__segment").order_by("number")
    return list(rows)


def trace_ids(items: Iterable[StudyItem]) -> dict[int, str]:
    """A unique id for every item's trace, by item: with the case where the trace's own id is not unique."""
    rows = list(items)
    counts: dict[str, int] = {}
    for item in rows:
        counts[item.trace.external_id] = counts.get(item.trace.external_id, 0) + 1
    return {
        item.pk: item.trace.external_id
        if counts[item.trace.external_id] == 1
        else f"{item.trace.case.external_id}/{item.trace.external_id}"
        for item in rows
    }


def item_rows(items: Iterable[StudyItem], names: dict[int, str]) -> Iterator[Row]:
    """Items with their expected labels."""
    for item in items:
        gold = sorted(item.gold.all(), key=lambda row: row.segment.index)
        yield {
            "number": item.number,
            "trace": names[item.pk],
            "segmentation": item.segmentation,
            "kind": item.kind,
            "overlap": item.overlap,
            "gold": [{"index": row.segment.index, "label": row.label, "note": row.note} for row in gold],
        }


def trace_records(items: list[StudyItem], names: dict[int, str]) -> list[TraceRecord]:
    """The traces of the items in the segmentation that was labelled, with the labels they were imported with."""
    wanted = {(item.trace_id, item.segmentation) for item in items}
    texts: dict[int, list[Segment]] = {}
    found = Segment.objects.filter(trace__in=[item.trace_id for item in items]).order_by("trace_id", "index")
    for segment in found:
        if (segment.trace_id, segment.segmentation) in wanted:
            texts.setdefault(segment.trace_id, []).append(segment)
    return [_record(item, names[item.pk], texts.get(item.trace.pk, [])) for item in items]


def _record(item: StudyItem, name: str, segments: list[Segment]) -> TraceRecord:
    trace, case = item.trace, item.trace.case
    return TraceRecord(
        id=name,
        case_id=case.external_id,
        domain=case.domain,
        title=case.title,
        segments=tuple(
            SegmentRecord(row.text, row.gold or None, row.gold_note, row.error_kind or None)
            for row in segments
        ),
        context_segments=trace.context_segments,
        relations=tuple(
            RelationRecord(tuple(premises), target, label, rest[0] if rest else None)
            for premises, target, label, *rest in trace.stored_relations
        )
        if item.segmentation == 1
        else (),
        question=case.question,
        reference=case.reference,
        generator=trace.generator,
        case_sections=tuple((heading, text) for heading, text in case.sections),
        meta=meta_of(trace.meta, item.segmentation),
        case_meta=case_meta_of(case.meta),
    )


def assignment_rows(study: Study) -> Iterator[Row]:
    """Who was to label what, and how far it went. A person's notes are their own and stay here."""
    rows = Assignment.objects.filter(item__study=study).select_related("item", "member")
    for row in rows.order_by("item__number", "member__pseudonym"):
        yield {
            "item": row.item.number,
            "member": row.member.pseudonym,
            "position": row.position,
            "state": row.state,
            "version": row.version,
            "opened_at": moment(row.opened_at),
            "submitted_at": moment(row.submitted_at),
            "revealed_at": moment(row.revealed_at),
            "reason": row.reason,
            "segment_remarks": row.segment_remarks,
        }


def label_rows(study: Study) -> Iterator[Row]:
    """The labels as they stand, of both rounds."""
    rows = SegmentLabel.objects.filter(assignment__item__study=study).select_related(
        "assignment__item", "assignment__member", "segment", "guideline"
    )
    order = ("assignment__item__number", "assignment__member__pseudonym", "segment__index", "round")
    for row in rows.order_by(*order).iterator(chunk_size=2000):
        yield {
            "item": row.assignment.item.number,
            "member": row.assignment.member.pseudonym,
            "index": row.segment.index,
            "round": row.round,
            "version": row.version,
            "label": row.label or None,
            "cannot_judge": row.cannot_judge,
            "reasons": row.reasons,
            "comment": row.comment,
            "spans": row.spans,
            "flagged": row.flagged,
            "active_ms": row.active_ms,
            "first_label_at": moment(row.first_label_at),
            "saved_at": moment(row.updated_at),
            "guideline": row.guideline.number,
            "unblinded": row.unblinded,
            "reason": row.reason,
        }


def submission_rows(study: Study) -> Iterator[Row]:
    """What was handed in, as it was. Segments are named by their place; the hash is over the labels written here.

    Raises ValueError for a submission that is no longer what its own hash says.
    """
    rows = Submission.objects.filter(assignment__item__study=study).select_related(
        "assignment__item", "assignment__member"
    )
    for row in rows.order_by("assignment__item__number", "assignment__member__pseudonym", "number"):
        if sha256_of(row.labels) != row.labels_sha256:
            raise ValueError(
                f"The submission {row.number} of {row.assignment.member.pseudonym} for case "
                f"{row.assignment.item.number} is not what was handed in."
            )
        labels = [{key: value for key, value in label.items() if key != "segment"} for label in row.labels]
        yield {
            "item": row.assignment.item.number,
            "member": row.assignment.member.pseudonym,
            "number": row.number,
            "labels": labels,
            "labels_sha256": sha256_of(labels),
            "submitted_at": moment(row.submitted_at),
            "recalled_at": moment(row.recalled_at),
        }


def decision_rows(study: Study) -> Iterator[Row]:
    """Final decisions; drafts are nobody else's business."""
    rows = AdjudicationDecision.objects.filter(item__study=study, number__gt=0).select_related(
        "item", "segment", "guideline"
    )
    for row in rows.order_by("item__number", "segment__index", "number"):
        yield {
            "item": row.item.number,
            "index": row.segment.index,
            "number": row.number,
            "version": row.version,
            "adjudicator": row.pseudonym,
            "label": row.label,
            "reasons": row.reasons,
            "note": row.note,
            "matches": row.matches,
            "guideline": row.guideline.number,
            "after_audit": row.after_audit,
            "reason": row.reason,
            "decided_at": moment(row.decided_at),
        }
