"""How well boxes and times that models cite meet the references: means by model, and a row for each answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from auditing.services.anchor.grounding import WHY
from auditing.services.anchor.results_grounding import NOT_COMPARED
from auditing.views.benchmark_parts import find, frame, shown

ANSWERS_PER_PAGE = 50
PICTURES = {
    "mean_iou": "Mean IoU",
    "union_iou": "IoU over all",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
}
SINGLE = {"mean_iou": "Mean IoU", "precision": "Precision", "recall": "Recall", "f1": "F1"}
TIMES = {"tiou": "tIoU", "precision": "Precision", "recall": "Recall", "f1": "F1"}
BLOCKS = (
    ("pictures", "Boxes, picture by picture", PICTURES),
    ("single", "Boxes, one by one", SINGLE),
    ("visual", "Times of the visual cue", TIMES),
    ("audio", "Times of the audio cue", TIMES),
    ("sounds", "Audio cue against the refined sounds", TIMES),
)
COLUMNS = (
    ("pictures_mean_iou", "Mean IoU", "boxes"),
    ("pictures_f1", "F1 of pictures", "boxes"),
    ("single_f1", "F1 of boxes", "boxes"),
    ("visual_f1", "F1, visual cue", "visual"),
    ("audio_f1", "F1, audio cue", "audio"),
    ("sounds_f1", "F1, sounds", "sounds"),
)
"""Columns of the table of answers: value, head, the part whose reason stands for a missing value."""


@require_safe
def benchmark_grounding(request: HttpRequest, slug: str) -> HttpResponse:
    """The means against one source of references (`reference`), and answers of one `model`, worst first by `sort`."""
    benchmark = find(slug)
    document, behind = shown(benchmark, "grounding")
    context: dict[str, Any] = {"behind": behind, "document": document}
    if document is not None:
        main = document["main"]
        sources = sorted(document["references"], key=lambda name: (name != main, name))
        source = request.GET.get("reference", "")
        if source not in sources:
            source = sources[0]
        found = document["references"][source]
        names = [row["model"] for row in found["models"]]
        model = request.GET.get("model", "")
        sort = request.GET.get("sort", "")
        if sort not in {name for name, *_ in COLUMNS}:
            sort = _first_with_values(found["rows"])
        rows = [row for row in found["rows"] if not model or row["model"] == model]
        context.update(
            sources=sources,
            source=source,
            models=found["models"],
            compared=sum(row["compared"] for row in found["models"]),
            names=names,
            model=model if model in names else "",
            sort=sort,
            blocks=[_block(*block, found["models"]) for block in BLOCKS],
            columns=COLUMNS,
            page=Paginator(_worst_first(rows, sort), ANSWERS_PER_PAGE).get_page(request.GET.get("page")),
            not_compared=NOT_COMPARED,
        )
        context["lines"] = [_line(row) for row in context["page"]]
    return render(
        request, "auditing/benchmark_grounding.html", frame(request, benchmark, "grounding", **context)
    )


def _first_with_values(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first column in which some answer has a value."""
    for name, *_ in COLUMNS:
        if any(row[name] is not None for row in rows):
            return name
    return COLUMNS[0][0]


def _worst_first(rows: Sequence[Mapping[str, Any]], sort: str) -> list[Mapping[str, Any]]:
    """Lowest value first; answers without a value last, by item."""
    return sorted(rows, key=lambda row: (row[sort] is None, row[sort] or 0.0, row["number"], row["model"]))


def _block(
    part: str, title: str, columns: Mapping[str, str], models: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One table of means: its heads, and for each model the values, how many answers have one, why others have none."""
    return {
        "part": part,
        "title": title,
        "heads": list(columns.values()),
        "times": columns is TIMES,
        "rows": [
            {
                "model": row["model"],
                "compared": row["compared"],
                "n": row[part]["n"],
                "cells": [row[part][name] for name in columns],
                "missing": [(WHY[why], n) for why, n in row[part]["missing"].items()],
                "points": row[part].get("points"),
                "points_inside": row[part].get("points_inside"),
                "beyond": row[part].get("beyond"),
            }
            for row in models
        ],
    }


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its cells: a value, or why there is none."""
    cells = []
    for name, _, part in COLUMNS:
        why = NOT_COMPARED.get(row["missing"], "") or WHY.get(row["why"][part], "")
        cells.append({"value": row[name], "why": why or "There is nothing in common to measure."})
    return {**row, "cells": cells}
