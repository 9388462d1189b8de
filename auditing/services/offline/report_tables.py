"""Evaluation and ablation as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditing.services.offline.documents import LABEL_WORDS
from auditing.services.offline.report import NONE, counted, number, table

_NAMES = {
    "tpr": "TPR (correct kept)",
    "tnr": "TNR (problems found)",
    "f1_0": "F1 of problems",
    "balanced_f1": "balanced F1",
    "accumulation_recall": "accumulation recall",
    "accumulation_precision": "accumulation precision",
}


def evaluation_text(result: Mapping[str, Any]) -> str:
    """Return the metrics of every domain with intervals and counts."""
    groups = dict(result["domains"])
    if result["overall"] is not None:
        groups["all domains"] = result["overall"]
    blocks = [_evaluated(name, group) for name, group in groups.items()]
    if result["resamples"]:
        blocks.append(
            f"Intervals: 95 %, from {result['resamples']:,} draws of whole traces, seed {result['seed']}."
        )
    return "\n\n".join(blocks)


def _evaluated(name: str, group: Mapping[str, Any]) -> str:
    gold = group["gold"]
    head = (
        f"{name}: {counted(group['traces'], 'trace')}, {gold['labelled']:,} of {group['segments']:,} segments "
        f"have a gold label ({', '.join(f'{count:,} {word}' for word, count in gold['labels'].items())})"
    )
    confusion = group["confusion"]
    rows = []
    for key, measure in group["metrics"].items():
        interval = (
            NONE if measure["low"] is None else f"{number(measure['low'])} to {number(measure['high'])}"
        )
        rows.append(
            [
                _NAMES[key],
                number(measure["value"]),
                interval,
                f"{measure['n']:,}",
                f"{measure['undefined_draws']:,}",
            ]
        )
    lines = [head, "", table(["measure", "value", "95 % interval", "segments", "undefined draws"], rows), ""]
    lines.append(
        f"confusion: {confusion['tp']:,} true positive, {confusion['fn']:,} false negative, "
        f"{confusion['tn']:,} true negative, {confusion['fp']:,} false positive"
    )
    for title, crossed in (("gold", group["labels_by_gold"]), ("error kind", group["labels_by_error_kind"])):
        if crossed:
            labels = list(next(iter(crossed.values())))
            rows = [[word, *(f"{counts[label]:,}" for label in labels)] for word, counts in crossed.items()]
            lines += ["", table([title, *labels], rows)]
    return "\n".join(lines)


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return a setting as it is typed, such as `tau=4`."""
    return " ".join(f"{name}={_value(value)}" for name, value in setting.items())


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def ablation_text(result: Mapping[str, Any], *, listed: int) -> str:
    """Return one line per setting, and under it up to `listed` changed labels of each."""
    rows = [_ablated("default", "", result["default"])]
    for one in result["settings"]:
        share = None if one["changed_share"] is None else 100 * one["changed_share"]
        rows.append(_ablated(setting_text(one["setting"]), f"{one['changed']:,} ({number(share, 1)} %)", one))
    lines = [
        f"{counted(result['traces'], 'trace')}, {counted(result['default']['segments'], 'segment')}; S supported, "
        "U unsupported, O orphan, C contradicted",
        "",
        table(["setting", "changed", "S", "U", "O", "C", "TPR", "TNR", "bal. F1"], rows),
    ]
    for one in result["settings"] if listed else ():
        if not one["changes"]:
            continue
        lines += ["", f"{setting_text(one['setting'])}: {one['changed']:,} changed"]
        lines += [
            f"  {c['trace']} S{c['segment']}: {c['from']} -> {c['to']}" for c in one["changes"][:listed]
        ]
        if one["changed"] > listed:
            lines.append(f"  ... and {one['changed'] - listed:,} more (--changes N, or --json for all)")
    return "\n".join(lines)


def _ablated(name: str, changed: str, counts: Mapping[str, Any]) -> list[str]:
    metrics = counts["metrics"] or {"tpr": None, "tnr": None, "balanced_f1": None}
    return [
        name,
        changed,
        *(f"{counts['labels'][label]:,}" for label in LABEL_WORDS),
        number(metrics["tpr"]),
        number(metrics["tnr"]),
        number(metrics["balanced_f1"]),
    ]
