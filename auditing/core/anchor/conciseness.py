"""Conciseness of a rationale from token counts.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A
("conciseness is computed from token counts"). The paper gives no formula. Choices (spec D4, D-14), in words:

- A token is a run of word characters, or one character that is neither a word character nor a space.
- The score is reference tokens by output tokens, at most 1: what is no longer than the reference is concise. Without
  the cap (a parameter) a shorter output scores above 1. The raw counts and the ratio stand beside it.
- An empty output or reference has no score; an empty reference has no ratio.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Conciseness:
    """Token counts of a rationale and its reference.

    Attributes
    ----------
    output_tokens, reference_tokens : int
        Counts.
    ratio : float or None
        Output by reference; None for an empty reference.
    score : float or None
        Reference by output, 0 to 1 (above 1 without the cap); None if either is empty.
    why_not : str
        A sentence where there is no score.
    """

    output_tokens: int
    reference_tokens: int
    ratio: float | None
    score: float | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class ConcisenessSummary:
    """Mean score and ratio of a model and the items that have them; median counts; items by reason without a score."""

    mean_score: float | None
    n: int
    mean_ratio: float | None
    n_ratio: int
    median_output: float | None
    median_reference: float | None
    without: dict[str, int]


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text."""
    return sum(1 for _ in _TOKEN.finditer(text))


def conciseness(output: str, reference: str, *, cap: bool = True) -> Conciseness:
    """Compare the length of a rationale with that of its reference (D-14).

    Parameters
    ----------
    output, reference : str
        Texts.
    cap : bool
        Whether the score ends at 1.
    """
    out, ref = count_tokens(output), count_tokens(reference)
    ratio = out / ref if ref else None
    if not out or not ref:
        return Conciseness(out, ref, ratio, None, f"The {'reference' if out else 'rationale'} is empty.")
    return Conciseness(out, ref, ratio, min(1.0, ref / out) if cap else ref / out)


def summarise_conciseness(rows: Iterable[Conciseness]) -> ConcisenessSummary:
    """Return means over items; what has no score is counted by its reason."""
    found = list(rows)
    scores = [row.score for row in found if row.score is not None]
    ratios = [row.ratio for row in found if row.ratio is not None]
    without: dict[str, int] = {}
    for row in found:
        if row.score is None:
            without[row.why_not] = without.get(row.why_not, 0) + 1
    return ConcisenessSummary(
        sum(scores) / len(scores) if scores else None,
        len(scores),
        sum(ratios) / len(ratios) if ratios else None,
        len(ratios),
        float(median(row.output_tokens for row in found)) if found else None,
        float(median(row.reference_tokens for row in found)) if found else None,
        without,
    )
