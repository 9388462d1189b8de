"""Part "ablation" of a benchmark's results: what models still answer when boxes, pictures or sound are taken away.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4 and Table 4. A drop is accuracy
with all cues minus accuracy in the setting: positive is worse, as in the paper. Each source that says right or wrong
(a judge, or the rule for options) has results of its own; they are never mixed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, Q

from auditing.core.anchor.cue_ablation import FULL, CueAblation, CueSetting, cue_ablation, needed_cues
from auditing.core.anchor.parameters import SETTINGS, BenchmarkParameters
from auditing.models import Benchmark, Facet, ModelAnswer, Rating
from auditing.selectors.benchmark_people import by_people
from auditing.selectors.benchmark_ratings import current, main, missing_because

SCHEMA = "reasonaudit.benchmark-cues/1"

WITHOUT: Mapping[str, str] = {"no_boxes": "boxes", "no_video": "pictures", "no_audio": "sound"}
"""Setting -> the cue that it takes away."""

REASONS: Mapping[str, str] = {
    "no_answer": "no answer in this setting",
    "not_rated": "answer not rated by this source",
    "stale": "rated in an earlier version",
    "invalid": "reply without a verdict",
    "error": "no reply",
}
"""Why an item has no result in a setting, in the words of pages."""

Results = dict[str, dict[int, int | None]]


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Compute the part; three queries, whatever the size.

    Returns
    -------
    dict
        ``{"schema", "default", "sources": {source: {"ratings", "models"}}, "answers", "numbers"}``. ``default`` is the
        source with most ratings, null where nothing is rated. A model has ``why`` ("" or why there is nothing to
        compare), ``n``, ``excluded``, ``settings`` (the core `CueSetting` with ``setting``, ``answers`` and
        ``missing``, reason -> count), and ``needed``: ``right`` (items answered with all cues), ``none`` (those of
        them that need no single cue), ``several``, ``by_cue`` (cue -> number) and ``items`` (item -> its cues).
        ``answers`` is model -> setting -> item -> answer; ``numbers`` is item -> its number. Items are text.
    """
    parameters = BenchmarkParameters.from_dict(benchmark.parameters)
    numbers = dict(benchmark.items.order_by("number").values_list("pk", "number"))
    answers: dict[str, dict[str, dict[int, int]]] = {}
    place: dict[int, tuple[str, str, int]] = {}
    for pk, model, setting, item in _answers(benchmark):
        answers.setdefault(model, {}).setdefault(setting, {})[item] = pk
        place[pk] = (model, setting, item)
    given: dict[str, dict[tuple[str, str], dict[int, tuple[int | None, str]]]] = {}
    for answer, source, status, value, fresh in _ratings(benchmark):
        if answer in place:
            model, setting, item = place[answer]
            said = (
                (value, "") if fresh and value is not None else (None, missing_because(status, fresh=fresh))
            )
            given.setdefault(source, {}).setdefault((model, setting), {})[item] = said
    counts = {
        source: sum(value is not None for found in rows.values() for value, _ in found.values())
        for source, rows in given.items()
    }
    ranked = sorted(counts, key=lambda source: (-counts[source], source))
    return {
        "schema": SCHEMA,
        "default": ranked[0] if ranked else None,
        "sources": {
            source: {
                "ratings": counts[source],
                "models": [
                    _model(model, answers[model], given[source], list(numbers), parameters)
                    for model in sorted(answers)
                ],
            }
            for source in ranked
        },
        "answers": {
            model: {setting: {str(item): pk for item, pk in found.items()} for setting, found in own.items()}
            for model, own in answers.items()
        },
        "numbers": {str(item): number for item, number in numbers.items()},
    }


def _answers(benchmark: Benchmark) -> Iterable[tuple[int, str, str, int]]:
    rows = ModelAnswer.objects.filter(item__benchmark=benchmark, role=ModelAnswer.Role.CHAIN, take=1)
    return rows.order_by().values_list("pk", "model", "setting", "item_id")


def _ratings(benchmark: Benchmark) -> Iterable[tuple[int, str, str, int | None, bool]]:
    """Judges' and the rule's verdicts, in an order in which of two by one source on an answer the last one counts.

    That is the one against the main reference; the other is against the item's own answer.
    """
    measured = Q(reference=None) | Q(reference__source=main(benchmark, "reference"))
    rows = Rating.objects.filter(
        ~by_people(), measured, answer__item__benchmark=benchmark, facet=Facet.CORRECT
    )
    fresh = ExpressionWrapper(current(), output_field=BooleanField())
    return (
        rows.annotate(fresh=fresh)
        .order_by(F("reference_id").asc(nulls_first=True))
        .values_list("answer_id", "source", "status", "value", "fresh")
    )


def _model(
    model: str,
    answers: Mapping[str, Mapping[int, int]],
    given: Mapping[tuple[str, str], Mapping[int, tuple[int | None, str]]],
    items: list[int],
    parameters: BenchmarkParameters,
) -> dict[str, Any]:
    """One model by one source: the settings in which it has an answer, on their common items."""
    correct: dict[str, dict[str, int | None]] = {}
    missing: dict[str, Counter[str]] = {}
    for setting in SETTINGS:
        if setting not in answers:
            continue
        said = given.get((model, setting), {})
        correct[setting], missing[setting] = {}, Counter()
        for item in items:
            value, reason = said.get(item, (None, "not_rated"))
            if item not in answers[setting]:
                reason = "no_answer"
            correct[setting][str(item)] = value
            if value is None:
                missing[setting][reason] += 1
    why = ""
    if FULL not in correct:
        why = "It has no answers with all cues."
    elif len(correct) == 1:
        why = "It has answers with all cues only."
    elif not any(value is not None for found in correct.values() for value in found.values()):
        why = "None of its answers is rated by this source."
    if FULL not in correct:
        return {"model": model, "why": why, "n": 0, "excluded": 0, "settings": [], "needed": None}
    found = cue_ablation(correct, seed=parameters.seed, resamples=parameters.resamples)
    return {
        "model": model,
        "why": why,
        "n": found.n,
        "excluded": found.excluded,
        "settings": [
            _setting(name, entry, len(answers[name]), missing[name]) for name, entry in found.settings.items()
        ],
        "needed": None if why else _needed(found),
    }


def _setting(name: str, found: CueSetting, answers: int, missing: Counter[str]) -> dict[str, Any]:
    return {
        **asdict(found),
        "setting": name,
        "lost_items": list(found.lost_items),
        "gained_items": list(found.gained_items),
        "answers": answers,
        "missing": {reason: missing[reason] for reason in REASONS if missing[reason]},
    }


def _needed(found: CueAblation) -> dict[str, Any]:
    needed = {item: list(cues) for item, cues in needed_cues(found, WITHOUT).items() if cues}
    right = found.settings[FULL].share.hits
    taken = [cue for setting, cue in WITHOUT.items() if setting in found.settings]
    return {
        "right": right,
        "none": right - len(needed),
        "several": sum(len(cues) > 1 for cues in needed.values()),
        "by_cue": {cue: sum(cue in cues for cues in needed.values()) for cue in taken},
        "items": needed,
    }
