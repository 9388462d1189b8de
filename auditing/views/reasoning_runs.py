"""Pages of a study's runs: what a step would ask, starting it or all that is missing, watching it, its manifest."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from auditing import tasks
from auditing.models import ReasoningRun, ReasoningStudy
from auditing.models.reasoning import SENTENCES, STORED
from auditing.selectors.reasoning_studies import ASKED, StepState, runs_of, steps
from auditing.selectors.reasoning_words import counted
from auditing.selectors.runs import run_progress
from auditing.services import runs
from auditing.services.grapheval import chains, planning
from auditing.services.grapheval import runs as reasoning_runs
from auditing.views.exports import download
from auditing.views.reasoning_forms import OPENAI, StepChoice, StepForm
from auditing.views.runs import SAME_START, took
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState

Step = ReasoningRun.Step
ALL = "all"
ITEMS_PER_PAGE = 50
ALL_WORDS = {
    Step.SAMPLE: "sample chains",
    Step.DECOMPOSE: "decompose them into facts",
    Step.SCORE: "compare and score",
    Step.EARLY: "early answering of each medoid",
    Step.COUNTERFACTUAL: "counterfactual edits of each medoid",
    Step.ABLATE: "forbid the medoid and sample again",
}


def reasoning_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What a step of a study, or all that is missing, would ask and cost, before anything is asked."""
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    data = request.POST if request.method == "POST" else request.GET
    step = data.get("step", "")
    if step not in {*Step, ALL}:
        return HttpResponseBadRequest("The step must be one of a study's steps, or all.")
    states = steps(study)
    return plan_page(request, study, states, step, step_form(request, study, step, data))


@require_POST
def reasoning_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a step, or all that is missing; a form that cannot be used comes back with its input.

    The same start by the same user within five seconds is a double click, and leads to the run that it made.
    """
    study = get_object_or_404(ReasoningStudy.objects.select_related("dataset"), slug=slug)
    step = request.POST.get("step", "")
    if step not in {*Step, ALL}:
        return HttpResponseBadRequest("The step must be one of a study's steps, or all.")
    states = steps(study)
    form = step_form(request, study, step, request.POST)
    if not form.is_valid():
        return plan_page(request, study, states, step, form)
    try:
        if takes(study, step):
            taken = chains.take_stored(study, request.user)
            if step != ALL:
                messages.success(request, taken_words(taken))
                return redirect("auditing:reasoning_study", study.slug)
            states = steps(study)
        todo = steps_to_run(study, states, step, form.choice())
        with transaction.atomic():
            # One start of a user at a time: the second of two clicks waits here and then finds the first one's run.
            get_user_model().objects.select_for_update(no_key=True).get(pk=int(request.user.pk or 0))
            run = started_just_now(request, study, todo) or first_of(study, todo, request.user)
    except UserError as error:
        form.add_user_error(error)
        return plan_page(request, study, states, step, form)
    return redirect("auditing:reasoning_run", run.pk)


def first_of(study: ReasoningStudy, todo: Sequence[dict[str, Any]], by: Any) -> ReasoningRun:
    """Start the first of several runs that has something to do; the others follow it."""
    for place, one in enumerate(todo):
        try:
            return tasks.enqueue_reasoning_run(study=study, **one, then=todo[place + 1 :] or None, by=by)
        except UserError as error:
            if error.code != reasoning_runs.NOTHING_TO_DO or place + 1 == len(todo):
                raise
    raise UserError(
        reasoning_runs.NOTHING_TO_DO,
        "Nothing is missing that can be run without naming a model.",
        "Name a model, or start a single step.",
        status=409,
    )


def taken_words(taken: chains.Taken) -> str:
    """What became of the stored traces, in a sentence or two."""
    said = f"Taken: {counted(taken.chains, 'new chain')} of {counted(taken.questions, 'question')}."
    if taken.excluded:
        said += f" Not in the pool: {sum(taken.excluded.values()):,}."
    if taken.unreadable:
        said += f" Without an answer that can be read: {taken.unreadable:,}."
    return said


def takes(study: ReasoningStudy, step: str) -> bool:
    """Whether a step takes stored chains, at once: it asks no model and needs no worker."""
    return not study.generator and step in (Step.SAMPLE, ALL)


def steps_to_run(
    study: ReasoningStudy, states: Sequence[StepState], step: str, choice: StepChoice
) -> list[dict[str, Any]]:
    """The runs that a form asks for, in order, as arguments of `runs.create`; several only for all that is missing.

    An empty model is the study's own for the step.
    """
    if step != ALL:
        return [{"step": step, "model": choice.model, "options": choice.options, "choices": choice.choices}]
    by_key = {state.key: state for state in states}
    asked = choice.model or study.generator
    todo: list[dict[str, Any]] = []

    def add(key: str, model: str, choices: dict[str, Any] | None = None, *, always: bool = False) -> bool:
        if not (always or by_key[key].missing):
            return False
        options = choice.options if key in ASKED else {}
        todo.append({"step": key, "model": model, "options": options, "choices": choices or {}})
        return True

    fresh = bool(study.generator) and add(Step.SAMPLE, "")
    fresh = add(Step.DECOMPOSE, "", {"role": "sample"}, always=fresh) or fresh
    fresh = add(Step.SCORE, "", always=fresh) or fresh
    if not asked:
        return todo
    add(Step.EARLY, asked, {"chains": "medoid"}, always=fresh)
    add(Step.COUNTERFACTUAL, asked, {"chains": "medoid"}, always=fresh)
    if add(Step.ABLATE, asked, {"protocol": "population"}, always=fresh):
        add(Step.DECOMPOSE, "", {"role": "alternative"}, always=True)
        add(Step.EARLY, asked, {"chains": "alternative"}, always=True)
    return todo


def model_of(study: ReasoningStudy, step: str) -> str:
    """The model that the study itself names for a step, "" where the form must."""
    if step == Step.SAMPLE:
        return study.generator
    if step == Step.DECOMPOSE and study.decomposer not in (SENTENCES, STORED):
        return study.decomposer
    return ""


def step_form(request: HttpRequest, study: ReasoningStudy, step: str, data: QueryDict) -> StepForm:
    """The form of a step: bound once it was sent, else with what the study suggests."""
    admin = getattr(request.user, "role", "") == "admin"
    rules = step == Step.DECOMPOSE and study.decomposer in (SENTENCES, STORED)
    asks = step == ALL or (step in ASKED and not rules and not takes(study, step))
    named = bool(model_of(study, step))
    form = StepForm(
        data if data.get("sent") else None,
        step=step,
        asks=asks,
        named=named,
        optional=step == ALL,
        admin=admin,
    )
    if asks and not named:
        form.initial["model"] = suggested_model(study, step)
    return form


def suggested_model(study: ReasoningStudy, step: str) -> str:
    """The bare name of the model that answered before; judges are named by hand, so that none judges itself unseen."""
    if step == Step.JUDGE:
        return ""
    spec = study.generator or (
        ReasoningRun.objects.filter(study=study, step__in=[Step.EARLY, Step.COUNTERFACTUAL, Step.ABLATE])
        .order_by("-pk")
        .values_list("model", flat=True)
        .first()
        or ""
    )
    return spec.removeprefix(f"{OPENAI}:")


def started_just_now(
    request: HttpRequest, study: ReasoningStudy, todo: Sequence[dict[str, Any]]
) -> ReasoningRun | None:
    """The run that this user started with the very same choice a moment ago, unless it was cancelled since."""
    recent = ReasoningRun.objects.filter(
        study=study,
        created_by_id=request.user.pk,
        created_at__gte=timezone.now() - SAME_START,
    ).exclude(state=RunState.CANCELLED)
    # Of several runs the first that had something to do was started.
    return next((run for run in recent.defer("log", "manifest") for one in todo if _is_run(run, one)), None)


def _is_run(run: ReasoningRun, one: dict[str, Any]) -> bool:
    return (
        run.step == one["step"]
        and one["model"] in ("", run.model)
        and all(run.choices.get(name) == value for name, value in one["choices"].items())
    )


def plan_page(
    request: HttpRequest, study: ReasoningStudy, states: Sequence[StepState], step: str, form: StepForm
) -> HttpResponse:
    """Panel (for htmx) or page with the plan, or with what is wrong and status 422."""
    state = next((state for state in states if state.key == step), None)
    at_once = takes(study, step)
    plan: Any = None
    todo: list[dict[str, Any]] = []
    notes: list[str] = []
    blocked = "" if state is None else state.blocked
    decided = form.is_bound or not form.needs_input
    if decided and not blocked and (not form.is_bound or form.is_valid()):
        choice = form.choice() if form.is_bound else form.unsent()
        todo = steps_to_run(study, states, step, choice)
        if todo and not (at_once and step == Step.SAMPLE):
            try:
                # Of several runs only the first can be counted: the others follow from what it brings.
                plan = planning.plan(study=study, **todo[0]).to_dict()
            except UserError as error:
                if form.is_bound:
                    form.add_user_error(error)
                elif step == ALL or error.code == "no_model_server":
                    # The form stays: with a model or an address that is typed it can be planned.
                    notes.append(str(error))
                else:
                    blocked = str(error)
    context = {
        "section": "reasoning",
        "study": study,
        "dataset": study.dataset,
        "step": step,
        "state": state,
        "title": "Run all that is missing" if state is None else state.title,
        "form": form,
        "plan": plan,
        "blocked": blocked,
        "notes": notes,
        "at_once": at_once,
        "todo": [in_words(one) for one in todo] if step == ALL else [],
        "model": model_of(study, step).removeprefix(f"{OPENAI}:"),
    }
    htmx = bool(request.headers.get("HX-Request"))
    template = "auditing/reasoning_parts/plan.html" if htmx else "auditing/reasoning_plan.html"
    return render(request, template, context, status=422 if form.errors else 200)


def in_words(one: dict[str, Any]) -> str:
    """One of several runs, for the list of what happens."""
    if one["choices"].get("role") == "alternative" or one["choices"].get("chains") == "alternative":
        what = "facts" if one["step"] == Step.DECOMPOSE else "early answering"
        return f"{what} of the chains that avoid the medoid"
    return ALL_WORDS[Step(one["step"])]


def reasoning_run(request: HttpRequest, pk: int) -> HttpResponse:
    """One run of a study: state, questions, log and manifest. POST `action` is `cancel` or `resume`."""
    run = get_object_or_404(ReasoningRun.objects.select_related("study__dataset", "created_by"), pk=pk)
    if request.method == "POST":
        return _change(request, run)
    rows = run.items.select_related("case").defer("case__context").order_by("pk")
    only = request.GET.get("state") == "open"
    if only:
        rows = rows.exclude(state=RunState.DONE)
    page = Paginator(rows, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "reasoning",
        "run": run,
        "study": run.study,
        "dataset": run.study.dataset,
        "progress": run_progress(run),
        "page": page,
        "only": only,
        "took": took(run),
        "choices": {name: value for name, value in run.choices.items() if name not in ("source", "chosen")},
        "unit": "chains" if run.step == Step.SCORE or run.model in (SENTENCES, STORED) else "requests",
        "then": [in_words({"choices": {}, **one}) for one in run.then if one.get("step") in ALL_WORDS],
        "next": runs_of(run.study).filter(pk__gt=run.pk).order_by("pk").first(),
        "manifest": json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True),
    }
    return render(request, "auditing/reasoning_run.html", context)


def _change(request: HttpRequest, run: ReasoningRun) -> HttpResponse:
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
    return redirect("auditing:reasoning_run", run.pk)


def reasoning_manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything needed to repeat a run of a study, as JSON."""
    run = get_object_or_404(ReasoningRun, pk=pk)
    text = json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return download(text.encode(), f"reasoning-run-{run.pk}-manifest.json", "application/json")
