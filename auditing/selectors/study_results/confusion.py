"""Human label by audit class: what the graph supports although people did not, and the other way round."""

from typing import Any

from auditing.core.confusion import confusion
from auditing.core.takeaways import confusion_takeaway
from auditing.models import AuditLabel

from .cells import Cells
from .gold import HUMAN_ORDER
from .material import Labeller, Material, Reference

TRUST, ALARM = "trust", "alarm"
ANY = "any"


def confusion_panel(
    found: Material, gold: list[Reference | None], labeller: Labeller | None, cells: Cells
) -> dict[str, Any]:
    """The table with shares of its rows; labels made while the audit could be seen are left out and counted."""
    if labeller is None or not any(gold):
        return {
            "title": "There is no audit to compare with the labels"
            if labeller is None
            else "There is no label to compare with the audit",
            "empty": "no_audit" if labeller is None else "no_gold",
            "rows": [],
        }
    human = [one.label if one is not None and one.blinded else None for one in gold]
    table = confusion(human, labeller.labels, HUMAN_ORDER, tuple(AuditLabel.values))
    pairs = list(zip(human, labeller.labels, strict=True))

    def places(label: str, audit: str) -> list[int]:
        return [
            place
            for place, (one, other) in enumerate(pairs)
            if one is not None and other is not None and label in (one, ANY) and audit in (other, ANY)
        ]

    rows = [
        {
            "label": label,
            "total": sum(table.counts[i]),
            "cell": _cell(cells, label, ANY, places(label, ANY)),
            "cells": [
                {
                    "audit": audit,
                    "count": table.counts[i][j],
                    "share": table.share_of_row(i, j),
                    "mark": _mark(label, audit),
                    "cell": _cell(cells, label, audit, places(label, audit)),
                }
                for j, audit in enumerate(table.columns)
            ],
        }
        for i, label in enumerate(table.rows)
    ]
    supported = places(ANY, AuditLabel.SUPPORTED)
    trust = [place for place in supported if human[place] != "correct"]
    alarm = [place for place in places("correct", ANY) if labeller.labels[place] != AuditLabel.SUPPORTED]
    problematic = sum(sum(table.counts[i]) for i, label in enumerate(table.rows) if label != "correct")
    return {
        "title": confusion_takeaway(len(trust), problematic),
        "empty": "",
        "audit": labeller.words,
        "columns": [
            {
                "audit": audit,
                "total": sum(row[j] for row in table.counts),
                "cell": _cell(cells, ANY, audit, places(ANY, audit)),
            }
            for j, audit in enumerate(table.columns)
        ],
        "rows": rows,
        "n": table.n,
        "cell": _cell(cells, ANY, ANY, places(ANY, ANY)),
        "human_missing": table.row_missing,
        "audit_missing": table.column_missing,
        "false_trust": {
            "count": len(trust),
            "cell": cells.add("confusion|false-trust", "False trust: not correct, yet Supported", trust),
        },
        "false_alarm": {
            "count": len(alarm),
            "orphans": sum(labeller.labels[place] == AuditLabel.ORPHAN for place in alarm),
            "cell": cells.add("confusion|false-alarm", "False alarm: Correct, yet not Supported", alarm),
        },
    }


def _mark(label: str, audit: str) -> str:
    if label == "correct":
        return "" if audit == AuditLabel.SUPPORTED else ALARM
    return TRUST if audit == AuditLabel.SUPPORTED else ""


def _cell(cells: Cells, label: str, audit: str, places: list[int]) -> str:
    human = "any label" if label == ANY else label.capitalize()
    other = "any outcome" if audit == ANY else str(AuditLabel(audit).label)
    return cells.add(f"confusion|{label}|{audit}", f"Physicians: {human}; audit: {other}", places)
