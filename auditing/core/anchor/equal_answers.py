"""Rationales of two models where both answers are right: whether one still invents or strays more.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4 (2,012 items on which all
judges rate both answers as fully correct: how often the hallucination score of one model is at least 1 and at least 1.5
points lower, and whether all judges agree on the direction). Choices where the paper is open, in words:

- An item belongs where every judge who is asked gives both answers the highest rating; where one of these ratings is
  missing, the item is left out and counted.
- A gap is first minus second of the item scores on the facet (means of the valid ratings).
- Judges agree on a direction if every judge that rated both rates the one model strictly lower; at least one must.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditing.core.anchor.judge_reply import SCALE
from auditing.core.anchor.panel import Ratings, check_ratings, judges_of, panel_scores

GAPS = (1.0, 1.5)


@dataclass(frozen=True, slots=True)
class Gap:
    """Items whose scores lie at least `points` apart.

    Attributes
    ----------
    points : float
        Of the scale.
    second_lower, first_lower : tuple of str
        The items, by the model that is lower.
    second_lower_agreed, first_lower_agreed : int
        Those of them on which all judges agree on the direction.
    """

    points: float
    second_lower: tuple[str, ...]
    first_lower: tuple[str, ...]
    second_lower_agreed: int
    first_lower_agreed: int


@dataclass(frozen=True, slots=True)
class EqualAnswers:
    """Two models on the items that both answer fully right.

    Attributes
    ----------
    n : int
        Items that are compared.
    not_both_right, rating_missing : int
        Items left out because an answer is not fully right, or a rating of an answer is missing.
    facet_missing : int
        Items that both answer right, without a score on the facet.
    gaps : tuple of Gap
        In the order of the thresholds.
    """

    n: int
    not_both_right: int
    rating_missing: int
    facet_missing: int
    gaps: tuple[Gap, ...]


def equal_answers(
    answers: tuple[Ratings, Ratings], facet: tuple[Ratings, Ratings], points: Sequence[float] = GAPS
) -> EqualAnswers:
    """Compare the rationales of two models where both answers are fully right.

    Parameters
    ----------
    answers, facet : pair of mappings of item to mapping of judge to rating
        Of the first and of the second model: the ratings of the answer, and of the facet that is compared.
    points : sequence of float
        Gaps to count, each above 0.

    Raises
    ------
    ValueError
        If a rating is not on the scale or a gap is not above 0.
    """
    if any(gap <= 0 for gap in points):
        raise ValueError("A gap to count must be above 0.")
    for side in answers:
        check_ratings(side)
    scores = [panel_scores(side).items for side in facet]
    judges = list(dict.fromkeys(name for side in answers for name in judges_of(side)))
    gaps: dict[str, float] = {}
    missing = wrong = without = 0
    for item in dict.fromkeys((*answers[0], *answers[1])):
        given = [side.get(item, {}).get(judge) for side in answers for judge in judges]
        first, second = (side.get(item) for side in scores)
        if any(rating is not None and rating < SCALE[-1] for rating in given):
            wrong += 1
        elif None in given:
            missing += 1
        elif first is None or second is None:
            without += 1
        else:
            gaps[item] = first - second
    return EqualAnswers(
        len(gaps), wrong, missing, without, tuple(_gap(threshold, gaps, facet) for threshold in points)
    )


def _gap(points: float, gaps: Mapping[str, float], facet: tuple[Ratings, Ratings]) -> Gap:
    second = tuple(item for item, gap in gaps.items() if gap >= points)
    first = tuple(item for item, gap in gaps.items() if -gap >= points)
    agreed = (
        sum(_agree(facet[1][item], facet[0][item]) for item in second),
        sum(_agree(facet[0][item], facet[1][item]) for item in first),
    )
    return Gap(points, second, first, *agreed)


def _agree(lower: Mapping[str, int | None], higher: Mapping[str, int | None]) -> bool:
    pairs = [(rating, higher.get(judge)) for judge, rating in lower.items()]
    both = [left < right for left, right in pairs if left is not None and right is not None]
    return bool(both) and all(both)
