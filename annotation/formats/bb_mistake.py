"""BIG-Bench Mistake: chains of thought with the first mistake marked (arXiv 2311.08516).

Fields of each line, as the repository's README describes them: input, steps, target, answer, mistake_index.
`mistake_index` is 0-based, null without a mistake.
"""

from __future__ import annotations

from annotation.formats.chains import chained_meta, kind_of_answer, options_of
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
    """Traces with gold labels up to the first mistake; S1 is the input (with answer options)."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        task = stem(filename)
        accept_all(iter_records(text, collector), lambda row, number: _trace(row, task, number), collector)
    return collector.result()


def _trace(row: Row, task: str, number: int) -> TraceRecord:
    row.require("input", "steps")
    if "mistake_index" not in row.values:
        raise row.fail("mistake_index", "the field is missing", "It must be there; null means no mistake.")
    question = row.text("input").strip()
    index = row.integer("mistake_index")
    first_error = None if index is None else index - base_of(row.collector, 0)
    steps = steps_with_first_error(row, "mistake_index", row.texts("steps"), first_error)
    answer, target = row.text("answer"), row.text("target")
    kind, choices = kind_of_answer(target), options_of(question.rpartition("Options:")[2])
    chain = chained_meta(len(steps), answer, kind, 1)
    meta: dict[str, object] = {"source": "BIG-Bench Mistake", "task": task, "answer": answer, "chain": chain}
    if answer.strip() and target.strip():
        meta["final_answer_correct"] = _plain(answer) == _plain(target)
    return TraceRecord(
        id=f"{task}-{number}",
        case_id=question_id(question),
        # The five tasks are puzzles about order, words and brackets; only one of them is arithmetic.
        domain=row.collector.options.domain or ("mathematical" if "arithmetic" in task else "general"),
        title=short_title(question),
        segments=(SegmentRecord(question), *steps),
        question=question,
        reference=target,
        generator="PaLM 2",
        meta=meta,
        case_meta={"answer_kind": kind, **({"options": choices} if choices and kind == "choice" else {})},
    )


def _plain(answer: str) -> str:
    return answer.strip().rstrip(".")
