"""What makes a label of a segment usable: words, complete labels, spans, and times that can be true."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

CORRECT, UNCERTAIN, INCORRECT = "correct", "uncertain", "incorrect"
LABELS = (CORRECT, UNCERTAIN, INCORRECT)

# Code points, not bytes and not UTF-16 units.
LONGEST_COMMENT = 10_000
LONGEST_NOTES = 20_000
MOST_MS = 2**31 - 1

Span = tuple[int, int]


def has_word(text: str) -> bool:
    """Whether a text says anything: it holds at least one letter or digit of whatever script."""
    return any(character.isalnum() for character in text)


def storable(text: str) -> bool:
    """Whether PostgreSQL can store the text and every program can read it: no NUL, no half of a surrogate pair."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)


def text_version(text: str) -> int:
    """The version of a text that has no counter: 0 for none, else 48 bits of its SHA-256.

    So many bits a browser's numbers hold exactly; two texts of one person that share them are not to be expected.
    """
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") if text else 0


def is_complete(label: str | None, cannot_judge: bool, comment: str) -> bool:
    """Whether a segment counts as judged (paper, appendix F.3).

    It has a label or is marked "cannot judge"; all but "correct" need a comment with at least one word.
    """
    if not label and not cannot_judge:
        return False
    return label == CORRECT or has_word(comment)


def bad_spans(spans: Any, length: int) -> str:
    """What is wrong with spans of words in a text of `length` code points; "" where nothing is.

    Spans are `[start, end)`, inside the text, not empty, and do not overlap.
    """
    if not isinstance(spans, (list, tuple)):
        return "spans must be a list of [start, end]"
    for span in spans:
        if not _is_span(span):
            return f"{span!r} is no [start, end] of two whole numbers"
    before = 0
    for start, end in sorted(spans):
        if not 0 <= start < end <= length:
            return f"[{start}, {end}] is not inside the text, which has {length} characters"
        if start < before:
            return f"[{start}, {end}] overlaps the one before it"
        before = end
    return ""


def _is_span(span: Any) -> bool:
    return (
        isinstance(span, (list, tuple))
        and len(span) == 2
        and all(isinstance(edge, int) and not isinstance(edge, bool) for edge in span)
    )


def unknown_reasons(reasons: Sequence[str], label: str | None, known: Mapping[str, Any]) -> list[str]:
    """Codes that the guideline version does not list for this label; without a label there are none to choose."""
    codes = {entry["code"] for entry in known.get(label or "", ())}
    return [code for code in reasons if code not in codes]


def believable_ms(stored: int, sent: int, wall_ms: int) -> int:
    """The busy time to store, in milliseconds.

    It never shrinks (a browser that lost its count starts again at 0) and is never longer than the wall time since
    the work was opened: a clock that jumped, or a made-up number, cannot make anybody look slower than the day is
    long. Nothing is refused because of it.
    """
    return max(stored, min(sent, max(wall_ms, 0), MOST_MS))
