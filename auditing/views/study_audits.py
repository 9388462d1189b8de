"""Page on which a study's lead chooses the audit that people are shown after the reveal or a decision."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.views.studies import of_traces
from auditing.models import AuditRun
from auditing.services.study_audit import audit_choose, choice
from reasonaudit.lib.errors import UserError


@of_traces
def study_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Runs over the study's cases, with how many of them each covers. POST `run` is a run's id, or "" for none."""
    study = request.access.object  # type: ignore[attr-defined]
    found = choice(study)
    if request.method == "POST":
        wanted = request.POST.get("run", "")
        run = (
            AuditRun.objects.filter(pk=int(wanted)).first()
            if wanted.isdecimal() and len(wanted) < 12
            else None
        )
        try:
            if wanted and run is None:
                raise UserError("no_such_run", "There is no such run.", "Choose one of the list.", status=422)
            audit_choose(study=study, run=run, by=request.user)
        except UserError as error:
            messages.error(request, str(error))
            return redirect("auditing:study_audit", slug)
        said = f"People are now shown: {run}." if run else "People are shown no audit."
        messages.success(request, said)
        return redirect("auditing:study_audit", slug)
    context = {"section": "studies", "tab": "audit", "study": study, "dataset": study.dataset, **found}
    return render(request, "auditing/study_audit.html", context)
