"""Importing a file of traces: read it, show what is in it, then store all of it or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from annotation.formats.chains import ASSUMED, SENTENCES, STEP_FORMAT, has_no_steps, one_after_another
from annotation.formats.fields import short_title
from annotation.formats.records import (
    MAX_FILE_BYTES,
    MAX_SEGMENT_CHARACTERS,
    MAX_SEGMENTS,
    Problem,
    ReadOptions,
    SegmentRecord,
    TraceRecord,
)
from annotation.formats.registry import detect, get_format, unrecognised
from annotation.models import Dataset, Trace
from annotation.services import dataset_create, traces_create
from auditing.core import segmentation
from auditing.core.grapheval.chains import parse_chain
from reasonaudit.lib.errors import UserError

ANNOTATED_RELATIONS = frozenset({"parc", "entailmentbank"})
"""Formats that state every relation of a trace: one without any has none, and is not waiting for a labeller."""


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What was read from a file, before anything is stored.

    Attributes
    ----------
    format
        Name of the format, "" where it could not be recognised.
    records
        Records without a problem; raw reasoning is split, and `raw_text` keeps the original.
    problems
        Why records, or the file, cannot be taken. With any problem nothing can be imported.
    notes
        What is worth knowing and stops nothing.
    counts
        traces, cases, segments (without context), relations, gold (labelled segments), split (traces split here).
    """

    format: str
    records: list[TraceRecord]
    problems: list[Problem]
    notes: list[str]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Where an import went."""

    dataset: Dataset
    traces: list[Trace]


def read_upload(
    data: bytes, filename: str, format_name: str | None = None, options: ReadOptions | None = None
) -> ImportPreview:
    """Read a file of traces; stores nothing.

    Parameters
    ----------
    data, filename
        The file's bytes and its name (used in messages and to guess the format).
    format_name
        Name or alias of a format; None guesses from the content.
    options
        How to read; see `ReadOptions`.

    Raises
    ------
    UserError
        `format_name` is unknown.
    """
    notes: list[str] = []
    if len(data) > MAX_FILE_BYTES:
        problem = Problem(
            filename,
            None,
            "",
            f"{len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}",
            "Split the file into smaller ones.",
        )
        return _preview("", [], [problem], notes)
    if not data.strip():
        return _preview(
            "", [], [Problem(filename, None, "", "the file is empty", "Choose a file with traces.")], notes
        )
    name = format_name
    if name is None:
        name = detect(data, filename)
        if name is None:
            return _preview("", [], [unrecognised(data, filename)], notes)
    try:
        chosen = get_format(name)
    except ValueError as error:
        raise UserError("unknown_format", str(error), fields={"format": str(error)}) from error
    if format_name is None:
        notes.append(f"Recognised as {chosen.title}.")
    found = chosen.read(data, filename, options or ReadOptions())
    records = [prepared(record, chosen.name) for record in found.traces]
    problems = [*found.problems, *_empty_splits(records, filename), *_large_splits(records, filename)]
    if not records and not problems:
        problems = [
            Problem(
                filename, None, "", "the file holds no trace", "Check that it is the right file and format."
            )
        ]
    return _preview(chosen.name, records, problems, [*notes, *found.notes])


def prepared(record: TraceRecord, format_name: str) -> TraceRecord:
    """Return the record with a title, split into segments, marked where its format states every relation."""
    if not record.title:
        # Pages and tables name a case by its title: one without any is called by its first words.
        first = record.question or " ".join(part.text for part in record.segments[: record.context_segments])
        record = replace(record, title=short_title(first) or record.case_id)
    if format_name in ANNOTATED_RELATIONS:
        record = replace(record, meta={**record.meta, "relations_given": True})
    return split_raw_text(with_chain_of_text(record))


def with_chain_of_text(record: TraceRecord) -> TraceRecord:
    """Return the record with the chain that its raw text holds; another record comes back as it is.

    A reply in the step format is parsed as one that was sampled here: each step is a segment, and what it depends on
    goes into ``meta["chain"]`` with the warnings. Other reasoning is split into segments that each depend on the one
    before. A reply without any step makes a trace of the context alone, whose chain says that it has no step. An
    answer that the file gives goes before one that the text states.
    """
    given = record.meta.get("chain")
    if (
        record.raw_text is None
        or not isinstance(given, dict)
        or len(record.segments) > record.context_segments
    ):
        return record
    if given.get("from_text") == STEP_FORMAT:
        return _with_steps(record, given, record.raw_text)
    if given.get("from_text") == SENTENCES:
        parts = _parts(record.raw_text)
        warnings = [dict(ASSUMED)] if len(parts) > 1 else []
        return _with_chain(record, given, parts, list(enumerate(one_after_another(len(parts)), 1)), warnings)
    return record


def _with_steps(record: TraceRecord, given: Mapping[str, Any], text: str) -> TraceRecord:
    chain = parse_chain(text)
    steps = [step for step in chain.steps if step.text]
    warnings = [warning.to_dict() for warning in chain.warnings]
    warnings += [{"code": "empty_step", "step": step.index} for step in chain.steps if not step.text]
    warnings += [
        {"code": "cut_step", "step": step.index} for step in steps if len(step.text) > MAX_SEGMENT_CHARACTERS
    ]
    if given.get("answer") is not None:
        warnings = [warning for warning in warnings if warning["code"] != "missing_answer"]
    elif chain.answer is not None:
        given = {**given, "answer": chain.answer}
    known = {step.index for step in steps}
    kept = [(step.index, [index for index in step.depends_on if index in known]) for step in steps]
    return _with_chain(record, given, [step.text[:MAX_SEGMENT_CHARACTERS] for step in steps], kept, warnings)


def _with_chain(
    record: TraceRecord,
    given: Mapping[str, Any],
    parts: list[str],
    steps: list[tuple[int, list[int]]],
    warnings: list[dict[str, Any]],
) -> TraceRecord:
    chain = {
        "steps": [{"index": index, "depends_on": depends_on} for index, depends_on in steps],
        "answer": None,
        **{name: value for name, value in given.items() if name != "from_text"},
        "warnings": [*given.get("warnings", []), *warnings],
    }
    segments = (*record.segments, *(SegmentRecord(part) for part in parts))
    return replace(record, segments=segments, meta={**record.meta, "chain": chain})


def _parts(text: str) -> list[str]:
    """Return the segments of a text; a text that has none is one."""
    parts = [text[span.start : span.end] for span in segmentation.split(text)]
    return parts or [text.strip()]


def split_raw_text(record: TraceRecord) -> TraceRecord:
    """Return the record with its raw reasoning split into segments after the context."""
    if record.raw_text is None or len(record.segments) > record.context_segments or has_no_steps(record.meta):
        return record
    text = record.raw_text
    parts = tuple(SegmentRecord(text[span.start : span.end]) for span in segmentation.split(text))
    return replace(record, segments=(*record.segments, *parts))


def _empty_splits(records: list[TraceRecord], filename: str) -> list[Problem]:
    return [
        Problem(
            filename,
            None,
            "raw_text",
            f"trace {record.id}: the text has nothing to split",
            "Give its reasoning.",
        )
        for record in records
        if record.raw_text is not None
        and len(record.segments) == record.context_segments
        and not has_no_steps(record.meta)
    ]


def _large_splits(records: list[TraceRecord], filename: str) -> list[Problem]:
    return [
        Problem(
            filename,
            None,
            "raw_text",
            f"trace {record.id}: splitting makes {len(record.segments):,} segments; at most {MAX_SEGMENTS:,} are kept",
            "Split the text into several traces.",
        )
        for record in records
        if len(record.segments) > MAX_SEGMENTS
    ]


def _preview(
    name: str, records: list[TraceRecord], problems: list[Problem], notes: list[str]
) -> ImportPreview:
    reasoning = [segment for record in records for segment in record.segments[record.context_segments :]]
    counts = {
        "traces": sum(not record.meta.get("case_only") for record in records),
        "cases": len({record.case_id for record in records}),
        "segments": len(reasoning),
        "relations": sum(len(record.relations) for record in records),
        "gold": sum(segment.gold is not None for segment in reasoning),
        "split": sum(record.raw_text is not None for record in records),
    }
    return ImportPreview(name, records, problems, notes, counts)


def commit(preview: ImportPreview, *, dataset: Dataset | str, by: Any = None, **fields: Any) -> ImportOutcome:
    """Store what a preview holds, all of it or nothing.

    Parameters
    ----------
    preview
        From `read_upload`.
    dataset
        Where to put it: a data set, or the name of a new one.
    by
        The user, or None.
    fields
        Of a new data set: description, licence, attribution, invented.

    Raises
    ------
    UserError
        The preview has problems or no records, the name is taken, or a trace is there already.
    """
    if preview.problems:
        first = preview.problems[0]
        count = len(preview.problems)
        words = "1 problem" if count == 1 else f"{count} problems"
        raise UserError(
            "import_has_problems",
            f"Nothing was imported: the file has {words}. {first}",
            "Correct the file and import it again.",
            fields={"file": [str(problem) for problem in preview.problems]},
        )
    if not preview.records:
        raise UserError("nothing_to_import", "The file holds no trace.", "Choose another file.")
    with transaction.atomic():
        target = dataset_create(name=dataset, by=by, **fields) if isinstance(dataset, str) else dataset
        try:
            traces = traces_create(
                dataset=target, records=preview.records, segmenter=segmentation.SEGMENTER_VERSION, by=by
            )
        except ValueError as error:
            raise UserError("import_conflict", f"Nothing was imported: {error}", status=409) from error
    return ImportOutcome(target, traces)
