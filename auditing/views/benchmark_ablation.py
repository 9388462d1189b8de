"""What models still answer without a cue: accuracy, drops and tests by model, and which cue an item needs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from auditing.services.anchor.results_ablation import REASONS, WITHOUT
from auditing.views.benchmark_blind import open_after_rating
from auditing.views.benchmark_parts import find, frame, shown
from auditing.views.scales import around_zero

ITEMS_PER_PAGE = 50
LEAST_DROP = 5.0


@require_safe
@open_after_rating("cues")
def benchmark_ablation(request: HttpRequest, slug: str) -> HttpResponse:
    """The settings of every model by one `source`, and the items that need a cue of one `model`."""
    benchmark = find(slug)
    document, behind = shown(benchmark, "ablation")
    context: dict[str, Any] = {"behind": behind, "document": document}
    if document is not None and document["sources"]:
        sources = sorted(document["sources"], key=lambda name: (-document["sources"][name]["ratings"], name))
        source = request.GET.get("source", "")
        if source not in sources:
            source = document["default"]
        models = document["sources"][source]["models"]
        compared = [row for row in models if row["needed"]]
        wanted = request.GET.get("model", "")
        chosen = next((row for row in compared if row["model"] == wanted), compared[0] if compared else None)
        kind = request.GET.get("items", "")
        rows = _items(document, chosen, kind) if chosen else []
        low, high = around_zero((one["drop"] for row in models for one in row["settings"]), LEAST_DROP)
        context.update(
            sources=[(name, document["sources"][name]["ratings"]) for name in sources],
            source=source,
            models=models,
            compared=compared,
            chosen=chosen,
            kind=kind if kind in _kinds(chosen) else "needed",
            kinds=_kinds(chosen),
            cues=WITHOUT,
            reasons=REASONS,
            low=low,
            high=high,
            page=Paginator(rows, ITEMS_PER_PAGE).get_page(request.GET.get("page")),
        )
    return render(request, "auditing/benchmark_ablation.html", frame(request, benchmark, "cues", **context))


def _kinds(chosen: Mapping[str, Any] | None) -> dict[str, str]:
    """Which items the table can show, with words."""
    if chosen is None:
        return {}
    found = {"needed": "Need a cue"}
    for setting, cue in WITHOUT.items():
        if any(one["setting"] == setting for one in chosen["settings"]):
            found[f"lost-{setting}"] = f"Lost without {cue}"
            found[f"gained-{setting}"] = f"Gained without {cue}"
    return found


def _items(document: Mapping[str, Any], chosen: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Items of the chosen kind by number, each with the answers in all settings."""
    needed: Mapping[str, Sequence[str]] = chosen["needed"]["items"]
    what, _, setting = kind.partition("-")
    keys: Sequence[str] = list(needed)
    if kind in _kinds(chosen) and setting:
        keys = next(one[f"{what}_items"] for one in chosen["settings"] if one["setting"] == setting)
    answers = document["answers"][chosen["model"]]
    settings = [one["setting"] for one in chosen["settings"]]
    return sorted(
        (
            {
                "item": int(key),
                "number": document["numbers"][key],
                "cues": [cue for cue in WITHOUT.values() if cue in needed.get(key, ())],
                "answers": [(name, answers[name].get(key)) for name in settings],
            }
            for key in keys
        ),
        key=lambda row: int(row["number"]),
    )
