"""Fields of files that nobody has checked: texts, numbers, options, spans of seconds, and whatever is left."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from videos.core.cot import parse_timeframe
from videos.formats.question_sets.values import LONGEST, LONGEST_TEXT, Place, Wrong

MOST_OPTIONS = 100
LONGEST_TIME_S = 1_000_000
_LETTER = re.compile(r"^\(?([A-Z])[).:]\s*")
_ONLY_LETTER = re.compile(r"^\(?([A-Za-z])[).:]?$")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row of a table that is no question, with the reason."""

    message: str
    remedy: str


def mapping(value: Any, name: str = "") -> Mapping[str, Any]:
    """Return an object. Raises `Wrong` where it is none."""
    if isinstance(value, Unreadable):
        raise Wrong(name, value.message, value.remedy)
    if not isinstance(value, Mapping):
        raise Wrong(
            name, "it is not an object", 'Each item needs fields such as "id", "video" and "question".'
        )
    return value


def clean(given: Any, called: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text without white space around it, "" for None. Numbers are texts too."""
    if given is None:
        return ""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise Wrong(called, "it is not a text", "Write it in quotation marks.")
    text = str(given).strip()
    if len(text) > longest:
        raise Wrong(called, f"it has {len(text):,} characters; the limit is {longest:,}", "Shorten it.")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Wrong(
            called, "it holds a character that cannot be stored (NUL or half a surrogate pair)", "Remove it."
        )
    return text


def needed(given: Any, called: str, what: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text that must be there. `what` says of what it is, for the remedy."""
    text = clean(given, called, longest)
    if not text:
        raise Wrong(called, "it is missing or empty", f"Give the {what} of each question.")
    return text


def number(given: Any, called: str) -> float | None:
    """Return a number of seconds, from 0 to 1,000,000; None for None."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isnan(_real(given)):
        raise Wrong(called, "it is not a number of seconds", "Write it without quotation marks.")
    if not 0 <= given <= LONGEST_TIME_S:
        raise Wrong(called, f"{given} is not a time in a video", "Give seconds from 0 on.")
    return float(given)


def measure(given: Any) -> float | None:
    """Return a finite number from 0 on, also one written as text; None for anything else."""
    if isinstance(given, str):
        try:
            given = float(given)
        except ValueError:
            return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    value = _real(given)
    return value if value >= 0 else None


def _real(given: float) -> float:
    """As a float; NaN where it is infinite or an integer that no float can hold."""
    try:
        value = float(given)
    except OverflowError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def span(start: Any, end: Any) -> list[float] | None:
    """Return [start, end] in seconds; None where they are no span of a video."""
    first, last = measure(start), measure(end)
    if first is None or last is None or not first <= last <= LONGEST_TIME_S:
        return None
    return [first, last]


def clock_spans(given: Any) -> list[list[float]]:
    """Return the spans of a text such as "00:15-00:19" in seconds; none where it says no time."""
    if not isinstance(given, str):
        return []
    pairs = [span(*pair) for pair in parse_timeframe(given[:LONGEST_TEXT]).intervals]
    return [pair for pair in pairs if pair is not None]


def options(given: Any, called: str) -> list[str] | None:
    """Return options as a list of texts; those of an object get its keys as letters. None where there are none."""
    if given is None or given in ([], {}):
        return None
    if isinstance(given, Mapping):
        given = [f"{key}. {text}" if isinstance(text, str) else text for key, text in given.items()]
    if not isinstance(given, list) or len(given) > MOST_OPTIONS:
        raise Wrong(
            called, f"it is not a list of up to {MOST_OPTIONS} texts", "Give the options as a list, or null."
        )
    return [clean(each, called) for each in given]


def without_letters(given: Sequence[str]) -> list[str]:
    """Return options without their letters, where they are A, B, C and so on in a row; else as they are."""
    found = [_LETTER.match(option) for option in given]
    if all(match and match[1] == letter(place) for place, match in enumerate(found)):
        return [option[match.end() :] for option, match in zip(given, found, strict=True) if match]
    return list(given)


def letter(place: int) -> str:
    """Return the letter of an option from its place, counted from 0; its number from 1 beyond Z."""
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def by_letter(given: str, choices: Sequence[str], called: str) -> int:
    """Return the place of the option whose letter an answer is, with or without its text. Raises `Wrong`."""
    alone, before = _ONLY_LETTER.match(given), _LETTER.match(given)
    if match := alone or before:
        place = ord(match[1].upper()) - ord("A")
        if place < len(choices) and (alone or given[match.end() :] == choices[place]):
            return place
    raise Wrong(
        called,
        f"{_shown(given)} is the letter of none of the {len(choices)} options",
        "Give one of their letters.",
    )


def by_text(given: str, choices: Sequence[str], called: str) -> int:
    """Return the place of the option whose text an answer is. Raises `Wrong`."""
    if given not in choices:
        raise Wrong(
            called, f"{_shown(given)} is none of the {len(choices)} options", "Give the text of one of them."
        )
    return choices.index(given)


def _shown(given: str) -> str:
    return repr(given if len(given) <= 60 else f"{given[:59]}…")


def kind(text: str, called: str) -> tuple[str, dict[str, str]]:
    """Return a type of question cut to what can be stored, and the whole of it for the details where it was cut."""
    longest = LONGEST["question_type"]
    text = clean(text, called)
    return (text, {}) if len(text) <= longest else (f"{text[: longest - 1]}…", {"question_type": text})


def details(place: Place, *values: Mapping[str, Any], used: Collection[str]) -> dict[str, Any]:
    """Return the fields that have no place of their own, those of later values in front of earlier ones."""
    merged = {key: each for value in values for key, each in value.items() if each is not None}
    return rest(merged, used, place.path)


def rest(value: Mapping[str, Any], used: Collection[str], called: str = "") -> dict[str, Any]:
    """Return fields that are not `used`, as they came. Raises `Wrong` where they cannot be stored or are too long."""
    left = {str(key): each for key, each in value.items() if key not in used}
    try:
        text = json.dumps(left, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (ValueError, RecursionError):
        raise Wrong(called, "an extra field cannot be stored", "Remove it.") from None
    if "\\u0000" in text or len(text) > 10 * LONGEST_TEXT:
        raise Wrong(called, "its extra fields hold a NUL character or are too long", "Remove them.")
    return left
