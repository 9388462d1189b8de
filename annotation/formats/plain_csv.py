"""A plain table, one row a segment. Columns and their accepted names are listed in README.md of this folder.

The delimiter (comma, semicolon or tab) is the one under which the header makes sense; Excel's `sep=;` line
and a byte order mark are accepted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from annotation.formats.fields import (
    accept,
    domain_from_word,
    gold_from_word,
    question_id,
    short_title,
    shown,
    stem,
)
from annotation.formats.records import (
    DOMAINS,
    GOLD_LABELS,
    ReadOptions,
    ReadResult,
    SegmentRecord,
    TraceRecord,
)
from annotation.formats.source import BadRecord, Collector, decode

COLUMNS: dict[str, tuple[str, ...]] = {
    "trace_id": ("trace_id", "trace", "traceid", "cot_id", "response_id", "id"),
    "case_id": ("case_id", "caseid", "case_no", "case_number", "question_id", "problem_id"),
    "domain": ("domain", "field", "subject"),
    "index": ("index", "idx", "segment_index", "segment_no", "step_index", "step_number", "step", "no", "nr"),
    "role": ("role", "kind", "part"),
    "text": ("text", "segment", "segment_text", "step_text", "sentence", "content"),
    "label": ("label", "gold", "gold_label", "annotation", "verdict", "physician_label"),
    "comment": ("comment", "note", "gold_note", "remark", "rationale"),
    "case_text": ("case_text", "case", "context", "question", "problem", "vignette"),
    "first_error": ("first_error", "first_error_step", "first_error_index", "mistake_index", "error_index"),
    "title": ("title", "name"),
    "reference": ("reference", "reference_answer", "gold_answer"),
    "generator": ("generator", "model", "model_name"),
}
_ROLES = {
    "context": True,
    "case": True,
    "question": True,
    "segment": False,
    "step": False,
    "reasoning": False,
}
_DELIMITERS = (",", ";", "\t")
_NO_ERROR = {"", "-1", "n/a", "na", "none", "null"}


@dataclass(frozen=True, slots=True)
class _Cells:
    line: int
    values: dict[str, str]

    def get(self, column: str) -> str:
        return self.values.get(column, "").strip()


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces in the order in which they appear; see the module docstring."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        if "\n" not in text:
            text = text.replace("\r", "\n")  # old Macintosh line ends
        groups: dict[str, list[_Cells]] = {}
        for cells in _rows(text, collector):
            groups.setdefault(cells.get("trace_id") or stem(filename), []).append(cells)
        for trace_id, rows in groups.items():
            if collector.full:
                break
            try:
                accept(_trace(trace_id, rows, collector), rows[0].line, collector)
            except BadRecord:
                continue
    return collector.result()


def known_columns(header: list[str]) -> dict[int, str]:
    """Position -> column for the names of a header; letter case, spaces, dots and hyphens do not count."""
    names = {name: column for column, accepted in COLUMNS.items() for name in accepted}
    found = {}
    for position, cell in enumerate(header):
        column = names.get(re.sub(r"[\s.\-_]+", "_", cell.strip().casefold()).strip("_"))
        if column:
            found[position] = column
    return found


def header_of(text: str) -> tuple[str, dict[int, str], int]:
    """(delimiter, known columns, offset of the header) under which the header names most columns."""
    start = 0
    candidates: tuple[str, ...] = _DELIMITERS
    first = text.split("\n", 1)[0].strip("\r")
    stated = re.fullmatch(r'"?sep=([ !#-~\t])"?', first, re.IGNORECASE)
    if stated:
        start = len(text.split("\n", 1)[0]) + 1
        candidates = (stated[1],)
    best: tuple[str, dict[int, str], int] = (candidates[0], {}, start)
    line = re.split(r"[\r\n]", text[start : start + 10_000], maxsplit=1)[0]
    for delimiter in candidates:
        columns = known_columns(next(csv.reader([line], delimiter=delimiter), []))
        if len(columns) > len(best[1]):
            best = (delimiter, columns, start)
    return best


def _rows(text: str, collector: Collector) -> Iterator[_Cells]:
    delimiter, columns, start = header_of(text)
    before = text.count("\n", 0, start)
    names = list(columns.values())
    if "text" not in names:
        found = shown(text[start:].split("\n", 1)[0].strip("\r"))
        message = f"no column for the text of a segment in the header {found}"
        collector.problem(
            before + 1, "text", message, "Name the columns in the first line; see the format's README."
        )
        return
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        message = f"two columns of the header mean {twice}"
        collector.problem(before + 1, twice, message, "Rename or remove one of them.")
        return
    table = csv.reader(io.StringIO(text[start:], newline=""), delimiter=delimiter, strict=True)
    width = 0
    line = before + 1
    try:
        for number, cells in enumerate(table):
            if number == 0:
                width = len(cells)
                for position, cell in enumerate(cells):
                    if position not in columns and cell.strip():
                        collector.note(line, f"the column {cell.strip()[:60]} is not known and was ignored.")
            elif any(cell.strip() for cell in cells):
                if len(cells) > width:
                    remedy = "Put texts that hold the delimiter into double quotes."
                    collector.problem(line, "", f"{len(cells)} cells under {width} columns", remedy)
                else:
                    values = {columns[p]: cell for p, cell in enumerate(cells) if p in columns}
                    yield _Cells(line, values)
            line = before + table.line_num + 1
    except csv.Error as error:
        remedy = "Close each double quote; write a double quote inside a text twice."
        collector.problem(line, "", f"the row that starts here is not valid CSV: {error}", remedy)


def _trace(trace_id: str, rows: list[_Cells], collector: Collector) -> TraceRecord:
    rows = _in_order(trace_id, rows, collector)
    context: list[SegmentRecord] = []
    steps: list[SegmentRecord] = []
    lines: list[int] = []
    case_text = _shared(trace_id, rows, "case_text", collector)
    has_roles = any(row.get("role") for row in rows)
    for row in rows:
        role = row.get("role")
        is_context = _ROLES.get(role.casefold()) if role else False
        if is_context is None:
            message = f"unknown role {shown(role)}"
            raise collector.reject(row.line, "role", message, "Use context or segment.")
        segment = _segment(row, collector)
        if is_context and steps:
            message = "a context row stands after a reasoning segment"
            raise collector.reject(row.line, "role", message, "Put the context first.")
        if is_context:
            context.append(segment)
        else:
            steps.append(segment)
            lines.append(row.line)
    if case_text and context:
        message = "the context is given both as a row and as a case text column"
        raise collector.reject(rows[0].line, "case_text", message, "Keep one of them.")
    if case_text:
        context = [SegmentRecord(case_text)]
    if not context:
        hint = (
            "no row has the role context" if has_roles else "there is neither a role nor a case text column"
        )
        remedy = "Add a column role (context or segment) or case_text; which row is the case is not guessed."
        raise collector.reject(rows[0].line, "role", f"trace {shown(trace_id)}: {hint}", remedy)
    steps = _with_first_error(trace_id, rows, steps, collector)
    question = "\n\n".join(segment.text for segment in context)
    return TraceRecord(
        id=trace_id,
        case_id=_shared(trace_id, rows, "case_id", collector) or question_id(question),
        domain=_domain(trace_id, rows, collector),
        title=_shared(trace_id, rows, "title", collector) or short_title(question),
        segments=(*context, *steps),
        context_segments=len(context),
        question=question,
        reference=_shared(trace_id, rows, "reference", collector),
        generator=_shared(trace_id, rows, "generator", collector),
        meta={"source": "CSV"},
    )


def _in_order(trace_id: str, rows: list[_Cells], collector: Collector) -> list[_Cells]:
    """Rows by their index column, else in file order. The index only orders, so its base does not matter."""
    if not any(row.get("index") for row in rows):
        return rows
    placed: dict[int, _Cells] = {}
    for row in rows:
        stated = row.get("index")
        number = re.fullmatch(r"[sS]?(\d{1,6})(?:\.0+)?", stated)
        if not number:
            message = f"trace {shown(trace_id)}: the index {shown(stated)} is not a whole number"
            raise collector.reject(row.line, "index", message, "Number all rows of the trace, or none.")
        index = int(number[1])
        if index in placed:
            message = (
                f"trace {shown(trace_id)}: index {index} occurs twice, first on line {placed[index].line}"
            )
            raise collector.reject(row.line, "index", message, "Give each segment of a trace its own number.")
        placed[index] = row
    ordered = [placed[index] for index in sorted(placed)]
    if ordered != rows:
        collector.note(rows[0].line, "rows were put in the order of their index.")
    if max(placed) - min(placed) + 1 != len(placed):
        collector.note(rows[0].line, "the index has gaps; segments are numbered anew.")
    return ordered


def _segment(row: _Cells, collector: Collector) -> SegmentRecord:
    word = row.get("label")
    gold = gold_from_word(word) if word else None
    if word and gold is None:
        remedy = f"Use {', '.join(GOLD_LABELS)}, or leave the cell empty."
        raise collector.reject(row.line, "label", f"unknown label {shown(word)}", remedy)
    if not row.get("text"):
        raise collector.reject(row.line, "text", "the text is blank", "Fill it in, or remove the row.")
    return SegmentRecord(row.get("text"), gold, row.get("comment"))


def _shared(trace_id: str, rows: list[_Cells], column: str, collector: Collector) -> str:
    """The one value of a column for a whole trace; blank cells do not count."""
    found = {row.get(column): row.line for row in reversed(rows) if row.get(column)}
    if len(found) > 1:
        message = f"trace {shown(trace_id)} has different values in this column"
        raise collector.reject(
            max(found.values()), column, message, "It must be the same in all rows of a trace."
        )
    return next(iter(found), "")


def _domain(trace_id: str, rows: list[_Cells], collector: Collector) -> str:
    word = _shared(trace_id, rows, "domain", collector)
    if not word:
        return collector.options.domain or "general"
    domain = domain_from_word(word)
    if domain is None:
        remedy = f"Use {', '.join(DOMAINS)}."
        raise collector.reject(rows[0].line, "domain", f"unknown domain {shown(word)}", remedy)
    return domain


def _with_first_error(
    trace_id: str, rows: list[_Cells], steps: list[SegmentRecord], collector: Collector
) -> list[SegmentRecord]:
    """Gold labels from a first-error column, which counts reasoning segments from the base of the flag."""
    if not any("first_error" in row.values for row in rows):
        return steps
    stated = _shared(trace_id, rows, "first_error", collector)
    if any(step.gold for step in steps):
        message = "both a label and a first error column are filled in"
        raise collector.reject(rows[0].line, "first_error", message, "Keep one of them.")
    if stated.casefold() in _NO_ERROR:
        return [replace(step, gold="correct") for step in steps]
    base = collector.options.index_base
    if base is None:
        remedy = "Say index_base 0 or 1 (a flag of the import): the number of the first reasoning segment."
        message = "it is not said whether the first error counts from 0 or from 1"
        raise collector.reject(rows[0].line, "first_error", message, remedy)
    position = int(stated) - base if re.fullmatch(r"\d{1,6}", stated) else -1
    if not 0 <= position < len(steps):
        message = f"the first error {shown(stated)} is not one of {len(steps)} reasoning segments"
        raise collector.reject(rows[0].line, "first_error", message, "Check the index and its base.")
    golds = ["correct"] * position + ["incorrect"] + [None] * (len(steps) - position - 1)
    return [replace(step, gold=gold) for step, gold in zip(steps, golds, strict=True)]
