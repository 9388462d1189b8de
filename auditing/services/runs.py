"""Making, cancelling and resuming audit runs. Their work is done by `execution`, their jobs by `auditing.tasks`."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from annotation.models import Dataset, Trace
from auditing import events
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun, AuditRunTrace, BenchmarkRun, DraftRun, JudgeRun, ReasoningRun
from auditing.selectors.runs import run_progress
from auditing.services import labellers
from auditing.services.anchor import changes
from auditing.services.grapheval import studies
from auditing.services.options import RunOptions
from auditing.services.planning import RunPlan, SizedTrace, check_choices, plan, size_up
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import add_log_line, lease_is_alive, set_state

__all__ = ["RunPlan", "create", "plan", "request_cancel", "resume"]

NAMED_IN_ERRORS = 5
AnyRun = TypeVar("AnyRun", AuditRun, JudgeRun, DraftRun, ReasoningRun, BenchmarkRun)


def create(
    *,
    dataset: Dataset,
    traces: Iterable[Trace],
    labeller: str,
    options: Mapping[str, Any] | None = None,
    parameters: AuditParameters | None = None,
    order: str = "eager",
    by: Any = None,
    name: str = "",
) -> AuditRun:
    """Store a run that waits for a worker; its job is made by `auditing.tasks`.

    Parameters
    ----------
    dataset, traces
        What to audit; every trace must belong to the data set.
    labeller
        ``stored``, ``local`` or ``openai:MODEL`` (the operator's code may also name the others).
    options
        See `RunOptions`.
    parameters
        Of the audit; the paper's by default.
    order
        ``eager`` asks every relation, ``lazy`` only what the labels need.
    by
        The user who starts it, or None.

    Raises
    ------
    UserError
        Nothing to audit, a refused trace, an option or labeller that cannot be used. Nothing is stored then.
    """
    chosen = RunOptions.read(options)
    check_choices(labeller, chosen, order)
    settings = parameters or AuditParameters()
    known = labellers.describe(labeller, chosen)
    sized = size_up(traces, labeller, chosen, settings)
    fit = [item for item in sized if item.why_not is None]
    refused = [item for item in sized if item.why_not is not None]
    if refused and not (chosen.skip_refused and fit):
        raise _refusal(refused, len(sized))
    if not fit:
        raise UserError(
            "no_traces", "There is no trace to audit.", "Choose a data set with at least one trace."
        )
    with transaction.atomic():
        run = AuditRun(
            dataset=dataset,
            name=name.strip()[:200],
            labeller=labeller,
            labeller_options=chosen.to_dict(),
            labeller_identity=known.identity,
            quality_note=known.quality_note,
            parameters=settings.to_dict(),
            order=order,
            total=sum(item.relations for item in fit),
            created_by=by,
        )
        add_log_line(run, "Queued.")
        for item in refused:
            add_log_line(run, f"Left out: {item.trace}. {item.why_not}")
        run.save()
        AuditRunTrace.objects.bulk_create(
            AuditRunTrace(
                run=run, trace=item.trace, segmentation=item.trace.segmentation, total=item.relations
            )
            for item in fit
        )
    return run


def _refusal(refused: list[SizedTrace], chosen: int) -> UserError:
    first = refused[0]
    if chosen == 1:
        message = str(first.why_not)
    else:
        names = ", ".join(str(item.trace) for item in refused[:NAMED_IN_ERRORS])
        more = f" and {len(refused) - NAMED_IN_ERRORS} more" if len(refused) > NAMED_IN_ERRORS else ""
        message = f"{len(refused)} of {chosen} traces cannot be audited ({names}{more}). {first.trace}: {first.why_not}"
    code = "too_many_segments" if "relation calls" in str(first.why_not) else "not_auditable"
    remedy = "" if chosen == 1 else "Choose skip_refused to audit the others."
    return UserError(code, message, remedy, fields={"traces": [item.trace.pk for item in refused]})


def request_cancel(run: AnyRun, by: Any = None) -> AnyRun:
    """Ask for the end of a run, of either kind: its worker stops within two seconds; without one it ends at once."""
    with transaction.atomic():
        row = type(run)._default_manager.select_for_update().get(pk=run.pk)
        if row.state not in (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED):
            raise UserError(
                "run_not_active",
                f"The run is {row.get_state_display().lower()}, so there is nothing to cancel.",
                status=409,
            )
        who = f" by {by}" if by is not None else ""
        if row.cancel_requested_at is None:
            _record(row, by, "cancel_run")
        if row.state == RunState.RUNNING and lease_is_alive(row):
            row.cancel_requested_at = row.cancel_requested_at or timezone.now()
            row.message = "Cancelling."
            row.sequence += 1
            add_log_line(row, f"Asked to cancel{who}.")
        else:
            set_state(
                row, RunState.CANCELLED, f"Cancelled{who}. What was answered is kept; resuming asks the rest."
            )
        row.save()
    transaction.on_commit(lambda: events.send_progress_now(run_progress(row)))
    return row


def resume(run: AnyRun, by: Any = None) -> AnyRun:
    """Put a run that stopped, of either kind, back into the queue; only what has no valid answer will be asked."""
    with transaction.atomic():
        row = type(run)._default_manager.select_for_update().get(pk=run.pk)
        if not row.is_resumable:
            raise UserError(
                "run_not_resumable",
                f"The run is {row.get_state_display().lower()}, so it cannot be resumed.",
                status=409,
            )
        row.cancel_requested_at = None
        row.deliveries = 0
        set_state(row, RunState.QUEUED, f"Resumed by {by}." if by is not None else "Resumed.")
        row.message = ""
        row.save()
        _record(row, by, "resume_run")
    transaction.on_commit(lambda: events.send_progress_now(run_progress(row)))
    return row


def _record(run: AnyRun, by: Any, action: str) -> None:
    """Record it in the chain of events of the study or the benchmark; other runs have their log alone."""
    about = {"run": run.pk}
    if isinstance(run, ReasoningRun):
        studies.event(run.study, by, f"reasoning_study.{action}", {**about, "step": run.step})
    elif isinstance(run, BenchmarkRun):
        changes.event(run.benchmark, by, f"benchmark.{action}", {**about, "step": run.step})
