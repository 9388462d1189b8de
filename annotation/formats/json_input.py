"""JSON lines, a JSON array, or one JSON object, each record with the line on which it starts.

Strict where JSON is strict: NaN, Infinity, numbers that overflow, keys given twice, deep nesting and
integers of more than 20 digits are problems, because another program would read them differently or not at
all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from annotation.formats.source import Collector, unstorable

MAX_DEPTH = 64
MAX_DIGITS = 20
_SPACE = " \t\r\n"


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON; write null or a number")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits.lstrip('-'))} digits; at most {MAX_DIGITS} are read")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:60]!r} occurs twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_constant=_constant, parse_int=_integer, parse_float=_float, object_pairs_hook=_object
)


def _fault(error: Exception) -> tuple[str, int]:
    """A sentence for a failed parse and the offset at which it failed (0 if not known)."""
    if isinstance(error, RecursionError):
        return f"nested more than {MAX_DEPTH} levels deep", 0
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} (column {error.colno})", error.pos
    return f"not valid JSON: {error}", 0


def _too_deep(value: object) -> bool:
    """True if a parsed value nests deeper than MAX_DEPTH; iterative, so that depth itself cannot hurt."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = below
    return True


def _check(value: object, raw_has_escapes: bool, line: int, collector: Collector) -> bool:
    """Depth and unstorable characters of a parsed value; False after collecting a problem."""
    if _too_deep(value):
        collector.problem(line, "", f"nested more than {MAX_DEPTH} levels deep", "Flatten the record.")
        return False
    if raw_has_escapes:
        stack: list[tuple[str, object]] = [("", value)]
        while stack:
            name, item = stack.pop()
            if isinstance(item, dict):
                stack.extend((f"{name}.{key}" if name else str(key), child) for key, child in item.items())
                bad = next((reason for key in item if (reason := unstorable(key))), None)
            elif isinstance(item, list):
                stack.extend((f"{name}[{i + 1}]", child) for i, child in enumerate(item))
                bad = None
            else:
                bad = unstorable(item) if isinstance(item, str) else None
            if bad:
                collector.problem(line, name, f"the text {bad}", "Remove the \\u escape.")
                return False
    return True


def _has_escapes(raw: str) -> bool:
    return "\\u0000" in raw or "\\ud" in raw or "\\uD" in raw


def iter_records(
    text: str, collector: Collector, *, array_is_usual: bool = False
) -> Iterator[tuple[int, object]]:
    """Yield (line, value) for each record: the lines of JSON lines, the items of an array, or one object.

    A line that does not parse is collected as a problem and the next one is tried; a fault inside an array
    ends it.
    """
    start = _skip_space(text, 0)
    if start < len(text) and text[start] == "[":
        if not array_is_usual:
            collector.note(1, "the file is one JSON array, read as if it had one record a line.")
        yield from _iter_array(text, start, collector)
        return
    if _is_one_document(text, start):
        line = text.count("\n", 0, start) + 1
        parsed = _parse_at(text, start, line, collector)
        if parsed is not None:
            _check_rest(text, parsed[1], collector)
            yield line, parsed[0]
        return
    number = 0
    position = 0
    while position < len(text) and not collector.hopeless:
        end = text.find("\n", position)  # only \n ends a line: JSON strings may hold other line separators
        end = len(text) if end < 0 else end
        number += 1
        row = text[position:end].strip(_SPACE)
        position = end + 1
        if not row:
            continue
        try:
            value_of_line: object = _DECODER.decode(row)
        except (ValueError, RecursionError) as error:
            message, _ = _fault(error)
            collector.problem(number, "", message, "Each line must be one whole JSON object.")
            continue
        if _check(value_of_line, _has_escapes(row), number, collector):
            yield number, value_of_line


def parse_value(text: str) -> object:
    """A JSON value under the same rules, or the text itself where it is not JSON."""
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
    return text if _too_deep(value) else value


def iter_object_items(text: str, collector: Collector) -> Iterator[tuple[int, str, object]] | None:
    """(line, key, value) of a file that is one JSON object; None if it is something else."""
    start = _skip_space(text, 0)
    if not _is_one_document(text, start):
        return None
    return _iter_object(text, start, collector)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _is_one_document(text: str, start: int) -> bool:
    """True for an object that spreads over lines: its first line alone is not a whole value."""
    if start >= len(text) or text[start] != "{":
        return False
    end = text.find("\n", start)
    if end < 0 or not text[end:].strip(_SPACE):
        return True
    return text[start:end].strip(_SPACE).endswith(("{", "[", ","))


def _parse_at(text: str, position: int, line: int, collector: Collector) -> tuple[object, int] | None:
    """The value that starts at `position` and where it ends, or None after collecting a problem."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError) as error:
        message, where = _fault(error)
        at = text.count("\n", 0, where) + 1 if where else line
        collector.problem(at, "", message, "Correct the JSON; the records after this place were not read.")
        return None
    if not _check(value, _has_escapes(text[position:end]), line, collector):
        return None
    return value, end


def _iter_array(text: str, start: int, collector: Collector) -> Iterator[tuple[int, object]]:
    position = _skip_space(text, start + 1)
    line = text.count("\n", 0, position) + 1
    if text[position : position + 1] == "]":
        _check_rest(text, position + 1, collector)
        return
    while True:
        parsed = _parse_at(text, position, line, collector)
        if parsed is None:
            return
        value, end = parsed
        yield line, value
        comma = _skip_space(text, end)
        if text[comma : comma + 1] == "]":
            _check_rest(text, comma + 1, collector)
            return
        line += text.count("\n", position, comma)
        if text[comma : comma + 1] != ",":
            collector.problem(line, "", "the array is not closed", "The file seems cut off; export it again.")
            return
        position = _skip_space(text, comma + 1)
        line += text.count("\n", comma, position)


def _iter_object(text: str, start: int, collector: Collector) -> Iterator[tuple[int, str, object]]:
    position = _skip_space(text, start + 1)
    line = text.count("\n", 0, position) + 1
    seen: set[str] = set()
    if text[position : position + 1] == "}":
        _check_rest(text, position + 1, collector)
        return
    while True:
        key = _parse_at(text, position, line, collector)
        if key is None:
            return
        name, end = key
        colon = _skip_space(text, end)
        if not isinstance(name, str) or text[colon : colon + 1] != ":":
            collector.problem(line, "", "not valid JSON: a key and a colon are expected", "Correct the JSON.")
            return
        if name in seen:
            collector.problem(
                line, name[:60], f"the key {name[:60]!r} occurs twice", "Give each record its own key."
            )
            return
        seen.add(name)
        parsed = _parse_at(text, _skip_space(text, colon + 1), line, collector)
        if parsed is None:
            return
        value, end = parsed
        yield line, name, value
        comma = _skip_space(text, end)
        if text[comma : comma + 1] == "}":
            _check_rest(text, comma + 1, collector)
            return
        line += text.count("\n", position, comma)
        if text[comma : comma + 1] != ",":
            collector.problem(
                line, "", "the object is not closed", "The file seems cut off; export it again."
            )
            return
        position = _skip_space(text, comma + 1)
        line += text.count("\n", comma, position)


def _check_rest(text: str, position: int, collector: Collector) -> None:
    rest = _skip_space(text, position)
    if rest < len(text):
        line = text.count("\n", 0, rest) + 1
        collector.problem(line, "", "text after the end of the JSON document", "Remove it.")
