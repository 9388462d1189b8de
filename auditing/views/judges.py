"""Pages of direct judges: what one would cost, starting it, watching it, its verdicts."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.models import Dataset, Trace
from auditing import tasks
from auditing.formats.verdicts import write_verdicts
from auditing.judging.protocol import VERDICTS
from auditing.models import JudgeRun
from auditing.selectors.judges import judge_progress, judge_runs, verdict_counts, verdict_rows
from auditing.services import runs
from auditing.services.judging import planning
from auditing.services.judging.imports import records_of
from auditing.services.options import RunOptions
from auditing.views.exports import download
from auditing.views.judge_form import JudgeChoice, JudgeForm
from auditing.views.runs import FILTERS, MAX_TRACES, SAME_START, SELECTION, chosen_traces, names_traces, took
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState

VERDICTS_PER_PAGE = 50
RUNS_PER_PAGE = 25
TOO_MANY = (
    f"More than {MAX_TRACES} traces: narrow the list with filters, tick some, or start the judge by the API."
)
SHOWN = (*VERDICTS, "none")


def judge_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What a judge of the chosen traces would be asked and cost, before anything is asked."""
    dataset = get_object_or_404(Dataset, slug=slug)
    data = request.POST if request.method == "POST" else request.GET
    traces = chosen_traces(request, dataset, data)
    return plan_page(request, dataset, data, traces, judge_form(request, data))


@require_POST
def judge_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start the judge and go to its page; a form that cannot be used comes back with its input.

    The same start by the same user within five seconds is a double click, and leads to the run that it made.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    traces = chosen_traces(request, dataset, request.POST)
    form = judge_form(request, request.POST)
    if not traces or len(traces) > MAX_TRACES or not form.is_valid():
        return plan_page(request, dataset, request.POST, traces, form)
    choice = form.choice()
    try:
        with transaction.atomic():
            # One start of a user at a time: the second of two clicks waits here and then finds the first one's run.
            get_user_model().objects.select_for_update(no_key=True).get(pk=int(request.user.pk or 0))
            run = started_just_now(request, dataset, traces, choice) or tasks.enqueue_judge_run(
                dataset=dataset,
                traces=traces,
                judge=choice.judge,
                options=choice.options,
                by=request.user,
                name=choice.name,
            )
    except UserError as error:
        form.add_user_error(error)
        return plan_page(request, dataset, request.POST, traces, form)
    return redirect("auditing:judge_detail", run.pk)


def started_just_now(
    request: HttpRequest, dataset: Dataset, traces: list[Trace], choice: JudgeChoice
) -> JudgeRun | None:
    """The run that this user started with the very same choice a moment ago, unless it was cancelled since."""
    options = RunOptions.read(choice.options).to_dict()
    recent = JudgeRun.objects.filter(
        dataset=dataset,
        created_by_id=request.user.pk,
        created_at__gte=timezone.now() - SAME_START,
        judge=choice.judge,
        name=choice.name.strip(),
    ).exclude(state=RunState.CANCELLED)
    wanted = {trace.pk for trace in traces}
    for run in recent:
        asked = set(run.run_traces.values_list("trace", flat=True))
        if run.options == options and asked <= wanted and (asked == wanted or "skip_refused" in options):
            return run
    return None


def judge_form(request: HttpRequest, data: QueryDict) -> JudgeForm:
    """The form: bound once something was chosen, else empty."""
    admin = getattr(request.user, "role", "") == "admin"
    return JudgeForm(data, admin=admin) if "model" in data else JudgeForm(admin=admin)


def plan_page(
    request: HttpRequest, dataset: Dataset, data: QueryDict, traces: list[Trace], form: JudgeForm
) -> HttpResponse:
    """Panel (for htmx) or page with the plan, or with what is wrong and status 422."""
    plan = None
    too_many = len(traces) > MAX_TRACES
    if too_many and form.is_bound:
        form.add_error(None, TOO_MANY)
    if traces and form.is_bound and form.is_valid():
        choice = form.choice()
        try:
            plan = planning.plan(traces=traces, judge=choice.judge, options=choice.options)
        except UserError as error:
            form.add_user_error(error)
    refused = [] if plan is None else plan.refused
    skipping = len(refused) < len(traces) and bool(form["skip_refused"].value())
    context: dict[str, Any] = {
        "section": "data",
        "dataset": dataset,
        "traces": traces,
        "too_many": TOO_MANY if too_many else "",
        "form": form,
        "plan": plan,
        "selection": [
            (name, value)
            for name in (SELECTION if names_traces(data) else FILTERS)
            for value in data.getlist(name)
        ],
        "ticked": names_traces(data),
        "refused": refused,
        "can_run": plan is not None and (not refused or skipping),
    }
    htmx = bool(request.headers.get("HX-Request"))
    template = "auditing/fragments/judge_plan.html" if htmx else "auditing/judge_plan.html"
    return render(request, template, context, status=422 if form.errors else 200)


def judge_list(request: HttpRequest) -> HttpResponse:
    """All runs of judges, newest first."""
    found = judge_runs().defer("log", "manifest", "identity")
    page = Paginator(found, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "auditing/judge_list.html", {"section": "runs", "page": page})


def judge_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One judge's run: state, coverage, verdicts, log and manifest. POST `action` is `cancel` or `resume`."""
    run = get_object_or_404(JudgeRun.objects.select_related("dataset", "created_by"), pk=pk)
    if request.method == "POST":
        return _change(request, run)
    counts = verdict_counts(run)
    wanted = request.GET.get("verdict", "")
    rows = verdict_rows(run).defer("segment__trace__raw_text", "segment__trace__case__context")
    if wanted in SHOWN:
        rows = rows.filter(verdict=None if wanted == "none" else wanted)
    page = Paginator(rows, VERDICTS_PER_PAGE).get_page(request.GET.get("page"))
    # Until its trace is done, a verdict counts as answered but has no row.
    counts["missing"] = max(0, run.total - run.done - run.invalid)
    context = {
        "section": "runs",
        "run": run,
        "dataset": run.dataset,
        "progress": judge_progress(run),
        "page": page,
        "wanted": wanted if wanted in SHOWN else "",
        "counts": counts,
        "without": counts["invalid"] + counts["failed"],
        "took": took(run),
        "open_traces": run.run_traces.exclude(message="").select_related("trace__case")[:50],
        "manifest": json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True),
        "coverage_rows": [
            ("Trustworthy", "", counts["trustworthy"]),
            ("Problematic", "dark", counts["problematic"]),
            ("Invalid reply", "uncertain", run.invalid),
            ("Not answered", "incorrect", counts["missing"]),
        ],
    }
    return render(request, "auditing/judge_detail.html", context)


def _change(request: HttpRequest, run: JudgeRun) -> HttpResponse:
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
    return redirect("auditing:judge_detail", run.pk)


def judge_manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything needed to repeat a judge's run, as JSON."""
    run = get_object_or_404(JudgeRun, pk=pk)
    text = json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return download(text.encode(), f"judge-{run.pk}-manifest.json", "application/json")


def judge_verdicts(request: HttpRequest, pk: int) -> HttpResponse:
    """The verdicts of a run as JSON lines, which `manage.py import_verdicts` takes."""
    run = get_object_or_404(JudgeRun, pk=pk)
    return download(write_verdicts(records_of(run)), f"judge-{run.pk}-verdicts.jsonl", "application/jsonl")
