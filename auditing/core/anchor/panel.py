"""Scores of a panel of judges: of an item, of a model, of each judge, and how far the judges are apart.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4.1 (answer, hallucination and
divergence, each 1 to 5 by several judges, 5 = best) and Table 2. Choices where the paper is open (spec D4), in words:

- The score of an item is the mean of the judges that gave a valid rating. The score of a model is the mean over items,
  so that an item counts once, however many judges rated it; the standard deviation has n - 1 below.
- An item without a valid rating has no score, is no part of the mean, and is counted.
- An interval draws items with replacement: the judges of an item are not independent.
- Two models are compared on the items that both have, with the same draws.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from auditing.core.anchor.judge_reply import SCALE
from auditing.core.estimates import RESAMPLES, Estimate, case_weights, estimate
from auditing.core.statistics import Floats, WilcoxonResult, mean_of, wilcoxon

FACETS = ("answer", "hallucination", "divergence")

_VALUES = frozenset((*SCALE, None))
_KINDS = frozenset((int, type(None)))

# Weights that are kept take eight bytes each.
_MOST_KEPT = 1_000_000

WIDE_RANGE = 2
"""From this difference between the highest and the lowest rating on, the judges of an item are far apart."""

Rated = Mapping[str, int | None]
Ratings = Mapping[str, Rated]
"""Rating by item and judge; None where a judge's reply was invalid or is missing."""


@dataclass(frozen=True, slots=True)
class PanelScores:
    """Scores of one model on one facet.

    Attributes
    ----------
    items : dict of str to (float or None)
        Mean of the valid ratings, 1 to 5, in the order given; None where there is none.
    mean, sd : float or None
        Over the items that have a score; sd is None below two.
    n_items, n_ratings : int
        Items that have a score, and valid ratings.
    n_missing, n_unrated : int
        Ratings that are missing or invalid, and items without any valid one.
    """

    items: dict[str, float | None]
    mean: float | None
    sd: float | None
    n_items: int
    n_ratings: int
    n_missing: int
    n_unrated: int


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """What one judge gave: mean and standard deviation (None where undefined), ratings by value, missing ones."""

    judge: str
    mean: float | None
    sd: float | None
    n: int
    missing: int
    counts: dict[int, int]


@dataclass(frozen=True, slots=True)
class JudgeSpread:
    """How far the judges are apart, over the items with at least two valid ratings.

    Attributes
    ----------
    n : int
        These items; `too_few` is the number of the others.
    mean_range, mean_sd : float or None
        Means over items of highest minus lowest rating (0 to 4) and of the standard deviation (n - 1).
    equal, wide : float or None
        Shares of items on which all ratings are equal, or at least `WIDE_RANGE` apart.
    ranges : dict of str to (int or None)
        Highest minus lowest rating of each item; None below two ratings.
    between_judges : float or None
        Highest minus lowest mean of the judges, each over the items that all of them rated.
    common : int
        Items that all judges rated.
    """

    n: int
    too_few: int
    mean_range: float | None
    mean_sd: float | None
    equal: float | None
    wide: float | None
    ranges: dict[str, int | None]
    between_judges: float | None
    common: int


@dataclass(frozen=True, slots=True)
class ModelScore:
    """Everything of one model on one facet; `estimate` is the mean with its interval over items."""

    scores: PanelScores
    estimate: Estimate
    judges: tuple[JudgeScores, ...]
    spread: JudgeSpread


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """Two models on the items that both have: second minus first.

    Attributes
    ----------
    difference : Estimate
        Mean difference of the item scores, with an interval over items.
    test : WilcoxonResult
        Signed-rank test of these differences.
    n, only_first, only_second, neither : int
        Items compared, and those left out because one or both have no score.
    """

    difference: Estimate
    test: WilcoxonResult
    n: int
    only_first: int
    only_second: int
    neither: int


def check_ratings(ratings: Ratings) -> None:
    """Refuse what is no rating.

    Raises
    ------
    ValueError
        If a value is neither None nor a whole number from 1 to 5.
    """
    for item, rated in ratings.items():
        # True and 4.0 are equal to ratings, so the types count, too.
        if _KINDS.issuperset(map(type, rated.values())) and _VALUES.issuperset(rated.values()):
            continue
        for judge, rating in rated.items():
            if type(rating) not in _KINDS or rating not in _VALUES:
                raise ValueError(
                    f"{judge} gives {item} the rating {rating!r}; it must be 1 to 5, or missing."
                )


def panel_scores(ratings: Ratings) -> PanelScores:
    """Return the scores of the items and of the model (spec D4).

    Raises
    ------
    ValueError
        If a rating is not on the scale.
    """
    check_ratings(ratings)
    items: dict[str, float | None] = {}
    n_ratings = n_missing = 0
    for item, rated in ratings.items():
        valid = [rating for rating in rated.values() if rating is not None]
        items[item] = sum(valid) / len(valid) if valid else None
        n_ratings += len(valid)
        n_missing += len(rated) - len(valid)
    scored = [score for score in items.values() if score is not None]
    mean, sd = mean_and_sd(scored)
    return PanelScores(items, mean, sd, len(scored), n_ratings, n_missing, len(items) - len(scored))


def model_score(
    ratings: Ratings,
    judges: Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> ModelScore:
    """Return the scores of a model on one facet with an interval, each judge's part, and their spread.

    Parameters
    ----------
    ratings : mapping of item to mapping of judge to rating
        None where a rating is missing.
    judges : sequence of str, optional
        All judges in their order, so that one who rated nothing is named; by default those that occur.
    seed, resamples : int
        Of the bootstrap over items.
    """
    scores = panel_scores(ratings)
    names = list(judges) if judges is not None else judges_of(ratings)
    return ModelScore(
        scores,
        mean_estimate(scores.items.values(), seed=seed, resamples=resamples),
        tuple(_judge(name, ratings) for name in names),
        judge_spread(ratings, names),
    )


def judges_of(ratings: Ratings) -> list[str]:
    """Return the judges that occur, in the order in which they do first."""
    return list(dict.fromkeys(judge for rated in ratings.values() for judge in rated))


def judge_spread(ratings: Ratings, judges: Sequence[str] | None = None) -> JudgeSpread:
    """Return how far the judges are apart on the same items.

    Raises
    ------
    ValueError
        If a rating is not on the scale.
    """
    check_ratings(ratings)
    names = list(judges) if judges is not None else judges_of(ratings)
    valid = {
        item: [rating for name in names if (rating := rated.get(name)) is not None]
        for item, rated in ratings.items()
    }
    several = [found for found in valid.values() if len(found) > 1]
    ranges = {item: max(found) - min(found) if len(found) > 1 else None for item, found in valid.items()}
    apart = [width for width in ranges.values() if width is not None]
    common = [found for found in valid.values() if found and len(found) == len(names)]
    means = [mean_of([found[place] for found in common]) for place in range(len(names))] if common else []
    known = [mean for mean in means if mean is not None]
    return JudgeSpread(
        n=len(several),
        too_few=len(valid) - len(several),
        mean_range=mean_of(apart),
        mean_sd=mean_of([_deviation(found) for found in several]),
        equal=mean_of([float(width == 0) for width in apart]),
        wide=mean_of([float(width >= WIDE_RANGE) for width in apart]),
        ranges=ranges,
        between_judges=max(known) - min(known) if len(known) > 1 else None,
        common=len(common),
    )


def score_difference(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> ScoreDifference:
    """Compare the item scores of two models, second minus first, on the items that both have."""
    names = list(dict.fromkeys((*first, *second)))
    pairs = [(first.get(name), second.get(name)) for name in names]
    both = [right - left for left, right in pairs if left is not None and right is not None]
    only_first = sum(left is not None and right is None for left, right in pairs)
    only_second = sum(left is None and right is not None for left, right in pairs)
    neither = len(pairs) - len(both) - only_first - only_second
    difference = mean_estimate(both, seed=seed, resamples=resamples)
    return ScoreDifference(difference, wilcoxon(both), len(both), only_first, only_second, neither)


def mean_estimate(
    values: Iterable[float | None],
    groups: Iterable[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the mean of the values that are there, with an interval that draws items; None is left out.

    Parameters
    ----------
    values : iterable of float or None
        One for each item.
    groups : iterable of str, optional
        Values of one group are drawn together; by default each is drawn for itself.
    seed, resamples : int
        Of the bootstrap.
    """
    named = zip(values, groups, strict=True) if groups is not None else ((v, i) for i, v in enumerate(values))
    rows: dict[Hashable, list[float]] = {}
    for value, group in named:
        if value is not None:
            row = rows.setdefault(group, [0.0, 0.0])
            row[0] += value
            row[1] += 1
    sums = np.array(list(rows.values()), dtype=np.float64).reshape(-1, 2)
    weights = item_weights(len(rows), seed=seed, resamples=resamples)
    because = "" if rows else "no item has a value"
    n = int(sums[:, 1].sum())
    return estimate(sums, _ratio, weights, n=n, cases=len(rows), undefined_because=because)


def mean_estimates(
    columns: Mapping[str, Sequence[float | None]], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return what `mean_estimate` gives for each of several values of the same items.

    Columns that have a value at the same items share the product with the weights, which is nearly all of the work.

    Parameters
    ----------
    columns : mapping of name to sequence of float or None
        One value for each item, in the same order of items.
    seed, resamples : int
        Of the bootstrap.
    """
    by_items: dict[tuple[bool, ...], list[str]] = {}
    for name, values in columns.items():
        by_items.setdefault(tuple(value is not None for value in values), []).append(name)
    found: dict[str, Estimate] = {}
    for known, names in by_items.items():
        n = sum(known)
        table = np.array(
            [[value for value in columns[name] if value is not None] for name in names], dtype=np.float64
        ).T.reshape(n, len(names))
        weights = item_weights(n, seed=seed, resamples=resamples)
        sums = weights @ table
        because = "" if n else "no item has a value"
        for place, name in enumerate(names):
            found[name] = estimate(
                table[:, [place]],
                _over(n),
                weights,
                n=n,
                cases=n,
                undefined_because=because,
                sums=sums[:, [place]],
            )
    return {name: found[name] for name in columns}


def item_weights(items: int, *, seed: int, resamples: int) -> Floats:
    """Return how often each item is drawn in each resample; equal questions share one read-only answer.

    A page asks for the same number of items again and again: for every model, facet and group.
    """
    if items * resamples > _MOST_KEPT:
        return case_weights(items, seed=seed, resamples=resamples)
    return _kept_weights(items, seed, resamples)


@lru_cache(maxsize=8)
def _kept_weights(items: int, seed: int, resamples: int) -> Floats:
    weights = case_weights(items, seed=seed, resamples=resamples)
    weights.setflags(write=False)
    return weights


def mean_and_sd(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the mean, and the standard deviation with n - 1; None where there are too few values."""
    mean = mean_of(values)
    if mean is None or len(values) < 2:
        return mean, None
    squares = math.fsum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (len(values) - 1))


def _judge(name: str, ratings: Ratings) -> JudgeScores:
    given = [rated.get(name) for rated in ratings.values()]
    valid = [rating for rating in given if rating is not None]
    counted = Counter(valid)
    mean, sd = mean_and_sd(valid)
    counts = {value: counted[value] for value in SCALE}
    return JudgeScores(name, mean, sd, len(valid), len(given) - len(valid), counts)


def _deviation(ratings: Sequence[int]) -> float:
    """Return the standard deviation (n - 1) of two ratings or more; in whole numbers up to the root."""
    n, total = len(ratings), sum(ratings)
    return math.sqrt((n * sum(rating * rating for rating in ratings) - total * total) / (n * (n - 1)))


def _over(n: int) -> Callable[[Floats], Floats]:
    def mean(sums: Floats) -> Floats:
        found: Floats = sums[:, 0] / n
        return found

    return mean


def _ratio(sums: Floats) -> Floats:
    found: Floats = sums[:, 0] / sums[:, 1]
    return found
