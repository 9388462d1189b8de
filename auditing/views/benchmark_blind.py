"""Results and exports are closed to whoever still rates answers, blind, that they take in."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from auditing.selectors.benchmark_rating import rated_blind, unrated
from auditing.views.benchmark_parts import frame

View = Callable[[HttpRequest, str], HttpResponseBase]


def open_after_rating(tab: str) -> Callable[[View], View]:
    """Close the page behind a tab to a listed rater while an answer is left that this person has not rated.

    A mean over few answers tells what they were given, so the whole page is closed, not only its lists of answers.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def page(request: HttpRequest, slug: str) -> HttpResponseBase:
            benchmark = rated_blind(slug, request.user)
            left = 0 if benchmark is None else unrated(benchmark, request.user)
            if benchmark is None or not left:
                return view(request, slug)
            context = frame(request, benchmark, tab, left=left)
            return render(request, "auditing/benchmark_closed.html", context, status=403)

        return page

    return decorate
