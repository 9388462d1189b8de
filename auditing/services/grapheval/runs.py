"""Making runs of the steps of a study. They are cancelled and resumed as audits are (`auditing.services.runs`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.models import Case
from auditing.models import ReasoningRun, ReasoningRunItem, ReasoningStudy
from auditing.services.grapheval import asking_sources, studies
from auditing.services.grapheval.asking_choices import Sized, asks, cases_of, model_of, read_choices, size_up
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES, RunState
from reasonaudit.lib.runs import add_log_line

MOST_STEPS = 20
NAMED = 5
NOTHING_TO_DO = "nothing_to_do"


def create(
    *,
    study: ReasoningStudy,
    step: str,
    cases: Iterable[Case] | None = None,
    model: str = "",
    options: Mapping[str, Any] | None = None,
    choices: Mapping[str, Any] | None = None,
    then: Sequence[Mapping[str, Any]] | None = None,
    by: Any = None,
    after: ReasoningRun | None = None,
) -> ReasoningRun:
    """Store a run of one step that waits for a worker; its job is made by `auditing.tasks`.

    Parameters
    ----------
    study, step
        What to do: a `ReasoningRun.Step`.
    cases
        Questions of the study's data set; None takes all that the step can be done for. Questions that are named
        and cannot be worked on refuse the run, unless the option skip_refused leaves them out.
    model
        ``openai:MODEL``; "" takes the study's own for the step. A judge has to be named.
    options
        base_url, concurrency, price_prompt, price_completion, max_calls, max_cost, skip_refused; see `RunOptions`.
    choices
        Of the step: role (decompose), chains (early, counterfactual), protocol (ablate), criterion and most (judge).
    then
        Steps to go on with once this one is through, each a mapping of step, model, options and choices; without
        options of its own a step has those of this run.
    by
        The user who starts it, or None.
    after
        The run that this one follows, which is about to end.

    Raises
    ------
    UserError
        422: no such step, choice, option or model, no server, nothing to work on. 409: ``nothing_to_do``, where all
        of it is there already; ``run_waits``, where such a run is on its way. Nothing is stored then.
    """
    chosen, wanted, spec = checked(study, step, model, options, choices)
    following = _following(study, chosen, then or ())
    if asks(step, spec):
        asking_sources.build(spec, chosen, study)
    sized = size_up(study, step, spec, cases_of(study, cases), wanted)
    _check(sized, strict=cases is not None and not chosen.skip_refused)
    with transaction.atomic():
        ReasoningStudy.objects.select_for_update(no_key=True).get(pk=study.pk)
        _check_none_waits(study, step, wanted, sized, after)
        run = ReasoningRun(
            study=study,
            step=step,
            model=spec,
            options=chosen.to_dict(),
            choices=wanted,
            then=following,
            total=sized.total,
            created_by=by,
        )
        add_log_line(run, "Queued.")
        for line in left_out(sized):
            add_log_line(run, line)
        run.save()
        ReasoningRunItem.objects.bulk_create(
            (
                ReasoningRunItem(
                    run=run, case=case, total=count, state=RunState.QUEUED if count else RunState.DONE
                )
                for case, count in sized.counts
            ),
            batch_size=1000,
        )
        about = {
            "run": run.pk,
            "step": step,
            "model": spec,
            "choices": _short(wanted),
            "questions": len(sized.counts),
        }
        studies.event(study, by, "reasoning_study.run", about)
    return run


def _short(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return choices without the list of drawn chains, which the run itself has."""
    return {name: value for name, value in choices.items() if name != "chosen"}


def checked(
    study: ReasoningStudy,
    step: str,
    model: str,
    options: Mapping[str, Any] | None,
    choices: Mapping[str, Any] | None,
) -> tuple[RunOptions, dict[str, Any], str]:
    """Return options, choices and model of a step, checked; raises `UserError`."""
    wanted = read_choices(step, choices)
    chosen = RunOptions.read(options)
    asking_sources.check_options(chosen)
    return chosen, wanted, model_of(study, step, model)


def _following(
    study: ReasoningStudy, chosen: RunOptions, then: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the steps that follow, each whole; what can be known to be wrong with them is said now, not in a day."""
    if isinstance(then, str | Mapping) or not isinstance(then, Sequence) or len(then) > MOST_STEPS:
        raise UserError(
            "bad_then",
            f"The steps that follow must be a list of at most {MOST_STEPS}.",
            status=422,
            fields={"then": "Not a list of steps."},
        )
    found = []
    for given in then:
        if not isinstance(given, Mapping) or set(given) - {"step", "model", "options", "choices"}:
            raise UserError(
                "bad_then",
                "A step that follows has step, model, options and choices, and nothing else.",
                status=422,
                fields={"then": "Not a step."},
            )
        step = str(given.get("step", ""))
        options = given.get("options")
        own, choices, spec = checked(
            study,
            step,
            str(given.get("model") or ""),
            chosen.to_dict() if options is None else options,
            given.get("choices"),
        )
        if asks(step, spec):
            asking_sources.build(spec, own, study)
        found.append({"step": step, "model": spec, "options": own.to_dict(), "choices": choices})
    return found


def _check(sized: Sized, *, strict: bool) -> None:
    if sized.refused and (strict or not sized.counts):
        first, why = sized.refused[0]
        more = "" if len(sized.refused) == 1 else f" So it is with {len(sized.refused) - 1:,} more."
        raise UserError(
            "not_ready",
            f"{first}: {why}{more}",
            "Choose skip_refused to work on the others." if sized.counts else "",
            status=422,
            fields={"cases": [case.pk for case, _ in sized.refused[:50]]},
        )
    if not sized.counts and not sized.passed:
        raise UserError(
            "no_questions",
            "There is no question to work on.",
            "Choose a data set with at least one question.",
            status=422,
        )
    if not sized.total:
        why = (
            "What this step makes is there already for every question."
            if sized.counts
            else "No question is of the kind that this step is about."
        )
        raise UserError(NOTHING_TO_DO, why, "There is nothing to start.", status=409)


def left_out(sized: Sized) -> list[str]:
    """Return sentences on the questions that a run leaves out."""
    lines = [f"Left out: {case}. {why}" for case, why in sized.refused[:NAMED]]
    if len(sized.refused) > NAMED:
        lines.append(f"Left out for such reasons: {len(sized.refused) - NAMED:,} more.")
    return [*lines, *passed_over(sized)]


def passed_over(sized: Sized) -> list[str]:
    """Return a sentence on the questions that a step is not about, if there are any."""
    if not sized.passed:
        return []
    return [f"{sized.passed:,} questions are not of the kind that this step is about."]


def _check_none_waits(
    study: ReasoningStudy, step: str, choices: Mapping[str, Any], sized: Sized, after: ReasoningRun | None
) -> None:
    """Raise `UserError` where a run of the same kind is on its way: both would ask and pay for the same."""
    rows = ReasoningRun.objects.filter(study=study, step=step, choices=choices, state__in=ACTIVE_STATES)
    if after is not None:
        rows = rows.exclude(pk=after.pk)
    if waiting := rows.filter(items__case__in=[case.pk for case, _ in sized.counts]).first():
        raise UserError(
            "run_waits",
            f"Run {waiting.pk} does this for some of the questions already ({waiting.get_state_display().lower()}).",
            "Wait until it has ended, or cancel it.",
            status=409,
        )
