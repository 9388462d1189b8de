"""Results of runs as files with checksums: JSON lines, tables, traces, graphs.

What is written follows from the database alone, so exporting twice gives the same bytes. Each audit is
computed again from its stored relations and must be what was stored; if it is not, nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.formats.chains import case_meta_of, meta_of
from annotation.formats.records import RelationRecord, SegmentRecord, TraceRecord
from annotation.formats.registry import write_uroreason
from annotation.models import Dataset, Segment
from auditing.core.parameters import AuditParameters
from auditing.formats.audits import read_audits
from auditing.formats.bundle import BundleError, verify, write_bundle
from auditing.models import AuditResult, AuditRun
from auditing.services.audits import MISSING, ScoredRelation, graph_of
from auditing.services.offline.auditing import STORED, audited
from auditing.services.offline.documents import summary
from auditing.services.offline.labelling import Coverage, LabelledTrace
from auditing.services.offline.output import bundle_files
from auditing.services.results import replay_matches
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState

SCHEMA = "reasonaudit.export/1"
FINISHED = (RunState.DONE, RunState.PARTIAL)


@dataclass(frozen=True, slots=True)
class Export:
    """A written export: where, and how many traces, segments and relations."""

    folder: Path
    manifest: dict[str, Any]


def export_run(run: AuditRun, folder: Path, *, graphml: bool = False, unfinished: bool = False) -> Export:
    """Write the results of one run.

    Raises
    ------
    UserError
        If the run has not ended (unless `unfinished`), has no results, or the folder cannot be used.
    """
    if run.state not in FINISHED and not unfinished:
        raise UserError(
            "run_not_finished",
            f"Run {run.pk} is {run.get_state_display().lower()}: its results are not complete.",
            "Wait or resume it; the command line exports what is there with --unfinished.",
        )
    results = _results().filter(run=run)
    return _export(run.dataset, list(results), folder, graphml=graphml, what=f"Run {run.pk}")


def export_dataset(dataset: Dataset, folder: Path, *, graphml: bool = False) -> Export:
    """Write the newest result of every trace of a data set, from runs that have ended.

    Raises
    ------
    UserError
        If there is no result, or the folder cannot be used.
    """
    found = _results().filter(trace__case__dataset=dataset, run__state__in=FINISHED)
    newest = {result.trace_id: result for result in found.order_by("run_id")}
    results = sorted(newest.values(), key=lambda result: result.trace_id)
    return _export(dataset, results, folder, graphml=graphml, what=f"Data set {dataset.slug}")


def _results() -> Any:
    return AuditResult.objects.select_related("trace__case", "run").order_by("trace_id")


def _export(
    dataset: Dataset, results: Sequence[AuditResult], folder: Path, *, graphml: bool, what: str
) -> Export:
    if not results:
        raise UserError("nothing_to_export", f"{what} has no results.", "Audit its traces first.")
    names = _names(results)
    labelled = []
    for result in results:
        if not replay_matches(result):
            raise UserError(
                "result_damaged",
                f"The stored audit of trace {names[result.pk]} is not what its relations give.",
                "Audit it again, and check the database for damage.",
            )
        labelled.append(_labelled(result, names[result.pk]))
    audits = audited(labelled, with_relations=True)
    counted = summary(audits)
    files, escaped = bundle_files(audits, counted, graphml=graphml)
    files["traces.jsonl"] = write_uroreason([trace.record for trace in labelled])
    try:
        manifest = write_bundle(folder, files, _manifest(dataset, results, counted), escaped=escaped)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    _check(folder, len(results))
    return Export(folder, manifest)


def _check(folder: Path, count: int) -> None:
    """Read back what was written: an export is done only when it can be read."""
    problems = verify(folder)
    read = len(read_audits((folder / "audits.jsonl").read_bytes(), "audits.jsonl"))
    if problems or read != count:
        found = problems[0] if problems else f"audits.jsonl holds {read} of {count} traces."
        raise UserError("export_failed", f"The export in {folder} is not whole: {found}", "Export again.")


def _names(results: Sequence[AuditResult]) -> dict[int, str]:
    """Return a unique id for every result's trace: with the case where the trace's own id is not unique."""
    counts = Counter(result.trace.external_id for result in results)
    return {
        result.pk: result.trace.external_id
        if counts[result.trace.external_id] == 1
        else f"{result.trace.case.external_id}/{result.trace.external_id}"
        for result in results
    }


def _labelled(result: AuditResult, name: str) -> LabelledTrace:
    trace, case = result.trace, result.trace.case
    segments = Segment.objects.filter(trace=trace, segmentation=result.segmentation).order_by("index")
    record = TraceRecord(
        id=name,
        case_id=case.external_id,
        domain=case.domain,
        title=case.title,
        segments=tuple(
            SegmentRecord(segment.text, segment.gold or None, segment.gold_note, segment.error_kind or None)
            for segment in segments
        ),
        context_segments=trace.context_segments,
        # Stored relations hold for the first segmentation only.
        relations=_stored(trace.stored_relations) if result.segmentation == 1 else (),
        question=case.question,
        reference=case.reference,
        generator=trace.generator,
        case_sections=tuple((heading, text) for heading, text in case.sections),
        meta=meta_of(trace.meta, result.segmentation),
        case_meta=case_meta_of(case.meta),
    )
    scored = [ScoredRelation.from_row(row) for row in result.relations]
    asked = sum(item.status != MISSING for item in scored)
    return LabelledTrace(
        record=record,
        parameters=AuditParameters.from_dict(result.parameters),
        graph=graph_of(len(record.segments), scored),
        coverage=Coverage(
            result.total, result.labelled, result.invalid, result.total - result.labelled - result.invalid
        ),
        calls=0 if result.run.labeller == STORED else asked,
        statuses={item.relation: item.status for item in scored if item.label is None},
    )


def _stored(rows: Sequence[Sequence[Any]]) -> tuple[RelationRecord, ...]:
    return tuple(
        RelationRecord(tuple(premises), target, label, rest[0] if rest else None)
        for premises, target, label, *rest in rows
    )


def _manifest(dataset: Dataset, results: Sequence[AuditResult], counted: dict[str, Any]) -> dict[str, Any]:
    runs = sorted({result.run for result in results}, key=lambda run: run.pk)
    return {
        "schema": SCHEMA,
        "dataset": {
            "slug": dataset.slug,
            "name": dataset.name,
            "licence": dataset.licence,
            "attribution": dataset.attribution,
            "invented": dataset.invented,
        },
        "runs": [
            {
                "id": run.pk,
                "name": run.name,
                "state": run.state,
                "labeller": run.labeller,
                "labeller_identity": run.labeller_identity,
                "quality_note": run.quality_note,
                "parameters": run.parameters,
                "order": run.order,
                "manifest": run.manifest,
            }
            for run in runs
        ],
        "counts": {
            "traces": counted["traces"],
            "segments": counted["segments"],
            "relations": counted["coverage"],
        },
    }
