"""Uncertainty of a sample of chains from the distances between them.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", definitions 1 and 2 (divergence, coherence, dispersion, entropy), section 3 (GRCS) and section 4
(Freedman-Diaconis bins). The other papers' baselines are in `baselines`. Choices where the paper is open, in
words:

- GRCS is 1 / (1 + divergence): high when the chains agree. The paper uses it as the uncertainty score, because
  a model that repeats itself may have collapsed onto one unfaithful path; it is not turned round here.
- Fewer than two chains have no distance: every value is None.
- Distances are rounded to 12 decimals before they are put into bins, and there are at most 10,000 bins;
  otherwise numerical noise would ask for 10^15. If the inner half of the distances is equal, there is one bin
  ("single_bin", as numpy does) or as many as Sturges' rule asks for ("sturges").
- The logarithm is natural. The published entropies (about 1) would also fit base 10, so the base is an option.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from auditing.core.statistics import Floats

EmptyIqr = Literal["single_bin", "sturges"]

EMPTY_IQRS: tuple[EmptyIqr, ...] = ("single_bin", "sturges")
MAX_BINS = 10_000
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Metric:
    """What a page says about an uncertainty metric.

    Attributes
    ----------
    name : str
        Key of the value.
    title : str
        Name for people.
    definition : str
        One sentence.
    low, high : float or None
        Range of the value; None where it depends on the number of chains.
    direction : str
        What a high value says.
    """

    name: str
    title: str
    definition: str
    low: float | None
    high: float | None
    direction: str


@dataclass(frozen=True, slots=True)
class Entropy:
    """Shannon entropy of a histogram, and its number of bins; None and 0 without values."""

    entropy: float | None
    n_bins: int


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Summaries of the pairwise distances of one question; all None for fewer than two chains.

    Attributes
    ----------
    divergence : float or None
        Mean distance.
    grcs : float or None
        1 / (1 + divergence), 1/3 to 1, high for consensus; the paper's coherence.
    dispersion : float or None
        Standard deviation.
    entropy : float or None
        Entropy of the histogram of distances.
    n_bins : int
        Bins of that histogram.
    """

    divergence: float | None
    grcs: float | None
    dispersion: float | None
    entropy: float | None
    n_bins: int


METRICS: tuple[Metric, ...] = (
    Metric(
        "divergence",
        "Divergence",
        "Mean SS-GED distance over all pairs of chains, each at most 1 + beta.",
        0.0,
        2.0,
        "High: the chains reason differently.",
    ),
    Metric(
        "grcs",
        "GRCS",
        "Graph Reasoning Coherence Score, 1 / (1 + divergence).",
        1 / 3,
        1.0,
        "High: the chains agree. The paper reads it as uncertainty, since consensus can be mode collapse: it "
        "should fall as faithfulness rises.",
    ),
    Metric(
        "dispersion",
        "Dispersion",
        "Standard deviation of the pairwise distances.",
        0.0,
        1.0,
        "High: some pairs of chains are close and others far apart.",
    ),
    Metric(
        "entropy",
        "Entropy",
        "Shannon entropy of the pairwise distances in Freedman-Diaconis bins.",
        0.0,
        None,
        "High: distances of many different sizes. It does not say whether they are large.",
    ),
)


def pairwise(distances: ArrayLike) -> Floats:
    """Return the N (N - 1) / 2 distances above the diagonal of a matrix of shape (N, N), row by row.

    Raises
    ------
    ValueError
        If the matrix is not square.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A square matrix of distances is needed, not shape {matrix.shape}.")
    above: Floats = matrix[np.triu_indices(len(matrix), k=1)]
    return above


def summarise(
    distances: ArrayLike, *, ddof: int = 0, iqr0: EmptyIqr = "single_bin", log_base: float = math.e
) -> Uncertainty:
    """Summarise the distances between all pairs of chains.

    Parameters
    ----------
    distances : array of shape (N (N - 1) / 2,)
        See `pairwise`.
    ddof : int
        0 for the population's standard deviation, 1 for the sample's.
    iqr0, log_base
        See `entropy`.

    Raises
    ------
    ValueError
        If a distance is not finite or an option is unknown.
    """
    values = _finite(distances)
    if not len(values):
        return Uncertainty(None, None, None, None, 0)
    divergence = float(values.mean())
    binned = entropy(values, iqr0=iqr0, log_base=log_base)
    dispersion = float(values.std(ddof=ddof)) if len(values) > ddof else None
    return Uncertainty(divergence, 1 / (1 + divergence), dispersion, binned.entropy, binned.n_bins)


def entropy(
    values: ArrayLike,
    *,
    iqr0: EmptyIqr = "single_bin",
    log_base: float = math.e,
    max_bins: int = MAX_BINS,
) -> Entropy:
    """Return the entropy of values in bins of equal width (Freedman-Diaconis).

    Parameters
    ----------
    values : array of shape (n,)
        Distances.
    iqr0 : {"single_bin", "sturges"}
        What to do if the interquartile range is 0 and the range is not.
    log_base : float
        Base of the logarithm.
    max_bins : int
        Most bins.

    Raises
    ------
    ValueError
        If a value is not finite or an option is out of range.
    """
    if iqr0 not in EMPTY_IQRS:
        raise ValueError(f"Unknown rule {iqr0!r} for an empty range; use one of {', '.join(EMPTY_IQRS)}.")
    if not (log_base > 0 and log_base != 1):
        raise ValueError(f"The base of a logarithm is positive and not 1; {log_base} is no base.")
    rounded = np.round(_finite(values), DECIMALS)
    n = len(rounded)
    if n == 0:
        return Entropy(None, 0)
    low, high = float(rounded.min()), float(rounded.max())
    if low == high:
        return Entropy(0.0, 1)
    quarter, three_quarters = np.percentile(rounded, [25, 75])
    iqr = float(three_quarters - quarter)
    if iqr > 0:
        width = 2 * iqr * n ** (-1 / 3)
        bins = max(1, math.ceil(min((high - low) / width, max_bins)))
    else:
        bins = 1 if iqr0 == "single_bin" else math.ceil(math.log2(n)) + 1
    edges = np.linspace(low, high, bins + 1)
    # numpy.histogram refuses bins narrower than the spacing of floats; the last bin includes the maximum.
    places = np.clip(np.searchsorted(edges, rounded, side="right") - 1, 0, bins - 1)
    counts = np.unique(places, return_counts=True)[1]
    return Entropy(shannon(counts, log_base=log_base), bins)


def shannon(counts: ArrayLike, *, log_base: float = math.e) -> float:
    """Return the entropy of a distribution given by counts of at least 1."""
    shares = np.asarray(counts, dtype=np.float64)
    shares = shares / shares.sum()
    # Adding 0.0 makes the -0.0 of a single bin a plain 0.
    return float(-(shares * np.log(shares)).sum() / math.log(log_base)) + 0.0


def _finite(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"A list of distances is needed, not shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("Distances must be finite numbers.")
    return array
