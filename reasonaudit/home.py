"""The first page after login."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from reasonaudit.accounts.permissions import allowed

# The first of these that a user's role reaches.
START_ROUTES = ("auditing:dataset_list", "annotation:work")


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Data sets for those who may see them, their own cases for those who label or adjudicate."""
    for route in START_ROUTES:
        if allowed(request.user, route, "GET"):
            return redirect(route)
    return render(request, "accounts/home.html")
