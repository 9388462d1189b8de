"""Making runs of the steps of a benchmark. They are cancelled and resumed as audits are (`auditing.services.runs`)."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from auditing.models import Benchmark, BenchmarkRun, BenchmarkRunItem
from auditing.services import elicitors
from auditing.services.anchor.asking import Step
from auditing.services.anchor.asking_choices import Sized, asks, model_of, read_choices, size_up
from auditing.services.anchor.changes import event, hold
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES, RunState
from reasonaudit.lib.runs import add_log_line

NAMED = 5
NOTHING_TO_DO = "nothing_to_do"


def create(
    *,
    benchmark: Benchmark,
    step: str,
    model: str = "",
    options: Mapping[str, Any] | None = None,
    choices: Mapping[str, Any] | None = None,
    by: Any = None,
) -> BenchmarkRun:
    """Store a run of one step over all items that waits for a worker; its job is made by `auditing.tasks`.

    Items that cannot be worked on stay in the run as failed, with the reason; resuming looks at them again.

    Parameters
    ----------
    benchmark, step
        What to do: a `BenchmarkRun.Step`.
    model
        ``openai:MODEL``; "" for the step that asks nobody.
    options
        base_url, concurrency, price_prompt, price_completion, max_calls, max_cost; see `RunOptions`.
    choices
        Of the step; see `asking_choices.read_choices`.
    by
        The user who starts it, or None.

    Raises
    ------
    UserError
        422: no such step, choice, option or model, no server, nothing to work on. 409: ``nothing_to_do``, where all
        of it is there already; ``run_waits``, where such a run is on its way. Nothing is stored then.
    """
    asked, chosen = checked(benchmark, step, model, options, choices)
    if asks(step):
        elicitors.build(asked.model, chosen)
    sized = size_up(asked)
    _check_sized(sized)
    with transaction.atomic():
        hold(benchmark.pk)
        _check_none_waits(asked, sized)
        run = BenchmarkRun(
            benchmark=benchmark,
            step=step,
            model=asked.model,
            options=chosen.to_dict(),
            choices=dict(asked.choices),
            total=sized.total,
            created_by=by,
        )
        add_log_line(run, "Queued.")
        for line in _left_out(sized):
            add_log_line(run, line)
        run.save()
        BenchmarkRunItem.objects.bulk_create(_rows(run, sized), batch_size=1000)
        about = {
            "run": run.pk,
            "step": step,
            "model": asked.model,
            "choices": dict(asked.choices),
            "items": len(sized.counts),
            "refused": len(sized.refused),
        }
        event(benchmark, by, "benchmark.run", about)
    return run


def checked(
    benchmark: Benchmark,
    step: str,
    model: str,
    options: Mapping[str, Any] | None,
    choices: Mapping[str, Any] | None,
    *,
    sketch: bool = True,
) -> tuple[Step, RunOptions]:
    """Return a step with its choices and model, and the options, checked; raises `UserError`."""
    spec = model_of(step, model)
    wanted = read_choices(benchmark, step, spec, choices)
    chosen = RunOptions.read(options)
    elicitors.check_options(chosen)
    return Step(benchmark, step, spec, wanted, sketch=sketch), chosen


def _rows(run: BenchmarkRun, sized: Sized) -> list[BenchmarkRunItem]:
    found = {
        item.pk: BenchmarkRunItem(
            run=run, item=item, total=count, state=RunState.QUEUED if count else RunState.DONE
        )
        for item, count in sized.counts
    }
    for item, why in sized.refused:
        found[item.pk] = BenchmarkRunItem(run=run, item=item, state=RunState.FAILED, message=why)
    order = {item.pk: item.number for item, _ in [*sized.counts, *sized.refused]}
    return sorted(found.values(), key=lambda row: order[row.item_id])


def _check_sized(sized: Sized) -> None:
    """Raise `UserError` where there is nothing to do."""
    if sized.refused and not sized.counts:
        first, why = sized.refused[0]
        more = "" if len(sized.refused) == 1 else f" So it is with {len(sized.refused) - 1:,} more."
        raise UserError(
            "not_ready",
            f"{first}: {why}{more}",
            status=422,
            fields={"items": [item.pk for item, _ in sized.refused[:50]]},
        )
    if not sized.counts:
        why = (
            "No item has an answer of the kind that this step is about."
            if sized.passed
            else "There is no item to work on."
        )
        raise UserError("no_items", why, "Ask models or import answers first.", status=422)
    if not sized.total:
        raise UserError(
            NOTHING_TO_DO,
            "What this step makes is there already for every item that it can be done for.",
            "There is nothing to start.",
            status=409,
        )


def _left_out(sized: Sized) -> list[str]:
    """Return sentences on the items that a run cannot work on or is not about."""
    lines = [f"Cannot be worked on: {item}. {why}" for item, why in sized.refused[:NAMED]]
    if len(sized.refused) > NAMED:
        lines.append(f"Cannot be worked on for such reasons: {len(sized.refused) - NAMED:,} more.")
    return [*lines, *passed_over(sized)]


def passed_over(sized: Sized) -> list[str]:
    """Return a sentence on the items that a step is not about, if there are any."""
    return [f"{sized.passed:,} items have no such answer."] if sized.passed else []


def _check_none_waits(asked: Step, sized: Sized) -> None:
    """Raise `UserError` where a run of the same kind is on its way: both would ask and pay for the same."""
    rows = BenchmarkRun.objects.filter(
        benchmark=asked.benchmark,
        step=asked.key,
        model=asked.model,
        choices=dict(asked.choices),
        state__in=ACTIVE_STATES,
    )
    if waiting := rows.filter(items__item__in=[item.pk for item, _ in sized.counts]).first():
        raise UserError(
            "run_waits",
            f"Run {waiting.pk} does this for some of the items already ({waiting.get_state_display().lower()}).",
            "Wait until it has ended, or cancel it.",
            status=409,
        )
