"""The files of an exported study, read back: everything that people did, without their names.

`study_bundle.schema.json` describes each file. The reader checks every line against it, and then that what one file
names is in the other: an assignment's member, a label's item, segment and guideline. Nothing is taken if anything is
wrong; each problem names file, line and field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from annotation.formats import uroreason
from annotation.formats.records import Problem, ReadOptions, TraceRecord
from reasonaudit.lib.canonical import sha256_of

SCHEMA = "reasonaudit.study/1"
SCHEMA_FILE = Path(__file__).with_name("study_bundle.schema.json")
STUDY = "study.json"
TRACES = "traces.jsonl"
# File of JSON lines -> its definition in the schema, in the order in which they are read.
LINES = {
    "guidelines.jsonl": "guideline",
    "members.jsonl": "member",
    "items.jsonl": "item",
    "assignments.jsonl": "assignment",
    "labels.jsonl": "segment_label",
    "submissions.jsonl": "submission",
    "decisions.jsonl": "decision",
}
MAX_PROBLEMS = 200

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StudyBundle:
    """What the files say. Rows are those of the schema; `traces` by the ids that items name."""

    study: Row
    traces: Mapping[str, TraceRecord]
    rows: Mapping[str, list[Row]] = field(default_factory=dict)


class _Problems:
    """What was found wrong, up to a number that a person can read."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, file: str, line: int | None, name: str, message: str, remedy: str = "") -> None:
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(Problem(file, line, name, message, remedy))


def read(files: Mapping[str, bytes]) -> tuple[StudyBundle | None, list[Problem]]:
    """Read the files of a study by name.

    Returns
    -------
    (bundle, problems)
        The bundle is None where there is any problem.
    """
    problems = _Problems()
    missing = [name for name in (STUDY, TRACES, *LINES) if name not in files]
    if missing:
        problems.add(
            missing[0], None, "", "the file is missing", "Import a whole, unchanged export of a study."
        )
        return None, problems.found
    study = _study(files[STUDY], problems)
    found = uroreason.read(files[TRACES], TRACES, ReadOptions())
    problems.found += found.problems
    rows = {name: list(_lines(name, kind, files[name], problems)) for name, kind in LINES.items()}
    if study is None or problems.found:
        return None, problems.found
    traces = {trace.id: trace for trace in found.traces}
    _check(traces, rows, problems)
    if problems.found:
        return None, problems.found
    plain = {name: [row for _, row in numbered] for name, numbered in rows.items()}
    return StudyBundle(study, traces, plain), []


def _study(data: bytes, problems: _Problems) -> Row | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        problems.add(STUDY, None, "", f"not valid JSON: {error}")
        return None
    return value if _fits(STUDY, None, "study", value, problems) else None


def _lines(name: str, kind: str, data: bytes, problems: _Problems) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.add(name, number, "", f"not valid JSON: {error}")
            continue
        if _fits(name, number, kind, value, problems):
            yield number, value


def _fits(name: str, line: int | None, kind: str, value: object, problems: _Problems) -> bool:
    fits = True
    for fault in _validator(kind).iter_errors(value):
        fits = False
        problems.add(name, line, ".".join(str(part) for part in fault.absolute_path), fault.message[:300])
    if fits and "\\u0000" in json.dumps(value):
        fits = False
        problems.add(name, line, "", "a text holds a NUL character", "Remove it.")
    return fits


@cache
def _validator(kind: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA_FILE.read_bytes())
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"})


Numbered = list[tuple[int, Row]]


def _check(traces: Mapping[str, TraceRecord], rows: Mapping[str, Numbered], problems: _Problems) -> None:
    """What the lines of one file name must be in the others, once."""
    items = {row["number"]: row for _, row in rows["items.jsonl"]}
    members = {row["pseudonym"]: row for _, row in rows["members.jsonl"]}
    guidelines = {row["number"] for _, row in rows["guidelines.jsonl"]}
    assignments = {(row["item"], row["member"]) for _, row in rows["assignments.jsonl"]}
    keys: dict[str, Callable[[Row], object]] = {
        "guidelines.jsonl": lambda row: row["number"],
        "members.jsonl": lambda row: row["pseudonym"],
        "items.jsonl": lambda row: row["number"],
        "assignments.jsonl": lambda row: (row["item"], row["member"]),
        "labels.jsonl": lambda row: (row["item"], row["member"], row["index"], row["round"]),
        "submissions.jsonl": lambda row: (row["item"], row["member"], row["number"]),
        "decisions.jsonl": lambda row: (row["item"], row["index"], row["number"]),
    }
    for name, key in keys.items():
        _once(name, rows[name], key, problems)
    _once("items.jsonl", rows["items.jsonl"], lambda row: row["trace"], problems, "trace")
    for line, row in rows["items.jsonl"]:
        if row["trace"] not in traces:
            problems.add(
                "items.jsonl", line, "trace", f"there is no trace {row['trace']!r}", f"Add it to {TRACES}."
            )
            continue
        for gold in row.get("gold", ()):
            _segment("items.jsonl", line, gold["index"], traces[row["trace"]], problems)
    people: list[tuple[str, str]] = [
        (name, "member") for name in ("assignments.jsonl", "labels.jsonl", "submissions.jsonl")
    ]
    for name, column in [*people, ("decisions.jsonl", "adjudicator")]:
        for line, row in rows[name]:
            if row[column] not in members:
                problems.add(
                    name,
                    line,
                    column,
                    f"{row[column]!r} is not one of the people in members.jsonl",
                    "Add a line for this person there, or correct the name.",
                )
            if row["item"] not in items:
                problems.add(name, line, "item", f"there is no item {row['item']}")
                continue
            if (
                name in ("labels.jsonl", "submissions.jsonl")
                and (row["item"], row["member"]) not in assignments
            ):
                problems.add(
                    name, line, "member", f"{row['member']!r} has no assignment to item {row['item']}"
                )
            trace = traces.get(items[row["item"]]["trace"])
            if trace is not None and "index" in row:
                _segment(name, line, row["index"], trace, problems)
                _spans(name, line, row, trace, problems)
            if "guideline" in row and row["guideline"] not in guidelines:
                problems.add(
                    name, line, "guideline", f"there is no version {row['guideline']} of the guideline"
                )
            if name == "submissions.jsonl":
                _submission(line, row, trace, problems)
            if row.get("cannot_judge") and row["label"] is not None:
                problems.add(
                    name, line, "label", "a segment that could not be judged has a label", "Write null."
                )


def _once(
    file: str,
    rows: Iterable[tuple[int, Row]],
    key: Callable[[Row], object],
    problems: _Problems,
    name: str = "",
) -> None:
    seen: dict[object, int] = {}
    for line, row in rows:
        first = seen.setdefault(key(row), line)
        if first != line:
            problems.add(file, line, name, f"the same as line {first}", "Remove one of them.")


def _segment(file: str, line: int, index: int, trace: TraceRecord, problems: _Problems) -> None:
    if not trace.context_segments < index <= len(trace.segments):
        what = f"S{index} is no reasoning segment of trace {trace.id!r}"
        problems.add(file, line, "index", what)


def _submission(line: int, row: Row, trace: TraceRecord | None, problems: _Problems) -> None:
    if sha256_of(row["labels"]) != row["labels_sha256"]:
        message = "the labels are not those that were handed in"
        problems.add("submissions.jsonl", line, "labels_sha256", message, "Import an unchanged export.")
    for label in row["labels"]:
        if trace is not None:
            _segment("submissions.jsonl", line, label["index"], trace, problems)


def _spans(file: str, line: int, row: Row, trace: TraceRecord, problems: _Problems) -> None:
    if not 0 < row["index"] <= len(trace.segments):
        return
    length = len(trace.segments[row["index"] - 1].text)
    for start, end in row.get("spans", ()):
        if not 0 <= start < end <= length:
            problems.add(
                file, line, "spans", f"[{start}, {end}] is not within the {length} characters of the segment"
            )
