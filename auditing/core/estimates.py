"""A number with its uncertainty, or the reason why there is none.

Sources: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), for
proportions; Field and Welsh, "Bootstrapping clustered data", JRSS B 69 (2007), for drawing whole clusters;
Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13, for percentile intervals.
Segments of one case are not independent, so a resample draws cases, never single segments. Each statistic is
a function of counts that add up over cases, so all resamples are one matrix product. Choices, in words:

- A resample in which the statistic is undefined is dropped and counted; with more than half of them dropped
  there is no interval.
- Where all resamples give one value there is no interval: a width of zero would claim certainty.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditing.core.bootstrap import percentile_interval
from auditing.core.statistics import Floats, wilson_interval

RESAMPLES = 1000
ONE_VALUE_RANGE = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic over segments, with its 95 % interval by case bootstrap.

    Attributes
    ----------
    value : float or None
        The statistic; None where it is undefined.
    undefined_because : str
        The end of the sentence "undefined, because ..."; empty where the value is defined.
    low, high : float or None
        2.5 and 97.5 percentiles of the resamples.
    no_interval_because : str
        The same for the interval; empty where there is one.
    n, cases : int
        Segments that count, and the cases they come from.
    resamples, dropped : int
        Resamples drawn, and those of them in which the statistic was undefined.
    """

    value: float | None
    undefined_because: str
    low: float | None
    high: float | None
    no_interval_because: str
    n: int
    cases: int
    resamples: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion, 0 to 1, with Wilson's 95 % interval; all None, with a reason, if `n` is 0."""

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    undefined_because: str


def wilson_share(hits: int, n: int, undefined_because: str = "there is nothing to count") -> Share:
    """Return `hits` of `n` with Wilson's score interval.

    Raises
    ------
    ValueError
        If `hits` is negative or greater than `n`.
    """
    if n == 0 and hits == 0:
        return Share(0, 0, None, None, None, undefined_because)
    low, high = wilson_interval(hits, n)
    return Share(hits, n, hits / n, low, high, "")


def case_weights(cases: int, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Draw cases with replacement, and return how often each was drawn.

    Returns
    -------
    array of shape (resamples, cases)
        Every row adds up to `cases`; empty if there are fewer than two cases.

    Raises
    ------
    ValueError
        If the number of cases or resamples is negative.
    """
    if cases < 0 or resamples < 0:
        raise ValueError(f"{cases} cases and {resamples} resamples; neither can be negative.")
    if cases < 2 or resamples == 0:
        return np.empty((0, cases))
    drawn = np.random.default_rng(seed).integers(0, cases, (resamples, cases))
    drawn += cases * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * cases)
    return counts.reshape(resamples, cases).astype(np.float64)


def estimate(
    per_case: Floats,
    formula: Callable[[Floats], Floats],
    weights: Floats,
    *,
    n: int,
    cases: int,
    undefined_because: str = "",
    fallback: str = "the data do not determine it",
    sums: Floats | None = None,
) -> Estimate:
    """Apply a formula to the counts of all cases, and to those of every resample.

    Parameters
    ----------
    per_case : array of shape (cases, d)
        Counts that add up over cases.
    formula : callable
        From counts of shape (m, d) to m numbers, NaN where the statistic is undefined.
    weights : array of shape (resamples, cases)
        See `case_weights`.
    n, cases : int
        Segments that count, and cases that hold at least one of them.
    undefined_because : str
        A reason known beforehand; if given, nothing is computed.
    fallback : str
        The reason where only the formula finds that the statistic is undefined.
    sums : array of shape (resamples, d)
        ``weights @ per_case``, for whoever applies several formulas to the same counts: it is nearly all of the work.
    """
    drawn = len(weights)
    if undefined_because:
        return Estimate(None, undefined_because, None, None, undefined_because, n, cases, 0, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(formula(per_case.sum(axis=0, keepdims=True))[0])
        if not np.isfinite(value):
            return Estimate(None, fallback, None, None, fallback, n, cases, 0, 0)
        if drawn and sums is None:
            sums = weights @ per_case
        values = formula(sums) if drawn and sums is not None else np.empty(0)
    defined = values[np.isfinite(values)]
    dropped = drawn - len(defined)
    missing = _no_interval(cases, drawn, dropped, defined)
    interval = percentile_interval([] if missing else defined.tolist())
    return Estimate(value, "", interval.lo, interval.hi, missing, n, cases, drawn, dropped)


def _no_interval(cases: int, drawn: int, dropped: int, defined: Floats) -> str:
    if cases < 2:
        return "an interval needs at least two cases"
    if not drawn:
        return "no resamples were asked for"
    if 2 * dropped > drawn:
        return f"it is undefined in {dropped} of {drawn} resamples"
    if float(np.ptp(defined)) <= ONE_VALUE_RANGE:
        return "every resample gives the same value"
    return ""
