"""Pages of audit runs: what one would cost, starting it, watching it, its manifest."""

import json
from dataclasses import fields
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.models import Dataset, Trace
from auditing import tasks
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun
from auditing.selectors import datasets
from auditing.selectors.runs import run_progress
from auditing.services import runs
from auditing.services.options import RunOptions
from auditing.services.planning import size_up
from auditing.views.datasets import chosen_run, read_filters
from auditing.views.forms import RULES, AuditChoice, AuditForm
from auditing.views.query import whole_number
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunRecord, RunState

TRACES_PER_PAGE = 50
RUNS_PER_PAGE = 25
# The plan counts every relation of every trace: about 8 ms a trace of 10 segments.
MAX_TRACES = 500
TOO_MANY = (
    f"More than {MAX_TRACES} traces: narrow the list with filters, tick some, or start the run by the API."
)
# What names the traces of a plan: ticked ones, or the filters of the list they come from.
FILTERS = ("domain", "generator", "label", "gold", "state", "share_from", "share_to", "q", "run")
SELECTION = ("trace", *FILTERS)
# A second click, or a form that the browser sends again, comes this soon after the first.
SAME_START = timedelta(seconds=5)


def run_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What an audit of the chosen traces would ask and cost, before anything is asked."""
    dataset = get_object_or_404(Dataset, slug=slug)
    data = request.POST if request.method == "POST" else request.GET
    traces = chosen_traces(request, dataset, data)
    form = audit_form(request, data, traces)
    return plan_page(request, dataset, data, traces, form)


@require_POST
def run_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start the audit and go to its page; a form that cannot be used comes back with its input.

    The same start by the same user within five seconds is a double click, and leads to the run that it made.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    traces = chosen_traces(request, dataset, request.POST)
    form = audit_form(request, request.POST, traces)
    if not traces or len(traces) > MAX_TRACES or not form.is_valid():
        return plan_page(request, dataset, request.POST, traces, form)
    choice = form.choice()
    try:
        with transaction.atomic():
            # One start of a user at a time: the second of two clicks waits here and then finds the first one's run.
            get_user_model().objects.select_for_update(no_key=True).get(pk=int(request.user.pk or 0))
            run = started_just_now(request, dataset, traces, choice) or tasks.enqueue_audit_run(
                dataset=dataset,
                traces=traces,
                labeller=choice.labeller,
                options=choice.options,
                parameters=choice.parameters,
                order=choice.order,
                by=request.user,
                name=choice.name,
            )
    except UserError as error:
        form.add_user_error(error)
        return plan_page(request, dataset, request.POST, traces, form)
    return redirect("auditing:run_detail", run.pk)


def started_just_now(
    request: HttpRequest, dataset: Dataset, traces: list[Trace], choice: AuditChoice
) -> AuditRun | None:
    """The run that this user started with the very same choice a moment ago, unless it was cancelled since."""
    options = RunOptions.read(choice.options)
    recent = AuditRun.objects.filter(
        dataset=dataset,
        created_by_id=request.user.pk,
        created_at__gte=timezone.now() - SAME_START,
        labeller=choice.labeller,
        order=choice.order,
        name=choice.name.strip(),
    ).exclude(state=RunState.CANCELLED)
    for run in recent:
        if run.parameters != choice.parameters.to_dict() or run.labeller_options != options.to_dict():
            continue
        sized = size_up(traces, choice.labeller, options, choice.parameters)
        if {item.trace.pk for item in sized if item.why_not is None} == set(
            run.run_traces.values_list("trace", flat=True)
        ):
            return run
    return None


def chosen_traces(request: HttpRequest, dataset: Dataset, data: QueryDict) -> list[Trace]:
    """The ticked traces of this data set; with none ticked, or with `all`, all that the list's filters let through."""
    ticked = [number for word in data.getlist("trace") if (number := whole_number(word)) is not None]
    traces: QuerySet[Trace]
    if names_traces(data):
        traces = Trace.objects.filter(case__dataset=dataset, pk__in=ticked).order_by("case__title", "pk")
    else:
        run = chosen_run(data, list(datasets.runs_of(dataset)))
        traces = datasets.filtered(datasets.traces_of(dataset, run), read_filters(data))
    return list(traces.select_related("case")[: MAX_TRACES + 1])


def names_traces(data: QueryDict) -> bool:
    """Whether ticked traces count: `all` says that all traces that match were chosen, not only those of a page."""
    return bool(data.getlist("trace")) and not data.get("all")


def audit_form(request: HttpRequest, data: QueryDict, traces: list[Trace]) -> AuditForm:
    """The bound form: what was sent, else the defaults; stored relations first where every trace has them."""
    admin = getattr(request.user, "role", "") == "admin"
    if "labeller" in data:
        return AuditForm(data, admin=admin)
    blank = AuditForm(admin=admin)
    values = {
        name: bound.initial for name, bound in blank.fields.items() if bound.initial not in (None, False)
    }
    if traces and all(trace.has_stored_relations for trace in traces):
        values["labeller"] = "stored"
    return AuditForm(values, admin=admin)


def plan_page(
    request: HttpRequest, dataset: Dataset, data: QueryDict, traces: list[Trace], form: AuditForm
) -> HttpResponse:
    """Panel (for htmx) or page with the plan, or with what is wrong and status 422."""
    plan = None
    if len(traces) > MAX_TRACES:
        form.add_error(None, TOO_MANY)
    if traces and form.is_valid():
        choice = form.choice()
        try:
            plan = runs.plan(
                traces=traces,
                labeller=choice.labeller,
                options=choice.options,
                parameters=choice.parameters,
                order=choice.order,
            )
        except UserError as error:
            form.add_user_error(error)
    skipping = plan is not None and len(plan.refused) < len(traces) and bool(form["skip_refused"].value())
    context: dict[str, Any] = {
        "section": "data",
        "dataset": dataset,
        "traces": traces,
        "form": form,
        "plan": plan,
        "selection": [
            (name, value)
            for name in (SELECTION if names_traces(data) else FILTERS)
            for value in data.getlist(name)
        ],
        "ticked": names_traces(data),
        "refused": [] if plan is None else list(plan.refused),
        "can_run": plan is not None and (not plan.refused or skipping),
    }
    # htmx sends the panel's own requests; a link from another page gets the whole page.
    template = (
        "auditing/fragments/plan.html" if request.headers.get("HX-Request") else "auditing/run_plan.html"
    )
    return render(request, template, context, status=422 if form.errors else 200)


def run_list(request: HttpRequest) -> HttpResponse:
    """All audit runs, newest first."""
    found = AuditRun.objects.select_related("dataset", "created_by").order_by("-pk")
    page = Paginator(found.defer("log", "manifest"), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "auditing/run_list.html", {"section": "runs", "page": page})


def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One run: state, coverage, traces, log and manifest. POST `action` is `cancel` or `resume`."""
    run = get_object_or_404(AuditRun.objects.select_related("dataset", "created_by"), pk=pk)
    if request.method == "POST":
        return _change(request, run)
    rows = run.run_traces.select_related("trace__case").order_by("pk")
    page = Paginator(rows, TRACES_PER_PAGE).get_page(request.GET.get("page"))
    missing = max(0, run.total - run.done - run.invalid)
    context = {
        "section": "runs",
        "run": run,
        "dataset": run.dataset,
        "progress": run_progress(run),
        "page": page,
        "missing": missing,
        "took": took(run),
        "has_results": run.results.exists(),
        "rules": rules_of(run),
        "manifest": json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True),
        "coverage_rows": [
            ("Valid", "correct", run.done),
            ("Invalid, counts as neutral", "uncertain", run.invalid),
            ("Missing", "incorrect", missing),
        ],
    }
    return render(request, "auditing/run_detail.html", context)


def _change(request: HttpRequest, run: AuditRun) -> HttpResponse:
    action = request.POST.get("action")
    try:
        if action == "cancel":
            runs.request_cancel(run, request.user)
        elif action == "resume":
            tasks.enqueue_resume(run, request.user)
        else:
            return HttpResponseBadRequest("The action must be cancel or resume.")
    except UserError as error:
        messages.error(request, str(error))
    return redirect("auditing:run_detail", run.pk)


def took(run: RunRecord) -> float | None:
    """Seconds from the first start to the end, pauses too; None before the end."""
    if run.started_at is None or run.finished_at is None:
        return None
    return (run.finished_at - run.started_at).total_seconds()


def rules_of(run: AuditRun) -> list[tuple[str, Any, bool]]:
    """The run's parameters as `(words, value, is the default)`."""
    defaults = AuditParameters().to_dict()
    return [
        (RULES[field.name][0], run.parameters[field.name], run.parameters[field.name] == defaults[field.name])
        for field in fields(AuditParameters)
        if field.name in run.parameters
    ]
