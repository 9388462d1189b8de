"""The files of an exported benchmark: what a line of each may say, and their reader.

`benchmark_bundle.schema.json` describes each file. The reader goes through them once, line by line, and hands on every
line that fits: right by itself, not said before, and about an item, an answer and a reference that the bundle has. What
does not fit is a problem with file, line and field. Ratings of a large benchmark are never in memory at once.

In lines, `item` is the id of the question. People are ``rater-1`` and so on. What a rating, a judgement or a score is
about are the present answers and references, unless the line carries hashes of others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.formats.records import MAX_PROBLEMS, Problem
from annotation.formats.source import unstorable
from auditing.formats import benchmark_bundle_fields as checks
from auditing.formats.benchmark_bundle_fields import Check, Row

SCHEMA = "reasonaudit.benchmark/1"
SCHEMA_FILE = Path(__file__).with_name("benchmark_bundle.schema.json")
BENCHMARK = "benchmark.json"
ITEMS = "items.jsonl"
REFERENCES = "references.jsonl"
ANSWERS = "answers.jsonl"
RATINGS = "ratings.jsonl"
DIFFICULTY = "difficulty.jsonl"
TAXONOMY = "taxonomy.jsonl"
GROUNDING = "grounding.jsonl"
LINES: Mapping[str, str] = {
    ITEMS: "item",
    REFERENCES: "reference",
    ANSWERS: "answer",
    RATINGS: "rating",
    DIFFICULTY: "judgement",
    TAXONOMY: "label",
    GROUNDING: "score",
}
"""File of JSON lines -> its definition in the schema, in the order in which they are read."""

WHOLE = "Import a whole, unchanged export of a benchmark."
UNCHANGED = "Import an unchanged export, or correct the line."
_SEPARATORS = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_ODD = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")

AnswerKey = tuple[str, str, str, str, int]


def json_line(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line of JSON with sorted keys.

    Numbers stay as they are (10.0 is not 10): documents are known by the hash of their JSON.
    """
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.translate(_SEPARATORS).encode("utf-8") + b"\n"


def answer_key(row: Row) -> AnswerKey:
    """Return what names an answer, in its own line and in those about it."""
    return row["item"], row["role"], row["model"], row["setting"], row["take"]


def lines(folder: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a file that was read before without a problem."""
    with (folder / name).open("rb") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


class BundleReader:
    """Reads the files of a folder whose checksums were found right.

    Attributes
    ----------
    head : dict or None
        What benchmark.json says; None where it cannot be used.
    problems : list of Problem
        Grows while lines are read; beyond `MAX_PROBLEMS` they are only counted.
    problem_count : int
        Of all problems.
    counts : dict of str to int
        Lines that fit, by file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.counts: dict[str, int] = {}
        self._items: set[str] = set()
        self._references: set[tuple[str, str]] = set()
        self._answers: set[AnswerKey] = set()
        self._seen: dict[Any, int] = {}
        self.head = self._head()

    def problem(self, file: str, line: int | None, field: str, message: str, remedy: str = "") -> None:
        """Collect a problem."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(file, line, field, message, remedy))

    def items(self) -> list[tuple[int, Row]]:
        """Return the items with their lines; to be asked before `others`."""
        if missing := [name for name in LINES if not (self._folder / name).is_file()]:
            self.problem(missing[0], None, "", "the file is missing", WHOLE)
            return []
        found = list(self._rows(ITEMS))
        if not found and not self.problem_count:
            self.problem(ITEMS, None, "", "the file has no item", WHOLE)
        return found

    def others(self) -> Iterator[tuple[str, int, Row]]:
        """Yield file, line and row of everything else, references and answers first."""
        for name in LINES:
            if name == ITEMS or not (self._folder / name).is_file():
                continue
            for line, row in self._rows(name):
                yield name, line, row

    def _head(self) -> Row | None:
        path = self._folder / BENCHMARK
        if not path.is_file():
            self.problem(BENCHMARK, None, "", "the file is missing", WHOLE)
            return None
        row = self._parsed(BENCHMARK, None, path.read_bytes())
        return row if row is not None and self._fits(BENCHMARK, None, row, checks.HEAD) else None

    def _rows(self, name: str) -> Iterator[tuple[int, Row]]:
        fields = checks.FIELDS[LINES[name]]
        self.counts[name] = 0
        self._seen = {}
        with (self._folder / name).open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                row = self._parsed(name, number, line)
                if row is None or not self._fits(name, number, row, fields):
                    continue
                if self._is_about_something(name, number, row) and self._is_new(name, number, row):
                    self.counts[name] += 1
                    yield number, row

    def _parsed(self, name: str, line: int | None, data: bytes) -> Row | None:
        try:
            row = json.loads(data.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            self.problem(name, line, "", f"it is not valid JSON: {str(error)[:120]}", UNCHANGED)
            return None
        if not isinstance(row, dict):
            self.problem(name, line, "", "it is not a JSON object", UNCHANGED)
            return None
        if _ODD.search(data) and (why := next(filter(None, map(unstorable, _texts(row))), None)):
            self.problem(name, line, "", f"a text {why}", "Remove that character.")
            return None
        return row

    def _fits(self, name: str, line: int | None, row: Row, fields: Mapping[str, Check]) -> bool:
        field, said = checks.fault(row, fields)
        if not said and name == RATINGS:
            field, said = checks.rating_fault(row)
        if not said and name == TAXONOMY and (row["source"] is None) == (row["person"] is None):
            field, said = "source", "a label is of a model or of a person"
        if said:
            self.problem(name, line, field, said, UNCHANGED)
        return not said

    def _is_about_something(self, name: str, line: int, row: Row) -> bool:
        """Whether what a line names is in the bundle."""
        if name == ITEMS:
            return True
        said = ""
        if row["item"] not in self._items:
            said = f"there is no item {row['item'][:80]!r}"
        elif name in (RATINGS, GROUNDING):
            if answer_key(row) not in self._answers:
                said = f"there is no such answer of {row['model'][:80]!r}"
            elif row["reference"] is not None and (row["item"], row["reference"]) not in self._references:
                said = f"the item has no reference {row['reference'][:80]!r}"
        if said:
            self.problem(name, line, "item", said, UNCHANGED)
        return not said

    def _is_new(self, name: str, line: int, row: Row) -> bool:
        """Whether a line says something that was not said before; it is remembered."""
        keys = [(name, *_KEYS[name](row))]
        if name == ITEMS:
            keys.append((ITEMS, row["number"]))
        for key in keys:
            if (first := self._seen.setdefault(key, line)) != line:
                self.problem(
                    name, line, "", f"the same is said in line {first} already", "Remove one of them."
                )
                return False
        if name == ITEMS:
            self._items.add(row["item"])
        elif name == REFERENCES:
            self._references.add((row["item"], row["source"]))
        elif name == ANSWERS:
            self._answers.add(answer_key(row))
        return True


_KEYS: Mapping[str, Any] = {
    ITEMS: lambda row: (row["item"],),
    REFERENCES: lambda row: (row["item"], row["source"]),
    ANSWERS: answer_key,
    RATINGS: lambda row: (
        *answer_key(row),
        row["facet"],
        row["reference"],
        row["judge"],
        row["person"],
    ),
    DIFFICULTY: lambda row: (row["item"], row["judge"]),
    TAXONOMY: lambda row: (row["item"], row["source"], row["person"]),
    GROUNDING: lambda row: (*answer_key(row), row["reference"]),
}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(literal: str) -> float:
    if (value := float(literal)) in (float("inf"), float("-inf")):
        raise ValueError(f"{literal[:20]} is larger than any number that can be stored")
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
