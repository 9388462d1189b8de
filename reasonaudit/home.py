"""The first page after login."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from reasonaudit.accounts.permissions import allowed

START_ROUTE = "auditing:dataset_list"


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Data sets for those who may see them; everyone else is told that no work is assigned yet."""
    if allowed(request.user, START_ROUTE, "GET"):
        return redirect(START_ROUTE)
    return render(request, "accounts/home.html")
