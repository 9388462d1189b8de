"""Page on which people judge chains of a study, blind to each other and to how the chains were chosen."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from auditing.models import ChainJudgement, ReasoningStudy
from auditing.selectors.reasoning_audit import DEFAULT_MOST, audit_payload, is_complete
from auditing.selectors.reasoning_audit_results import audit_results

MOST_PATHS = 200
MOST_CHAINS = 1000
MANAGERS = ("manager", "admin")


@require_GET
def reasoning_audit(request: Any, slug: str) -> HttpResponse:
    """One's own queue, or with ``view=results`` what came out, once one has judged all of it.

    ``kind`` is soundness or decomposition; ``paths`` the most paths of a question, ``most`` the size of the sample.
    """
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    choice = _choice(request.GET)
    payload = audit_payload(study, request.user, choice["kind"], paths=choice["paths"], most=choice["most"])
    finished = all(
        (said := payload["said"].get(str(pk))) is not None and is_complete(choice["kind"], said["answers"])
        for pk, _ in payload["queue"]
    )
    manages = _manages(request)
    context = {
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "choice": choice,
        "kinds": ChainJudgement.Kind.choices,
        "finished": finished,
        "may_see_results": finished or manages,
        "scored": study.scores.exists(),
        "done": sum(is_complete(choice["kind"], said["answers"]) for said in payload["said"].values()),
        "total": len(payload["queue"]),
    }
    if request.GET.get("view") == "results":
        context["showing"] = "results"
        if context["may_see_results"]:
            context["results"] = audit_results(study, choice["kind"], viewer=request.user, names=manages)
    else:
        context |= {"showing": "queue", "payload": payload}
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
