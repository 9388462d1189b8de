"""JSON values: when two are the same, and one way only to write them.

Source: RFC 8785 (canonical JSON). Choices, in words: numbers are equal by value (1 is 1.0), but true is never 1; what
is written is what a browser writes for the same value, so that both sides can compare hashes.
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_TEXT = json.JSONEncoder(ensure_ascii=False).encode


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: numbers by value, and true is not 1."""
    return bool(a == b) and _same_kinds(a, b)


def canonical(value: Any) -> bytes:
    """Write a JSON value in one form only: keys sorted, no spaces, numbers as JavaScript writes them (RFC 8785).

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts).encode()


def _same_kinds(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping):
        return all(_same_kinds(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)):
        return all(map(_same_kinds, a, b))
    return isinstance(a, bool) == isinstance(b, bool)


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, Mapping):
        parts.append("{")
        # As UTF-16, which is how JavaScript compares texts.
        for place, key in enumerate(sorted(value, key=lambda text: text.encode("utf-16-be"))):
            parts.append(("," if place else "") + _TEXT(key) + ":")
            _write(value[key], parts)
        parts.append("}")
    elif isinstance(value, (list, tuple)):
        parts.append("[")
        for place, item in enumerate(value):
            parts.append("," if place else "")
            _write(item, parts)
        parts.append("]")
    elif isinstance(value, float):
        parts.append(_number(value))
    else:
        parts.append(_TEXT(value))


def _number(value: float) -> str:
    """Write a float as JavaScript does: shortest digits, an exponent only below 1e-6 and from 1e21."""
    text = repr(value)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no JSON number.")
    if "e" not in text:
        return "0" if value == 0 else text.removesuffix(".0")
    if not 1e-6 <= abs(value) < 1e21:
        digits, _, exponent = text.partition("e")
        return f"{digits}e{int(exponent):+d}"
    return format(Decimal(text), "f")
