"""Scores of the judge panel: each model on each facet, how far the judges are apart, conciseness, pairs of models.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4, Tables 2 and 3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any

from auditing.core.anchor.conciseness import Conciseness, conciseness, summarise_conciseness
from auditing.core.anchor.cue_texts import CUES, cue_state, rationale_text
from auditing.core.anchor.equal_answers import equal_answers
from auditing.core.anchor.panel import (
    FACETS,
    ModelScore,
    mean_estimate,
    model_score,
    panel_scores,
    score_difference,
)
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.estimates import wilson_share
from auditing.models import Benchmark, Reference
from auditing.selectors import benchmark_ratings
from auditing.selectors.benchmark_ratings import Table, chains
from auditing.services.anchor import results_common as common

SCHEMA = "reasonaudit.benchmark-panel/1"

MOST_PAIRED = 8
"""Models up to which every pair is in the document; of more, a pair is computed when it is asked for."""

MOST_ITEMS = 200
"""Items of a pair that are listed."""

Scores = Mapping[str, float | None]
"""Score by item; None where there is none."""

COMPARED = tuple(facet for facet in FACETS if facet != "answer")
"""Facets that may differ where both answers are right."""


def document(benchmark: Benchmark, judged: common.Judged | None = None) -> dict[str, Any]:
    """Compute the part "panel"; `judged` saves reading the ratings where they are known.

    Returns
    -------
    dict
        ``facets``: judges, missing ratings and the answers on which judges are furthest apart; ``models``: scores with
        intervals, each judge's part, conciseness and cues; ``pairs``: every two models, for up to `MOST_PAIRED`.
    """
    parameters = common.parameters_of(benchmark)
    tables = judged or benchmark_ratings.tables(benchmark)
    models = list(tables[FACETS[0]].by_model)
    numbers = common.numbers_of(benchmark)
    scores = {
        (model, facet): model_score(
            table.by_model[model], table.raters, seed=parameters.seed, resamples=parameters.resamples
        )
        for facet, table in tables.items()
        for model in models
    }
    items = {facet: {model: scores[model, facet].scores.items for model in models} for facet in tables}
    texts = _texts(benchmark, parameters)
    paired = combinations(models, 2) if len(models) <= MOST_PAIRED else ()
    return {
        **common.head(benchmark, SCHEMA, parameters),
        "facets": [
            {
                "facet": facet,
                "judges": table.raters,
                "missing": table.missing,
                "apart": _apart(table, {model: scores[model, facet] for model in models}, numbers),
            }
            for facet, table in tables.items()
        ],
        "models": [
            {
                "model": model,
                "answers": len(tables[FACETS[0]].by_model[model]),
                "facets": {
                    facet: _score(scores[model, facet], table.missing_of[model])
                    for facet, table in tables.items()
                },
                **texts[model],
            }
            for model in models
        ],
        "pairs": [_pair(tables, items, pair, numbers, parameters) for pair in paired],
        "all_pairs": len(models) <= MOST_PAIRED,
    }


def pair(benchmark: Benchmark, first: str, second: str) -> dict[str, Any] | None:
    """Compare two models; None where one of them has no answer."""
    tables = benchmark_ratings.tables(benchmark, models=(first, second))
    if not {first, second} <= set(tables[FACETS[0]].by_model):
        return None
    items = {
        facet: {model: panel_scores(table.by_model[model]).items for model in (first, second)}
        for facet, table in tables.items()
    }
    return _pair(
        tables, items, (first, second), common.numbers_of(benchmark), common.parameters_of(benchmark)
    )


def _score(found: ModelScore, missing: Mapping[str, int]) -> dict[str, Any]:
    scores, spread = found.scores, found.spread
    return {
        "estimate": asdict(found.estimate),
        "sd": scores.sd,
        "items": scores.n_items,
        "unrated": scores.n_unrated,
        "ratings": scores.n_ratings,
        "missing": dict(missing),
        "judges": [
            {
                "judge": judge.judge,
                "mean": judge.mean,
                "sd": judge.sd,
                "n": judge.n,
                "missing": judge.missing,
                "counts": list(judge.counts.values()),
            }
            for judge in found.judges
        ],
        "spread": {name: value for name, value in asdict(spread).items() if name != "ranges"},
    }


def _apart(
    table: Table, scores: Mapping[str, ModelScore], numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the answers on which the judges are furthest apart, the widest first."""
    found = [
        (-width, numbers[item], model, item)
        for model, score in scores.items()
        for item, width in score.spread.ranges.items()
        if width
    ]
    return [
        {
            "model": model,
            "item": int(item),
            "number": number,
            "answer": table.answers[model][item],
            "range": -width,
            "ratings": table.by_model[model][item],
        }
        for width, number, model, item in sorted(found)[: common.MOST_LISTED]
    ]


def _texts(benchmark: Benchmark, parameters: BenchmarkParameters) -> dict[str, dict[str, Any]]:
    """Return conciseness and cues of each model, from the words of its answers."""
    references = {
        item: rationale_text(cot)
        for item, cot in Reference.objects.filter(
            item__benchmark=benchmark, source=parameters.reference
        ).values_list("item_id", "document__cot")
    }
    rows: dict[str, list[Conciseness]] = {}
    without: Counter[str] = Counter()
    cues: dict[str, Counter[tuple[str, str]]] = {}
    for model, item, text, cot in chains(benchmark).values_list("model", "item_id", "text", "document__cot"):
        states = cues.setdefault(model, Counter())
        states.update((cue, cue_state(cot, cue)) for cue in CUES)
        row = rows.setdefault(model, [])
        if item in references:
            row.append(conciseness(rationale_text(cot, text), references[item]))
        else:
            without[model] += 1
    return {
        model: {
            "conciseness": _conciseness(row, without[model], parameters),
            "cues": {cue: _cue(cue, cues[model]) for cue in CUES},
        }
        for model, row in rows.items()
    }


def _conciseness(
    rows: Iterable[Conciseness], without: int, parameters: BenchmarkParameters
) -> dict[str, Any]:
    found = list(rows)
    summary = asdict(summarise_conciseness(found))
    missing = dict(summary.pop("without"))
    if without:
        missing["The item has no reference."] = without
    scored = mean_estimate((row.score for row in found), seed=parameters.seed, resamples=parameters.resamples)
    return {**summary, "estimate": asdict(scored), "missing": missing}


def _cue(cue: str, states: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    missing, claimed = states.get((cue, "missing"), 0), states.get((cue, "none_claimed"), 0)
    total = missing + claimed + states.get((cue, "there"), 0)
    share = asdict(wilson_share(missing + claimed, total, "there is no answer"))
    return {"missing": missing, "none_claimed": claimed, "share": share}


def _pair(
    tables: Mapping[str, Table],
    items: Mapping[str, Mapping[str, Scores]],
    models: tuple[str, str],
    numbers: Mapping[str, int],
    parameters: BenchmarkParameters,
) -> dict[str, Any]:
    """Compare two models; `items` is facet -> model -> the scores of its items."""
    scores = {facet: (by_model[models[0]], by_model[models[1]]) for facet, by_model in items.items()}
    return {
        "first": models[0],
        "second": models[1],
        "facets": {
            facet: asdict(score_difference(left, right, seed=parameters.seed, resamples=parameters.resamples))
            for facet, (left, right) in scores.items()
        },
        "equal": {facet: _equal(tables, facet, models, scores[facet], numbers) for facet in COMPARED},
    }


def _equal(
    tables: Mapping[str, Table],
    facet: str,
    models: tuple[str, str],
    scores: tuple[Scores, Scores],
    numbers: Mapping[str, int],
) -> dict[str, Any]:
    """Return how far two rationales differ where all judges hold both answers fully right."""
    right, compared = (tuple(tables[name].by_model[model] for model in models) for name in (FACETS[0], facet))
    found = equal_answers((right[0], right[1]), (compared[0], compared[1]))
    listed = [
        (first - second, numbers[item], item)
        for item in (*found.gaps[0].second_lower, *found.gaps[0].first_lower)
        if (first := scores[0][item]) is not None and (second := scores[1][item]) is not None
    ]
    listed.sort(key=lambda row: (-abs(row[0]), row[1]))
    answers = tables[facet].answers
    return {
        "n": found.n,
        "not_both_right": found.not_both_right,
        "rating_missing": found.rating_missing,
        "facet_missing": found.facet_missing,
        "gaps": [
            {
                "points": gap.points,
                "second_lower": len(gap.second_lower),
                "second_lower_agreed": gap.second_lower_agreed,
                "first_lower": len(gap.first_lower),
                "first_lower_agreed": gap.first_lower_agreed,
            }
            for gap in found.gaps
        ],
        "n_rows": len(listed),
        "rows": [
            {
                "item": int(item),
                "number": number,
                "first": answers[models[0]][item],
                "second": answers[models[1]][item],
                "first_score": scores[0][item],
                "second_score": scores[1][item],
                "gap": gap,
            }
            for gap, number, item in listed[:MOST_ITEMS]
        ],
    }
