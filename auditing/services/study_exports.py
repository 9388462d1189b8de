"""A study as a folder of files with checksums: labels, decisions, guideline, and what the software found.

What is written follows from the database alone, so exporting twice gives the same bytes. People stand in it by
pseudonym. What people did and what judges said can be imported again as the same study; audits are there to be read,
and are computed anew on what was imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.formats import study_bundle
from annotation.formats.records import SegmentRecord, TraceRecord
from annotation.formats.registry import write_uroreason
from annotation.models import Study, StudyItem
from annotation.selectors import study_rows
from annotation.selectors.reference_labels import ReferenceLabel, reference_labels
from annotation.selectors.study_rows import Row, moment
from auditing.formats import verify_bundle
from auditing.formats.bundle import BundleError, verify, write_bundle
from auditing.formats.canonical import json_document, json_lines
from auditing.formats.csv_view import write_csv
from auditing.formats.verdicts import VerdictRecord, write_verdicts
from auditing.models import AuditResult
from auditing.selectors.judges import judge_runs_of
from auditing.services.exports import FINISHED, Export
from auditing.services.judging.imports import records_of
from auditing.services.study_card import study_card
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event

SCHEMA = "reasonaudit.study-export/1"
VERIFIER = Path(verify_bundle.__file__)
LABEL_COLUMNS = (
    "item", "case", "trace", "index", "text", "member", "seniority", "round", "label", "cannot_judge", "reasons",
    "comment", "flagged", "unblinded", "reference", "reference_status",
)  # fmt: skip


def export_study(study: Study, folder: Path, *, by: Any) -> Export:
    """Write a study; the export is done only when it was read back.

    Raises
    ------
    UserError
        Nothing to export, a stored submission that was tampered with, a folder that cannot be used, or files that
        do not read back as written.
    """
    items = study_rows.items_of(study)
    if not items:
        raise UserError("nothing_to_export", "The study has no cases.", "Add cases to it first.")
    try:
        files, escaped = _files(study, items)
    except ValueError as error:
        raise UserError(
            "study_damaged", str(error), "Run verify_audit and look for damage.", status=409
        ) from error
    counts = {
        name.removesuffix(".jsonl"): data.count(b"\n")
        for name, data in files.items()
        if name.endswith(".jsonl")
    }
    manifest = {"schema": SCHEMA, "study": study_rows.study_row(study), "counts": counts}
    try:
        written = write_bundle(folder, files, manifest, escaped=escaped)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    _check(folder)
    with transaction.atomic():
        # A chain of its own: the study's is part of the export, which would else never be the same twice.
        record_event(
            stream="exports",
            actor=by,
            action="export",
            subject_type="study",
            subject_id=study.pk,
            data={"counts": counts},
        )
    return Export(folder, written)


def _check(folder: Path) -> None:
    problems: Sequence[object] = verify(folder)
    if not problems:
        files = {name: (folder / name).read_bytes() for name in _RESTORED}
        _, problems = study_bundle.read(files)
    if problems:
        raise UserError(
            "export_failed",
            f"The export in {folder} is not whole: {problems[0]}",
            "Export again.",
            status=409,
        )


_RESTORED = (study_bundle.STUDY, study_bundle.TRACES, *study_bundle.LINES)


def _files(study: Study, items: list[StudyItem]) -> tuple[dict[str, bytes], list[str]]:
    names = study_rows.trace_ids(items)
    records = study_rows.trace_records(items, names)
    references = reference_labels(study, kinds=("main", "gold", "training"))
    by_place = {
        (reference.segment.item_number, reference.segment.index): reference
        for reference in references.values()
    }
    labels = list(study_rows.label_rows(study))
    members = list(study_rows.member_rows(study))
    table = write_csv(LABEL_COLUMNS, _label_table(items, names, records, labels, members, by_place))
    files = {
        study_bundle.STUDY: json_document(study_rows.study_row(study)),
        study_bundle.TRACES: write_uroreason(records),
        "guidelines.jsonl": json_lines(study_rows.guideline_rows(study)),
        "members.jsonl": json_lines(members),
        "items.jsonl": json_lines(study_rows.item_rows(items, names)),
        "assignments.jsonl": json_lines(study_rows.assignment_rows(study)),
        "labels.jsonl": json_lines(labels),
        "submissions.jsonl": json_lines(study_rows.submission_rows(study)),
        "decisions.jsonl": json_lines(study_rows.decision_rows(study)),
        "reference_labels.jsonl": json_lines(_reference_rows(by_place)),
        "uroreason.jsonl": write_uroreason(with_reference(items, records, by_place)),
        "events.jsonl": json_lines(_event_rows(study)),
        "audits.jsonl": json_lines(_audit_rows(items, names)),
        "verdicts.jsonl": write_verdicts(_verdicts(study, items)),
        "labels.csv": table.data,
        "study.schema.json": study_bundle.SCHEMA_FILE.read_bytes(),
        "verify.py": VERIFIER.read_bytes(),
    }
    files["README.md"] = study_card(study, files).encode("utf-8")
    return files, ["labels.csv"] if table.escaped else []


def with_reference(
    items: Sequence[StudyItem],
    records: Sequence[TraceRecord],
    references: dict[tuple[int, int], ReferenceLabel],
) -> list[TraceRecord]:
    """The traces of main and hidden gold items with the study's reference labels as gold: the shape of UroReason."""
    return [
        replace(
            record,
            segments=tuple(
                _with_gold(segment, references.get((item.number, index)))
                for index, segment in enumerate(record.segments, start=1)
            ),
            meta={},
        )
        for item, record in zip(items, records, strict=True)
        if item.kind != StudyItem.Kind.TRAINING
    ]


def _with_gold(segment: SegmentRecord, reference: ReferenceLabel | None) -> SegmentRecord:
    return SegmentRecord(segment.text, None if reference is None else reference.label)


def _reference_rows(references: dict[tuple[int, int], ReferenceLabel]) -> Iterator[Row]:
    for (number, index), row in sorted(references.items()):
        yield {
            "item": number,
            "index": index,
            "label": row.label,
            "status": row.status,
            "blinded": row.blinded,
            "labels": row.labels,
        }


def _event_rows(study: Study) -> Iterator[Row]:
    """The study's chain. Accounts are named by pseudonym; the hashes are those of the database."""
    people: dict[int | None, str] = {
        member.user_id: member.pseudonym for member in study.members.all() if member.user_id is not None
    }
    for event in Event.objects.filter(stream__name=f"study:{study.pk}").order_by("number").iterator(2000):
        yield {
            "number": event.number,
            "at": moment(event.at),
            "actor": people.get(event.actor_id) or event.actor_role or None,
            "action": event.action,
            "subject": event.subject_type,
            "from": event.from_state,
            "to": event.to_state,
            "version": event.version,
            "reason": event.reason,
            "data_sha256": event.data_sha256,
            "hash": event.hash,
        }


def _audit_rows(items: Sequence[StudyItem], names: dict[int, str]) -> Iterator[Row]:
    """Each finished run's labels of the study's segments."""
    pinned = {item.trace_id: item for item in items}
    results = AuditResult.objects.filter(trace__in=list(pinned), run__state__in=FINISHED).select_related(
        "run"
    )
    rows = results.defer("relations", "document").prefetch_related("segment_audits")
    for result in rows.order_by("run_id", "trace_id"):
        item = pinned[result.trace_id]
        if result.segmentation != item.segmentation:
            continue
        yield {
            "run": result.run.name,
            "labeller": result.run.labeller,
            "labeller_identity": result.run.labeller_identity,
            "parameters": result.parameters,
            "item": item.number,
            "trace": names[item.pk],
            "document_sha256": result.document_sha256,
            "labelled": result.labelled,
            "total": result.total,
            "segments": [
                {
                    "index": row.index,
                    "label": row.label,
                    "y_hat": row.y_hat,
                    "unstable": row.unstable,
                    "root_breakpoint": row.root_breakpoint,
                }
                for row in sorted(result.segment_audits.all(), key=lambda row: row.index)
            ],
        }


def _verdicts(study: Study, items: Sequence[StudyItem]) -> list[VerdictRecord]:
    """What each judge says of the study's segments; of several runs of a judge, the newest one's word."""
    pinned = {
        (item.trace.case.external_id, item.trace.external_id)
        for item in items
        if item.segmentation == item.trace.segmentation
    }
    found: dict[tuple[str, str, int, str], VerdictRecord] = {}
    for run in judge_runs_of(study.dataset):
        if run.state not in FINISHED:
            continue
        for record in records_of(run):
            if (record.case, record.trace) in pinned:
                found.setdefault((record.case, record.trace, record.segment, record.judge), record)
    return [found[key] for key in sorted(found)]


def _label_table(
    items: Sequence[StudyItem],
    names: dict[int, str],
    records: Sequence[TraceRecord],
    labels: Iterable[Row],
    members: Iterable[Row],
    references: dict[tuple[int, int], ReferenceLabel],
) -> Iterator[list[Any]]:
    by_number = {item.number: (item, record) for item, record in zip(items, records, strict=True)}
    seniority = {row["pseudonym"]: row["seniority"] for row in members}
    for row in labels:
        item, record = by_number[row["item"]]
        reference = references.get((row["item"], row["index"]))
        yield [
            row["item"],
            record.title,
            names[item.pk],
            row["index"],
            record.segments[row["index"] - 1].text,
            row["member"],
            seniority[row["member"]],
            row["round"],
            row["label"] or "",
            "yes" if row["cannot_judge"] else "",
            " ".join(row["reasons"]),
            row["comment"],
            "yes" if row["flagged"] else "",
            "yes" if row["unblinded"] else "",
            (reference.label if reference else None) or "",
            reference.status if reference else "",
        ]
