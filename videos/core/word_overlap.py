"""How many words two texts have in common, in order.

Source: Hyyrö, "Bit-parallel LCS-length computation revisited" (2004). Choice, in words: a sign that is no letter is a
word of its own, and case counts.
"""

from collections.abc import Sequence
from re import findall

_WORDS = r"\w+|[^\w\s]"


def word_overlap(a: str, b: str) -> float | None:
    """Share of words in common, 2 L / (n + m), L the longest common subsequence of words; None for two empty texts."""
    words, others = findall(_WORDS, a), findall(_WORDS, b)
    total = len(words) + len(others)
    return 2 * longest_common(words, others) / total if total else None


def longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    A column of the table is one number, a bit of which is 0 where the length grows; a word costs a few operations.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(a)) - 1
    column = full
    for word in b:
        kept = column & places.get(word, 0)
        column = ((column + kept) | (column - kept)) & full
    return len(a) - column.bit_count()
