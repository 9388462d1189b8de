"""The page on which disagreements are decided."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.models import Study
from annotation.selectors import adjudication as selectors
from annotation.selectors.guidelines import guideline_payload, newest
from annotation.services.decisions import NOTE_LIMIT
from annotation.views.studies import of_traces

ANY_ITEM = UUID(int=0)
ANY_INDEX = 999_999


@of_traces
def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue of a study; the case of `?item=` and `?segment=`, else the first that is open, is loaded by the page."""
    access: Any = request.access  # type: ignore[attr-defined]
    study: Study = access.object
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
