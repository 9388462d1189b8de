"""What a panel judge's reply says: a rating from 1 to 5, its words, and why there is no rating.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", supplement, judge prompts ("The first
line of your response must contain only the JSON rating"). Choices where the paper is open (spec D3), in words:

- "strict" is the form that was asked for. "lenient" forgives a code fence, doubled braces, marks around the JSON, text
  after it, further keys, and 4.0 or "4" for 4. Anything else is invalid: there is no rating, and never a guess.
- A rating stands in the first line. A number in a sentence, or JSON below one, is not a rating.
- Numbers are compared exactly, so that 4.999999999999999999 is no 5. JSON that names a key twice has no rating.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

SCALE = (1, 2, 3, 4, 5)
"""The Likert scale of all judged facets; 5 is best, of hallucination too (5 = none)."""

MOST_REASKS = 2
"""How often an invalid reply is asked again before the rating counts as missing."""

Status = Literal["strict", "lenient", "invalid"]

REASONS: dict[str, str] = {
    "empty": "The reply is empty.",
    "no_json": "The first line is not the JSON that was asked for.",
    "not_an_object": "The first line is JSON, but not an object with a rating.",
    "no_rating": 'The JSON has no "rating".',
    "two_ratings": "The JSON names one key twice, so it does not say which rating counts.",
    "not_a_number": "The rating is not a number.",
    "not_whole": "The rating is not a whole number.",
    "out_of_range": "The rating is not between 1 and 5.",
}
"""Sentence for each reason why a reply is invalid."""

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n[ \t]*```(.*)", re.DOTALL)
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class RatingReading:
    """What a reply says.

    Attributes
    ----------
    rating : int or None
        1 to 5; None if the reply is invalid.
    justification : str
        The judge's words after the rating; of an invalid reply, all of its text.
    status : {"strict", "lenient", "invalid"}
        How the rating was found.
    why : str
        Key of `REASONS`; empty unless invalid.
    """

    rating: int | None
    justification: str
    status: Status
    why: str = ""

    @property
    def message(self) -> str:
        """The reason as a sentence; empty unless invalid."""
        return REASONS.get(self.why, "")


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """How many replies were read in which way; `why` counts the invalid ones by reason, most frequent first."""

    strict: int
    lenient: int
    invalid: int
    why: dict[str, int]


class _TwiceError(ValueError):
    """A JSON object names a key twice."""


def read_rating(text: str) -> RatingReading:
    """Read a judge's reply; raises nothing, whatever the text is.

    Parameters
    ----------
    text : str
        The reply as it came.
    """
    first, _, rest = text.partition("\n")
    strict = _strict(first)
    if strict is not None:
        return RatingReading(strict, rest.strip(), "strict")
    return _lenient(unfence(text))


def count_replies(readings: Iterable[RatingReading]) -> ReplyCounts:
    """Count replies by status, and the invalid ones by reason."""
    found: list[RatingReading] = list(readings)
    status = Counter(reading.status for reading in found)
    why = Counter(reading.why for reading in found if reading.why)
    ordered = sorted(why.items(), key=lambda entry: (-entry[1], entry[0]))
    return ReplyCounts(status["strict"], status["lenient"], status["invalid"], dict(ordered))


def decode_json(text: str) -> tuple[Any, int]:
    """Return the JSON value at the start of a text and where it ends; numbers with a point are Decimals.

    Raises
    ------
    ValueError
        If there is none, or an object in it names a key twice.
    """
    try:
        return _decoder.raw_decode(text)
    except (ArithmeticError, RecursionError) as error:
        raise ValueError("the JSON is nested too deep, or has a number that is too long") from error


def unfence(text: str) -> str:
    """Return the text without byte order mark, outer spaces and a code fence at its start; what follows it stays."""
    text = text.strip().removeprefix(_BOM).strip()
    if match := _FENCE.match(text):
        text = f"{match[1]}{match[2]}"
    return text.strip()


def _strict(line: str) -> int | None:
    line = line.strip(" \t\r")
    try:
        document, end = decode_json(line)
    except ValueError:
        return None
    if end != len(line) or not isinstance(document, dict) or list(document) != ["rating"]:
        return None
    # Not isinstance: a bool is an int, too.
    return _rating(document["rating"])[0] if type(document["rating"]) is int else None


def _lenient(text: str) -> RatingReading:
    if not text:
        return RatingReading(None, text, "invalid", "empty")
    first, _, rest = text.partition("\n")
    line = _marks_off(first.replace("{{", "{").replace("}}", "}"))
    if line[:4].lower() == "json":
        line = _marks_off(line[4:])
    try:
        document, end = decode_json(line)
    except _TwiceError:
        return RatingReading(None, text, "invalid", "two_ratings")
    except ValueError:
        return RatingReading(None, text, "invalid", "no_json")
    if not isinstance(document, dict):
        return RatingReading(None, text, "invalid", "not_an_object")
    if "rating" not in document:
        return RatingReading(None, text, "invalid", "no_rating")
    rating, why = _rating(document["rating"])
    if rating is None:
        return RatingReading(None, text, "invalid", why)
    return RatingReading(rating, f"{line[end:]}\n{rest}".strip(), "lenient")


def _marks_off(line: str) -> str:
    return line.strip("`* \t\r")


def _rating(value: object) -> tuple[int | None, str]:
    """Return the rating that a JSON value is, or why it is none."""
    if isinstance(value, str) and re.fullmatch("[0-9]", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None, "not_a_number"
    for rating in SCALE:
        if value == rating:
            return rating, ""
    return None, "out_of_range" if isinstance(value, int) or not 1 <= value <= 5 else "not_whole"


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise _TwiceError("a key stands twice")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_once, parse_float=Decimal, parse_constant=_no_constant)
