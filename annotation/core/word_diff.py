"""What changed between two versions of a text, word by word, for people who know the older one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Piece = tuple[Literal["same", "old", "new"], str]

# Longer passages are shown as old and new as a whole: a diff of words costs the product of their lengths.
MOST_WORDS = 2000
_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
_HEADING = re.compile(r"#{1,6}\s+(.+)")


@dataclass(frozen=True, slots=True)
class Change:
    """A changed passage: the heading it stands under ("" before the first) and its pieces in reading order."""

    heading: str
    pieces: tuple[Piece, ...]


def changes(old: str, new: str) -> list[Change]:
    """The changed passages of a text, by lines and inside them by words. Blank lines do not count."""
    before, after = _lines(old), _lines(new)
    found = []
    for code, i1, i2, j1, j2 in SequenceMatcher(None, before, after).get_opcodes():
        if code != "equal":
            pieces = _words("\n".join(before[i1:i2]), "\n".join(after[j1:j2]))
            found.append(Change(_heading(after[: j1 + 1] if j2 > j1 else after[:j1]), tuple(pieces)))
    return found


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _heading(lines: Sequence[str]) -> str:
    for line in reversed(lines):
        if match := _HEADING.match(line):
            return match.group(1).strip().rstrip("#").strip()
    return ""


def _words(old: str, new: str) -> list[Piece]:
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(before), len(after)) > MOST_WORDS:
        codes = [("replace", 0, len(before), 0, len(after))]
    else:
        codes = list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
    pieces: list[Piece] = []
    for code, i1, i2, j1, j2 in codes:
        if code == "equal":
            pieces.append(("same", "".join(before[i1:i2])))
            continue
        if i2 > i1:
            pieces.append(("old", "".join(before[i1:i2])))
        if j2 > j1:
            pieces.append(("new", "".join(after[j1:j2])))
    return pieces
