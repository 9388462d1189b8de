"""ProcessBench: mathematical solutions with the first wrong step marked (arXiv 2412.06559).

Fields, as the data card Qwen/ProcessBench shows them: id, generator, problem, steps, final_answer_correct,
label. `label` is the 0-based index of the first wrong step, -1 if there is none. Steps after it were not
judged and stay unlabelled.
"""

from __future__ import annotations

from annotation.formats.fields import (
    Row,
    accept_all,
    base_of,
    question_id,
    short_title,
    stem,
    steps_with_first_error,
)
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces with gold labels up to the first wrong step; S1 is the problem."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        records = iter_records(text, collector, array_is_usual=True)
        accept_all(records, lambda row, number: _trace(row, f"{stem(filename)}-{number}"), collector)
    return collector.result()


def _trace(row: Row, fallback_id: str) -> TraceRecord:
    row.require("problem", "steps", "label")
    problem = row.text("problem").strip()
    label = row.integer("label")
    if label is None or label < -1:
        raise row.fail("label", f"the label is {label}", "It must be -1 or the index of a step.")
    first_error = None if label == -1 else label - base_of(row.collector, 0)
    steps = steps_with_first_error(row, "label", row.texts("steps"), first_error)
    meta: dict[str, object] = {"source": "ProcessBench"}
    if row.has("final_answer_correct"):
        meta["final_answer_correct"] = bool(row.values["final_answer_correct"])
    return TraceRecord(
        id=row.text("id").strip() or fallback_id,
        case_id=question_id(problem),
        domain=row.collector.options.domain or "mathematical",
        title=short_title(problem),
        segments=(SegmentRecord(problem), *steps),
        question=problem,
        generator=row.text("generator"),
        meta=meta,
    )
