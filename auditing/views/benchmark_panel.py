"""The panel of judges: scores of every model, the judges' spread, and two models compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from auditing.core.anchor.panel import FACETS
from auditing.models import Benchmark
from auditing.services.anchor import results_panel
from auditing.views import benchmark_parts as parts
from auditing.views.benchmark_blind import open_after_rating
from auditing.views.scales import around_zero

SORTS = ("model", *FACETS, "conciseness", "audio")
LEAST_GAIN = 0.25


@open_after_rating("panel")
def benchmark_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """The scores; `sort` orders the models, `first` and `second` name two that are compared."""
    benchmark = parts.find(slug)
    document, behind = parts.shown(benchmark, "panel")
    sort = request.GET.get("sort", "")
    context: dict[str, Any] = {"behind": behind, "document": document, "sort": sort}
    if document is not None and document["models"]:
        context["rows"] = ordered(document["models"], sort)
        context["charts"] = {"means": means(document["models"])}
        context.update(_comparison(benchmark, document, request.GET))
    return render(
        request, "auditing/benchmark_panel.html", parts.frame(request, benchmark, "panel", **context)
    )


def ordered(rows: Sequence[Mapping[str, Any]], sort: str) -> list[Mapping[str, Any]]:
    """The models by a column of the table; those without a value last, either way."""
    name = sort.removeprefix("-")
    if name not in SORTS:
        return list(rows)
    if name == "model":
        return sorted(rows, key=lambda row: row["model"].casefold(), reverse=sort.startswith("-"))
    there = [row for row in rows if _value(row, name) is not None]
    there.sort(key=lambda row: _value(row, name) or 0.0, reverse=sort.startswith("-"))
    return there + [row for row in rows if _value(row, name) is None]


def _value(row: Mapping[str, Any], name: str) -> float | None:
    found: float | None
    if name in FACETS:
        found = row["facets"][name]["estimate"]["value"]
    elif name == "conciseness":
        found = row["conciseness"]["mean_score"]
    else:
        found = row["cues"]["audio"]["share"]["value"]
    return found


def means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The means with their intervals, for the chart."""
    return [
        {
            "model": row["model"],
            "facet": facet,
            **{name: row["facets"][facet]["estimate"][name] for name in ("value", "low", "high")},
        }
        for row in rows
        for facet in FACETS
    ]


def _comparison(benchmark: Benchmark, document: Mapping[str, Any], query: QueryDict) -> dict[str, Any]:
    """The two models that are asked for, or the first two; their order is that of the table of models."""
    names = [row["model"] for row in document["models"]]
    if len(names) < 2:
        return {"names": names}
    asked = dict.fromkeys([query.get("first"), query.get("second"), *names])
    first, second = sorted([name for name in asked if name in names][:2], key=names.index)
    found = next((one for one in document["pairs"] if (one["first"], one["second"]) == (first, second)), None)
    if found is None and not document["all_pairs"]:
        found = results_panel.pair(benchmark, first, second)
    differences = [one["difference"] for one in (found["facets"].values() if found else ())]
    low, high = around_zero(differences, LEAST_GAIN)
    return {"names": names, "first": first, "second": second, "pair": found, "low": low, "high": high}
