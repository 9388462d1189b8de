"""Pearson's, Spearman's and Kendall's coefficients of many short pairs of variables at once.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", B.6. The definitions are those of `core.statistics.correlations`; here every row of two arrays is a
pair, as the resamples of a bootstrap are, and points that are missing are left out of their row.
"""

import numpy as np
from numpy.typing import NDArray

from auditing.core.statistics import CONSTANT_RANGE, Floats

COEFFICIENTS = ("pearson", "spearman", "kendall")


def row_correlations(x: Floats, y: Floats) -> dict[str, Floats]:
    """Return Pearson's, Spearman's and Kendall's (tau-b) coefficients of every row; NaN where undefined.

    Parameters
    ----------
    x, y : arrays of shape (m, n)
        NaN where a point is missing; such points are left out of their row.
    """
    if not x.size:
        return {name: np.empty(0) for name in COEFFICIENTS}
    both = np.isfinite(x) & np.isfinite(y)
    left, right = np.where(both, x, 0.0), np.where(both, y, 0.0)
    valid = (both.sum(axis=1) >= 2) & _varies(x, both) & _varies(y, both)
    pairs = both[:, :, None] & both[:, None, :]
    signs = [np.sign(v[:, :, None] - v[:, None, :]) * pairs for v in (left, right)]
    # Mid-ranks but for a constant: half of (smaller minus larger values).
    ranks = [sign.sum(axis=2) / 2 for sign in signs]
    found = {
        "pearson": _cosine(*(_centred(values, both) for values in (left, right))),
        "spearman": _cosine(*ranks),
        "kendall": _cosine(*(sign.reshape(len(sign), -1) for sign in signs)),
    }
    return {name: np.where(valid, values, np.nan) for name, values in found.items()}


def _varies(values: Floats, defined: NDArray[np.bool_]) -> NDArray[np.bool_]:
    low = np.where(defined, values, np.inf).min(axis=1)
    high = np.where(defined, values, -np.inf).max(axis=1)
    varies: NDArray[np.bool_] = high - low > CONSTANT_RANGE
    return varies


def _centred(values: Floats, defined: NDArray[np.bool_]) -> Floats:
    mean = values.sum(axis=1) / np.maximum(1, defined.sum(axis=1))
    centred: Floats = np.where(defined, values - mean[:, None], 0.0)
    return centred


def _cosine(first: Floats, second: Floats) -> Floats:
    above = np.einsum("ij,ij->i", first, second)
    below = np.sqrt(np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second))
    ratio = np.divide(above, below, out=np.full(len(first), np.nan), where=below > 0)
    cosine: Floats = np.clip(ratio, -1.0, 1.0)
    return cosine
