"""Whether scores depend on who wrote the reference."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from auditing.core.anchor.panel import FACETS
from auditing.views import benchmark_parts as parts
from auditing.views.benchmark_blind import open_after_rating


@open_after_rating("sources")
def benchmark_sources(request: HttpRequest, slug: str) -> HttpResponse:
    """The same answers under the references of every two sources, and each model under its own reference."""
    benchmark = parts.find(slug)
    document, behind = parts.shown(benchmark, "sources")
    context: dict[str, Any] = {"behind": behind, "document": document}
    if document is not None:
        context["left_out"] = sorted(
            {judge for facet in FACETS for judge in document["judges"][facet]["left_out"]}
        )
    return render(
        request, "auditing/benchmark_sources.html", parts.frame(request, benchmark, "sources", **context)
    )
