"""All formats by name, and a guess at the format of a file from its content."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from annotation.formats import (
    bb_mistake,
    entailmentbank,
    hard2verify,
    mr_ben,
    parc,
    plain_csv,
    processbench,
    uroreason,
)
from annotation.formats.records import Problem, ReadOptions, ReadResult
from annotation.formats.source import Collector, decode

write_uroreason = uroreason.write


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read. `read(data, filename, options)` returns problems, never raises them."""

    name: str
    title: str
    extensions: tuple[str, ...]
    description: str
    has_relations: bool
    read: Callable[[bytes, str, ReadOptions], ReadResult]


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            "uroreason",
            "reasonaudit JSON lines",
            (".jsonl", ".json"),
            "The project's own format: cases, traces, gold labels and stored relations.",
            True,
            uroreason.read,
        ),
        Format(
            "csv",
            "Plain table",
            (".csv", ".tsv", ".txt"),
            "One row a segment; comma, semicolon or tab.",
            False,
            plain_csv.read,
        ),
        Format(
            "parc",
            "PARC",
            (".json", ".jsonl"),
            "Mathematical traces with annotated premises and errors; premises become stored relations.",
            True,
            parc.read,
        ),
        Format(
            "processbench",
            "ProcessBench",
            (".json", ".jsonl"),
            "Mathematical solutions with the first wrong step marked.",
            False,
            processbench.read,
        ),
        Format(
            "mr_ben",
            "MR-Ben",
            (".json", ".jsonl"),
            "Multiple-choice questions with checked solutions, medicine among them.",
            False,
            mr_ben.read,
        ),
        Format(
            "entailmentbank",
            "EntailmentBank",
            (".jsonl",),
            "Human-written entailment trees; proof steps become stored relations.",
            True,
            entailmentbank.read,
        ),
        Format(
            "hard2verify",
            "Hard2Verify",
            (".jsonl", ".json"),
            "Olympiad answers with a label for every step; masked rows are opened.",
            False,
            hard2verify.read,
        ),
        Format(
            "bb_mistake",
            "BIG-Bench Mistake",
            (".jsonl",),
            "Chains of thought with the first mistake marked.",
            False,
            bb_mistake.read,
        ),
    )
}

ALIASES = {
    "native": "uroreason",
    "jsonl": "uroreason",
    "reasonaudit": "uroreason",
    "tsv": "csv",
    "mrben": "mr_ben",
    "mr-ben": "mr_ben",
    "big-bench-mistake": "bb_mistake",
    "bigbench_mistake": "bb_mistake",
}


def get_format(name: str) -> Format:
    """The format of that name or alias. Raises ValueError that lists the names."""
    key = name.strip().casefold()
    found = FORMATS.get(ALIASES.get(key, key))
    if found is None:
        raise ValueError(f"Unknown format {name[:60]!r}. Choose one of: {', '.join(FORMATS)}.")
    return found


# Which keys of a record give a format away; the first row that fits decides.
_SIGNATURES: tuple[tuple[str, frozenset[str]], ...] = (
    ("parc", frozenset({"premise_annotation", "steps"})),
    ("entailmentbank", frozenset({"hypothesis", "proof"})),
    ("hard2verify", frozenset({"model_response_by_step"})),
    ("mr_ben", frozenset({"Model_Solution_Steps"})),
    ("bb_mistake", frozenset({"mistake_index", "steps", "input"})),
    ("processbench", frozenset({"problem", "steps", "label"})),
    ("uroreason", frozenset({"segments"})),
    ("uroreason", frozenset({"raw_text"})),
)


def detect(data: bytes, filename: str) -> str | None:
    """The name of the format that the content looks like, or None; reads one record and never raises."""
    text = data.decode("utf-8-sig", "replace").lstrip()
    if text.startswith(("{", "[")):
        return _detect_json(text)
    if PurePath(filename).suffix.casefold() in FORMATS["csv"].extensions or text:
        _, columns, _ = plain_csv.header_of(text)
        if "text" in columns.values():
            return "csv"
    return None


def unrecognised(data: bytes, filename: str) -> Problem:
    """Why `detect` found no format: the file is not text, is no JSON though it starts so, or is something else."""
    collector = Collector(filename, ReadOptions())
    text = decode(data, collector)
    if text is None:
        return collector.problems[0]
    choice = f"choose the format: {', '.join(FORMATS)}."
    start = text.lstrip()
    if start.startswith("<"):
        return Problem(
            filename, None, "", "this is a web page or XML, not a file of traces", "Download the file itself."
        )
    if start.startswith(("{", "[")):
        first = start[1:].lstrip() if start.startswith("[") else start
        try:
            json.JSONDecoder().raw_decode(first)
        except (ValueError, RecursionError):
            message = "the file starts like JSON, but its first record is cut off or not valid JSON"
            return Problem(filename, 1, "", message, f"Correct it or export it again, or {choice}")
    return Problem(filename, None, "", "the format was not recognised", choice.capitalize())


def _detect_json(text: str) -> str | None:
    start = 1 if text.startswith("[") else 0
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if str(value.get("schema", "")).startswith("reasonaudit.trace/"):
        return "uroreason"
    keys = set(value)
    first = next(iter(value.values()), None)
    if isinstance(first, list) and first and isinstance(first[0], dict):
        keys |= set(first[0]) & {"Model_Solution_Steps"}
    return next((name for name, signature in _SIGNATURES if signature <= keys), None)
