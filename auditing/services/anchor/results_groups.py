"""Part "groups" of a benchmark's results: panel scores by difficulty, by category and by who wrote the reference.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", Tables 6 and 7, section 3.4 (annotation
throughput). Scores are those of the panel page: the mean of the judges' valid ratings of an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from auditing.core.anchor.difficulty import LEVELS
from auditing.core.anchor.groups import SOURCES, group_means
from auditing.core.anchor.panel import panel_scores
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, DifficultyReview
from auditing.selectors.benchmark_ratings import Table, tables
from auditing.selectors.benchmark_throughput import study_work

SCHEMA = "reasonaudit.benchmark-groups/1"

ORDERS: Mapping[str, Sequence[str]] = {
    "difficulty": LEVELS,
    "reviewed": LEVELS,
    "category": (),
    "annotation_source": SOURCES,
}
"""Grouping -> groups in their order. ``reviewed`` takes the level that a person named in place of the rule's."""


def document(benchmark: Benchmark, judged: Mapping[str, Table] | None = None) -> dict[str, Any]:
    """Compute the part; seven queries, whatever the size. `judged` saves two of them where the ratings are known.

    Returns
    -------
    dict
        ``{"schema", "setting", "reference", "models", "judges", "groupings", "studies"}``. ``judges`` is facet -> its
        judges. A grouping has ``name``, ``groups`` (pairs of name and items, "" for those without one) and
        ``facets``: facet -> model -> group -> ``{"mean", "sd", "n", "missing"}``, the mean as core `Estimate`.
        ``reviewed`` is there only where a person named a level. ``studies``: see `benchmark_throughput.study_work`.
    """
    parameters = BenchmarkParameters.from_dict(benchmark.parameters)
    judged = judged or tables(benchmark)
    scores = {
        facet: {model: panel_scores(rated).items for model, rated in table.by_model.items()}
        for facet, table in judged.items()
    }
    return {
        "schema": SCHEMA,
        "setting": parameters.setting,
        "reference": parameters.reference,
        "models": sorted({model for table in judged.values() for model in table.by_model}),
        "judges": {facet: table.raters for facet, table in judged.items()},
        "groupings": [
            _grouping(name, groups, scores, parameters) for name, groups in _groups(benchmark).items()
        ],
        "studies": study_work(benchmark),
    }


def _groups(benchmark: Benchmark) -> dict[str, dict[str, str]]:
    """Grouping -> item -> its group."""
    said = dict(
        DifficultyReview.objects.filter(item__benchmark=benchmark)
        .exclude(level="")
        .values_list("item_id", "level")
    )
    found: dict[str, dict[str, str]] = {name: {} for name in ORDERS}
    rows = benchmark.items.order_by("number").values_list("pk", "difficulty", "category", "annotation_source")
    for pk, difficulty, category, source in rows:
        groups = (difficulty, said.get(pk, difficulty), category, source)
        for name, group in zip(ORDERS, groups, strict=True):
            found[name][str(pk)] = group
    if not said:
        del found["reviewed"]
    return found


def _grouping(
    name: str,
    groups: Mapping[str, str],
    scores: Mapping[str, Mapping[str, Mapping[str, float | None]]],
    parameters: BenchmarkParameters,
) -> dict[str, Any]:
    facets: dict[str, dict[str, dict[str, Any]]] = {}
    sizes: dict[str, int] = {}
    for facet, columns in scores.items():
        rows = group_means(
            columns, groups, ORDERS[name], seed=parameters.seed, resamples=parameters.resamples
        )
        sizes = {row.group: row.items for row in rows}
        facets[facet] = {model: {row.group: asdict(row.columns[model]) for row in rows} for model in columns}
    # A list: JSON objects come back from the database in another order.
    return {"name": name, "groups": [[group, n] for group, n in sizes.items()], "facets": facets}
