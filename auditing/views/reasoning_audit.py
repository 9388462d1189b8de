"""Page on which people judge chains of a study, blind to each other and to how the chains were chosen."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from auditing.models import ChainJudgement, ReasoningStudy
from auditing.selectors.reasoning_audit import (
    DEFAULT_MOST,
    MOST_CHAINS,
    MOST_PATHS,
    audit_payload,
    judged_chains,
    queue,
)
from auditing.selectors.reasoning_audit_results import audit_results

MANAGERS = ("manager", "admin")


@require_GET
def reasoning_audit(request: Any, slug: str) -> HttpResponse:
    """One's own queue, or with ``view=results`` what came out, once one has judged all of it.

    Researchers are told what others say of the chains that they have judged themselves, and of no others: the address
    says how long a queue is, and a short one must not open the rest.

    ``kind`` is soundness or decomposition; ``paths`` the most paths of a question, ``most`` the size of the sample.
    """
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    choice = _choice(request.GET)
    kind = choice["kind"]
    order = queue(study, request.user, kind, paths=choice["paths"], most=choice["most"])
    judged = judged_chains(study, request.user, kind)
    done = sum(pk in judged for pk, _ in order)
    finished = done == len(order)
    manages = _manages(request)
    context = {
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "choice": choice,
        "kinds": ChainJudgement.Kind.choices,
        "finished": finished,
        "manages": manages,
        "may_see_results": finished or manages,
        "scored": study.scores.exists(),
        "done": done,
        "total": len(order),
    }
    if request.GET.get("view") == "results":
        context["showing"] = "results"
        if context["may_see_results"]:
            context["results"] = audit_results(
                study, kind, viewer=request.user, names=manages, chains=None if manages else judged
            )
    else:
        context |= {"showing": "queue", "payload": audit_payload(study, request.user, kind, order)}
    return render(request, "auditing/reasoning_audit.html", context)


def _manages(request: HttpRequest) -> bool:
    user = request.user
    return getattr(user, "role", "") in MANAGERS or bool(getattr(user, "is_superuser", False))


def _choice(data: QueryDict) -> dict[str, Any]:
    """What the address asks for; what cannot be read is as if it was not given."""
    kind = data.get("kind", "")
    return {
        "kind": kind if kind in ChainJudgement.Kind.values else ChainJudgement.Kind.SOUNDNESS.value,
        "paths": _number(data.get("paths", ""), MOST_PATHS, None),
        "most": _number(data.get("most", ""), MOST_CHAINS, DEFAULT_MOST),
    }


def _number(text: str, most: int, default: int | None) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        return default
    return min(max(int(text), 1), most)
