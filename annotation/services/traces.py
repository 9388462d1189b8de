"""Storing imported traces: all of them or none."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotation.formats.chains import has_no_steps
from annotation.formats.records import TraceRecord
from annotation.models import Case, Dataset, Segment, Trace

NAMED_IN_ERRORS = 5


def text_hash(text: str) -> str:
    """Return the SHA-256 (hexadecimal) of a segment's text as stored."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def traces_create(
    *, dataset: Dataset, records: Sequence[TraceRecord], segmenter: str, by: Any
) -> list[Trace]:
    """Store traces with their cases, segments, gold labels and stored relations in one transaction.

    Parameters
    ----------
    dataset
        Where they belong. Cases that it has already are used if their text is the same.
    records
        Raw reasoning must be split already (`raw_text` may stay as the original); a record with `case_only` in its
        meta makes a case without a trace. A sampled chain without steps is a trace of the context alone.
    segmenter
        Version of what split raw text; stored only with traces that were split.
    by
        The user, or None.

    Returns
    -------
    list of Trace
        One for each record that has reasoning, in the same order.

    Raises
    ------
    ValueError
        Two records, or a record and the data set, have the same case and trace id; a case differs from the stored
        one; a record has unsplit reasoning. The message names them, and nothing is stored.
    """
    _check_records(records)
    with transaction.atomic():
        # One import into a data set at a time: what is checked here stays true until it is written.
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        cases = _cases(dataset, records)
        with_reasoning = [record for record in records if not record.meta.get("case_only")]
        _check_new(cases, with_reasoning)
        traces = Trace.objects.bulk_create(
            [_trace(cases[record.case_id], record, segmenter) for record in with_reasoning], batch_size=500
        )
        segments = [
            _segment(trace, index, record)
            for trace, record in zip(traces, with_reasoning, strict=True)
            for index in range(1, len(record.segments) + 1)
        ]
        Segment.objects.bulk_create(segments, batch_size=2000)
    return traces


def _check_records(records: Sequence[TraceRecord]) -> None:
    counts = Counter((record.case_id, record.id) for record in records)
    if twice := [f"{case} / {trace}" for (case, trace), count in counts.items() if count > 1]:
        raise ValueError(
            f"These traces are given twice (case / trace): {_some(twice)}. Give each its own id."
        )
    for record in records:
        if len(record.segments) < record.context_segments:
            raise ValueError(
                f"Trace {record.id} says {record.context_segments} context segments and has fewer."
            )
        only_context = len(record.segments) == record.context_segments and not has_no_steps(record.meta)
        if only_context and (record.raw_text is not None or not record.meta.get("case_only")):
            raise ValueError(f"Trace {record.id} has no reasoning segments.")
        if any("\x00" in segment.text for segment in record.segments):
            raise ValueError(f"Trace {record.id} holds a NUL character. Remove it from the file.")


def _cases(dataset: Dataset, records: Sequence[TraceRecord]) -> dict[str, Case]:
    """Return the case of every record by its id, made where the data set lacks it."""
    first: dict[str, TraceRecord] = {}
    for record in records:
        earlier = first.setdefault(record.case_id, record)
        if not _same_text(_context(earlier), _context(record)):
            raise ValueError(
                f"Case {record.case_id} has different texts in traces {earlier.id} and {record.id}."
            )
    stored = {
        case.external_id: case for case in Case.objects.filter(dataset=dataset, external_id__in=list(first))
    }
    for case_id, case in stored.items():
        if not _same_text(case.context, _context(first[case_id])):
            raise ValueError(
                f"Case {case_id} is in this data set already, with another text. Give the new case another id."
            )
    new = [_case(dataset, record) for case_id, record in first.items() if case_id not in stored]
    Case.objects.bulk_create(new, batch_size=500)
    return stored | {case.external_id: case for case in new}


def _same_text(left: str, right: str) -> bool:
    """Whether two texts are the same but for how lines end: public files mix Windows and Unix line ends."""
    return left.splitlines() == right.splitlines()


def _check_new(cases: dict[str, Case], records: Sequence[TraceRecord]) -> None:
    known = set(
        Trace.objects.filter(case__in=[case.pk for case in cases.values()]).values_list(
            "case__external_id", "external_id"
        )
    )
    if there := [
        f"{record.case_id} / {record.id}" for record in records if (record.case_id, record.id) in known
    ]:
        raise ValueError(f"These traces are in the data set already (case / trace): {_some(there)}.")


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED_IN_ERRORS
    return ", ".join(names[:NAMED_IN_ERRORS]) + (f" and {more} more" if more > 0 else "")


def _context(record: TraceRecord) -> str:
    return "\n\n".join(segment.text for segment in record.segments[: record.context_segments])


def _case(dataset: Dataset, record: TraceRecord) -> Case:
    return Case(
        dataset=dataset,
        external_id=record.case_id,
        domain=record.domain,
        title=record.title,
        context=_context(record),
        sections=[list(section) for section in record.case_sections],
        question=record.question,
        reference=record.reference,
        meta=dict(record.case_meta),
    )


def _trace(case: Case, record: TraceRecord, segmenter: str) -> Trace:
    relations = [
        [
            list(item.premises),
            item.target,
            item.label,
            *([dict(item.probabilities)] if item.probabilities else []),
        ]
        for item in record.relations
    ]
    return Trace(
        case=case,
        external_id=record.id,
        generator=record.generator,
        raw_text=record.raw_text or "",
        segmenter=segmenter if record.raw_text is not None else "",
        context_segments=record.context_segments,
        stored_relations=relations,
        meta=dict(record.meta),
    )


def _segment(trace: Trace, index: int, record: TraceRecord) -> Segment:
    source = record.segments[index - 1]
    return Segment(
        trace=trace,
        segmentation=1,
        index=index,
        text=source.text,
        text_sha256=text_hash(source.text),
        gold=source.gold or "",
        gold_note=source.gold_note,
        error_kind=source.error_kind or "",
    )
