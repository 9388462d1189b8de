"""Table 2: how segments fail under each relation labeller, by domain. Counts are of all audited segments."""

from typing import Any

from annotation.models import Domain
from auditing.core.audit_labels import ORPHAN, UNSUPPORTED
from auditing.core.metrics import failure_modes
from auditing.core.takeaways import failure_takeaway
from auditing.models import AuditLabel

from .cells import Cells
from .material import Material


def failure_panel(here: Material, cells: Cells, there: Material | None = None) -> dict[str, Any]:
    """Bars of every labeller and domain; the second set's, where one is chosen, after the study's own."""
    groups = _groups(here, cells, "")
    if there is not None:
        groups += _groups(there, None, there.title)
    counts = {
        group["title"]: [
            (bar["counts"][AuditLabel.ORPHAN], bar["counts"][AuditLabel.UNSUPPORTED]) for bar in group["bars"]
        ]
        for group in groups
    }
    return {"title": failure_takeaway(counts), "empty": "" if groups else "no_audit", "groups": groups}


def _groups(found: Material, cells: Cells | None, prefix: str) -> list[dict[str, Any]]:
    domain_of = [place.domain for place in found.places for _ in range(place.start, place.end)]
    groups = []
    for domain in found.domains:
        cases = sum(place.domain == domain for place in found.places)
        within = [place for place, one in enumerate(domain_of) if one == domain]
        bars = []
        for labeller in found.labellers:
            modes = failure_modes(
                (labeller.labels[place] or "").capitalize() for place in within if labeller.labels[place]
            )
            if not modes.n:
                continue
            counts = {label.lower(): number for label, number in modes.counts.items()}
            bars.append(
                {
                    "model": labeller.model,
                    "run_id": labeller.run_id,
                    "weak": labeller.weak,
                    "n": modes.n,
                    "missing": len(within) - modes.n,
                    "counts": counts,
                    "percent": {label.lower(): share for label, share in modes.percent.items()},
                    "ratio": modes.orphan_unsupported_ratio,
                    "cells": {}
                    if cells is None
                    else {
                        label: cells.add(
                            f"{labeller.key}|{domain}|{label}",
                            f"{labeller.model}: {AuditLabel(label).label}, {Domain(domain).label}",
                            [place for place in within if labeller.labels[place] == label],
                            f"labeller|{labeller.key}",
                        )
                        for label in counts
                    },
                    "fails_cell": ""
                    if cells is None
                    else cells.add(
                        f"{labeller.key}|{domain}|fails",
                        f"{labeller.model}: Orphan or Unsupported, {Domain(domain).label}",
                        [
                            place
                            for place in within
                            if labeller.labels[place] in (ORPHAN.lower(), UNSUPPORTED.lower())
                        ],
                        f"labeller|{labeller.key}",
                    ),
                }
            )
        if bars:
            words = str(Domain(domain).label)
            groups.append(
                {
                    "title": f"{words}, {prefix}" if prefix else words,
                    "cases": cases,
                    "segments": len(within),
                    "bars": bars,
                }
            )
    return groups
