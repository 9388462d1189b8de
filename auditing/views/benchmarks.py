"""Pages of benchmarks: the list, a new one, one with its statistics and items, changing and removing it."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from auditing.models import Benchmark, ModelAnswer, Rating, Reference
from auditing.selectors import benchmark_items, benchmark_lists
from auditing.selectors.benchmark_items import ItemFilters
from auditing.selectors.benchmark_words import DECISIONS, FILTER_NAMES, filter_words, left_out_words
from auditing.selectors.reasoning_words import counted
from auditing.services.anchor import benchmarks, references
from auditing.views.benchmark_forms import (
    REFERENCE_FORMS,
    NewBenchmarkForm,
    ParametersForm,
    draft_models,
)
from auditing.views.benchmark_parts import find, frame, shown
from reasonaudit.lib.errors import UserError
from videos.models import VideoSet

BENCHMARKS_PER_PAGE = 25
ITEMS_PER_PAGE = 50
RUNS_SHOWN = 20
SELECTS = ("q", "category", "subcategory", "level", "decision", "by", "model", "missing")
"""Filters that the form over the table shows; the others come from links and stand as chips."""


@require_GET
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """All benchmarks by name, or what one is for."""
    found = benchmark_lists.benchmark_list()
    only = VideoSet.objects.filter(slug=request.GET.get("video_set", "").replace("\0", "")).first()
    if only is not None:
        found = found.filter(video_set=only)
    page = Paginator(found, BENCHMARKS_PER_PAGE).get_page(request.GET.get("page"))
    rows = benchmark_lists.rows_of(list(page.object_list))
    context = {
        "section": "benchmarks",
        "page": page,
        "rows": rows,
        "only": only,
        "has_questions": bool(rows) or VideoSet.objects.filter(questions__isnull=False).exists(),
    }
    return render(request, "auditing/benchmark_list.html", context)


def benchmark_new(request: HttpRequest) -> HttpResponse:
    """Make a benchmark of the questions of a set of videos."""
    chosen = VideoSet.objects.filter(slug=request.GET.get("video_set", "").replace("\0", "")).first()
    initial = {} if chosen is None else {"video_set": chosen.pk, "name": chosen.name}
    form = NewBenchmarkForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = benchmarks.create(**form.values(), by=request.user)
        except UserError as error:
            form.add_user_error(error)
        else:
            messages.success(
                request, f"The benchmark has {counted(made.items.count(), 'item')}. Take references next."
            )
            return redirect("auditing:benchmark_detail", made.slug)
    context = {
        "section": "benchmarks",
        "form": form,
        "has_questions": VideoSet.objects.filter(questions__isnull=False).exists(),
    }
    return render(request, "auditing/benchmark_new.html", context, status=422 if form.errors else 200)


@require_GET
def benchmark_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """What is in a benchmark, what to do next, and its items."""
    return detail_page(request, find(slug))


@require_POST
def benchmark_references(request: HttpRequest, slug: str) -> HttpResponse:
    """Take references from a study, from the questions or from drafts; ``how=items`` takes new questions first."""
    benchmark = find(slug)
    how = request.POST.get("how", "")
    if how == "items":
        added = benchmarks.add_questions(benchmark, request.user)
        said = (
            f"Taken: {counted(added, 'new item')}." if added else "The set has no question that is not here."
        )
        messages.success(request, said)
        return redirect("auditing:benchmark_detail", slug)
    if how not in REFERENCE_FORMS:
        return HttpResponseBadRequest("References come from a study, from the questions or from drafts.")
    form: Any = REFERENCE_FORMS[how](request.POST, benchmark=benchmark, prefix=how)
    if not form.is_valid():
        return detail_page(request, benchmark, form)
    try:
        taken = _take(benchmark, how, form.cleaned_data, request.user)
    except UserError as error:
        form.add_user_error(error)
        return detail_page(request, benchmark, form)
    messages.success(
        request,
        f"Taken: {counted(taken.taken, 'reference')} as “{form.cleaned_data['source']}”; {taken.unchanged:,} were "
        "there already.",
    )
    if taken.left_out:
        said = left_out_words(taken.left_out)
        messages.warning(request, f"Without one: {counted(len(taken.left_out), 'item')}. {said}")
    return redirect("auditing:benchmark_detail", slug)


def _take(benchmark: Benchmark, how: str, data: Mapping[str, Any], by: Any) -> references.Taken:
    if how == "study":
        return references.take_from_study(benchmark, data["study"], source=data["source"], by=by)
    if how == "questions":
        return references.take_questions(
            benchmark, source=data["source"], kind=data["kind"], writer=data["writer"], by=by
        )
    return references.take_generated(benchmark, model=data["model"], source=data["source"], by=by)


def detail_page(request: HttpRequest, benchmark: Benchmark, refused: Any = None) -> HttpResponse:
    """The page of a benchmark; `refused` is a form of references that could not be used."""
    document, behind = shown(benchmark, "collection")
    filters = ItemFilters.of(request.GET)
    found, counts = benchmark_items.filtered(benchmark, filters)
    page = Paginator(found, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(
        request,
        benchmark,
        "items",
        behind=behind,
        collection=document,
        filters=filters,
        selects=[(name, FILTER_NAMES[name]) for name in SELECTS if name not in ("q", "missing")],
        choices=_choices(document),
        chips=_chips(request, filters),
        hidden={name: value for name, value in filters.given.items() if name not in SELECTS},
        page=page,
        rows=benchmark_items.rows_of(benchmark, list(page.object_list), counts),
        total=benchmark.items.count() if document is None else document["items"],
        reference_forms=_reference_forms(benchmark, refused),
        **benchmark_lists.runs_of(benchmark, RUNS_SHOWN),
    )
    status = 200 if refused is None else 422
    return render(request, "auditing/benchmark_detail.html", context, status=status)


def _choices(document: Mapping[str, Any] | None) -> dict[str, list[tuple[str, str, int | None]]]:
    """`(value, words, items)` for each filter of the form, of what there is."""
    decisions: list[tuple[str, str, int | None]] = [(key, str(word), None) for key, word in DECISIONS.items()]
    if document is None:
        return {"decision": decisions}
    models = dict.fromkeys(row["model"] for row in document["answers"] if row["role"] == "chain")
    subcategories: dict[str, int] = {}
    for row in document["categories"]:
        for sub in row["subcategories"]:
            name = sub["subcategory"]
            subcategories[name] = subcategories.get(name, 0) + sub["n"]
    return {
        "category": [_choice("category", row["category"], row["n"]) for row in document["categories"]],
        "subcategory": [_choice("subcategory", name, n) for name, n in sorted(subcategories.items())],
        "level": [_choice("level", row["value"], row["n"]) for row in document["levels"]],
        "decision": decisions,
        "by": [_choice("by", row["value"], row["n"]) for row in document["annotation_sources"]],
        "model": [(name, name, None) for name in models],
    }


def _choice(name: str, value: str, number: int) -> tuple[str, str, int | None]:
    return value or benchmark_items.NONE, filter_words(name, value or benchmark_items.NONE), number


def _chips(request: HttpRequest, filters: ItemFilters) -> list[dict[str, str]]:
    """What the table is narrowed to by links, each with the address without it."""
    chips = []
    for name, value in filters.given.items():
        if name in SELECTS:
            continue
        query = request.GET.copy()
        query.pop(name, None)
        query.pop("page", None)
        chips.append(
            {
                "name": FILTER_NAMES[name],
                "words": filter_words(name, value),
                "without": f"?{query.urlencode()}#items",
            }
        )
    return chips


def _reference_forms(benchmark: Benchmark, refused: Any) -> list[Any]:
    """The three ways to take references; one that cannot give anything is left out."""
    forms = []
    for how, make in REFERENCE_FORMS.items():
        if refused is not None and refused.how == how:
            forms.append(refused)
        elif how != "drafts" or draft_models(benchmark):
            forms.append(make(benchmark=benchmark, prefix=how))
    return forms


def benchmark_change(request: HttpRequest, slug: str) -> HttpResponse:
    """Change name, description and parameters; results are computed anew."""
    benchmark = find(slug)
    form = ParametersForm(request.POST or None, initial=ParametersForm.initial_of(benchmark))
    if request.method == "POST" and form.is_valid():
        try:
            benchmarks.change(benchmark, **form.values(), by=request.user)
        except UserError as error:
            form.add_user_error(error)
        else:
            messages.success(request, "The settings were stored.")
            return redirect("auditing:benchmark_detail", slug)
    context = frame(request, benchmark, "settings", form=form)
    return render(request, "auditing/benchmark_change.html", context, status=422 if form.errors else 200)


def benchmark_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask, then remove a benchmark with all that is in it; questions, videos and studies stay."""
    benchmark = find(slug)
    problem = ""
    if request.method == "POST":
        if request.POST.get("name", "").strip() != benchmark.name:
            problem = "Type the name of the benchmark to remove it."
        else:
            try:
                benchmarks.delete(benchmark, request.user)
            except UserError as error:
                problem = str(error)
            else:
                messages.success(request, f"The benchmark “{benchmark.name}” was removed.")
                return redirect(reverse("auditing:benchmark_list"))
    ratings = Rating.objects.filter(answer__item__benchmark=benchmark)
    context = frame(
        request,
        benchmark,
        "settings",
        problem=problem,
        counts={
            "items": benchmark.items.count(),
            "references": Reference.objects.filter(item__benchmark=benchmark).count(),
            "answers": ModelAnswer.objects.filter(item__benchmark=benchmark).count(),
            "ratings": ratings.filter(user=None).count(),
            "people": ratings.exclude(user=None).count(),
            "runs": benchmark.runs.count(),
        },
    )
    return render(request, "auditing/benchmark_delete.html", context, status=422 if problem else 200)
