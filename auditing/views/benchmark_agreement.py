"""How far the judges of a benchmark agree with each other, overall and for one model."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from auditing.views import benchmark_parts as parts
from auditing.views.benchmark_blind import open_after_rating


@open_after_rating("agreement")
def benchmark_agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Kappa of every two judges on each facet; `model` narrows it to the answers of one."""
    benchmark = parts.find(slug)
    document, behind = parts.shown(benchmark, "agreement")
    context: dict[str, Any] = {"behind": behind, "document": document}
    if document is not None:
        chosen = request.GET.get("model", "")
        chosen = chosen if chosen in document["models"] else ""
        facets = [
            {**facet, "scope": next(one for one in facet["scopes"] if one["scope"] == chosen)}
            for facet in document["facets"]
        ]
        context["chosen"] = chosen
        context["facets"] = facets
        context["charts"] = {
            "matrices": {
                one["facet"]: {"judges": one["judges"], "matrix": one["scope"]["matrix"]} for one in facets
            }
        }
    return render(
        request, "auditing/benchmark_agreement.html", parts.frame(request, benchmark, "agreement", **context)
    )
