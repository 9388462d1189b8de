"""What the parts about ratings have in common: whose ratings, and of which answers."""

from collections.abc import Mapping
from typing import Any

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, Reference
from auditing.selectors.benchmark_ratings import Table

MOST_LISTED = 20
"""Answers that a list of the widest differences holds."""


Judged = Mapping[str, Table]
"""What judges gave on each facet, against the main reference: `benchmark_ratings.tables(benchmark)`."""


def parameters_of(benchmark: Benchmark) -> BenchmarkParameters:
    """Return the choices of a benchmark."""
    return BenchmarkParameters.from_dict(benchmark.parameters)


def head(benchmark: Benchmark, schema: str, parameters: BenchmarkParameters) -> dict[str, Any]:
    """Return how the document of a part begins."""
    return {
        "schema": schema,
        "setting": parameters.setting,
        "reference": parameters.reference,
        "seed": parameters.seed,
        "resamples": parameters.resamples,
        "items": benchmark.items.count(),
        "items_with_reference": Reference.objects.filter(
            item__benchmark=benchmark, source=parameters.reference
        ).count(),
    }


def numbers_of(benchmark: Benchmark) -> dict[str, int]:
    """Return the number of each item by its key in tables of ratings."""
    return {str(pk): number for pk, number in benchmark.items.values_list("pk", "number")}


def by_answer(table: Table) -> dict[str, dict[str, int | None]]:
    """Return the ratings of all models in one table, by the key of the answer."""
    return {
        str(table.answers[model][item]): rated
        for model, by_item in table.by_model.items()
        for item, rated in by_item.items()
    }


def questions_of(table: Table) -> dict[str, str]:
    """Return the item of each answer: answers to one question are drawn together."""
    return {str(pk): item for by_item in table.answers.values() for item, pk in by_item.items()}


def places_of(table: Table, numbers: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """Return where each answer is found, for links."""
    return {
        str(pk): {"model": model, "item": int(item), "number": numbers[item], "answer": pk}
        for model, by_item in table.answers.items()
        for item, pk in by_item.items()
    }
