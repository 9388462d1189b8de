"""Adjudication without names: who is A and who is B, which segments need a decision, and how far labels are apart.

Letters and samples come from hashes of the study's seed, so they are random over items, the same every time, and do
not depend on the order in which labels were stored or came in.
"""

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

# Ordinal order of the labels; the gap of two labels is their distance on it.
SCALE = ("incorrect", "uncertain", "correct")
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Of a note on a decision, in code points.
NOTE_LIMIT = 600


def letters(seed: int, item: int, people: Mapping[Key, str]) -> dict[str, Key]:
    """Who is A, B, C … of an item.

    Parameters
    ----------
    seed
        The study's seed, which nobody who labels or adjudicates can see.
    item
        Number of the item in its study.
    people
        Whatever stands for a person -> the words that the draw depends on (unlike for each person).
    """
    drawn = sorted(people, key=lambda key: _digest(seed, "letter", item, people[key]))
    if len(drawn) > len(ALPHABET):
        raise ValueError(f"An item has at most {len(ALPHABET)} labels, not {len(drawn)}.")
    return dict(zip(ALPHABET, drawn, strict=False))


def is_sampled(seed: int, item: int, segment: int, percent: int) -> bool:
    """Whether an agreed segment is decided all the same, as `percent` in 100 of them are."""
    return int(_digest(seed, "recheck", item, segment)[:12], 16) % 10_000 < percent * 100


def gap(labels: Iterable[str | None]) -> int:
    """How far labels are apart: 2 for correct against incorrect, 1 for neighbours, 0 where all agree on a label.

    None stands for "cannot judge", which is 1 from anything, itself included: nobody has judged the segment then.
    """
    return max((_distance(*pair) for pair in combinations(labels, 2)), default=0)


def agrees(labels: Sequence[str | None]) -> bool:
    """Whether everybody gave the same label. One label alone agrees, "cannot judge" never does."""
    return None not in labels and len(set(labels)) == 1


def matches(label: str, given: Mapping[str, str | None]) -> str:
    """The letters of those who gave this label, in order: "AB", or "" for nobody."""
    return "".join(letter for letter in sorted(given) if given[letter] == label)


def _distance(first: str | None, second: str | None) -> int:
    if first is None or second is None:
        return 1
    return abs(SCALE.index(first) - SCALE.index(second))


def _digest(*words: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, words)).encode()).hexdigest()
