"""Verdicts that came in a file: read, matched with the traces of a data set, stored all or none."""

import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.formats.records import Problem
from annotation.models import Dataset, Segment, Trace
from auditing.formats.verdicts import VerdictRecord, read_verdicts
from auditing.judging.protocol import MAX_REASON_CHARACTERS
from auditing.judging.reply import PARSER_VERSION, read_stored_reply
from auditing.models import JudgeCall, JudgeCallAttempt, JudgeRun, JudgeRunTrace, JudgeVerdict
from auditing.models.judges import IMPORTED
from auditing.services.call_rows import plain
from auditing.services.call_store import COMPRESSION, split_status
from reasonaudit.lib.canonical import canonical_json
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import add_log_line

MAX_FILE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Imported:
    """A record whose segment was found, and what it says: status and reason as in `JudgeVerdict`."""

    record: VerdictRecord
    segment: Segment
    verdict: str | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class VerdictPreview:
    """What a file holds for a data set; with any problem nothing is imported."""

    filename: str
    sha256: str
    found: list[Imported]
    problems: list[Problem]

    @property
    def judges(self) -> list[str]:
        """Names of the judges, in order."""
        return sorted({item.record.judge for item in self.found})


def read(data: bytes, filename: str, dataset: Dataset) -> VerdictPreview:
    """Read a file of verdicts and find its segments; stores nothing."""
    digest = hashlib.sha256(data).hexdigest()
    if len(data) > MAX_FILE_BYTES:
        message = f"{len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}"
        return VerdictPreview(filename, digest, [], [Problem(filename, None, "", message, "Split the file.")])
    records, problems = read_verdicts(data, filename)
    found, more = _matched(records, filename, dataset)
    return VerdictPreview(filename, digest, found, [*problems, *more])


def _matched(
    records: Sequence[VerdictRecord], filename: str, dataset: Dataset
) -> tuple[list[Imported], list[Problem]]:
    wanted = {record.case for record in records}
    by_case: dict[str, dict[str, Trace]] = defaultdict(dict)
    rows = Trace.objects.filter(case__dataset=dataset, case__external_id__in=wanted).select_related("case")
    for trace in rows.defer("raw_text", "meta", "stored_relations"):
        by_case[trace.case.external_id][trace.external_id] = trace
    segments = _segments([trace for traces in by_case.values() for trace in traces.values()])
    found: list[Imported] = []
    problems: list[Problem] = []
    first_seen: dict[tuple[int, str], int] = {}
    for record in records:
        placed = _segment(record, by_case.get(record.case, {}), segments, dataset)
        if isinstance(placed, tuple):
            problems.append(Problem(filename, record.line, *placed))
            continue
        if (line := first_seen.setdefault((placed.pk, record.judge), record.line)) != record.line:
            message = f"judge {record.judge!r} has this segment in line {line} already"
            problems.append(
                Problem(filename, record.line, "segment", message, "Give each segment once per judge.")
            )
            continue
        found.append(_said(record, placed))
    return found, problems


def _segments(traces: Sequence[Trace]) -> Mapping[tuple[int, int], Segment]:
    present = {trace.pk: trace.segmentation for trace in traces}
    rows = Segment.objects.filter(trace__in=present).defer("text", "gold_note")
    return {(row.trace_id, row.index): row for row in rows if row.segmentation == present[row.trace_id]}


def _segment(
    record: VerdictRecord,
    traces: Mapping[str, Trace],
    segments: Mapping[tuple[int, int], Segment],
    dataset: Dataset,
) -> Segment | tuple[str, str, str]:
    """Return the segment of a record, or (field, message, remedy)."""
    if not traces:
        return "case", f"{dataset.slug} has no case {record.case[:80]!r}", "Import its traces first."
    if record.trace:
        trace = traces.get(record.trace)
    elif len(traces) == 1:
        (trace,) = traces.values()
    else:
        return "trace", f"the case has {len(traces)} traces, and the line names none", "Say which trace."
    if trace is None:
        return "trace", f"the case has no trace {record.trace[:80]!r}", "Import the trace first."
    if record.segment <= trace.context_segments:
        return (
            "segment",
            f"S{record.segment} is given text, not judged",
            "Segments count from 1, case included.",
        )
    segment = segments.get((trace.pk, record.segment))
    if segment is None:
        return "segment", f"the trace has no S{record.segment}", "Segments count from 1, case included."
    return segment


def _said(record: VerdictRecord, segment: Segment) -> Imported:
    if record.reply is None:
        return Imported(record, segment, record.verdict, record.status, record.reason[:MAX_REASON_CHARACTERS])
    reading = read_stored_reply(record.reply)
    return Imported(record, segment, reading.verdict, reading.status, reading.reason)


def commit(preview: VerdictPreview, dataset: Dataset, *, by: Any = None) -> list[JudgeRun]:
    """Store what a preview holds, a run for each judge, all of it or nothing.

    Raises
    ------
    UserError
        The preview has problems or no verdict.
    """
    if preview.problems or not preview.found:
        first = preview.problems[0] if preview.problems else "The file holds no verdict."
        count = len(preview.problems)
        words = "" if not count else f"{count} problem{'' if count == 1 else 's'}. "
        raise UserError(
            "import_has_problems",
            f"Nothing was imported. {words}{first}",
            "Correct the file and import it again.",
            fields={"file": [str(problem) for problem in preview.problems]},
        )
    by_judge: dict[str, list[Imported]] = defaultdict(list)
    for item in preview.found:
        by_judge[item.record.judge].append(item)
    with transaction.atomic():
        return [_store(judge, items, preview, dataset, by) for judge, items in sorted(by_judge.items())]


def _store(
    judge: str, items: Sequence[Imported], preview: VerdictPreview, dataset: Dataset, by: Any
) -> JudgeRun:
    spec = f"{IMPORTED}:{judge}"
    kinds = Counter(split_status(item.status)[0] for item in items)
    now = timezone.now()
    source = {"name": preview.filename.rpartition("/")[2], "sha256": preview.sha256}
    run = JudgeRun(
        dataset=dataset,
        judge=spec,
        judge_id=spec,
        identity={"task": "judge", "kind": IMPORTED, "model": judge},
        manifest={"schema": "reasonaudit.judge-import/1", "file": source, "parser": PARSER_VERSION},
        total=len(items),
        done=kinds["valid"],
        invalid=kinds["invalid"],
        failed=kinds["error"],
        state=RunState.DONE if kinds["valid"] == len(items) else RunState.PARTIAL,
        started_at=now,
        finished_at=now,
        created_by=by,
    )
    add_log_line(run, f"Imported {len(items):,} verdicts from {source['name']}.")
    run.save()
    by_trace: dict[int, list[Imported]] = defaultdict(list)
    for item in items:
        by_trace[item.segment.trace_id].append(item)
    JudgeRunTrace.objects.bulk_create(_run_trace(run, found) for found in by_trace.values())
    calls = _calls(run, items)
    JudgeVerdict.objects.bulk_create(
        JudgeVerdict(
            run=run,
            segment=item.segment,
            verdict=item.verdict,
            status=item.status,
            reason=plain(item.reason),
            call=calls.get(item.segment.pk),
        )
        for item in items
    )
    return run


def _run_trace(run: JudgeRun, items: Sequence[Imported]) -> JudgeRunTrace:
    kinds = Counter(split_status(item.status)[0] for item in items)
    return JudgeRunTrace(
        run=run,
        trace_id=items[0].segment.trace_id,
        segmentation=items[0].segment.segmentation,
        total=len(items),
        done=kinds["valid"],
        invalid=kinds["invalid"],
        failed=kinds["error"],
        state=RunState.DONE if kinds["valid"] == len(items) else RunState.PARTIAL,
    )


def _calls(run: JudgeRun, items: Sequence[Imported]) -> dict[int, JudgeCall]:
    """Keep raw replies as calls of their own, so that a later parser can read them again; by segment id."""
    raw = [item for item in items if item.record.reply is not None]
    made = []
    for item in raw:
        status, problem = split_status(item.status)
        content = {
            "kind": "imported-judge",
            "run": run.pk,
            "segment": item.segment.pk,
            "reply": item.record.reply,
        }
        made.append(
            JudgeCall(
                key=hashlib.sha256(canonical_json(content)).hexdigest(),
                judge=run.judge[:200],
                status=status,
                problem=problem,
                verdict=item.verdict,
                reason=plain(item.reason),
                parser_version=PARSER_VERSION,
            )
        )
    JudgeCall.objects.bulk_create(made)
    JudgeCallAttempt.objects.bulk_create(
        JudgeCallAttempt(
            call=call,
            number=1,
            status=item.status,
            raw_request=zlib.compress(b""),
            raw_reply=zlib.compress((item.record.reply or "").encode("utf-8", "surrogatepass"), COMPRESSION),
            parser_version=PARSER_VERSION,
        )
        for call, item in zip(made, raw, strict=True)
    )
    return {item.segment.pk: call for call, item in zip(made, raw, strict=True)}


def records_of(run: JudgeRun) -> list[VerdictRecord]:
    """Return a run's verdicts as records of a file, in a stable order."""
    rows = (
        JudgeVerdict.objects.filter(run=run)
        .select_related("segment__trace__case")
        .defer("segment__text", "segment__trace__raw_text", "segment__trace__case__context")
    )
    records = [
        VerdictRecord(
            case=row.segment.trace.case.external_id,
            trace=row.segment.trace.external_id,
            segment=row.segment.index,
            judge=run.model,
            verdict=row.verdict,
            reason=row.reason,
            status=row.status,
        )
        for row in rows
    ]
    return sorted(records, key=lambda record: (record.case, record.trace, record.segment))
