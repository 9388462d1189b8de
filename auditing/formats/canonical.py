"""JSON in one canonical spelling, so that the same result always has the same bytes.

Keys are sorted (`schema` comes first, so that a reader knows at once what it has), numbers have their
shortest form (a whole number has no decimal point), there is no NaN, lines end with LF. That is the spirit
of the JSON Canonicalization Scheme (RFC 8785). Line separators that are not LF are written as escapes, so
that every tool agrees on where a line ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

_LARGEST_EXACT = 2**53
_SEPARATORS = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def canonical(value: object) -> Any:
    """Return `value` with plain containers, text keys, and whole floats as integers.

    Raises
    ------
    ValueError
        For NaN and infinite numbers, which JSON cannot say; use None for what is not defined.
    TypeError
        For a value that has no JSON form.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{value} cannot be written as JSON; a value that is not defined must be None.")
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_EXACT else float(value)
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=_key_order)}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form.")


def _key_order(key: object) -> tuple[bool, str]:
    return key != "schema", str(key)


def json_line(value: object) -> bytes:
    """Return one compact line of JSON (UTF-8) with its LF."""
    text = json.dumps(canonical(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_SEPARATORS).encode("utf-8") + b"\n"


def json_lines(values: Iterable[object]) -> bytes:
    """Return JSON lines, one value a line, in the order given."""
    return b"".join(json_line(value) for value in values)


def json_document(value: object) -> bytes:
    """Return one indented JSON document (UTF-8) that ends with LF, for people to read."""
    text = json.dumps(canonical(value), ensure_ascii=False, allow_nan=False, indent=1)
    return text.translate(_SEPARATORS).encode("utf-8") + b"\n"


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
