"""Part "grounding" of a benchmark's results: means of the grounding scores of each model, and a row for each answer.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.6. A mean is over the items
for which the value is defined, each counted once (spec D5), and how many these are stands beside it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict
from typing import Any

from auditing.core.anchor.panel import mean_estimates
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, GroundingScore, Reference
from auditing.selectors.benchmark_ratings import chains
from auditing.services.anchor.grounding import PARTS, inputs_sha256
from videos.models import Video

SCHEMA = "reasonaudit.benchmark-grounding/1"

PICTURES = ("mean_iou", "union_iou", "precision", "recall", "f1")
SINGLE = ("mean_iou", "precision", "recall", "f1")
TIMES = ("tiou", "precision", "recall", "f1")
COUNTED = ("points", "points_inside", "beyond")

NOT_COMPARED: Mapping[str, str] = {
    "no_reference": "the item has no such reference",
    "not_compared": "not compared yet",
    "stale": "compared with an earlier version",
}
"""Why an answer has no score at all, in the words of pages."""

Found = dict[str, Any]


def document(benchmark: Benchmark) -> dict[str, Any]:
    """Compute the part; three queries, whatever the size.

    Returns
    -------
    dict
        ``{"schema", "setting", "match_from", "main", "references": {source: {"models", "rows"}}}``. A model has
        ``answers``, ``compared``, ``missing`` (reason -> count, see `NOT_COMPARED`), and for each of ``pictures``,
        ``single``, ``visual``, ``audio`` and ``sounds`` the means as core `Estimate`, ``missing`` (reason -> count)
        and, for times, sums of points. A row is one answer: ``item``, ``number``, ``answer``, ``model``, ``missing``
        ("" or a reason of `NOT_COMPARED`), ``why`` (part -> reason), ``beyond`` (cited times beyond the clip), and
        the values ``<part>_<value>``, null where missing.
    """
    parameters = BenchmarkParameters.from_dict(benchmark.parameters)
    answers = list(
        chains(benchmark, parameters.setting).values_list("pk", "model", "item_id", "item__number")
    )
    # The main source is there without any reference, too: the page says then what is missing.
    references: dict[str, set[int]] = {parameters.reference: set()}
    rows = Reference.objects.filter(item__benchmark=benchmark).order_by("source")
    for source, item in rows.values_list("source", "item_id"):
        references.setdefault(source, set()).add(item)
    scores = _scores(benchmark, parameters)
    return {
        "schema": SCHEMA,
        "setting": parameters.setting,
        "match_from": parameters.match_from,
        "main": parameters.reference,
        "references": {
            source: _of_reference(answers, items, scores.get(source, {}), parameters)
            for source, items in references.items()
        },
    }


def _scores(benchmark: Benchmark, parameters: BenchmarkParameters) -> dict[str, dict[int, Found | None]]:
    """Score by source and answer; None where it is of other inputs than the present ones."""
    rows = GroundingScore.objects.filter(answer__item__benchmark=benchmark).order_by()
    found: dict[str, dict[int, Found | None]] = {}
    for answer, answer_sha256, source, reference_sha256, inputs, content, state, duration in rows.values_list(
        "answer_id",
        "answer__sha256",
        "reference__source",
        "reference__sha256",
        "inputs_sha256",
        "document",
        "answer__item__question__video__state",
        "answer__item__question__video__duration_us",
    ):
        length = duration if state == Video.State.READY else None
        now = inputs_sha256(answer_sha256, reference_sha256, length, parameters.match_from)
        found.setdefault(source, {})[answer] = content if inputs == now else None
    return found


def _of_reference(
    answers: Sequence[tuple[int, str, int, int]],
    references: Set[int],
    scores: Mapping[int, Found | None],
    parameters: BenchmarkParameters,
) -> dict[str, Any]:
    rows = []
    models: dict[str, list[tuple[str, Found | None]]] = {}
    for answer, model, item, number in answers:
        found = scores.get(answer)
        missing = ""
        if item not in references:
            missing, found = "no_reference", None
        elif found is None:
            missing = "stale" if answer in scores else "not_compared"
        models.setdefault(model, []).append((missing, found))
        rows.append(
            {
                "item": item,
                "number": number,
                "answer": answer,
                "model": model,
                "missing": missing,
                **_row(found),
            }
        )
    return {
        "models": [_model(name, found, parameters) for name, found in models.items()],
        "rows": rows,
    }


def _row(found: Found | None) -> dict[str, Any]:
    if found is None:
        values = {f"{part}_{name}": None for part, names in _columns() for name in names}
        return {"why": dict.fromkeys(PARTS, ""), "beyond": 0, **values}
    return {
        "why": {part: found[part]["why"] for part in PARTS},
        "beyond": found["visual"]["beyond"] + found["audio"]["beyond"],
        **{
            f"{part}_{name}": (_part(found, part) or {}).get(name)
            for part, names in _columns()
            for name in names
        },
    }


def _columns() -> tuple[tuple[str, Sequence[str]], ...]:
    """What the table of answers shows."""
    short = ("precision", "recall", "f1")
    return (
        ("pictures", ("mean_iou", *short)),
        ("single", ("mean_iou", *short)),
        ("visual", ("tiou", "f1")),
        ("audio", ("tiou", "f1")),
        ("sounds", ("f1",)),
    )


def _part(found: Found, part: str) -> Mapping[str, Any] | None:
    """A part of a score; both measures of boxes are parts of their own here, None where boxes are missing."""
    inside: Mapping[str, Any] | None = found["boxes"][part] if part in ("pictures", "single") else found[part]
    return inside


def _model(
    name: str, rows: Sequence[tuple[str, Found | None]], parameters: BenchmarkParameters
) -> dict[str, Any]:
    known = [found for _, found in rows if found is not None]
    missing = Counter(reason for reason, _ in rows if reason)
    parts: dict[str, Any] = {}
    for part, names in (("pictures", PICTURES), ("single", SINGLE), *((step, TIMES) for step in PARTS[1:])):
        inside = [_part(found, part) or {} for found in known]
        reasons = Counter(why for found in known if (why := found[part if part in PARTS else "boxes"]["why"]))
        parts[part] = {
            **_means({value: [row.get(value) for row in inside] for value in names}, parameters),
            "n": len(known) - sum(reasons.values()),
            "missing": dict(sorted(reasons.items())),
        }
        if part in PARTS:
            parts[part].update({value: sum(row[value] for row in inside) for value in COUNTED})
    return {
        "model": name,
        "answers": len(rows),
        "compared": len(known),
        "missing": {reason: missing[reason] for reason in NOT_COMPARED if missing[reason]},
        **parts,
    }


def _means(
    columns: Mapping[str, Sequence[float | None]], parameters: BenchmarkParameters
) -> dict[str, dict[str, Any]]:
    found = mean_estimates(columns, seed=parameters.seed, resamples=parameters.resamples)
    return {name: asdict(mean) for name, mean in found.items()}
