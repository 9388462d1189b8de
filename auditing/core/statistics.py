"""Statistics used to compare audits, metrics and people.

Sources: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.) reports
agreement and intervals; the companion papers on graph-based uncertainty and on video question answering
report the correlations, the bootstrap, McNemar's, Wilcoxon's and Cohen's statistics. Choices where they are
open, in words:

- A statistic that cannot be computed is None: fewer than two points, or a range of at most 1e-12 in either
  variable.
- McNemar: exact below 25 discordant pairs, else chi-squared with continuity correction. Wilcoxon: exact
  over all sign vectors up to 25 differences, ties allowed; else normal without continuity correction.
- Cohen's kappa uses the full list of categories; passing only the observed ones would change weighted
  values.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# Lower down because people's shares need it too.
from annotation.core.proportions import wilson_interval as wilson_interval

CONSTANT_RANGE = 1e-12
EXACT_LIMIT = 25

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pearson's r, Spearman's rho and Kendall's tau-b, each -1 to 1, or None where undefined."""

    pcc: float | None
    src: float | None
    krc: float | None


@dataclass(frozen=True, slots=True)
class Regression:
    """Least-squares line with Pearson's r and the two-sided p-value of its t-test; None where undefined."""

    slope: float | None
    intercept: float | None
    r: float | None
    p: float | None
    n: int


@dataclass(frozen=True, slots=True)
class McNemarResult:
    """A test statistic, its two-sided p-value and the method used; p is None if there is no data."""

    method: str
    statistic: float
    p: float | None


@dataclass(frozen=True, slots=True)
class WilcoxonResult:
    """Signed-rank sums over `n` non-zero differences, the smaller sum, its two-sided p-value, the method."""

    n: int
    w_plus: float
    w_minus: float
    statistic: float
    p: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa, the number of items, and the raw share of equal ratings; None where undefined."""

    kappa: float | None
    n: int
    agreement: float | None


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without one."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def correlations(x: ArrayLike, y: ArrayLike) -> Correlations:
    """Return three correlations of two variables of equal length.

    Raises
    ------
    ValueError
        If the lengths differ or a value is not finite.
    """
    first, second = _paired(x, y)
    if len(first) < 2 or _constant(first) or _constant(second):
        return Correlations(None, None, None)
    ranks = stats.rankdata(first), stats.rankdata(second)
    tau = float(stats.kendalltau(first, second, variant="b").statistic)
    return Correlations(_pearson(first, second), _pearson(*ranks), tau)


def linear_regression(x: ArrayLike, y: ArrayLike) -> Regression:
    """Fit y on x by least squares.

    Returns
    -------
    Regression
        All None for fewer than 3 points or constant x; for constant y the slope is 0 and r and p are None.

    Raises
    ------
    ValueError
        If the lengths differ or a value is not finite.
    """
    first, second = _paired(x, y)
    n = len(first)
    if n < 3 or _constant(first):
        return Regression(None, None, None, None, n)
    if _constant(second):
        return Regression(0.0, float(second.mean()), None, None, n)
    centred = first - first.mean()
    slope = float(centred @ (second - second.mean()) / (centred @ centred))
    r = _pearson(first, second)
    remaining = 1 - r * r
    p = 0.0 if remaining <= 0 else 2 * float(stats.t.sf(abs(r) * math.sqrt((n - 2) / remaining), n - 2))
    return Regression(slope, float(second.mean() - slope * first.mean()), r, p, n)


def mcnemar(
    b: int, c: int, *, method: Literal["auto", "exact", "asymptotic"] = "auto", correction: bool = True
) -> McNemarResult:
    """Test whether two discordant counts differ.

    Parameters
    ----------
    b, c : int
        Pairs won by one side only, and by the other side only.
    method : {"auto", "exact", "asymptotic"}
        Binomial or chi-squared; auto takes the exact one below 25 discordant pairs.
    correction : bool
        Continuity correction of the chi-squared statistic.

    Raises
    ------
    ValueError
        If a count is negative or the method unknown.
    """
    if b < 0 or c < 0:
        raise ValueError(f"Discordant counts cannot be negative: {b}, {c}.")
    if method not in ("auto", "exact", "asymptotic"):
        raise ValueError(f"Unknown method {method!r}; use auto, exact or asymptotic.")
    n = b + c
    if n == 0:
        return McNemarResult("exact", 0.0, 1.0)
    if method == "exact" or (method == "auto" and n < EXACT_LIMIT):
        tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
        return McNemarResult("exact", float(min(b, c)), min(1.0, 2 * tail / 2**n))
    difference = max(0, abs(b - c) - 1) if correction else abs(b - c)
    statistic = difference**2 / n
    return McNemarResult("asymptotic", statistic, float(stats.chi2.sf(statistic, 1)))


def wilcoxon(differences: ArrayLike) -> WilcoxonResult:
    """Wilcoxon's signed-rank test of paired differences, two-sided.

    Differences of at most 1e-12 are dropped; sizes are ranked after rounding to 12 decimals.
    """
    values = np.asarray(differences, dtype=np.float64)
    _require_finite(values)
    values = values[np.abs(values) > CONSTANT_RANGE]
    n = len(values)
    if n == 0:
        return WilcoxonResult(0, 0.0, 0.0, 0.0, None, "none")
    ranks = stats.rankdata(np.round(np.abs(values), 12))
    w_plus, w_minus = float(ranks[values > 0].sum()), float(ranks[values < 0].sum())
    smaller = min(w_plus, w_minus)
    if n <= EXACT_LIMIT:
        return WilcoxonResult(n, w_plus, w_minus, smaller, _exact_tail(ranks, smaller), "exact")
    ties = np.unique(ranks, return_counts=True)[1].astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    z = (smaller - n * (n + 1) / 4) / math.sqrt(variance)
    return WilcoxonResult(n, w_plus, w_minus, smaller, min(1.0, 2 * float(stats.norm.cdf(z))), "normal")


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    categories: Sequence[Hashable],
    *,
    weights: Literal["none", "linear", "quadratic"] = "none",
) -> Kappa:
    """Return the chance-corrected agreement of two raters.

    Parameters
    ----------
    first, second : sequence
        Ratings of the same items.
    categories : sequence
        Every category of the scale in order, observed or not.
    weights : {"none", "linear", "quadratic"}
        Cost of a disagreement by the distance of its positions on the scale.

    Returns
    -------
    Kappa
        kappa is None if no disagreement is expected by chance; agreement is None without items.

    Raises
    ------
    ValueError
        If the lengths differ, a rating is not in `categories`, or `weights` is unknown.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} ratings; both raters must rate the same items.")
    places = {category: place for place, category in enumerate(categories)}
    for rating in (*first, *second):
        if rating not in places:
            raise ValueError(f"Rating {rating!r} is not in the list of categories.")
    n, size = len(first), len(places)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    costs = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}
    if weights not in costs:
        raise ValueError(f"Unknown weights {weights!r}; use none, linear or quadratic.")
    if n == 0:
        return Kappa(None, 0, None)
    observed = np.zeros((size, size))
    for left, right in zip(first, second, strict=True):
        observed[places[left], places[right]] += 1
    observed /= n
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    chance = float((costs[weights] * expected).sum())
    kappa = None if chance <= 0 else 1 - float((costs[weights] * observed).sum()) / chance
    return Kappa(kappa, n, float(np.trace(observed)))


def _exact_tail(ranks: Floats, limit: float) -> float:
    """Return the two-sided p-value over all sign vectors; doubled ranks are whole numbers."""
    doubled = np.rint(2 * ranks).astype(np.int64).tolist()
    counts = [1] + [0] * sum(doubled)
    for rank in doubled:
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    tail = sum(counts[: round(2 * limit) + 1])
    return min(1.0, 2 * float(tail) / 2.0 ** len(doubled))


def _pearson(first: Floats, second: Floats) -> float:
    left, right = first - first.mean(), second - second.mean()
    value = float(left @ right) / math.sqrt(float((left @ left) * (right @ right)))
    return max(-1.0, min(1.0, value))


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"Two lists of equal length are needed, not shapes {first.shape} and {second.shape}."
        )
    _require_finite(first)
    _require_finite(second)
    return first, second


def _require_finite(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ValueError("Statistics need finite numbers; drop or count undefined values first.")


def _constant(values: Floats) -> bool:
    return float(np.ptp(values)) <= CONSTANT_RANGE
