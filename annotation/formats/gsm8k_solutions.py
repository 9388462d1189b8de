"""GSM8K model solutions: four methods' answers to each question, with calculator spans (arXiv 2110.14168).

JSON lines of `question`, `ground_truth` and, by method, `{"solution", "is_correct"}` (openai/grade-school-math,
example_model_solutions). A step is a line. Where a number was produced by one calculator span `<<16-3=13>>` and is used
in the span of a later line (or in the text of a later line without a span), that line depends on the one that
produced it, on the last such line where there are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from annotation.formats.chains import chain_meta, exact, numbers_in, shared_keys
from annotation.formats.fields import Row, accept_all, question_id, short_title
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

_SPAN = re.compile(r"<<([^<>]*)=([^<>=]*)>>")
_ANSWER = re.compile(r"^\s*(?:A:|####)\s*(.*)$")


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Four chains a question; S1 is the question, `generator` the method."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        rows = _by_method(iter_records(text, collector))
        accept_all(rows, lambda row, _: _trace(row), collector)
        if collector.traces:
            collector.note(
                None,
                "the chains of a question are one of each method, not samples of one model at one setting.",
            )
    return collector.result()


def _by_method(records: Iterable[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    """Yield each solution of each question; a record without one is yielded as it is."""
    for line, value in records:
        items = value.items() if isinstance(value, dict) else ()
        solutions = {key: item for key, item in items if isinstance(item, dict) and "solution" in item}
        if not solutions or not isinstance(value, dict):
            yield line, value
            continue
        shared = shared_keys(value, solutions)
        for take, (method, solution) in enumerate(solutions.items(), 1):
            yield line, {**shared, "method": method, "take": take, method: solution}


def _trace(row: Row) -> TraceRecord:
    row.require("question", "ground_truth")
    if not row.has("method"):
        raise row.fail("", "the record holds no solution", "Check that these are GSM8K model solutions.")
    method = row.text("method")
    solution = row.row(method)
    if not solution.has("solution"):
        raise row.fail(f"{method}.solution", "the field is missing", "Give the text of the solution.")
    question = row.text("question").strip()
    steps, answer = _lines(solution.text("solution"))
    case_id = question_id(question)
    chain = chain_meta(_flow(steps), answer, "number", row.integer("take") or 1)
    meta: dict[str, object] = {"source": "GSM8K model solutions", "chain": chain}
    if isinstance(solution.values.get("is_correct"), bool):
        meta["is_correct"] = solution.values["is_correct"]
    texts = [_SPAN.sub("", step).strip() for step in steps]
    return TraceRecord(
        id=f"{case_id}-{method}",
        case_id=case_id,
        domain=row.collector.options.domain or "mathematical",
        title=short_title(question),
        segments=(SegmentRecord(question), *(SegmentRecord(text) for text in texts)),
        raw_text=None if steps else solution.text("solution").strip() or None,
        question=question,
        reference=_lines(row.text("ground_truth"))[1] or "",
        generator=method,
        meta=meta,
        case_meta={"answer_kind": "number"},
    )


def _lines(text: str) -> tuple[list[str], str | None]:
    """Return the lines before the answer that say something, and the answer."""
    steps: list[str] = []
    for line in text.splitlines():
        if found := _ANSWER.match(line):
            return steps, found[1].strip() or None
        if _SPAN.sub("", line).strip():
            steps.append(line)
    return steps, None


def _flow(steps: list[str]) -> list[list[int]]:
    """Return for each line the earlier lines that produced its numbers, 1-based."""
    made: dict[Fraction, int] = {}
    flow = []
    for index, step in enumerate(steps, 1):
        spans = _SPAN.findall(step)
        used = [number for left, _ in spans for number in numbers_in(left)] if spans else numbers_in(step)
        flow.append([made[number] for number in used if number in made])
        for _, right in spans:
            value = exact(right)
            if value is not None:
                made[value] = index
    return flow
