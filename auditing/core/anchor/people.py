"""The panel against people on the same scale: correlation, agreement, and by how much one is above the other.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.7 (100 responses: Pearson
pooled and per facet, weighted kappa, means of both). Choices where the paper is open (spec D4), in words:

- Correlations are of the panel's item scores (means of the valid ratings) with people's; of several people an item has
  their mean, too.
- Kappa has linear weights and needs whole numbers: both sides are rounded, a half up.
- Only items with both are compared; the others are counted. Pooled, an item counts once for each facet.
- The difference is people minus panel: positive where people are milder.
- Intervals draw items with replacement; pooled, all facets of an item are drawn together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditing.core.anchor.judge_reply import SCALE
from auditing.core.anchor.panel import Ratings, item_weights, mean_estimate, panel_scores
from auditing.core.anchor.rating_agreement import PairAgreement, pair_agreement
from auditing.core.estimates import RESAMPLES, Estimate, estimate
from auditing.core.statistics import CONSTANT_RANGE, Floats, mean_of

POOLED = "pooled"

Scores = Mapping[str, float | None]
"""Score by item, 1 to 5; None where there is none."""


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """Items whose panel score rounds to `level`: how many, the panel's mean, and people's with its interval."""

    level: int
    n: int
    panel_mean: float | None
    people: Estimate


@dataclass(frozen=True, slots=True)
class FacetComparison:
    """The panel against people on one facet, or pooled.

    Attributes
    ----------
    facet : str
        Name, or "pooled".
    n : int
        Pairs of scores.
    only_panel, only_people, neither : int
        Pairs left out because a score is missing.
    pearson, spearman : Estimate
        Correlations of the item scores, -1 to 1.
    agreement : PairAgreement
        Of the rounded scores: kappa with linear weights, raw agreement, prevalence; a is the panel.
    panel_mean, people_mean : float or None
        On the compared items.
    difference : Estimate
        People minus panel, mean over items.
    calibration : tuple of CalibrationPoint
        One for each point of the scale.
    points : tuple of (float, float, int)
        Panel score, people's score and number of items, for a plot.
    """

    facet: str
    n: int
    only_panel: int
    only_people: int
    neither: int
    pearson: Estimate
    spearman: Estimate
    agreement: PairAgreement
    panel_mean: float | None
    people_mean: float | None
    difference: Estimate
    calibration: tuple[CalibrationPoint, ...]
    points: tuple[tuple[float, float, int], ...]


def round_half_up(score: float) -> int:
    """Return a score as a point of the scale; 3.5 becomes 4.

    A mean of thirds or sevenths can fall short of its half by the last bit of a float; that counts as the half.
    """
    return math.floor(score + 0.5 + 1e-9)


def against_people(
    panel: Mapping[str, Ratings],
    people: Mapping[str, Ratings],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[FacetComparison]:
    """Compare the panel with people facet by facet, and pooled (appendix A.7).

    Parameters
    ----------
    panel, people : mapping of facet to mapping of item to mapping of rater to rating
        1 to 5, or None where a rating is missing.
    seed, resamples : int
        Of the intervals.

    Returns
    -------
    list of FacetComparison
        "pooled" first, then the facets in the panel's order and those that only people have.

    Raises
    ------
    ValueError
        If a rating is not on the scale.
    """
    facets = list(dict.fromkeys((*panel, *people)))
    sides = [{facet: panel_scores(side.get(facet, {})).items for facet in facets} for side in (panel, people)]
    pooled: list[tuple[str, float | None, float | None]] = []
    found = []
    for facet in facets:
        left, right = sides[0][facet], sides[1][facet]
        rows = [(item, left.get(item), right.get(item)) for item in dict.fromkeys((*left, *right))]
        pooled += rows
        found.append(_compare(facet, rows, seed=seed, resamples=resamples))
    return [_compare(POOLED, pooled, seed=seed, resamples=resamples), *found]


def compare_scores(
    facet: str, panel: Scores, people: Scores, *, seed: int = 0, resamples: int = RESAMPLES
) -> FacetComparison:
    """Compare item scores that are known already, such as published ones.

    Raises
    ------
    ValueError
        If a score is not between 1 and 5.
    """
    rows = [(item, panel.get(item), people.get(item)) for item in dict.fromkeys((*panel, *people))]
    for item, *scores in rows:
        if any(score is not None and not SCALE[0] <= score <= SCALE[-1] for score in scores):
            raise ValueError(f"A score of {item} is not between {SCALE[0]} and {SCALE[-1]}.")
    return _compare(facet, rows, seed=seed, resamples=resamples)


def _compare(
    facet: str,
    rows: Sequence[tuple[str, float | None, float | None]],
    *,
    seed: int,
    resamples: int,
) -> FacetComparison:
    pairs = [(item, x, y) for item, x, y in rows if x is not None and y is not None]
    left_out = (
        sum(x is not None and y is None for _, x, y in rows),
        sum(x is None and y is not None for _, x, y in rows),
        sum(x is None and y is None for _, x, y in rows),
    )
    x = np.array([pair[1] for pair in pairs], dtype=np.float64)
    y = np.array([pair[2] for pair in pairs], dtype=np.float64)
    names = [item for item, _, _ in pairs]
    pearson, spearman = _correlations(x, y, names, seed=seed, resamples=resamples)
    plotted: dict[tuple[float, float], int] = {}
    table = np.zeros((len(SCALE), len(SCALE)), dtype=np.int64)
    levels: dict[int, list[tuple[float, float]]] = {level: [] for level in SCALE}
    for _, left, right in pairs:
        level = round_half_up(left)
        table[level - 1, round_half_up(right) - 1] += 1
        levels[level].append((left, right))
        plotted[left, right] = plotted.get((left, right), 0) + 1
    return FacetComparison(
        facet=facet,
        n=len(pairs),
        only_panel=left_out[0],
        only_people=left_out[1],
        neither=left_out[2],
        pearson=pearson,
        spearman=spearman,
        agreement=pair_agreement("panel", "people", table, left_out),
        panel_mean=float(x.mean()) if pairs else None,
        people_mean=float(y.mean()) if pairs else None,
        difference=mean_estimate((y - x).tolist(), names, seed=seed, resamples=resamples),
        calibration=tuple(
            CalibrationPoint(
                level,
                len(inside),
                mean_of(left for left, _ in inside),
                mean_estimate([right for _, right in inside], seed=seed, resamples=resamples),
            )
            for level, inside in levels.items()
        ),
        points=tuple((left, right, count) for (left, right), count in sorted(plotted.items())),
    )


def _correlations(
    x: Floats, y: Floats, names: Sequence[str], *, seed: int, resamples: int
) -> tuple[Estimate, Estimate]:
    """Return Pearson's and Spearman's coefficient; a resample is a count of each distinct pair of scores."""
    pairs, cells = np.unique(np.stack((x, y), axis=1), axis=0, return_inverse=True)
    items = {name: place for place, name in enumerate(dict.fromkeys(names))}
    rows = np.zeros((len(items), len(pairs)))
    owners = np.array([items[name] for name in names], dtype=np.intp)
    np.add.at(rows, (owners, cells.ravel()), 1)
    because = ""
    if len(x) < 2:
        because = "fewer than two items have both scores"
    elif min(np.ptp(x), np.ptp(y)) <= CONSTANT_RANGE:
        because = "all scores of one side are equal"
    weights = item_weights(len(items), seed=seed, resamples=resamples)
    sums = weights @ rows if len(weights) else None
    left, right = pairs[None, :, 0], pairs[None, :, 1]

    def pearson(counts: Floats) -> Floats:
        return _pearson(counts, left, right)

    def spearman(counts: Floats) -> Floats:
        return _pearson(counts, _ranks(counts, left[0]), _ranks(counts, right[0]))

    first, second = (
        estimate(rows, formula, weights, n=len(x), cases=len(items), undefined_because=because, sums=sums)
        for formula in (pearson, spearman)
    )
    return first, second


def _pearson(counts: Floats, x: Floats, y: Floats) -> Floats:
    """Return Pearson's coefficient of pairs that occur `counts` times, row by row; NaN where one side is constant."""
    n = counts.sum(axis=1, keepdims=True)
    left, right = (side - (counts * side).sum(axis=1, keepdims=True) / n for side in (x, y))
    above = (counts * left * right).sum(axis=1)
    squares = [(counts * side * side).sum(axis=1) for side in (left, right)]
    varies = np.minimum(*squares) > CONSTANT_RANGE
    below = np.sqrt(squares[0] * squares[1])
    found: Floats = np.divide(above, below, out=np.full(len(counts), np.nan), where=varies)
    return np.clip(found, -1.0, 1.0)


def _ranks(counts: Floats, values: Floats) -> Floats:
    """Return the mid-rank of each value, of which every row has `counts`."""
    levels, places = np.unique(values, return_inverse=True)
    of_level = np.zeros((len(counts), len(levels)))
    np.add.at(of_level.T, places.ravel(), counts.T)
    ranks = np.cumsum(of_level, axis=1) - (of_level - 1) / 2
    found: Floats = ranks[:, places.ravel()]
    return found
