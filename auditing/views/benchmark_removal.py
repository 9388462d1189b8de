"""Removing a part of a benchmark: which series there are, what goes with one, and the question whether it is meant."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from auditing.selectors.benchmark_series import all_series, pick
from auditing.services.anchor import removal
from auditing.views.benchmark_parts import find, frame
from reasonaudit.lib.errors import UserError

MOST_DIGITS = 9


def benchmark_remove(request: HttpRequest, slug: str) -> HttpResponse:
    """List every series; one that `what` and `name` name is asked about, and removed by POST."""
    benchmark = find(slug)
    given = request.POST if request.method == "POST" else request.GET
    what, name = given.get("what", ""), given.get("name", "")
    found = all_series(benchmark)
    chosen = pick(found, what, name)
    problem, status = "", 200
    if request.method == "POST":
        typed = request.POST.get("typed", "").strip()
        told = request.POST.get("people", "")
        if chosen is not None and chosen.people and typed != chosen.name:
            problem, status = f"People rated these rows. Type “{chosen.name}” to remove them.", 422
        else:
            try:
                people = int(told) if told.isdecimal() and len(told) <= MOST_DIGITS else 0
                gone = removal.remove(benchmark, what, name, people=people, by=request.user)
            except UserError as error:
                problem, status = str(error), error.status
            else:
                messages.success(request, f"{gone.what.words} of {gone.name} were removed: {gone.rows:,}.")
                return redirect("auditing:benchmark_remove", benchmark.slug)
    context = frame(request, benchmark, "settings", series=found, chosen=chosen, problem=problem)
    return render(request, "auditing/benchmark_remove.html", context, status=status)
