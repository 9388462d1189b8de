"""Table 1(a): each model as direct judge and as relation labeller, on the same segments.

A judge and a labeller are one model if the names after the first colon of their specs are equal, letter for letter
(`openai:gpt-oss-20b` with `openai:gpt-oss-20b`; also `imported:gpt-oss-20b`). Of several judges of one model the one
with most verdicts is taken. Whoever reads may pair others by hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditing.core.comparison import Comparison, ModelComparison, Scores, compare_models, score
from auditing.core.estimates import RESAMPLES, Estimate
from auditing.core.takeaways import Roles, comparison_takeaway, verdict_of, verdict_words
from auditing.selectors.judges import Judge

from .cells import Cells
from .material import Labeller, Material

SEED = 20_260
RATES = ("tpr", "tnr", "f1_0", "balanced_f1")
JUDGE, LABELLER = "judge", "labeller"
ROLE_WORDS = {JUDGE: "direct judge", LABELLER: "relation labeller"}
Binary = list[int | None]
Codes = NDArray[np.int8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the table: a judge, a labeller or both, and the id that addresses use."""

    judge: Judge | None
    labeller: Labeller | None

    @property
    def key(self) -> str:
        """Stable id of the row."""
        return f"{self.judge.id if self.judge else ''}~{self.labeller.key if self.labeller else ''}"

    @property
    def title(self) -> str:
        """Name of the model, or both names where they differ."""
        names = [self.judge.name] if self.judge else []
        if self.labeller and (self.judge is None or self.labeller.model != self.judge.model):
            names.append(self.labeller.model)
        return " · ".join(names)


def pairs_of(found: Material, by_hand: Sequence[tuple[str, str]] = ()) -> list[Pair]:
    """Pair judges with labellers; those without a partner stand alone, after the pairs."""
    labellers = {labeller.key: labeller for labeller in found.labellers}
    wishes = dict(by_hand)
    partner: dict[str, Labeller] = {}
    taken = set()
    for judge in found.judges:
        wish = labellers.get(wishes.get(judge.id, ""))
        if wish is not None and wish.key not in taken:
            partner[judge.id] = wish
            taken.add(wish.key)
    ranked = sorted(found.judges, key=lambda judge: -sum(y is not None for y in found.judges[judge]))
    for judge in ranked:
        if judge.id in wishes or judge.id in partner:
            continue
        own = next(
            (one for one in found.labellers if one.model == judge.model and one.key not in taken), None
        )
        if own is not None:
            partner[judge.id] = own
            taken.add(own.key)
    rows = [Pair(judge, partner.get(judge.id)) for judge in found.judges]
    alone = [Pair(None, one) for one in found.labellers if one.key not in taken]
    both = [row for row in rows if row.labeller is not None]
    return both + alone + [row for row in rows if row.labeller is None]


def comparison_panel(
    found: Material,
    gold: Binary,
    cells: Cells,
    by_hand: Sequence[tuple[str, str]] = (),
    resamples: int | None = None,
) -> dict[str, Any]:
    """Scores of every model in both roles, the gain, its tests and its coverage."""
    draws = RESAMPLES if resamples is None else resamples
    pairs = pairs_of(found, by_hand)
    cases = found.by_case(gold)
    for judge, values in found.judges.items():
        cells.roles[f"{JUDGE}|{judge.id}"] = (f"{judge.name} as judge", values)
    for labeller in found.labellers:
        cells.roles[f"{LABELLER}|{labeller.key}"] = (f"{labeller.model} as labeller", labeller.y)
    both = {
        pair.key: (found.by_case(found.judges[pair.judge]), found.by_case(pair.labeller.y))
        for pair in pairs
        if pair.judge and pair.labeller
    }
    compared = {row.model: row for row in compare_models(cases, both, seed=SEED, resamples=draws)}
    # One truth value per segment, made once: it is asked for every number.
    y = {"gold": _array(gold)}
    y |= {name: _array(values) for name, (_, values) in cells.roles.items()}
    rows = []
    for pair in pairs:
        row = compared.get(pair.key)
        if row is not None:
            rows.append(_paired_row(pair, row, cells, y))
            continue
        values = pair.labeller.y if pair.labeller else found.judges[pair.judge]  # type: ignore[index]
        scores = score(cases, found.by_case(values), seed=SEED, resamples=draws)
        rows.append(_lone_row(pair, scores, cells, y))
    said = [
        Roles(
            judge_tnr=_value(row, JUDGE, "tnr"),
            labeller_tpr=_value(row, LABELLER, "tpr"),
            verdict=row["gain"]["verdict"] if row["gain"] else "",
        )
        for row in rows
    ]
    return {
        "title": comparison_takeaway(said),
        "empty": _empty(found, gold),
        "rows": rows,
        "seed": SEED,
        "resamples": draws,
        "models": sum(row["gain"] is not None for row in rows),
        "judges": [{"id": judge.id, "name": judge.name} for judge in found.judges],
        "labellers": [{"key": one.key, "name": one.model} for one in found.labellers],
        "chosen": {pair.judge.id: pair.labeller.key if pair.labeller else "" for pair in pairs if pair.judge},
    }


def _empty(found: Material, gold: Binary) -> str:
    if not found.n:
        return "no_segments"
    if not found.judges and not found.labellers:
        return "no_evaluators"
    return "" if any(y is not None for y in gold) else "no_gold"


def _paired_row(pair: Pair, row: ModelComparison, cells: Cells, y: Mapping[str, Codes]) -> dict[str, Any]:
    result: Comparison = row.result
    judge, labeller = y[f"{JUDGE}|{pair.judge.id}"], y[f"{LABELLER}|{pair.labeller.key}"]  # type: ignore[union-attr]
    common = (y["gold"] >= 0) & (judge >= 0) & (labeller >= 0)
    right_judge, right_labeller = judge == y["gold"], labeller == y["gold"]
    key, name = pair.key, pair.title
    out = _base(pair)
    out["roles"] = [
        _role(JUDGE, pair, result.judge, cells, y["gold"], judge, common),
        _role(LABELLER, pair, result.labeller, cells, y["gold"], labeller, common),
    ]
    out["gain"] = _estimate(result.difference) | {
        "verdict": verdict_of(result.difference, row.p_holm),
        "words": verdict_words(result.difference, row.p_holm),
        "p": result.p,
        "p_holm": row.p_holm,
        "cell": cells.add(f"{key}|gain", f"{name}: segments compared in both roles", common),
    }
    out["mcnemar"] = asdict(result.mcnemar) | {
        "p": result.mcnemar.p if result.compared else None,
        "p_holm": row.mcnemar_p_holm,
        "only_judge": result.only_judge_right,
        "only_labeller": result.only_labeller_right,
        "only_judge_cell": cells.add(
            f"{key}|only-judge",
            f"{name}: only the direct judge is right",
            common & right_judge & ~right_labeller,
        ),
        "only_labeller_cell": cells.add(
            f"{key}|only-labeller",
            f"{name}: only the relation labeller is right",
            common & ~right_judge & right_labeller,
        ),
        "cell": cells.add(
            f"{key}|differ",
            f"{name}: only one of the two roles is right",
            common & (right_judge != right_labeller),
        ),
    }
    out["coverage"] = {
        "segments": len(y["gold"]),
        "compared": result.compared,
        "gold_missing": result.gold_missing,
        "judge_missing": result.judge_missing,
        "labeller_missing": result.labeller_missing,
        "both_missing": result.both_missing,
        "missing": result.judge_missing + result.labeller_missing + result.both_missing,
        "cell": cells.add(
            f"{key}|missing", f"{name}: a verdict or an audit is missing", (y["gold"] >= 0) & ~common
        ),
    }
    return out


def _lone_row(pair: Pair, scores: Scores, cells: Cells, y: Mapping[str, Codes]) -> dict[str, Any]:
    role = JUDGE if pair.judge else LABELLER
    name = f"{JUDGE}|{pair.judge.id}" if pair.judge else f"{LABELLER}|{pair.labeller.key}"  # type: ignore[union-attr]
    said, gold = y[name], y["gold"]
    used = (gold >= 0) & (said >= 0)
    out = _base(pair)
    out["roles"] = [_role(role, pair, scores, cells, gold, said, used)]
    seen = scores.coverage
    out["coverage"] = {
        "segments": seen.segments,
        "compared": seen.compared,
        "gold_missing": seen.gold_missing,
        "missing": seen.predicted_missing,
        "cell": cells.add(
            f"{pair.key}|missing", f"{pair.title}: no word on the segment", (gold >= 0) & (said < 0), name
        ),
    }
    return out


def _base(pair: Pair) -> dict[str, Any]:
    labeller = pair.labeller
    return {
        "id": pair.key,
        "model": pair.title,
        "run": labeller.words if labeller else "",
        "run_id": labeller.run_id if labeller else None,
        "weak": bool(labeller and labeller.weak),
        "note": labeller.note if labeller else "",
        "imported": bool(pair.judge and pair.judge.imported),
        "gain": None,
        "mcnemar": None,
    }


def _role(
    role: str, pair: Pair, scores: Scores, cells: Cells, gold: Codes, said: Codes, used: Mask
) -> dict[str, Any]:
    """One role of a model: four estimates, each with the segments it is a share of."""
    shown = f"{JUDGE}|{pair.judge.id}" if role == JUDGE else f"{LABELLER}|{pair.labeller.key}"  # type: ignore[union-attr]
    head = f"{pair.title} as {ROLE_WORDS[role]}"
    behind = {
        "tpr": (f"{head}: sound segments", used & (gold == 1)),
        "tnr": (f"{head}: problematic segments", used & (gold == 0)),
        "f1_0": (f"{head}: problematic by reference or by its word", used & ((gold == 0) | (said == 0))),
        "balanced_f1": (f"{head}: segments compared", used),
    }
    return {
        "role": role,
        "words": ROLE_WORDS[role].capitalize(),
        "counts": {name: getattr(scores.counts, name) for name in ("tp", "fn", "tn", "fp", "n")},
        "rates": {
            name: _estimate(getattr(scores, name))
            | {"cell": cells.add(f"{pair.key}|{role}|{name}", words, mask, shown)}
            for name, (words, mask) in behind.items()
        },
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    return asdict(value)


def _value(row: Mapping[str, Any], role: str, rate: str) -> float | None:
    for one in row["roles"]:
        if one["role"] == role:
            return one["rates"][rate]["value"]  # type: ignore[no-any-return]
    return None


def _array(values: Binary) -> Codes:
    """1, 0, and -1 where nothing is known."""
    return np.array([-1 if value is None else value for value in values], dtype=np.int8)
