"""Pages of data sets: the list of them, and one with its traces, filters and statistics."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from annotation.models import Dataset, Gold
from auditing.models import AuditLabel, AuditRun
from auditing.selectors import dataset_statistics, datasets
from auditing.views.query import whole_number

PAGE_SIZE = 25


def dataset_list(request: HttpRequest) -> HttpResponse:
    """All data sets, or what to do when there is none."""
    context = {"datasets": datasets.dataset_rows(), "section": "data"}
    return render(request, "auditing/dataset_list.html", context)


def dataset_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Traces of a data set with their labels and audits; its statistics at the side."""
    dataset = get_object_or_404(Dataset, slug=slug)
    runs = list(datasets.runs_of(dataset))
    run = chosen_run(request.GET, runs)
    filters = read_filters(request.GET)
    traces = datasets.filtered(datasets.traces_of(dataset, run), filters).select_related("case")
    page = Paginator(traces, PAGE_SIZE).get_page(request.GET.get("page"))
    rows = datasets.trace_rows(page.object_list)
    context: dict[str, Any] = {
        "section": "data",
        "dataset": dataset,
        "run": run,
        "filters": filters,
        "page": page,
        "rows": rows,
        "live": ",".join(str(row.trace.pk) for row in rows if row.active),
        "waiting_cases": list(datasets.cases_without_trace(dataset)[:50]),
    }
    if "#trace" in request.headers.get("HX-Target", ""):
        # A filter, a search or a turned page: the figures of the whole data set stay as they are.
        return render(request, "auditing/fragments/trace_table.html", context)
    facets = datasets.facets(dataset, run)
    statistics = dataset_statistics.statistics_of(dataset)
    modes = dataset_statistics.failure_modes_of(dataset, run)
    shown_runs = [run] if run else runs
    context |= {
        "runs": runs,
        "facets": facets,
        "share_bars": share_bars(facets.shares, filters),
        "statistics": statistics,
        "bars": histogram_bars(statistics.histogram, statistics.segments_median),
        "gold_order": (Gold.CORRECT, Gold.UNCERTAIN, Gold.INCORRECT),
        "audit_order": AuditLabel.values,
        "modes": modes,
        "failure_takeaway": dataset_statistics.failure_takeaway(modes),
        "quality_notes": list(
            dict.fromkeys(
                shown.quality_note
                for shown in shown_runs
                if shown.labeller != "stored" and shown.quality_note
            )
        ),
        "labellers": list(dict.fromkeys(shown.labeller_words for shown in shown_runs)),
    }
    return render(request, "auditing/dataset_detail.html", context)


def dataset_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """State cells of traces whose audit is running, for the list's poll (`trace` = ids joined by commas)."""
    dataset = get_object_or_404(Dataset, slug=slug)
    run = chosen_run(request.GET, list(datasets.runs_of(dataset)))
    words = request.GET.get("trace", "").split(",")[:PAGE_SIZE]
    wanted = [number for word in words if (number := whole_number(word)) is not None]
    traces = datasets.traces_of(dataset, run).filter(pk__in=wanted).select_related("case").order_by("pk")
    rows = datasets.trace_rows(traces)
    live = ",".join(str(row.trace.pk) for row in rows if row.active)
    context = {"dataset": dataset, "run": run, "rows": rows, "live": live}
    return render(request, "auditing/fragments/progress_cells.html", context)


def chosen_run(query: QueryDict, runs: list[AuditRun]) -> AuditRun | None:
    """The run named by `?run=`, if it is one of `runs`; None means the newest audit of each trace."""
    wanted = query.get("run", "")
    return next((run for run in runs if str(run.pk) == wanted), None)


def read_filters(query: QueryDict) -> datasets.TraceFilters:
    """The filters that the address asks for. Values that do not exist find nothing."""
    return datasets.TraceFilters(
        domains=tuple(query.getlist("domain")),
        generators=tuple(query.getlist("generator")),
        labels=tuple(query.getlist("label")),
        gold=tuple(query.getlist("gold")),
        states=tuple(query.getlist("state")),
        share_from=whole_number(query.get("share_from")),
        share_to=whole_number(query.get("share_to")),
        search=query.get("q", "").strip()[:200],
        sort=query.get("sort", "case"),
    )


def histogram_bars(
    histogram: Sequence[tuple[int, int]], median: float | None, most: int = 14
) -> list[dict[str, Any]]:
    """Bars of `(segments, traces)` in a box of 100 by 40: one a length, or equal ranges of many lengths."""
    if not histogram or median is None:
        return []
    low, high = histogram[0][0], histogram[-1][0]
    step = (high - low) // most + 1
    sums = [0] * ((high - low) // step + 1)
    for length, traces in histogram:
        sums[(length - low) // step] += traces
    width, tallest = 100 / len(sums), max(sums)
    bars = []
    for place, traces in enumerate(sums):
        first = low + place * step
        last = first + step - 1
        words = f"{first}" if step == 1 else f"{first} to {last}"
        bars.append(
            {
                "x": place * width + 0.5,
                "y": 40 - 40 * traces / tallest,
                "width": width - 1,
                "height": 40 * traces / tallest,
                "typical": first <= median < first + step,
                "title": f"{traces} with {words} segments",
            }
        )
    return bars


def share_bars(shares: Sequence[int], filters: datasets.TraceFilters) -> list[dict[str, Any]]:
    """Bars of the traces by share of problematic gold labels, in a box of 100 by 40; `on` = the filter takes them.

    A range counts as taken where the limits reach into it.
    """
    if not shares:
        return []
    step, tallest = 100 // len(shares), max(shares)
    low = 0 if filters.share_from is None else filters.share_from
    high = 100 if filters.share_to is None else filters.share_to
    bars = []
    for place, traces in enumerate(shares):
        first, last = place * step, (place + 1) * step
        is_last = last == 100
        bars.append(
            {
                "first": first,
                "x": first + 0.5,
                "y": 40 - 40 * traces / tallest,
                "width": step - 1,
                "height": 40 * traces / tallest,
                "on": low <= high and high >= first and (low < last or (is_last and low == 100)),
                "title": f"{traces} with {first} to {'' if is_last else 'under '}{last}\u00a0%",
            }
        )
    return bars
