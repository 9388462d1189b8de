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

import numpy as np

from auditing.core.estimates import RESAMPLES, Estimate, case_weights, estimate
from auditing.core.metrics import BinaryMetrics, binary_metrics
from auditing.core.statistics import Floats, McNemarResult, mcnemar

CaseLabels = Sequence[Sequence[int | None]]
_Case = list[tuple[int | None, int | None, int | None]]


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
    _require_same_shape(gold, predicted)
    return _score(gold, predicted, case_weights(len(gold), seed=seed, resamples=resamples))


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
    _require_same_shape(gold, judge)
    _require_same_shape(gold, labeller)
    cases: list[_Case] = [list(zip(*case, strict=True)) for case in zip(gold, judge, labeller, strict=True)]
    segments = [segment for case in cases for segment in case]
    common = [[None not in segment for segment in case] for case in cases]
    both = [_keep(labels, common) for labels in (gold, judge, labeller)]
    first, second = _score(both[0], both[1], weights), _score(both[0], both[2], weights)
    rows = np.hstack([_counts(both[0], both[1]), _counts(both[0], both[2])])
    n, with_data = int(rows[:, :4].sum()), int((rows[:, :4].sum(axis=1) > 0).sum())
    difference = estimate(
        rows, _gain, weights, n=n, cases=with_data, undefined_because=first.balanced_f1.undefined_because
    )
    right = [(j == g, r == g) for g, j, r in segments if None not in (g, j, r)]
    only_judge, only_labeller = right.count((True, False)), right.count((False, True))
    gaps = [(j is None, r is None) for g, j, r in segments if g is not None]
    return Comparison(
        judge=first,
        labeller=second,
        difference=difference,
        p=_two_sided(_gain(weights @ rows)) if difference.value is not None and with_data > 1 else None,
        mcnemar=mcnemar(only_judge, only_labeller),
        both_right=right.count((True, True)),
        only_judge_right=only_judge,
        only_labeller_right=only_labeller,
        neither_right=right.count((False, False)),
        compared=len(right),
        gold_missing=len(segments) - len(gaps),
        judge_missing=gaps.count((True, False)),
        labeller_missing=gaps.count((False, True)),
        both_missing=gaps.count((True, True)),
    )


def _score(gold: CaseLabels, predicted: CaseLabels, weights: Floats) -> Scores:
    pairs = [pair for case in zip(gold, predicted, strict=True) for pair in zip(*case, strict=True)]
    used = [(g, p) for g, p in pairs if g is not None and p is not None]
    counts = binary_metrics([g for g, _ in used], [p for _, p in used])
    rows = _counts(gold, predicted)
    with_data = int((rows.sum(axis=1) > 0).sum())
    nothing = "" if used else "no segment has both a gold label and a prediction"
    no_1 = nothing or ("" if counts.tp + counts.fn else "no segment has the gold label trustworthy")
    no_0 = nothing or ("" if counts.tn + counts.fp else "no segment has the gold label problematic")
    neither = nothing or (
        ""
        if 2 * counts.tn + counts.fn + counts.fp
        else "no segment is problematic in gold labels or predictions"
    )
    reasons = {"tpr": no_1, "tnr": no_0, "f1_0": neither, "balanced_f1": no_1 or no_0}
    found = {
        name: estimate(rows, _RATES[name], weights, n=len(used), cases=with_data, undefined_because=because)
        for name, because in reasons.items()
    }
    without_gold = sum(g is None for g, _ in pairs)
    seen = PairCoverage(len(pairs), len(used), without_gold, len(pairs) - len(used) - without_gold)
    return Scores(counts=counts, coverage=seen, **found)


def _counts(gold: CaseLabels, predicted: CaseLabels) -> Floats:
    """Return true positives, false negatives, true negatives and false positives of each case."""
    rows = np.zeros((len(gold), 4))
    place = {(1, 1): 0, (1, 0): 1, (0, 0): 2, (0, 1): 3}
    for row, labels, guesses in zip(rows, gold, predicted, strict=True):
        for g, p in zip(labels, guesses, strict=True):
            if g is not None and p is not None:
                row[place[g, p]] += 1
    return rows


def _keep(labels: CaseLabels, kept: Sequence[Sequence[bool]]) -> list[list[int | None]]:
    return [
        [label for label, keep in zip(case, flags, strict=True) if keep]
        for case, flags in zip(labels, kept, strict=True)
    ]


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


def _require_same_shape(gold: CaseLabels, other: CaseLabels) -> None:
    if [len(case) for case in gold] != [len(case) for case in other]:
        raise ValueError("Gold labels and predictions need the same cases with the same segments.")
    for labels in (gold, other):
        for label in (label for case in labels for label in case):
            if label not in (0, 1, None):
                raise ValueError(f"A binary label is 1, 0 or None, not {label!r}.")
