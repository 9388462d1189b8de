"""From the bytes of a file to the objects in it: JSON, one JSON object a line, or a table (CSV, TSV)."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from videos.formats.question_sets.fields import Unreadable
from videos.formats.question_sets.values import Wrong

# Objects that hold the list of items under one of these names.
LISTS = ("items", "questions", "data", "rows")
# Columns of a table that may hold a list.
LIST_COLUMNS = frozenset({"options", "choices", "candidates", "multi_choice", "question_type"})
_QUESTION_COLUMNS = frozenset({"question", "question_text"})
_STRING = re.compile(r"""\s*,?\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""", re.DOTALL)
_ESCAPED = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_BINARY = {
    b"PAR1": ("a Parquet file", "Export it as JSON Lines or CSV first."),
    b"PK\x03\x04": ("a ZIP archive", "Unpack it first."),
    b"\x1f\x8b": ("compressed by gzip", "Unpack it first."),
}


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a file.

    `top` are the values that it holds: those of its list, of its lines, or the one object. `rows` are the items in
    them, where an object names their list. `text` is the file as text, `stem` its name without folder and ending.
    """

    top: list[Any] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    text: str = ""
    stem: str = ""


def content(data: bytes, name: str = "") -> Content:
    """Read a file. Raises `Wrong` where it is empty or no text; plain text gives a content without values."""
    for start, (what, remedy) in _BINARY.items():
        if data.startswith(start):
            raise Wrong("", f"the file is {what}", remedy)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Wrong("", f"byte {error.start:,} of the file is no UTF-8", "Save the file as UTF-8.") from None
    if not text.strip():
        raise Wrong("", "the file is empty", "Choose a file with questions.")
    stem = PurePosixPath(name.replace("\\", "/")).stem
    top = _values(text)
    return Content(top, _rows(top), text, stem)


def no_json(text: str) -> Wrong:
    """Return why a text is no JSON."""
    try:
        _parsed(text)
    except ValueError as error:
        return Wrong("", f"the file is no JSON: {error}", "Export it again as JSON.")
    return Wrong("", "the file holds neither a list of items nor an object", "Export it again.")


def _values(text: str) -> list[Any]:
    try:
        found = _parsed(text)
    except ValueError:
        return _lines(text) or _table(text)
    if isinstance(found, list):
        return found
    return [found] if isinstance(found, Mapping) else []


def _lines(text: str) -> list[Any]:
    try:
        return [_parsed(line) for line in text.split("\n") if line.strip()]
    except ValueError:
        return []


def _rows(top: list[Any]) -> list[Any]:
    if len(top) != 1 or not isinstance(top[0], Mapping):
        return top
    for name in LISTS:
        if isinstance(found := top[0].get(name), list):
            # The viewer of a well-known hub wraps each row once more.
            inner = [each.get("row") if isinstance(each, Mapping) else None for each in found]
            wrapped = name == "rows" and inner and all(isinstance(each, Mapping) for each in inner)
            return inner if wrapped else list(found)
    return top


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")


def _table(text: str) -> list[Any]:
    """Rows of a table whose header names a column of questions; none where there is no such header."""
    header = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = "\t" if "\t" in header else ","
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
        if not _QUESTION_COLUMNS & {name.strip() for name in names}:
            return []
        rows = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=delimiter, strict=True)
        names = [name.strip() for name in next(rows)]
        return [_row(names, row) for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise Wrong("", f"the table cannot be read: {error}", "Export it again.") from None


def _row(names: list[str], cells: list[str]) -> Any:
    if len(cells) != len(names):
        return Unreadable(
            f"the row has {len(cells)} cells and the header {len(names)}",
            "Put texts with the separator or line breaks in quotation marks.",
        )
    row: dict[str, Any] = {
        name: cell if cell.strip() else None for name, cell in zip(names, cells, strict=True)
    }
    for name in LIST_COLUMNS & row.keys():
        if (parts := strings(row[name] or "")) is not None:
            row[name] = parts
    return row


def strings(cell: str) -> list[str] | None:
    """Return the texts of a list written in a cell, as JSON, Python or NumPy write one; None where it is no such list.

    NumPy sets no commas between them, so that Python itself would read two texts as one.
    """
    inner = cell.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return None
    try:
        parsed = _parsed(inner)
    except ValueError:
        parsed = None
    if isinstance(parsed, list) and all(isinstance(each, str) for each in parsed):
        return parsed
    found: list[str] = []
    inner, at = inner[1:-1], 0
    while match := _STRING.match(inner, at):
        quoted = match[1] if match[1] is not None else match[2]
        found.append(_ESCAPED.sub(_unescaped, quoted))
        at = match.end()
    return found if not inner[at:].strip(" \t\r\n,") else None


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        value = int(code[1:], 16)
        return chr(value) if value <= 0x10FFFF else match[0]
    return {"n": "\n", "t": "\t", "r": "\r", "\n": ""}.get(code, code)
