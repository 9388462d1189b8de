"""How much of a medoid's text an alternative chain repeats, without a model or a graph.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", B.6 (medoid distance: one minus the longest-common-subsequence ratio on lowercased text). Choices
where the paper is open, in words:

- D-10: the unit is the word and the ratio is 2 L / (|a| + |b|); the published distances (0.58 to 1) are out
  of reach of characters. "max" divides by the longer text. "difflib" is Python's SequenceMatcher, no longest
  common subsequence: it depends on the order of the texts and degenerates on long ones.
- Two empty texts are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from videos.core.word_overlap import longest_common as common_subsequence

Unit = Literal["word", "char"]
Norm = Literal["dice", "max", "difflib"]

UNITS: tuple[Unit, ...] = ("word", "char")
NORMS: tuple[Norm, ...] = ("dice", "max", "difflib")


@dataclass(frozen=True, slots=True)
class TextSimilarity:
    """Similarity of two texts, 0 to 1, and one minus it."""

    similarity: float
    distance: float


def text_similarity(medoid: str, other: str, *, unit: Unit = "word", norm: Norm = "dice") -> TextSimilarity:
    """Compare an alternative chain with the medoid, upper and lower case alike.

    Parameters
    ----------
    medoid, other : str
        Texts of two chains.
    unit : {"word", "char"}
        What a subsequence is made of; words are separated by white space.
    norm : {"dice", "max", "difflib"}
        How the length of the common subsequence becomes a ratio.

    Raises
    ------
    ValueError
        If an option is unknown.
    """
    if unit not in UNITS:
        raise ValueError(f"Unknown unit {unit!r}; use one of {', '.join(UNITS)}.")
    if norm not in NORMS:
        raise ValueError(f"Unknown norm {norm!r}; use one of {', '.join(NORMS)}.")
    first: Sequence[str] = medoid.lower().split() if unit == "word" else medoid.lower()
    second: Sequence[str] = other.lower().split() if unit == "word" else other.lower()
    if not first and not second:
        similarity = 1.0
    elif norm == "difflib":
        similarity = SequenceMatcher(None, first, second).ratio()
    else:
        common = common_subsequence(first, second)
        whole = (len(first) + len(second)) / 2 if norm == "dice" else max(len(first), len(second))
        similarity = common / whole
    return TextSimilarity(similarity, 1 - similarity)
