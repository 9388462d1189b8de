"""The value of a written sum, exactly: numbers, + - * /, brackets. Nothing is ever executed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_CHARACTERS = 120
MAX_DIGITS = 12

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([-+*/()]))")
_SIGNS = str.maketrans(
    {"\u00d7": "*", "x": "*", "X": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-"}
)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The value of an expression, and the numbers that it is made of, in order."""

    value: Fraction
    numbers: tuple[Fraction, ...]


def evaluate(text: str) -> Evaluated | None:
    """Return the exact value of an arithmetic expression.

    Parameters
    ----------
    text
        At most `MAX_CHARACTERS` of numbers without sign (of `MAX_DIGITS` digits at most), ``+ - * /`` (also the signs
        of print) with the usual precedence, a minus before an operand, and round brackets.

    Returns
    -------
    Evaluated or None
        None where the text is something else, is too long, or divides by zero.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    tokens = _tokens(text.translate(_SIGNS).strip())
    if not tokens:
        return None
    try:
        value, end = _sum(tokens, 0)
    except (_UnreadableError, ZeroDivisionError):
        return None
    if end != len(tokens):
        return None
    return Evaluated(value, tuple(token for token in tokens if isinstance(token, Fraction)))


class _UnreadableError(Exception):
    pass


def _tokens(text: str) -> list[Fraction | str]:
    found: list[Fraction | str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or len(match[1] or "") > MAX_DIGITS:
            return []
        found.append(Fraction(match[1]) if match[1] else match[2])
        position = match.end()
    return found


def _sum(tokens: list[Fraction | str], place: int) -> tuple[Fraction, int]:
    value, place = _product(tokens, place)
    while place < len(tokens) and tokens[place] in ("+", "-"):
        right, after = _product(tokens, place + 1)
        value = value + right if tokens[place] == "+" else value - right
        place = after
    return value, place


def _product(tokens: list[Fraction | str], place: int) -> tuple[Fraction, int]:
    value, place = _operand(tokens, place)
    while place < len(tokens) and tokens[place] in ("*", "/"):
        right, after = _operand(tokens, place + 1)
        value = value * right if tokens[place] == "*" else value / right
        place = after
    return value, place


def _operand(tokens: list[Fraction | str], place: int) -> tuple[Fraction, int]:
    item = tokens[place] if place < len(tokens) else ""
    if isinstance(item, Fraction):
        return item, place + 1
    if item == "-":
        value, after = _operand(tokens, place + 1)
        return -value, after
    if item == "(":
        value, after = _sum(tokens, place + 1)
        if after < len(tokens) and tokens[after] == ")":
            return value, after + 1
    raise _UnreadableError
