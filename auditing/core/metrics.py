"""Agreement of the audit with gold annotations, and the failure modes of a set of audits.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 4
(metrics; annotations collapsed to a binary label), Table 1 (TPR, TNR, F1 of class 0, balanced F1), Table 2
(shares of Orphan and Unsupported segments and their ratio). Choices where the paper is open, in words:
counts are pooled over all segments of a domain, not averaged per case, which the printed Table 1 confirms;
the ratio is taken from counts; a value with a zero denominator is None, never 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditing.core.audit_labels import AUDIT_LABELS, ORPHAN, UNSUPPORTED

_POSITIVE = frozenset({"correct"})
_NEGATIVE = frozenset(
    {
        "incorrect",
        "uncertain",
        "hedging",
        "inconclusive",
        "hedging/inconclusive",
        "partially true",
        "partially_true",
    }
)


@dataclass(frozen=True, slots=True)
class BinaryMetrics:
    """Confusion counts and rates; class 1 is "can be trusted without review".

    Attributes
    ----------
    tp, fn, tn, fp : int
        Confusion counts.
    tpr, tnr : float or None
        Sensitivity and specificity, 0 to 1.
    f1_0 : float or None
        F1 of class 0.
    balanced_f1 : float or None
        Harmonic mean of tpr and tnr; None if either is None.
    n : int
        Number of segments.
    """

    tp: int
    fn: int
    tn: int
    fp: int
    tpr: float | None
    tnr: float | None
    f1_0: float | None
    balanced_f1: float | None
    n: int


@dataclass(frozen=True, slots=True)
class FailureModes:
    """Counts and percentages (0 to 100) of the audit labels, and the ratio of Orphan to Unsupported."""

    n: int
    counts: dict[str, int]
    percent: dict[str, float | None]
    orphan_unsupported_ratio: float | None


def binary_gold(annotation: str) -> int:
    """Collapse a physician's annotation to 1 (correct) or 0 (anything that needs review).

    Parameters
    ----------
    annotation : str
        Correct, incorrect, uncertain, hedging/inconclusive or partially true, upper or lower case.

    Raises
    ------
    ValueError
        If the annotation is none of these.
    """
    word = " ".join(annotation.strip().lower().split())
    if word in _POSITIVE:
        return 1
    if word in _NEGATIVE:
        return 0
    known = ", ".join(sorted(_POSITIVE | _NEGATIVE))
    raise ValueError(f"Unknown gold annotation {annotation!r}; use one of {known}.")


def binary_metrics(gold: Sequence[int], predicted: Sequence[int]) -> BinaryMetrics:
    """Return pooled metrics of binary predictions (paper, section 4).

    Parameters
    ----------
    gold, predicted : sequence of int
        0 or 1 per segment, in the same order.

    Raises
    ------
    ValueError
        If the lengths differ or a value is neither 0 nor 1.
    """
    if len(gold) != len(predicted):
        raise ValueError(
            f"{len(gold)} gold labels and {len(predicted)} predictions; give one of each per segment."
        )
    for value in (*gold, *predicted):
        if value not in (0, 1):
            raise ValueError(f"Binary labels are 0 or 1, not {value!r}.")
    pairs = list(zip(gold, predicted, strict=True))
    return metrics_of_counts(
        tp=pairs.count((1, 1)), fn=pairs.count((1, 0)), tn=pairs.count((0, 0)), fp=pairs.count((0, 1))
    )


def metrics_of_counts(*, tp: int, fn: int, tn: int, fp: int) -> BinaryMetrics:
    """Return the rates of confusion counts; see `BinaryMetrics`."""
    tpr, tnr = _share(tp, tp + fn), _share(tn, tn + fp)
    balanced = None
    if tpr is not None and tnr is not None:
        balanced = 2 * tpr * tnr / (tpr + tnr) if tpr + tnr else 0.0
    return BinaryMetrics(
        tp, fn, tn, fp, tpr, tnr, _share(2 * tn, 2 * tn + fn + fp), balanced, tp + fn + tn + fp
    )


def failure_modes(labels: Iterable[str]) -> FailureModes:
    """Return how often each audit label occurs (paper, Table 2).

    Parameters
    ----------
    labels : iterable of str
        Audit labels of all segments that are not context.

    Raises
    ------
    ValueError
        If a label is unknown.
    """
    counts = dict.fromkeys(AUDIT_LABELS, 0)
    for label in labels:
        if label not in counts:
            raise ValueError(f"Unknown audit label {label!r}; use one of {', '.join(AUDIT_LABELS)}.")
        counts[label] += 1
    n = sum(counts.values())
    percent = {label: (100 * count / n if n else None) for label, count in counts.items()}
    return FailureModes(n, counts, percent, _share(counts[ORPHAN], counts[UNSUPPORTED]))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
