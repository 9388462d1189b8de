"""The pages on which disagreements are decided."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.core.adjudication import NOTE_LIMIT
from annotation.models import Study, StudyItem
from annotation.selectors import adjudication as selectors
from annotation.selectors import document_adjudication
from annotation.selectors.guidelines import guideline_payload, newest
from annotation.services.decisions import not_ready
from annotation.views.work import ask_for_proxy
from reasonaudit.lib.errors import UserError

ANY_ITEM = UUID(int=0)
ANY_INDEX = 999_999


def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue of a study. In one of traces the page loads the case of `?item=` and `?segment=`, or the first open one."""
    access: Any = request.access  # type: ignore[attr-defined]
    study: Study = access.object
    if study.is_video:
        return _questions(request, study)
    guideline = newest(study)
    found = selectors.queue(study)
    context = {
        "section": "work",
        "study": study,
        "dataset": study.dataset,
        "queue": found,
        "page": {
            "study": {"slug": study.slug, "name": study.name, "blinding": study.blinding},
            "user": {"id": request.user.pk, "username": request.user.get_username()},
            "may_decide": "adjudicator" in access.relations and study.stage == Study.Stage.OPEN,
            "why_not": why_not(access.relations, study),
            "guideline": None if guideline is None else guideline_payload(guideline),
            "queue": found,
            "flagged": selectors.flagged_clauses(study),
            "limits": {"note": NOTE_LIMIT},
            "urls": addresses(study) | {"back": way_back(access.relations)},
        },
    }
    return render(request, "annotation/adjudication.html", context)


def _questions(request: HttpRequest, study: Study) -> HttpResponse:
    """Queue of a study of videos: a page of its own for each question."""
    context = {"section": "work", "study": study, "found": document_adjudication.queue(study)}
    return render(request, "annotation/video_adjudication_queue.html", context)


def video_adjudication(request: HttpRequest, item: UUID) -> HttpResponse:
    """One video question: everybody's documents, and the one that is decided."""
    access: Any = request.access  # type: ignore[attr-defined]
    row: StudyItem = access.object
    if row.question_id is None:
        raise UserError("not_found", "This item is no video question.", status=404)
    payload = document_adjudication.document_payload(row, request.user, access.relations)
    if payload is None:
        messages.info(request, str(not_ready()))
        return redirect("annotation:adjudication", row.study.slug)
    video = row.question.video
    ask_for_proxy(video, request.user)
    context = {"section": "work", "question": payload, "clip": video}
    return render(request, "annotation/video_adjudication.html", context)


def why_not(relations: frozenset[str], study: Study) -> str:
    """Why nothing can be decided here, as a sentence; "" where it can."""
    if "adjudicator" not in relations:
        return "You lead this study and do not decide in it: what you see here is read-only."
    if study.stage != Study.Stage.OPEN:
        return "The study is not open, so nothing can be decided now."
    return ""


def addresses(study: Study) -> dict[str, str]:
    """What the page asks for; `{item}` and `{index}` stand for what is chosen there."""
    found = {
        "queue": reverse("api:adjudication-queue", args=[study.slug]),
        "agreement": reverse("api:study-agreement", args=[study.slug]),
        "relogin": reverse("accounts:relogin"),
        "item": reverse("api:adjudication-item", args=[ANY_ITEM]),
        "return": reverse("api:adjudication-return", args=[ANY_ITEM]),
    }
    for name in ("segment", "reopen", "flag", "audit"):
        found[name] = reverse(f"api:adjudication-{name}", args=[ANY_ITEM, ANY_INDEX])
    return {
        name: address.replace(str(ANY_ITEM), "{item}").replace(str(ANY_INDEX), "{index}")
        for name, address in found.items()
    }


def way_back(relations: frozenset[str]) -> str:
    """Where "Finish later" leads: the person's own list, or the studies of those who lead."""
    return reverse("annotation:work" if "adjudicator" in relations else "annotation:study_list")
