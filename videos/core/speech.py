"""Words of a transcript as pieces that are read at once.

Source: runtime design 1.4 (a recogniser gives words with times, a file cues). Choice, in words: a piece ends after a
full stop, question or exclamation mark, before a pause of 0.6 s or more, and before it would have more than 80
characters. An entry that holds several words (a cue of a file) is a piece of its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

PAUSE_US = 600_000
LONGEST_PIECE = 80
_ENDS = (".", "?", "!", "…")
_QUOTES = "\"'\u201d\u2019)\u00bb"


def pieces(words: Iterable[Sequence[Any]]) -> list[tuple[int, int, str]]:
    """Return pieces (start, end, text), end the latest of their words.

    Parameters
    ----------
    words
        (start, end, text, …) by start, whole microseconds.
    """
    found: list[tuple[int, int, str]] = []
    is_open = False
    for start, end, text, *_ in words:
        alone = len(text.split()) > 1
        if is_open and not alone:
            first, last, before = found[-1]
            joined = f"{before} {text}"
            if start - last < PAUSE_US and len(joined) <= LONGEST_PIECE:
                found[-1] = (first, max(last, end), joined)
                is_open = not text.rstrip(_QUOTES).endswith(_ENDS)
                continue
        found.append((start, end, text))
        is_open = not alone and not text.rstrip(_QUOTES).endswith(_ENDS)
    return found
