"""Pages of a benchmark's runs: what a step would ask, starting it, watching it, its manifest."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from auditing import tasks
from auditing.models import Benchmark, BenchmarkRun, Facet, Setting
from auditing.services import runs
from auditing.services.anchor import planning
from auditing.views.benchmark_parts import find, frame
from auditing.views.benchmark_step_forms import StepChoice, StepForm
from auditing.views.exports import download
from auditing.views.runs import SAME_START, took
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState

Step = BenchmarkRun.Step
ITEMS_PER_PAGE = 50
NOT_A_STEP = "The step must be one of a benchmark's steps."
ABOUT = {
    Step.ANSWER: "A model answers each item with its reasoning: visual cue, audio cue, final answer (section 4.3).",
    Step.ROLLOUT: "A model answers each item several times in a few words; the difficulty follows from these answers "
    "(section 3.3, A.1).",
    Step.DIFFICULTY: "A judge says which of an item's bare answers miss the right one, and how far they differ "
    "(section 3.3, A.1).",
    Step.RATE: "A judge rates answers from 1 to 5 on what was answered, what is made up, and how far the reasoning "
    "strays from the reference (section 4.1).",
    Step.CORRECT: "A judge says of each answer whether it is right; the comparison of cues follows from it "
    "(section 4.3).",
    Step.TAXONOMY: "A model sorts items into categories, with its confidence; a label by hand stays in force "
    "(section 3.1).",
    Step.GROUND: "Boxes and times that answers cite are compared with those of the reference (A.6).",
}
"""What each step does, in a sentence with its place in the paper."""

CHOICE_NAMES = {
    "setting": "Cues",
    "settings": "Answers with these cues",
    "name": "Name in tables",
    "pictures": "Pictures of each clip",
    "takes": "Answers to each item",
    "facets": "Facets",
    "models": "Answers of",
    "references": "References",
}


def benchmark_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What a step would ask and cost, before anything is asked."""
    benchmark = find(slug)
    data = request.POST if request.method == "POST" else request.GET
    step = data.get("step", "")
    if step not in Step:
        return HttpResponseBadRequest(NOT_A_STEP)
    return plan_page(request, benchmark, step, step_form(request, benchmark, step, data))


@require_POST
def benchmark_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a step; a form that cannot be used comes back with its input.

    The same start by the same user within five seconds is a double click, and leads to the run that it made.
    """
    benchmark = find(slug)
    step = request.POST.get("step", "")
    if step not in Step:
        return HttpResponseBadRequest(NOT_A_STEP)
    form = step_form(request, benchmark, step, request.POST)
    if not form.is_valid():
        return plan_page(request, benchmark, step, form)
    try:
        with transaction.atomic():
            # One start of a user at a time: the second of two clicks waits here and then finds the first one's run.
            get_user_model().objects.select_for_update(no_key=True).get(pk=int(request.user.pk or 0))
            run = started_just_now(request, benchmark, form.choice()) or tasks.enqueue_benchmark_run(
                benchmark=benchmark, **form.choice().to_run, by=request.user
            )
    except UserError as error:
        form.add_user_error(error)
        return plan_page(request, benchmark, step, form)
    return redirect("auditing:benchmark_run", run.pk)


def step_form(request: HttpRequest, benchmark: Benchmark, step: str, data: QueryDict) -> StepForm:
    """The form of a step: bound once it was sent."""
    admin = getattr(request.user, "role", "") == "admin"
    return StepForm(data if data.get("sent") else None, benchmark=benchmark, step=step, admin=admin)


def started_just_now(request: HttpRequest, benchmark: Benchmark, choice: StepChoice) -> BenchmarkRun | None:
    """The run that this user started with the very same choice a moment ago, unless it was cancelled since."""
    recent = BenchmarkRun.objects.filter(
        benchmark=benchmark,
        step=choice.step,
        model=choice.model,
        created_by_id=request.user.pk,
        created_at__gte=timezone.now() - SAME_START,
    ).exclude(state=RunState.CANCELLED)
    return next(
        (
            run
            for run in recent.defer("log", "manifest")
            if all(run.choices.get(name) == value for name, value in choice.choices.items())
        ),
        None,
    )


def plan_page(request: HttpRequest, benchmark: Benchmark, step: str, form: StepForm) -> HttpResponse:
    """Panel (for htmx) or page with the plan, or with what is wrong and status 422."""
    plan: Any = None
    notes: list[str] = []
    decided = form.is_valid() if form.is_bound else not form.needs_input
    if decided:
        choice = form.choice() if form.is_bound else form.unsent()
        try:
            plan = planning.plan(benchmark=benchmark, **choice.to_run).to_dict()
        except UserError as error:
            if form.is_bound:
                form.add_user_error(error)
            else:
                notes.append(str(error))
    context = frame(
        request,
        benchmark,
        "items",
        step=step,
        title=Step(step).label,
        about=ABOUT[Step(step)],
        steps=[(key.value, key.label) for key in Step],
        form=form,
        plan=plan,
        notes=notes,
    )
    htmx = bool(request.headers.get("HX-Request"))
    template = "auditing/benchmark_parts/plan.html" if htmx else "auditing/benchmark_plan.html"
    return render(request, template, context, status=422 if form.errors else 200)


def benchmark_run(request: HttpRequest, pk: int) -> HttpResponse:
    """One run of a benchmark: state, items, log and manifest. POST `action` is `cancel` or `resume`."""
    found = BenchmarkRun.objects.select_related("benchmark__video_set", "created_by")
    run = get_object_or_404(found, pk=pk)
    if request.method == "POST":
        return _change(request, run)
    rows = run.items.select_related("item__question").defer("item__verdict", "item__question__document")
    only = request.GET.get("state") == "open"
    if only:
        rows = rows.exclude(state=RunState.DONE)
    page = Paginator(rows.order_by("pk"), ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    context = frame(
        request,
        run.benchmark,
        "items",
        run=run,
        page=page,
        only=only,
        took=took(run),
        choices=choices_in_words(run),
        unit="pairs of answer and reference" if run.step == Step.GROUND else "requests",
        manifest=json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True),
    )
    return render(request, "auditing/benchmark_run.html", context)


def choices_in_words(run: BenchmarkRun) -> list[tuple[str, str]]:
    """What was chosen for a run, as name and value for people."""
    labels = {**dict(Setting.choices), **dict(Facet.choices)}
    found = []
    for name, word in CHOICE_NAMES.items():
        # Of a rating the one setting stands for the list that is made of it.
        if name not in run.choices or (name == "settings" and "setting" in run.choices):
            continue
        value = run.choices[name]
        values = ["all"] if value is None else value if isinstance(value, list) else [value]
        found.append((word, ", ".join(str(labels.get(one, one)) for one in values)))
    return found


def _change(request: HttpRequest, run: BenchmarkRun) -> HttpResponse:
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
    return redirect("auditing:benchmark_run", run.pk)


@require_GET
def benchmark_manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything needed to repeat a run of a benchmark, as JSON."""
    run = get_object_or_404(BenchmarkRun, pk=pk)
    text = json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return download(text.encode(), f"benchmark-run-{run.pk}-manifest.json", "application/json")
