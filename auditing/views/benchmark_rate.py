"""Pages of people's ratings: where people rate answers, blind, and who they are and how many answers they rate."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.views.forms import ServiceForm
from annotation.views.query import whole_number
from auditing.models import Benchmark
from auditing.selectors.benchmark_rating import (
    DEFAULT_SAMPLE,
    MOST_SAMPLE,
    is_rater,
    pool,
    queue,
    raters,
    sample,
    sample_size,
)
from auditing.selectors.benchmark_rating_page import rating_payload
from auditing.selectors.benchmark_ratings import main
from auditing.services.anchor import rating_work
from auditing.views.benchmark_parts import find, frame
from reasonaudit.lib.errors import UserError
from videos.selectors.access import sees_everything


class RaterForm(ServiceForm):
    """Somebody who has an account."""

    user = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Of an account that exists, as it logs in. Any role will do.",
    )


class SampleForm(ServiceForm):
    """How many answers are sampled."""

    number = forms.IntegerField(label="Answers", min_value=1, max_value=MOST_SAMPLE)


@require_GET
def benchmark_rate(request: Any, slug: str) -> HttpResponse:
    """One's own queue; whoever may read the benchmark but is not listed is told how one comes to rate."""
    benchmark: Benchmark = request.access.object
    context: dict[str, Any] = {
        "section": "benchmarks" if sees_everything(request.user) else "work",
        "benchmark": benchmark,
        "main_reference": main(benchmark, "reference"),
    }
    if not is_rater(request.user, benchmark):
        return render(request, "auditing/benchmark_rate.html", context | {"showing": "not_listed"})
    order = queue(benchmark, request.user)
    if not order:
        return render(request, "auditing/benchmark_rate.html", context | {"showing": "nothing"})
    payload = rating_payload(benchmark, request.user, order)
    return render(request, "auditing/benchmark_rate.html", context | {"showing": "queue", "payload": payload})


def benchmark_raters(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who rates or rated. POST `action` is `add` (`user`), `remove` (`rater`) or `sample` (`number`)."""
    benchmark, status = find(slug), 200
    adding, sampling = RaterForm(), SampleForm(initial={"number": sample_size(benchmark)})
    if request.method == "POST":
        action = request.POST.get("action")
        if action == "remove":
            return _remove(request, benchmark)
        if action == "sample":
            sampling = SampleForm(request.POST)
            done = sampling.is_valid() and _sample(request, benchmark, sampling)
        else:
            adding = RaterForm(request.POST)
            done = adding.is_valid() and _add(request, benchmark, adding)
        if done:
            return redirect("auditing:benchmark_raters", benchmark.slug)
        status = 422
    sampled = sample(benchmark)
    context = frame(
        request,
        benchmark,
        "people",
        raters=raters(benchmark, [pk for pk, _ in sampled]),
        adding=adding,
        sampling=sampling,
        sampled=len(sampled),
        pool=pool(benchmark).count(),
        number=sample_size(benchmark),
        default_number=DEFAULT_SAMPLE,
        main_reference=main(benchmark, "reference"),
        rates=is_rater(request.user, benchmark),
    )
    return render(request, "auditing/benchmark_raters.html", context, status=status)


def _add(request: HttpRequest, benchmark: Benchmark, form: RaterForm) -> bool:
    name = form.cleaned_data["user"]
    try:
        rating_work.add_rater(benchmark, name, request.user)
    except UserError as error:
        form.add_user_error(error)
        return False
    messages.success(
        request, f"{name} can rate answers now: from “My work”, or from here for whoever leads studies."
    )
    return True


def _sample(request: HttpRequest, benchmark: Benchmark, form: SampleForm) -> bool:
    number = form.cleaned_data["number"]
    try:
        rating_work.set_sample(benchmark, number, request.user)
    except UserError as error:
        form.add_user_error(error)
        return False
    messages.success(request, f"Everybody rates the same {number:,} answers.")
    return True


def _remove(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    try:
        row = rating_work.remove_rater(benchmark, whole_number(request.POST.get("rater")) or 0, request.user)
        messages.success(
            request, f"{row.user.get_username()} rates no more. What was rated stays and counts."
        )
    except UserError as error:
        messages.error(request, str(error))
    return redirect("auditing:benchmark_raters", benchmark.slug)
