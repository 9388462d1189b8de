"""Judges against relation labellers: the two roles of a model, measured on the same segments.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 5 and
Table 1 (TPR, TNR, F1 of class 0, balanced F1 of direct judges and of the hypergraph). Sources of what is added:
Efron and Tibshirani (1993), chapters 13 and 16, for paired resamples; Davison and Hinkley, "Bootstrap Methods"
(1997), section 4.2, for the added 1 of a simulated p-value; McNemar, Psychometrika 12 (1947); Holm, Scand. J.
Stat. 6 (1979). Choices where they are open, in words:

- A difference uses the segments that have a gold label and a prediction of both roles; the others are counted.
- All models share the same resamples of cases, so that their intervals differ by the models only.
- McNemar's test takes segments as independent, which segments of a case are not; the bootstrap does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from auditing.core.estimates import RESAMPLES, Estimate, case_weights, estimate
from auditing.core.metrics import BinaryMetrics, metrics_of_counts
from auditing.core.statistics import Floats, McNemarResult, mcnemar

CaseLabels = Sequence[Sequence[int | None]]
# Labels of all segments one after the other, NONE where there is none; and the case (0-based) of each segment.
Codes = NDArray[np.int8]
Places = NDArray[np.intp]
NONE = -1
_CODES = {0: 0, 1: 1, None: NONE}


@dataclass(frozen=True, slots=True)
class PairCoverage:
    """Segments, those compared, and those without a gold label or (having one) without a prediction."""

    segments: int
    compared: int
    gold_missing: int
    predicted_missing: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts of one set of predictions and its four rates with intervals by case bootstrap."""

    counts: BinaryMetrics
    tpr: Estimate
    tnr: Estimate
    f1_0: Estimate
    balanced_f1: Estimate
    coverage: PairCoverage


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two roles of one model on the segments that both and gold have.

    Attributes
    ----------
    judge, labeller : Scores
        On these common segments.
    difference : Estimate
        Balanced F1 of the labeller minus that of the judge, from the same resamples.
    p : float or None
        Two-sided bootstrap p-value of the difference; None without an interval to speak of.
    mcnemar : McNemarResult
        Whether one role is right more often, over segments.
    both_right, only_judge_right, only_labeller_right, neither_right : int
        Common segments by who is right.
    compared, gold_missing, judge_missing, labeller_missing, both_missing : int
        These add up to all segments; the last three have a gold label.
    """

    judge: Scores
    labeller: Scores
    difference: Estimate
    p: float | None
    mcnemar: McNemarResult
    both_right: int
    only_judge_right: int
    only_labeller_right: int
    neither_right: int
    compared: int
    gold_missing: int
    judge_missing: int
    labeller_missing: int
    both_missing: int


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A comparison and its p-values adjusted for the number of models (Holm)."""

    model: str
    result: Comparison
    p_holm: float | None
    mcnemar_p_holm: float | None


def score(gold: CaseLabels, predicted: CaseLabels, *, seed: int = 0, resamples: int = RESAMPLES) -> Scores:
    """Return pooled rates with intervals.

    Parameters
    ----------
    gold, predicted : sequence of cases
        1 (trustworthy), 0 (problematic) or None per segment.
    seed, resamples : int
        Of the case bootstrap.

    Raises
    ------
    ValueError
        If the shapes differ or a label is none of the three.
    """
    sizes = _same_sizes(gold, predicted)
    g, p = _coded(gold), _coded(predicted)
    weights = case_weights(len(gold), seed=seed, resamples=resamples)
    rows = _counts(g, p, _places(sizes), len(sizes))
    return _score(g, p, rows, weights, weights @ rows)


def compare(
    gold: CaseLabels,
    judge: CaseLabels,
    labeller: CaseLabels,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare a model as judge with the same model as relation labeller.

    Raises
    ------
    ValueError
        If the shapes differ or a label is not 1, 0 or None.
    """
    return _compare(gold, judge, labeller, case_weights(len(gold), seed=seed, resamples=resamples))


def compare_models(
    gold: CaseLabels,
    models: Mapping[str, tuple[CaseLabels, CaseLabels]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[ModelComparison]:
    """Compare judge and labeller of several models, with Holm's adjustment over the models.

    Parameters
    ----------
    gold : sequence of cases
        1, 0 or None per segment.
    models : mapping
        From a name to predictions as judge and as labeller.
    """
    weights = case_weights(len(gold), seed=seed, resamples=resamples)
    results = {name: _compare(gold, *roles, weights) for name, roles in models.items()}
    adjusted = holm([result.p for result in results.values()])
    over_segments = holm([result.mcnemar.p if result.compared else None for result in results.values()])
    return [
        ModelComparison(name, result, p, q)
        for (name, result), p, q in zip(results.items(), adjusted, over_segments, strict=True)
    ]


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for their number, step down; None stays None and is not part of the family.

    Raises
    ------
    ValueError
        If a value is not between 0 and 1.
    """
    known = sorted((value, place) for place, value in enumerate(p) if value is not None)
    if any(not 0 <= value <= 1 for value, _ in known):
        raise ValueError("A p-value lies between 0 and 1.")
    adjusted: list[float | None] = [None] * len(p)
    running = 0.0
    for rank, (value, place) in enumerate(known):
        running = max(running, min(1.0, (len(known) - rank) * value))
        adjusted[place] = running
    return adjusted


def _compare(gold: CaseLabels, judge: CaseLabels, labeller: CaseLabels, weights: Floats) -> Comparison:
    sizes = _same_sizes(gold, judge)
    g, j = _coded(gold), _coded(judge)
    _same_sizes(gold, labeller)
    r = _coded(labeller)
    common = (g != NONE) & (j != NONE) & (r != NONE)
    places = _places(sizes)[common]
    both = g[common], j[common], r[common]
    rows = np.hstack([_counts(both[0], side, places, len(sizes)) for side in both[1:]])
    sums = weights @ rows
    first = _score(both[0], both[1], rows[:, :4], weights, sums[:, :4])
    second = _score(both[0], both[2], rows[:, 4:], weights, sums[:, 4:])
    n, with_data = len(places), int((rows[:, :4].sum(axis=1) > 0).sum())
    difference = estimate(
        rows,
        _gain,
        weights,
        n=n,
        cases=with_data,
        undefined_because=first.balanced_f1.undefined_because,
        sums=sums,
    )
    judge_right, labeller_right = both[1] == both[0], both[2] == both[0]
    only_judge, only_labeller = _count(judge_right & ~labeller_right), _count(labeller_right & ~judge_right)
    known, no_judge, no_labeller = g != NONE, j == NONE, r == NONE
    return Comparison(
        judge=first,
        labeller=second,
        difference=difference,
        p=_two_sided(_gain(sums)) if difference.value is not None and with_data > 1 else None,
        mcnemar=mcnemar(only_judge, only_labeller),
        both_right=_count(judge_right & labeller_right),
        only_judge_right=only_judge,
        only_labeller_right=only_labeller,
        neither_right=_count(~judge_right & ~labeller_right),
        compared=n,
        gold_missing=_count(~known),
        judge_missing=_count(known & no_judge & ~no_labeller),
        labeller_missing=_count(known & no_labeller & ~no_judge),
        both_missing=_count(known & no_judge & no_labeller),
    )


def _score(gold: Codes, predicted: Codes, rows: Floats, weights: Floats, sums: Floats) -> Scores:
    """Rates over segments, their counts by case being `rows`, and those of the resamples `sums`."""
    tp, fn, tn, fp = (int(total) for total in rows.sum(axis=0))
    counts = metrics_of_counts(tp=tp, fn=fn, tn=tn, fp=fp)
    with_data = int((rows.sum(axis=1) > 0).sum())
    nothing = "" if counts.n else "no segment has both a gold label and a prediction"
    no_1 = nothing or ("" if tp + fn else "no segment has the gold label trustworthy")
    no_0 = nothing or ("" if tn + fp else "no segment has the gold label problematic")
    neither = nothing or (
        "" if 2 * tn + fn + fp else "no segment is problematic in gold labels or predictions"
    )
    reasons = {"tpr": no_1, "tnr": no_0, "f1_0": neither, "balanced_f1": no_1 or no_0}
    found = {
        name: estimate(
            rows, _RATES[name], weights, n=counts.n, cases=with_data, undefined_because=because, sums=sums
        )
        for name, because in reasons.items()
    }
    without_gold = _count(gold == NONE)
    seen = PairCoverage(len(gold), counts.n, without_gold, len(gold) - counts.n - without_gold)
    return Scores(counts=counts, coverage=seen, **found)


def _counts(gold: Codes, predicted: Codes, places: Places, cases: int) -> Floats:
    """Return true positives, false negatives, true negatives and false positives of each case."""
    used = (gold != NONE) & (predicted != NONE)
    g, p = gold[used], predicted[used]
    column = 2 * (1 - g) + (g != p)
    counts = np.bincount(4 * places[used] + column, minlength=4 * cases)
    return counts.reshape(cases, 4).astype(np.float64)


def _coded(labels: CaseLabels) -> Codes:
    """Raises ValueError for a label that is not 1, 0 or None."""
    flat = list(chain.from_iterable(labels))
    try:
        return np.fromiter(map(_CODES.__getitem__, flat), np.int8, len(flat))
    except (KeyError, TypeError):
        wrong = next(label for label in flat if label not in (0, 1, None))
        raise ValueError(f"A binary label is 1, 0 or None, not {wrong!r}.") from None


def _places(sizes: Sequence[int]) -> Places:
    return np.repeat(np.arange(len(sizes)), sizes)


def _count(flags: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(flags))


def _tpr(rows: Floats) -> Floats:
    return rows[:, 0] / (rows[:, 0] + rows[:, 1])


def _tnr(rows: Floats) -> Floats:
    return rows[:, 2] / (rows[:, 2] + rows[:, 3])


def _f1_0(rows: Floats) -> Floats:
    return 2 * rows[:, 2] / (2 * rows[:, 2] + rows[:, 1] + rows[:, 3])


def _balanced_f1(rows: Floats) -> Floats:
    tpr, tnr = _tpr(rows), _tnr(rows)
    both = tpr + tnr
    return np.where(both == 0, 0.0, 2 * tpr * tnr / np.where(both == 0, 1, both))


def _gain(rows: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return _balanced_f1(rows[:, 4:]) - _balanced_f1(rows[:, :4])


_RATES = {"tpr": _tpr, "tnr": _tnr, "f1_0": _f1_0, "balanced_f1": _balanced_f1}


def _two_sided(values: Floats) -> float | None:
    """Return twice the smaller share of resamples at or beyond zero; the added 1 keeps it above zero."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    tail = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(defined) + 1))


def _same_sizes(gold: CaseLabels, other: CaseLabels) -> list[int]:
    """The number of segments of each case; raises ValueError if they differ."""
    sizes = [len(case) for case in gold]
    if sizes != [len(case) for case in other]:
        raise ValueError("Gold labels and predictions need the same cases with the same segments.")
    return sizes
