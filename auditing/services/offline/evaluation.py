"""Audits against gold labels, with bootstrap intervals by trace.

Counts are pooled over the segments of a domain (paper "Reference-Free Evaluation of Reasoning in Open-Ended
Question Answering", Kohli et al., section 4 and Table 1). Segments of one trace depend on each other, so the
bootstrap draws whole traces with replacement and takes the 2.5th and 97.5th percentile of each measure; a
draw in which a measure is not defined is left out of that measure and counted. Context segments and segments
without a gold label are no part of any measure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditing.core.metrics import BinaryMetrics, binary_gold, binary_metrics
from auditing.services.offline.documents import LABEL_WORDS

SCHEMA = "reasonaudit.evaluation/1"
RESAMPLES = 1000

Measure = Callable[[NDArray[np.int64]], float | None]

_COLUMNS = ("tp", "fn", "tn", "fp", "found", "accumulation", "unsupported")
_RATES = ("tpr", "tnr", "f1_0", "balanced_f1")


def evaluate(
    audits: Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    labels: Sequence[str] = LABEL_WORDS,
) -> dict[str, Any]:
    """Return metrics by domain and overall.

    Parameters
    ----------
    audits
        Audited traces as documents.
    seed
        Of the resampling; the same seed gives the same intervals.
    resamples
        Bootstrap draws, 0 for no intervals.
    labels
        What a segment can be labelled: those of the audit, or a judge's verdicts.

    Returns
    -------
    dict
        JSON-able; what cannot be computed is None. `overall` is None when there is only one domain's worth
        of data to pool, since it would repeat that domain.
    """
    domains = sorted({str(audit["domain"]) for audit in audits})
    groups = {name: [audit for audit in audits if audit["domain"] == name] for name in domains}
    return {
        "schema": SCHEMA,
        "seed": seed,
        "resamples": resamples,
        "domains": {name: _group(group, seed, resamples, labels) for name, group in groups.items()},
        "overall": _group(audits, seed, resamples, labels) if len(domains) > 1 else None,
    }


def _group(
    audits: Sequence[Mapping[str, Any]], seed: int, resamples: int, labels: Sequence[str]
) -> dict[str, Any]:
    audited = [segment for audit in audits for segment in audit["segments"] if segment["label"] is not None]
    judged = [segment for segment in audited if segment["gold"] is not None]
    counts = np.array([_counts(audit) for audit in audits], dtype=np.int64).reshape(
        len(audits), len(_COLUMNS)
    )
    total = counts.sum(axis=0)
    metrics = _binary(total)
    measures: dict[str, Measure] = {name: partial(_rate, name) for name in _RATES}
    accumulation = any(segment.get("error_kind") == "accumulation" for segment in judged)
    if accumulation:
        measures["accumulation_recall"] = partial(_share, part="found", whole="accumulation")
        measures["accumulation_precision"] = partial(_share, part="found", whole="unsupported")
    draws = _draws(counts, seed, resamples)
    support = _support(metrics, total)
    return {
        "traces": len(audits),
        "segments": len(audited),
        "gold": {
            "labelled": len(judged),
            "missing": len(audited) - len(judged),
            "coverage": len(judged) / len(audited) if audited else None,
            "labels": {
                name: sum(s["gold"] == name for s in judged) for name in ("correct", "incorrect", "uncertain")
            },
        },
        "confusion": {"tp": metrics.tp, "fn": metrics.fn, "tn": metrics.tn, "fp": metrics.fp, "n": metrics.n},
        "metrics": {
            name: {"value": measure(total), "n": support[name], **_interval(draws, measure)}
            for name, measure in measures.items()
        },
        "labels_by_gold": _crossed(judged, lambda segment: segment["gold"], labels),
        "labels_by_error_kind": _crossed(judged, _kind, labels)
        if any(s.get("error_kind") for s in judged)
        else None,
    }


def _counts(audit: Mapping[str, Any]) -> list[int]:
    """Return one trace's counts, in the order of `_COLUMNS`."""
    found: Counter[str] = Counter()
    for segment in audit["segments"]:
        if segment["label"] is None or segment["gold"] is None:
            continue
        found[("tn", "fp", "fn", "tp")[2 * binary_gold(segment["gold"]) + segment["y_hat"]]] += 1
        unsupported = segment["label"] == "unsupported"
        inherited = segment.get("error_kind") == "accumulation"
        found["unsupported"] += unsupported
        found["accumulation"] += inherited
        found["found"] += unsupported and inherited
    return [found[name] for name in _COLUMNS]


def _binary(sums: NDArray[np.int64]) -> BinaryMetrics:
    tp, fn, tn, fp = (int(value) for value in sums[:4])
    return binary_metrics([1] * (tp + fn) + [0] * (tn + fp), [1] * tp + [0] * (fn + tn) + [1] * fp)


def _rate(name: str, sums: NDArray[np.int64]) -> float | None:
    value: float | None = getattr(_binary(sums), name)
    return value


def _share(sums: NDArray[np.int64], part: str, whole: str) -> float | None:
    below = int(sums[_COLUMNS.index(whole)])
    return int(sums[_COLUMNS.index(part)]) / below if below else None


def _support(metrics: BinaryMetrics, total: NDArray[np.int64]) -> dict[str, int]:
    """Return how many segments each measure rests on."""
    return {
        "tpr": metrics.tp + metrics.fn,
        "tnr": metrics.tn + metrics.fp,
        "f1_0": metrics.n,
        "balanced_f1": metrics.n,
        "accumulation_recall": int(total[_COLUMNS.index("accumulation")]),
        "accumulation_precision": int(total[_COLUMNS.index("unsupported")]),
    }


def _draws(counts: NDArray[np.int64], seed: int, resamples: int) -> NDArray[np.int64]:
    """Return the summed counts of each bootstrap draw of whole traces; none with fewer than 2 traces."""
    traces = len(counts)
    if traces < 2 or resamples < 1:
        return np.zeros((0, len(_COLUMNS)), dtype=np.int64)
    generator = np.random.default_rng(seed)
    return np.stack([counts[generator.integers(0, traces, traces)].sum(axis=0) for _ in range(resamples)])


def _interval(draws: NDArray[np.int64], measure: Measure) -> dict[str, float | int | None]:
    values = [value for value in map(measure, draws) if value is not None]
    low, high = (None, None) if not values else (float(v) for v in np.percentile(values, [2.5, 97.5]))
    return {"low": low, "high": high, "draws": len(values), "undefined_draws": len(draws) - len(values)}


def _kind(segment: Mapping[str, Any]) -> str:
    return segment.get("error_kind") or ("none" if segment["gold"] == "correct" else "not stated")


def _crossed(
    segments: Sequence[Mapping[str, Any]],
    column: Callable[[Mapping[str, Any]], str],
    labels: Sequence[str],
) -> dict[str, dict[str, int]]:
    counts = Counter((column(segment), segment["label"]) for segment in segments)
    return {
        name: {label: counts[name, label] for label in labels} for name in sorted({key for key, _ in counts})
    }
