"""Page of a case: its text, its traces, and having a model answer it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Case
from auditing import tasks
from auditing.selectors.cases import is_being_answered
from auditing.views.forms import AnswerForm
from auditing.views.traces import case_sections
from reasonaudit.lib.errors import UserError


def case_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a model to answer the case; its reasoning becomes a trace."""
    case = get_object_or_404(Case.objects.select_related("dataset"), pk=pk)
    admin = getattr(request.user, "role", "") == "admin"
    form = AnswerForm(request.POST if request.method == "POST" else None, admin=admin)
    if request.method == "POST" and form.is_valid():
        options = {"base_url": form.cleaned_data["base_url"]} if form.cleaned_data.get("base_url") else {}
        try:
            tasks.enqueue_answer(case.pk, f"openai:{form.cleaned_data['model']}", request.user, options)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, f"{form.cleaned_data['model']} was asked. Its answer appears here as a trace."
            )
            return redirect("auditing:case_answer", case.pk)
    context: dict[str, Any] = {
        "section": "data",
        "case": case,
        "dataset": case.dataset,
        "sections": case_sections(case),
        "traces": case.traces.order_by("pk"),
        "waiting": is_being_answered(case),
        "problem": case.meta.get("answer_problem"),
        "form": form,
    }
    return render(request, "auditing/case_answer.html", context, status=422 if form.errors else 200)
