"""How hard the items of a benchmark are: levels in numbers, the table of items, and hard items for people to review."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.views.query import whole_number
from auditing.core.anchor.difficulty import DECISIONS, LEVELS
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, BenchmarkItem, DifficultyReview
from auditing.selectors.benchmark_difficulty import (
    NONE,
    PENDING,
    SORTS,
    difficulty_items,
    overview,
    place_of,
    queue,
    rollout_rows,
)
from auditing.selectors.rationales import grounded_video_payload, main_reference
from auditing.services.anchor import difficulty
from auditing.views.benchmark_parts import find, frame, shown
from reasonaudit.lib.errors import UserError
from videos.core.cot import format_cot

ITEMS_PER_PAGE = 50
FIELDS = ("decision", "fault", "level", "note")


@require_safe
def benchmark_difficulty(request: HttpRequest, slug: str) -> HttpResponse:
    """The levels, or with `review` one hard item: "next" is the first without a decision, a number names an item."""
    benchmark = find(slug)
    wanted = request.GET.get("review", "")
    if wanted:
        return _review_page(request, benchmark, wanted)
    document, behind = shown(benchmark, "difficulty")
    found = overview(benchmark)
    level = request.GET.get("level", "")
    decision = request.GET.get("decision", "")
    sort = request.GET.get("sort", "number")
    rows = difficulty_items(benchmark, level=level, decision=decision, sort=sort)
    context = {
        "behind": behind,
        "document": document,
        "found": found,
        "levels": [
            {"name": name, "n": found.levels.counts[name], "share": found.levels.shares[name]}
            for name in LEVELS
        ],
        "beside": _beside(found.beside),
        "rule": BenchmarkParameters.from_dict(benchmark.parameters).rule,
        "page": Paginator(rows, ITEMS_PER_PAGE).get_page(request.GET.get("page")),
        "level": level if level in {*LEVELS, NONE} else "",
        "decision": decision if decision in {*DECISIONS, PENDING} else "",
        "sort": sort if sort in SORTS else "number",
        "level_choices": (*LEVELS, NONE),
        "decisions": DifficultyReview.Decision.choices,
    }
    return render(
        request,
        "auditing/benchmark_difficulty.html",
        frame(request, benchmark, "difficulty", **context),
    )


@require_POST
def benchmark_review(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Store what a person decides about an item, then go on to the next one without a decision."""
    benchmark = find(slug)
    item = _item(benchmark, pk)
    given = {name: request.POST.get(name, "").strip() for name in FIELDS}
    if given["decision"] != DifficultyReview.Decision.REJECTED:
        # The choice of who erred is hidden for every other decision, but keeps what was chosen before.
        given["fault"] = ""
    try:
        difficulty.review(
            item, **given, version=whole_number(request.POST.get("version", "")) or 0, by=request.user
        )
    except UserError as error:
        return _review_page(request, benchmark, str(pk), given=given, error=error)
    messages.success(request, f"Item {item.number}: decision saved.")
    place = place_of(queue(benchmark), pk)
    address = reverse("auditing:benchmark_difficulty", args=[benchmark.slug])
    if place is not None and place.next_pending is not None:
        return redirect(f"{address}?review={place.next_pending}")
    return redirect(address)


def _review_page(
    request: HttpRequest,
    benchmark: Benchmark,
    wanted: str,
    *,
    given: Mapping[str, str] | None = None,
    error: UserError | None = None,
) -> HttpResponse:
    order = queue(benchmark)
    pk = whole_number(wanted) or 0
    if wanted == "next":
        if not order:
            messages.info(request, "No item is hard by the rule, so there is nothing to review.")
            return redirect("auditing:benchmark_difficulty", benchmark.slug)
        pk = order[0][0]
    item = _item(benchmark, pk)
    review = DifficultyReview.objects.filter(item=item).select_related("user").first()
    values = given
    if values is None:
        values = {name: "" if review is None else getattr(review, name) for name in FIELDS}
    answers = difficulty.rollouts(item)
    current = item.verdict is not None and item.verdict["answers_sha256"] == difficulty.answers_sha256(
        item, answers
    )
    rule = BenchmarkParameters.from_dict(benchmark.parameters).rule
    verdict = item.verdict if current else None
    reference = main_reference(item)
    context = {
        "review": review,
        "item": item,
        "place": place_of(order, item.pk),
        "pending": sum(not decision for _, decision in order),
        "verdict": item.verdict,
        "current": current,
        "judges": [] if verdict is None else verdict["by_judge"],
        "rollouts": rollout_rows(
            answers,
            verdict,
            0 if verdict is None else verdict["judges"],
            majority=rule.vote == "majority",
        ),
        "rule": rule,
        "reference": reference,
        "reference_text": "" if reference is None else format_cot(reference.document["cot"]),
        "values": values,
        "version": 0 if review is None else review.version,
        "error": error,
        "decisions": DifficultyReview.Decision.choices,
        "faults": DifficultyReview.Fault.choices,
        "level_choices": LEVELS,
        "longest_note": difficulty.LONGEST_NOTE,
        "film": grounded_video_payload(item, reference=reference),
    }
    return render(
        request,
        "auditing/benchmark_review.html",
        frame(request, benchmark, "difficulty", **context),
        status=200 if error is None else error.status,
    )


def _item(benchmark: Benchmark, pk: int) -> BenchmarkItem:
    rows = benchmark.items.select_related("benchmark", "question__video")
    return get_object_or_404(rows, pk=pk)


def _beside(counts: Mapping[str, Mapping[str, int]]) -> Sequence[Mapping[str, Any]]:
    """Imported levels beside those of the rule, as rows; nothing where no question came with a level."""
    if not any(counts):
        return []
    return [
        {
            "imported": imported,
            "cells": [{"level": level, "n": line.get(level, 0)} for level in (*LEVELS, "")],
            "n": sum(line.values()),
        }
        for imported, line in sorted(counts.items(), key=lambda pair: (not pair[0], pair[0].casefold()))
    ]
