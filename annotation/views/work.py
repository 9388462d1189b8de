"""The pages of those who label: the list of their own cases, and the workspace of one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.models import Assignment
from annotation.selectors.refinements import refinement_payload
from annotation.selectors.work import why_not_open, workspace_payload
from annotation.selectors.work_list import adjudicated_studies, own_work
from videos.models import Video
from videos.tasks import enqueue_proxy


@require_GET
def work(request: HttpRequest) -> HttpResponse:
    """My work, study by study, with one way to go on."""
    context = {
        "section": "work",
        "studies": own_work(request.user),
        "adjudicated": adjudicated_studies(request.user),
    }
    return render(request, "annotation/work.html", context)


@require_GET
def workspace(request: Any, assignment: UUID) -> HttpResponse:
    """One case, or one video question, of mine."""
    row = request.access.object
    if row.item.question_id is not None:
        return _refine(request, row)
    payload = workspace_payload(row, request.user)
    if not payload["qualified"]:
        messages.info(request, payload["why_not"])
        return redirect("annotation:work")
    context = {"section": "work", "assignment": payload, "dataset": row.item.trace.case.dataset}
    return render(request, "annotation/workspace.html", context)


def _refine(request: Any, row: Assignment) -> HttpResponse:
    """The page of a video question; work that may not be begun yet leads back to the list, which says why."""
    if why := why_not_open(row):
        messages.info(request, why)
        return redirect("annotation:work")
    video = row.item.question.video
    ask_for_proxy(video, request.user)
    context = {"section": "work", "question": refinement_payload(row, request.user), "clip": video}
    return render(request, "annotation/refine.html", context)


def ask_for_proxy(video: Video, user: Any) -> None:
    """Have a playback file made where a clip that is about to be shown needs one and has none."""
    if video.is_ready and video.needs_proxy and not video.proxy:
        enqueue_proxy(video, user)
