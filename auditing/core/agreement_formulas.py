"""Coefficients of agreement as functions of counts that add up over cases.

Sources: Cohen, Educ. Psychol. Meas. 20 (1960) and Psychol. Bull. 70 (1968); Fleiss, Psychol. Bull. 76 (1971);
Conger, Psychol. Bull. 88 (1980); Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011);
Gwet, Br. J. Math. Stat. Psychol. 61 (2008) and "Handbook of Inter-Rater Reliability" (4th ed., 2014), which
also extends the coefficients to missing ratings; Brennan and Prediger, Educ. Psychol. Meas. 41 (1981); Byrt,
Bishop and Carlin, J. Clin. Epidemiol. 46 (1993), for PABAK and the two indices.

Every coefficient is 1 - observed / expected disagreement. Where all labels are equal the counts are whole
numbers, so that an expected disagreement of zero is exactly zero. A formula takes totals with one row per
resample and returns NaN where it is undefined; no NaN leaves `agreement.py`. Choices, in words:

- Observed agreement is the share of equal pairs among the ratings of a segment, averaged over segments with
  at least two ratings; each such segment weighs the same. (Alpha weighs segments by their number of ratings.)
- The margins of Fleiss, Gwet and Conger also use segments with a single rating, as in Gwet (2014).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditing.core.statistics import Floats

WeightName = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the counts of a scale of `q` categories and `r` raters lie in a flat row."""

    q: int
    r: int

    def split(self, flat: Floats) -> "Counts":
        """Name the parts of flat rows of shape (m, width)."""
        q, r, m = self.q, self.r, len(flat)
        ends = np.cumsum([q * q, q * q, q * q, q, r * q, 1, 1]).tolist()
        parts = [flat[:, a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        return Counts(
            pairs=parts[0].reshape(m, q, q),
            coincidences=parts[1].reshape(m, q, q),
            table=parts[2].reshape(m, q, q),
            spread=parts[3],
            by_rater=parts[4].reshape(m, r, q),
            compared=parts[5][:, 0],
            rated=parts[6][:, 0],
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals of `m` resamples.

    Attributes
    ----------
    pairs : array (m, q, q)
        Ordered pairs of ratings of a segment, as shares, summed over segments with two ratings or more.
    coincidences : array (m, q, q)
        Krippendorff's coincidence matrix.
    table : array (m, q, q)
        Ratings of the first rater by those of the second; zero unless there are exactly two.
    spread : array (m, q)
        Shares of the categories within a segment, summed over all segments with a rating.
    by_rater : array (m, r, q)
        Ratings of each rater.
    compared, rated : array (m,)
        Segments with at least two ratings, and with at least one.
    """

    pairs: Floats
    coincidences: Floats
    table: Floats
    spread: Floats
    by_rater: Floats
    compared: Floats
    rated: Floats


Formula = Callable[[Counts], Floats]


def count_cases(cases: Sequence[NDArray[np.int64]], layout: Layout) -> Floats:
    """Return one flat row of counts per case; see `Layout`.

    Parameters
    ----------
    cases : sequence of arrays (segments, r)
        Positions on the scale, negative where there is no rating.
    """
    q, r = layout.q, layout.r
    rows = np.zeros((len(cases), 3 * q * q + q + r * q + 2))
    if not cases or not sum(map(len, cases)):
        return rows
    of_case = np.repeat(np.arange(len(cases)), [len(case) for case in cases])
    codes = np.concatenate(cases)
    onehot = (codes[:, :, None] == np.arange(q)).astype(np.float64)  # segments x raters x categories
    counts = onehot.sum(axis=1)
    m = counts.sum(axis=1)
    ordered = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(q)
    several = m >= 2
    weight = np.where(several, 1 / np.maximum(m - 1, 1), 0)
    coincidences = ordered * weight[:, None, None]
    pairs = coincidences / np.maximum(m, 1)[:, None, None]
    table = np.einsum("uk,ul->ukl", onehot[:, 0], onehot[:, 1]) if r == 2 else np.zeros_like(pairs)
    flat = np.concatenate(
        [
            *(part.reshape(len(codes), -1) for part in (pairs, coincidences, table)),
            counts / np.maximum(m, 1)[:, None],
            onehot.reshape(len(codes), -1),
            several[:, None],
            (m >= 1)[:, None],
        ],
        axis=1,
    )
    np.add.at(rows, of_case, flat)
    return rows


def agreement_weights(q: int, name: WeightName) -> Floats:
    """Return the credit for each pair of categories, 1 for equal ones (Gwet 2014, chapter 3).

    Linear: 1 - |i - j| / (q - 1); quadratic: 1 - (i - j)^2 / (q - 1)^2; none: 0 for unequal ones.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    places = np.arange(q, dtype=np.float64)
    gaps = np.abs(places[:, None] - places) / max(q - 1, 1)
    costs = {"none": (gaps > 0).astype(np.float64), "linear": gaps, "quadratic": gaps**2}
    if name not in costs:
        raise ValueError(f"Unknown weights {name!r}; use none, linear or quadratic.")
    return 1 - costs[name]


def observed(counts: Counts, weights: Floats) -> Floats:
    """Return the observed agreement, averaged over the compared segments."""
    return 1 - _sum(counts.pairs * (1 - weights)) / counts.compared


def cohen(counts: Counts, weights: Floats) -> Floats:
    """Two raters, on the segments that both rated (Cohen 1960, 1968)."""
    costs, n = 1 - weights, _sum(counts.table)
    rows, columns = counts.table.sum(axis=2), counts.table.sum(axis=1)
    expected = _sum(rows[:, :, None] * columns[:, None, :] * costs) / n
    return _corrected(_sum(counts.table * costs), expected)


def fleiss(counts: Counts, weights: Floats) -> Floats:
    """Raters share one distribution (Fleiss 1971; with missing ratings, Gwet 2014)."""
    share = counts.spread / counts.rated[:, None]
    expected = _sum(share[:, :, None] * share[:, None, :] * (1 - weights))
    return _corrected(1 - observed(counts, weights), expected)


def conger(counts: Counts, weights: Floats) -> Floats:
    """Each rater has an own distribution: the mean over pairs of raters (Conger 1980; Gwet 2014)."""
    totals = counts.by_rater.sum(axis=2)
    present = totals > 0
    raters = present.sum(axis=1)
    shares = counts.by_rater / np.where(present, totals, 1)[:, :, None]
    total = shares.sum(axis=1)
    own = np.einsum("mgk,mgl->mkl", shares, shares)
    between = total[:, :, None] * total[:, None, :] - own  # all ordered pairs of different raters
    expected = np.maximum(_sum(between * (1 - weights)), 0) / (raters * (raters - 1.0))
    return _corrected(1 - observed(counts, weights), expected)


def gwet(counts: Counts, weights: Floats) -> Floats:
    """AC1 without weights, AC2 with them (Gwet 2008, 2014)."""
    q = weights.shape[0]
    if q < 2:
        return np.full(len(counts.rated), np.nan)
    share = counts.spread / counts.rated[:, None]
    chance = weights.sum() / (q * (q - 1)) * (share * (1 - share)).sum(axis=1)
    return _corrected(1 - observed(counts, weights), 1 - chance)


def brennan_prediger(counts: Counts, weights: Floats) -> Floats:
    """Every category is equally likely by chance (Brennan and Prediger 1981)."""
    expected = np.full(len(counts.rated), float((1 - weights).mean()))
    return _corrected(1 - observed(counts, weights), expected)


def alpha(counts: Counts, level: Literal["nominal", "ordinal", "interval"]) -> Floats:
    """Krippendorff's alpha; the distance of ordinal categories counts the ratings between them."""
    margins = counts.coincidences.sum(axis=2)
    n = margins.sum(axis=1)
    q = margins.shape[1]
    if level == "nominal":
        distance = np.broadcast_to(1 - np.eye(q), (len(n), q, q))
    else:
        places = np.cumsum(margins, axis=1) - margins / 2
        if level == "interval":
            places = np.broadcast_to(np.arange(q, dtype=np.float64), margins.shape)
        distance = (places[:, :, None] - places[:, None, :]) ** 2
    expected = _sum(margins[:, :, None] * margins[:, None, :] * distance) / (n - 1)
    return _corrected(_sum(counts.coincidences * distance), expected)


def pabak(counts: Counts) -> Floats:
    """Kappa as it would be with equal prevalence and no bias: 2 x observed agreement - 1 (Byrt et al. 1993)."""
    return 2 * _sum(counts.table * np.eye(counts.table.shape[1])) / _sum(counts.table) - 1


def prevalence_index(counts: Counts) -> Floats:
    """|both first category - both second| / n: near 1 where nearly all labels are the same."""
    return np.abs(counts.table[:, 0, 0] - counts.table[:, 1, 1]) / _sum(counts.table)


def bias_index(counts: Counts) -> Floats:
    """|rater 1 first, rater 2 second - the reverse| / n: near 0 where both use the categories alike."""
    return np.abs(counts.table[:, 0, 1] - counts.table[:, 1, 0]) / _sum(counts.table)


def _sum(values: Floats) -> Floats:
    return np.asarray(values.sum(axis=(1, 2)), dtype=np.float64)


def _corrected(disagreement: Floats, expected: Floats) -> Floats:
    """Return 1 - disagreement / expected, and NaN where no disagreement is expected."""
    possible = np.isfinite(expected) & (expected > 0)
    return np.where(possible, 1 - disagreement / np.where(possible, expected, 1), np.nan)
