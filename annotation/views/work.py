"""The pages of those who label: the list of their own cases, and the workspace of one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.selectors.work import workspace_payload
from annotation.selectors.work_list import adjudicated_studies, own_work


@require_GET
def work(request: HttpRequest) -> HttpResponse:
    """My cases, study by study, with one way to go on."""
    context = {
        "section": "work",
        "studies": own_work(request.user),
        "adjudicated": adjudicated_studies(request.user),
    }
    return render(request, "annotation/work.html", context)


@require_GET
def workspace(request: Any, assignment: UUID) -> HttpResponse:
    """One case of mine."""
    row = request.access.object
    payload = workspace_payload(row, request.user)
    if not payload["qualified"]:
        messages.info(request, payload["why_not"])
        return redirect("annotation:work")
    context = {"section": "work", "assignment": payload, "dataset": row.item.trace.case.dataset}
    return render(request, "annotation/workspace.html", context)
