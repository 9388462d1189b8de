"""Rows of a benchmark as JSON lines (``"schema": "reasonaudit.benchmark-rows/1"``), one thing a line.

A line says by `kind` what it is: an ``answer`` with reasoning, a ``rollout`` (a bare answer), a ``rating`` by a judge
or a person, a ``reference``, a ``category``, or a judge's word on the ``difficulty``. benchmark_files.schema.json has
the fields. The reader also takes a JSON list, lines without `schema`, and stored answers as people have them: ``{"id"
or "question_id", "model" or "model_name", "response", "prediction" or "output"}``, whose other fields are ignored and
noted.

A rating may be any JSON value, or the judge's raw `reply`: what is on no scale is read as "no rating" by whoever takes
it, never as a number. Everything else that does not fit is a problem with its line and field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.formats.fields import Row, shown
from annotation.formats.json_input import iter_records
from annotation.formats.records import Problem, ReadOptions
from annotation.formats.source import BadRecord, Collector, decode
from auditing.core.anchor.parameters import SETTINGS
from auditing.core.anchor.taxonomy import HAND, IMPORTED
from auditing.formats.benchmark_boxes import boxes_of, sounds_of
from auditing.formats.benchmark_rows import (
    LONGEST_NAME,
    MAIN_REFERENCE,
    PERSON,
    AnswerRow,
    AnyRow,
    CategoryRow,
    DifficultyRow,
    RatingRow,
    ReferenceRow,
)

SCHEMA = "reasonaudit.benchmark-rows/1"
MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_ROWS = 200_000
LONGEST_ITEM = 200
LONGEST_TEXT = 200_000
LONGEST_WORDS = 20_000
MOST_ROLLOUTS = 1_000

FACETS = ("answer", "hallucination", "divergence", "correct")
REFERENCE_KINDS = ("refined", "generated")
STATUSES = ("given", "strict", "lenient")

_ANSWERED = {"item", "model", "setting", "take", "text"}
_KEYS: Mapping[str, set[str]] = {
    "answer": _ANSWERED | {"boxes", "sounds", "tracks", "events", "source"},
    "rollout": _ANSWERED | {"source"},
    "rating": {
        "item", "model", "setting", "take", "facet", "judge", "person", "rating", "reply", "words", "reference",
        "error", "status", "why",
    },
    "reference": {"item", "source", "reference_kind", "writer", "version", "text", "document", "origin"},
    "category": {"item", "category", "subcategory", "source", "confidence"},
    "difficulty": {"item", "judge", "matches", "similarity", "explanation"},
}  # fmt: skip
_PLAIN: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id", "question_id", "qid"),
    "model": ("model", "model_name"),
    "text": ("response", "prediction", "output"),
}


@dataclass(frozen=True, slots=True)
class BenchmarkRows:
    """Rows without a problem, the problems of the others, and what is worth knowing."""

    rows: list[AnyRow]
    problems: list[Problem]
    notes: list[str]
    filename: str = "file"


def read_rows(data: bytes, filename: str = "file") -> BenchmarkRows:
    """Read a file; never raises on its content."""
    collector = Collector(filename, ReadOptions())
    found: list[AnyRow] = []
    seen: dict[tuple[Any, ...], int] = {}
    notes: list[str] = []
    if len(data) > MAX_FILE_BYTES:
        message = f"the file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES // 1024**2} MiB"
        collector.problem(None, "", message, "Split the file into several.")
        return BenchmarkRows([], collector.problems, notes, filename)
    text = decode(data, collector)
    ignored: set[str] = set()
    if text is not None:
        for line, value in iter_records(text, collector):
            if collector.hopeless:
                notes.append("Reading stopped after too many problems; is it the right file?")
                break
            if len(found) == MAX_ROWS:
                collector.problem(line, "", f"more than {MAX_ROWS:,} rows", "Split the file into several.")
                break
            try:
                row = _row(Row(value, line, collector), ignored)
                key = _key(row)
                if key in seen:
                    message = f"the same is said in line {seen[key]} already"
                    raise collector.reject(line, "", message, "Give each row once.")
            except BadRecord:
                continue
            seen[key] = line
            found.append(row)
        if not found and not collector.problems:
            collector.problem(None, "", "the file holds no row", "Check that it is the right file.")
    if ignored:
        names = ", ".join(sorted(ignored)[:20])
        notes.append(f"Stored answers have fields that were ignored: {names}.")
    return BenchmarkRows(found, collector.problems, notes, filename)


def _row(row: Row, ignored: set[str]) -> AnyRow:
    schema = row.text("schema")
    if schema and schema != SCHEMA:
        raise row.fail("schema", f"unknown schema {shown(schema)}", f"Write {SCHEMA}, or leave it out.")
    kind = row.text("kind")
    if not kind:
        return _plain_answer(row, ignored)
    if kind not in _KEYS:
        raise row.fail("kind", f"unknown kind {shown(kind)}", f"Use {', '.join(_KEYS)}.")
    if unknown := sorted(set(row.values) - _KEYS[kind] - {"schema", "kind"}):
        raise row.fail(
            unknown[0][:60], f"there is no such field in a row of the kind {kind}",
            f"Use {', '.join(sorted(_KEYS[kind]))}.",
        )  # fmt: skip
    if kind in ("answer", "rollout"):
        return _answer(row, kind)
    if kind == "rating":
        return _rating(row)
    if kind == "difficulty":
        return _difficulty(row)
    return _reference(row) if kind == "reference" else _category(row)


def _plain_answer(row: Row, ignored: set[str]) -> AnswerRow:
    """Read a stored answer as evaluation scripts write it."""
    named = {}
    for name, choices in _PLAIN.items():
        there = [choice for choice in choices if row.has(choice)]
        if not there:
            raise row.fail(
                "kind" if name == "text" else choices[-1],
                f"the line has no kind, and as a stored answer it lacks {' or '.join(choices)}",
                f"Give kind ({', '.join(_KEYS)}), or the fields of a stored answer.",
            )
        named[name] = there[0]
    used = {*named.values(), "setting", "take", "schema"}
    ignored |= {name[:40] for name in row.values if name not in used}
    return AnswerRow(
        row.line,
        _item(row, named["item"]),
        "chain",
        _name(row, named["model"]),
        _long(row, named["text"]),
        _setting(row),
        _take(row),
    )


def _answer(row: Row, kind: str) -> AnswerRow:
    row.require("item", "model")
    if not isinstance(row.values.get("text"), str):
        raise row.fail(
            "text", "the text of the answer is missing", "Give it in quotation marks; it may be empty."
        )
    boxes, sounds = boxes_of(row), sounds_of(row)
    return AnswerRow(
        row.line,
        _item(row),
        "chain" if kind == "answer" else "rollout",
        _name(row, "model"),
        _long(row, "text"),
        _setting(row),
        _take(row),
        boxes,
        sounds,
        row.text("source")[:300],
        _parts(row, "tracks"),
        _parts(row, "events"),
    )


def _parts(row: Row, name: str) -> Mapping[str, Any]:
    value = row.values.get(name) or {}
    if not isinstance(value, dict):
        raise row.fail(name, "it is not an object by id", "Give it as in a video document.")
    return value


def _rating(row: Row) -> RatingRow:
    row.require("item", "model", "facet")
    facet = row.text("facet")
    if facet not in FACETS:
        raise row.fail("facet", f"unknown facet {shown(facet)}", f"Use {', '.join(FACETS)}.")
    if row.has("judge") == row.has("person"):
        raise row.fail("judge", "a rating is of a judge or of a person", "Give one of judge and person.")
    if sum(name in row.values for name in ("rating", "reply", "error")) != 1:
        raise row.fail("rating", "it must be clear what was said", "Give one of rating, reply and error.")
    source = PERSON + _name(row, "person") if row.has("person") else _name(row, "judge")
    if row.has("judge") and source.startswith(PERSON):
        raise row.fail("judge", f"a judge's name cannot begin with {PERSON}", "Give people as person.")
    words = row.text("words")
    if len(words) > LONGEST_WORDS:
        raise row.fail("words", f"{len(words):,} characters; the limit is {LONGEST_WORDS:,}", "Shorten them.")
    reference: str | None = MAIN_REFERENCE if facet != "correct" else None
    if "reference" in row.values:
        reference = _name(row, "reference") if row.has("reference") else None
    return RatingRow(
        row.line,
        _item(row),
        _name(row, "model"),
        facet,
        source,
        row.values.get("rating"),
        _long(row, "reply") if row.has("reply") else None,
        row.text("error")[:40] if "error" in row.values else None,
        words,
        _setting(row),
        _take(row),
        reference,
        _status(row),
        row.text("why")[:40],
    )


def _status(row: Row) -> str:
    status = row.text("status")
    if status and status not in STATUSES:
        raise row.fail("status", f"unknown status {shown(status)}", f"Use {', '.join(STATUSES)}, or nothing.")
    return status


def _reference(row: Row) -> ReferenceRow:
    row.require("item", "source", "reference_kind")
    kind = row.text("reference_kind")
    if kind not in REFERENCE_KINDS:
        raise row.fail(
            "reference_kind", f"unknown kind {shown(kind)}", f"Use {' or '.join(REFERENCE_KINDS)}."
        )
    if row.has("text") == row.has("document"):
        raise row.fail("text", "a reference is a text or a document", "Give one of text and document.")
    origin = row.values.get("origin") or {}
    if not isinstance(origin, dict):
        raise row.fail("origin", "it is not an object", "Leave it out.")
    return ReferenceRow(
        row.line,
        _item(row),
        _name(row, "source"),
        kind,
        row.text("writer")[:200],
        row.text("version")[:80],
        _long(row, "text"),
        row.values.get("document"),
        origin,
    )


def _category(row: Row) -> CategoryRow:
    row.require("item", "category", "source")
    source = _name(row, "source")
    if source in (HAND, IMPORTED):
        # Pages say so of labels that were given here, and of those that came with the questions.
        raise row.fail("source", f"{source} is no source of a label", "Name the model, or imported:PERSON.")
    return CategoryRow(
        row.line,
        _item(row),
        _name(row, "category"),
        _name(row, "subcategory") if row.text("subcategory").strip() else "",
        source,
        _share(row, "confidence"),
    )


def _share(row: Row, name: str) -> float | None:
    value = row.values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise row.fail(name, f"{shown(value)} is no share", "Give a number from 0 to 1, or null.")
    return float(value)


def _difficulty(row: Row) -> DifficultyRow:
    row.require("item", "judge", "matches", "similarity")
    matches, similarity = row.items("matches"), row.values["similarity"]
    if not 1 <= len(matches) <= MOST_ROLLOUTS or not all(isinstance(one, bool) for one in matches):
        remedy = "Give true or false for each rollout of the item, in the order of model and take."
        raise row.fail("matches", f"{shown(matches)} is not true or false for each rollout", remedy)
    if isinstance(similarity, bool) or similarity not in (1, 2, 3, 4, 5):
        raise row.fail("similarity", f"{shown(similarity)} is no similarity", "Give 1 (most) to 5 (least).")
    words = row.text("explanation")
    if len(words) > LONGEST_WORDS:
        message = f"{len(words):,} characters; the limit is {LONGEST_WORDS:,}"
        raise row.fail("explanation", message, "Shorten it.")
    given = tuple(one is True for one in matches)
    return DifficultyRow(row.line, _item(row), _name(row, "judge"), given, int(similarity), words)


def _setting(row: Row) -> str:
    setting = row.text("setting", "full")
    if setting not in SETTINGS:
        raise row.fail("setting", f"unknown setting {shown(setting)}", f"Use {', '.join(SETTINGS)}.")
    return setting


def _take(row: Row) -> int:
    take = row.integer("take") if row.has("take") else 1
    if take is None or not 1 <= take <= 1_000:
        raise row.fail("take", f"{shown(take)} is no number of a try", "Count from 1, up to 1,000.")
    return take


def _name(row: Row, name: str) -> str:
    text = " ".join(row.text(name).split())
    if not 1 <= len(text) <= LONGEST_NAME:
        raise row.fail(name, f"the name has {len(text):,} characters", f"Use 1 to {LONGEST_NAME}.")
    return text


def _item(row: Row, name: str = "item") -> str:
    """The id of a question, as the import of questions takes it."""
    text = row.text(name).strip()
    if not 1 <= len(text) <= LONGEST_ITEM:
        raise row.fail(name, f"the id has {len(text):,} characters", f"Use 1 to {LONGEST_ITEM}.")
    return text


def _long(row: Row, name: str) -> str:
    text = row.text(name)
    if len(text) > LONGEST_TEXT:
        raise row.fail(name, f"{len(text):,} characters; the limit is {LONGEST_TEXT:,}", "Shorten the text.")
    return text


def _key(row: AnyRow) -> tuple[Any, ...]:
    """What may be said once in a file."""
    if isinstance(row, AnswerRow):
        return row.role, row.item, row.model, row.setting, row.take
    if isinstance(row, RatingRow):
        return "rating", row.item, row.model, row.setting, row.take, row.facet, row.source, row.reference
    if isinstance(row, ReferenceRow):
        return "reference", row.item, row.source
    if isinstance(row, DifficultyRow):
        return "difficulty", row.item, row.judge
    return "category", row.item, row.source
