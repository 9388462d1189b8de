"""The panel of judges against people who rated the same answers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from auditing.views import benchmark_parts as parts
from auditing.views.benchmark_blind import open_after_rating
from auditing.views.scales import around_zero

LEAST_GAIN = 0.5


@open_after_rating("people")
def benchmark_people(request: HttpRequest, slug: str) -> HttpResponse:
    """Correlation, agreement and difference, pooled and facet by facet; people among themselves."""
    benchmark = parts.find(slug)
    document, behind = parts.shown(benchmark, "people")
    context: dict[str, Any] = {"behind": behind, "document": document}
    if document is not None:
        found = document["comparisons"]
        context["low"], context["high"] = around_zero((one["difference"] for one in found), LEAST_GAIN)
        context["charts"] = {
            "calibrations": {
                one["facet"]: {"levels": one["calibration"], "points": one["points"]} for one in found
            }
        }
    return render(
        request, "auditing/benchmark_people.html", parts.frame(request, benchmark, "people", **context)
    )
