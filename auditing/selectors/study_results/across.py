"""Table 1(b): the same evaluators on two sets, such as clinical and mathematical reasoning.

An evaluator is the same if its role is, and the name after the first colon of its spec. Each side is scored on all
of its segments that have a reference label and a word of the evaluator, with a bootstrap of its own cases.
"""

from dataclasses import asdict
from typing import Any

from auditing.core.comparison import Scores, score
from auditing.core.estimates import RESAMPLES
from auditing.core.takeaways import across_takeaway

from .comparison import JUDGE, LABELLER, ROLE_WORDS, SEED, Binary
from .material import Material

RATES = ("tpr", "tnr", "balanced_f1")


def evaluators(found: Material) -> dict[tuple[str, str], Binary]:
    """Role and bare model name -> what it said; of several judges of one model the one with most verdicts."""
    rows: dict[tuple[str, str], Binary] = {(LABELLER, one.model): one.y for one in found.labellers}
    for judge, values in found.judges.items():
        held = rows.get((JUDGE, judge.model))
        if held is None or _known(values) > _known(held):
            rows[JUDGE, judge.model] = values
    return dict(sorted(rows.items(), key=lambda row: (row[0][0] == JUDGE, row[0][1].lower())))


def across_panel(
    here: Material, gold: Binary, there: Material | None, gold_there: Binary, resamples: int | None = None
) -> dict[str, Any]:
    """Evaluators of either set; what one set does not have is missing, and said so."""
    if there is None:
        return {"title": "", "empty": "no_second_set", "rows": [], "here": here.title, "there": ""}
    draws = RESAMPLES if resamples is None else resamples
    sides = [
        {key: _score(found, labels, values, draws) for key, values in evaluators(found).items()}
        for found, labels in ((here, gold), (there, gold_there))
    ]
    keys = sorted({*sides[0], *sides[1]}, key=lambda key: (key[0] == JUDGE, key[1].lower()))
    rows = [
        {
            "role": role,
            "words": ROLE_WORDS[role].capitalize(),
            "model": model,
            "here": _side(sides[0].get((role, model))),
            "there": _side(sides[1].get((role, model))),
        }
        for role, model in keys
    ]
    both: dict[str, list[tuple[float, float]]] = {JUDGE: [], LABELLER: []}
    for role, model in keys:
        values = [side[role, model].balanced_f1.value for side in sides if (role, model) in side]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            both[role].append((values[0], values[1]))
    return {
        "title": across_takeaway(here.title, there.title, both[JUDGE], both[LABELLER]),
        "empty": "" if rows else "no_evaluators",
        "rows": rows,
        "here": here.title,
        "there": there.title,
        "sizes": [{"cases": len(found.places), "segments": found.n} for found in (here, there)],
    }


def _score(found: Material, gold: Binary, said: Binary, draws: int) -> Scores:
    return score(found.by_case(gold), found.by_case(said), seed=SEED, resamples=draws)


def _side(scores: Scores | None) -> dict[str, Any] | None:
    if scores is None:
        return None
    rates = {name: asdict(getattr(scores, name)) for name in RATES}
    return rates | {"n": scores.coverage.compared, "segments": scores.coverage.segments}


def _known(values: Binary) -> int:
    return sum(value is not None for value in values)
