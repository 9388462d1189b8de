"""The document of a study as text that fits a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from auditing.services.offline.grapheval_report import TITLES, clip, decoding_text, notes_text
from auditing.services.offline.report import NONE, WIDTH, counted, number, table

KINDS = {
    "early_gold": "early answering against gold (mostly accuracy)",
    "early_own": "early answering against the chain's own answer",
    "counterfactual": "counterfactual edits",
}
QUESTIONS_SHOWN = 50


def text(document: Mapping[str, Any], *, seconds: float) -> str:
    """Return all panels, one after the other."""
    blocks = [
        _counts(document),
        _questions(document),
        *notes_text(document["manifest"]),
        "Vote and medoid\n" + decoding_text(document["decoding"], document["votes"]),
    ]
    blocks += [
        *_correlations(document),
        _faithful(document["faithful"]),
        _ablation(document["ablation"]),
        _topology(document["topology"]),
        _decomposition(document["decomposition"], document["collapse"]),
    ]
    if "sweep" in document:
        blocks.append(_sweep(document["sweep"]))
    return "\n\n".join([*filter(None, blocks), f"seconds {seconds:.1f}"])


def _counts(document: Mapping[str, Any]) -> str:
    counts = document["counts"]
    lines = [
        f"{clip(document['study']['name'], WIDTH)}: {counted(counts['scored'], 'question')} scored "
        f"of {counts['questions']:,}, {counted(counts['chains'], 'chain')}"
    ]
    for title, found in (("left out", counts["excluded"]), ("flags", counts["flags"])):
        if found:
            named = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found.items())
            lines.append(f"{title}: {named}")
    if counts["stale"]:
        lines.append(f"{counted(counts['stale'], 'score')} out of date; score again.")
    return "\n".join(lines)


def _questions(document: Mapping[str, Any]) -> str:
    rows = [
        [
            clip(row["external_id"], 24),
            str(row["n"]),
            number(row["metrics"]["grcs"]),
            number(row["metrics"]["entropy"], 2),
            row["quadrant"] or NONE,
            (row["cell"] or NONE).replace("_", " "),
            number(row["early_own"], 2),
        ]
        for row in document["questions"][:QUESTIONS_SHOWN]
    ]
    shown = table(["question", "n", "GRCS", "entropy", "quadrant", "right", "early own"], rows)
    rest = len(document["questions"]) - QUESTIONS_SHOWN
    return shown if rest <= 0 else f"{shown}\nand {counted(rest, 'question')} more; --json has them all"


def _correlations(document: Mapping[str, Any]) -> Iterator[str]:
    bootstrap = document["bootstrap"]
    for kind, title in KINDS.items():
        rows = [row for row in document["correlations"] if row["faithfulness"] == kind]
        if not rows:
            yield f"Correlation with {title}\n{NONE}: {bootstrap['missing'].get(kind, 'not computed')}"
            continue
        body = [
            [
                TITLES[row["metric"]] + ("" if row["recomputed"] else " *"),
                str(row["n"]),
                *(_interval(row[name]) for name in ("pearson", "spearman", "kendall")),
            ]
            for row in rows
        ]
        lines = [f"Correlation with {title}, 95 % interval of {bootstrap['resamples']:,} resamples"]
        lines.append(table(["metric", "n", "Pearson", "Spearman", "Kendall"], body))
        if not all(row["recomputed"] for row in rows):
            lines.append("* of the whole question: it is not computed again on the drawn chains")
        yield "\n".join([*lines, *textwrap.wrap(" ".join(bootstrap["notes"]), WIDTH)])


def _interval(found: Mapping[str, Any]) -> str:
    if found["value"] is None and found["low"] is None:
        return NONE
    return f"{number(found['value'], 2)} [{number(found['low'], 2)}, {number(found['high'], 2)}]"


def _faithful(found: Mapping[str, Any]) -> str:
    sources = {
        **({"people": found["people"]} if found["people"] else {}),
        **found["judges"],
        **found["imported"],
    }
    if not sources:
        return ""
    rows = []
    for source, report in sources.items():
        wins = [report[cell] for cell in ("sc_only", "gsc_only")]
        shares = [NONE if one is None else f"{one['faithful']}/{one['wins']}" for one in wins]
        difference = report["difference"]
        rows.append([clip(source, 44), *shares, NONE if difference is None else f"{100 * difference:+.1f}"])
    return "Faithful wins\n" + table(["judged by", "of the vote", "of the medoid", "points"], rows)


def _ablation(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    lines = ["With the medoid forbidden"]
    if population := found["population"]:
        lines.append(
            f"all: {counted(population['n'], 'question')}, accuracy {number(population['mean_accuracy_change'])}, "
            f"faithfulness {number(population['mean_faithfulness_change'])}, r {number(population['regression']['r'])}"
        )
    targeted = found["targeted"]
    lines.append(
        f"only the medoid right: {counted(targeted['n'], 'question')}, accuracy {number(targeted['accuracy'])}, "
        f"faithfulness {number(targeted['faithfulness'])} (medoid {number(targeted['medoid_faithfulness'])}), "
        f"distance {number(targeted['distance'])}"
    )
    return "\n".join(lines)


def _topology(found: Mapping[str, Any]) -> str:
    if found["origin"] is None:
        return f"Topology map\n{NONE}: no question has both divergence and entropy"
    x, y = found["origin"]
    counts = ", ".join(f"{name} {count}" for name, count in found["quadrants"].items())
    return f"Topology map around divergence {number(x)}, entropy {number(y)}\n{counts}"


def _decomposition(found: Mapping[str, Any], collapse: Mapping[str, Any]) -> str:
    share = NONE if found["changed_share"] is None else f"{100 * found['changed_share']:.1f} %"
    lines = [
        f"{number(found['facts_per_chain'], 1)} facts a chain, {number(found['edges_per_fact'], 2)} edges a fact, "
        f"{share} of the facts with other dependencies than their step"
    ]
    if found["warnings"]:
        lines.append(
            "warnings: "
            + ", ".join(f"{clip(code, 40)} {count:,}" for code, count in found["warnings"].items())
        )
    lines.append(
        f"{collapse['repeated']} of {collapse['questions']} questions share a chain with another one, "
        f"{collapse['mode_collapse']} look collapsed"
    )
    if collapse["why"]:
        lines += textwrap.wrap(f"! {collapse['why']}", WIDTH)
    return "\n".join(lines)


def _sweep(found: Mapping[str, Any]) -> str:
    kinds = [
        kind for kind in KINDS if any(row["correlations"].get(kind, {}).get("n") for row in found["rows"])
    ]
    rows = [
        [
            f"{row['alpha']:g}",
            f"{row['beta']:g}",
            f"{row['gamma']:g}" + (" *" if row["own"] else ""),
            number(row["grcs"]),
            number(row["gsc_acc"]),
            number(row["medoids_unchanged"], 2),
            *(number(row["correlations"][kind]["pearson"], 2) for kind in kinds),
        ]
        for row in found["rows"]
        if _near_own(row, found["own"])
    ]
    header = ["alpha", "beta", "gamma", "GRCS", "accuracy", "same medoid", *(f"r {kind}" for kind in kinds)]
    return "Other weights (* the study's own; one or two of the three changed; --json has all)\n" + table(
        header, rows, left=3
    )


def _near_own(row: Mapping[str, Any], own: Mapping[str, float]) -> bool:
    return bool(row["alpha"] == own["alpha"]) or (row["beta"], row["gamma"]) == (own["beta"], own["gamma"])
