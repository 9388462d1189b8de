"""How findings speak of times and objects, and whether a text names an object.

Source: annotation design E1. Choices, in words: words are compared without case and without a plural s; two labels
mean the same object if one ends with the words of the other ("dog", "brown dog").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from videos.core.cot import format_clock

LONGEST_QUOTE = 60


def words_of(text: str) -> list[str]:
    """Words of a text in a form to compare."""
    return [re.sub(r"(?<=\w\w)s$", "", word) for word in re.findall(r"\w+", text.casefold())]


def stands_in(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether words stand in a text side by side; no words stand nowhere."""
    size = len(words)
    return size > 0 and any(text[place : place + size] == words for place in range(len(text) - size + 1))


def same_object(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether one label ends with the words of the other."""
    size = min(len(a), len(b))
    return size > 0 and a[-size:] == b[-size:]


def name(part: Mapping[str, Any]) -> str:
    """Quoted label of a track or an event."""
    return f'"{short(part["label"])}"' if part["label"].strip() else "The one without a label"


def short(text: str) -> str:
    """Text in one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "\N{HORIZONTAL ELLIPSIS}"


def clock(us: int) -> str:
    """Time to a tenth of a second, as a person reads it."""
    return format_clock(us, 1)


def span(start: int, end: int) -> str:
    """Span to a tenth of a second."""
    return clock(start) if start == end else f"{clock(start)} - {clock(end)}"


def spans(pairs: Iterable[Sequence[int]]) -> str:
    """The first three of several spans, and that there are more."""
    texts = [span(start, end) for start, end in pairs]
    return ", ".join(texts[:3]) + (" and more" if len(texts) > 3 else "")
