"""Panel scores by difficulty, by category and by who wrote the reference, and how the references were made."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from auditing.core.anchor.panel import FACETS
from auditing.selectors.benchmark_words import by_words
from auditing.views.benchmark_blind import open_after_rating
from auditing.views.benchmark_parts import find, frame, shown

TITLES = {
    "difficulty": ("By difficulty", "The level by the rule (paper, Table 6)."),
    "reviewed": (
        "By difficulty, with levels of reviewers",
        "Where a person named a level for a hard item, it stands in place of that by the rule.",
    ),
    "category": (
        "By category",
        "The label in force: one by hand counts before that of a model, and this before the imported one.",
    ),
    "annotation_source": (
        "By who wrote the reference",
        "People, people over a draft by a model, or a model alone (paper, Table 7).",
    ),
}
WITHOUT = {
    "difficulty": "Without a level",
    "reviewed": "Without a level",
    "category": "Without a category",
    "annotation_source": "Without a reference",
}


@require_safe
@open_after_rating("groups")
def benchmark_groups(request: HttpRequest, slug: str) -> HttpResponse:
    """The tables of one `facet`, and the studies that references came from."""
    benchmark = find(slug)
    document, behind = shown(benchmark, "groups")
    facet = request.GET.get("facet", "")
    if facet not in FACETS:
        facet = FACETS[0]
    context: dict[str, Any] = {
        "behind": behind,
        "document": document,
        "facet": facet,
        "facets": FACETS,
        "studies": [] if document is None else [_study(row) for row in document["studies"]],
        "tables": [],
    }
    if document is not None and document["models"]:
        context["judges"] = document["judges"][facet]
        context["tables"] = [_table(found, facet, document["models"]) for found in document["groupings"]]
    return render(request, "auditing/benchmark_groups.html", frame(request, benchmark, "groups", **context))


def _table(found: Mapping[str, Any], facet: str, models: list[str]) -> dict[str, Any]:
    """One grouping: a line for each model, a column for each group."""
    name = found["name"]
    title, about = TITLES[name]
    cells = found["facets"][facet]
    return {
        "name": name,
        "title": title,
        "about": about,
        "groups": [
            {"group": group, "words": _words(name, group), "items": items} for group, items in found["groups"]
        ],
        "rows": [
            {"model": model, "cells": [cells[model][group] for group, _ in found["groups"]]}
            for model in models
            if model in cells
        ],
    }


def _words(name: str, group: str) -> str:
    if not group:
        return WITHOUT[name]
    if name == "annotation_source":
        return by_words(group)
    return group if name == "category" else group.capitalize()


def _study(row: Mapping[str, Any]) -> dict[str, Any]:
    """A study as lines: everything first, then each annotation source."""
    lines = [("All", row["total"])]
    lines += [(by_words(source), found) for source, found in sorted(row["by_source"].items())]
    return {"slug": row["study"], "name": row["name"], "lines": lines}
