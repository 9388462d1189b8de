"""Carrying out a run: the body of its background job, the same under every queue.

The run's row is the truth. A worker takes it up by a lease, asks what has no stored answer, audits each trace that is
complete, and leaves the run in an end state; when it is killed, the next worker goes on from the stored answers.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction

from auditing import events
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun, AuditRunTrace
from auditing.nli.protocol import RelationLabeller
from auditing.selectors.runs import run_progress
from auditing.services import call_store, labellers, manifest, work
from auditing.services.audits import ScoredRelation, store_audit
from auditing.services.options import RunOptions
from auditing.services.pipeline import Ending, Pipeline
from auditing.services.questions import Questions, TraceWork, trace_work
from auditing.services.relations import effective_parameters, stored_relations
from auditing.services.work import Lease
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import LeaseLost, lease_name

logger = logging.getLogger(__name__)


def never() -> bool:
    """Do not stop before the end."""
    return False


def execute(
    run_id: int, *, should_stop: Callable[[], bool] = never, labeller: RelationLabeller | None = None
) -> str | None:
    """Carry out a run as far as possible.

    Parameters
    ----------
    run_id
        The run.
    should_stop
        Asked often; once true, the run is given back to the queue.
    labeller
        Who answers; by default the one that the run names.

    Returns
    -------
    str or None
        The state the run is left in; None when another worker has it, or nothing is to be done.
    """
    return take_up(work.AUDITS, run_id, lambda lease, run: _carry_out(lease, run, should_stop, labeller))


def take_up(kind: work.RunKind, run_id: int, carry_out: Callable[[Lease, Any], Ending]) -> str | None:
    """Take a run of any kind up by a lease, let `carry_out` work on it, and leave it in the state that this gives.

    Returns the state, or None when another worker has the run or nothing is to be done.
    """
    lease = work.claim(run_id, lease_name(), kind)
    run = kind.run._default_manager.filter(pk=run_id).first()
    if run is not None:
        events.send_progress_now(run_progress(run))
    if lease is None or run is None:
        return None
    try:
        ending = carry_out(lease, run)
        if ending.state == RunState.QUEUED:
            work.release(lease)
        else:
            work.finish(lease, ending.state or RunState.DONE, ending.message)
    except LeaseLost:
        logger.warning("%s was taken over by another worker; this one leaves it.", run)
        return None
    except UserError as error:
        _fail(lease, str(error))
    except Exception as error:
        logger.exception("%s failed", run)
        _fail(
            lease,
            f"The run stopped by a fault of the program ({type(error).__name__}). The worker's log says more.",
        )
    left = kind.run._default_manager.get(pk=run_id)
    events.send_progress_now(run_progress(left))
    return str(left.state)


def _fail(lease: Lease, message: str) -> None:
    try:
        work.finish(lease, RunState.FAILED, message)
    except LeaseLost:
        logger.warning("Run %s failed here, but another worker has it.", lease.run_id)


def _carry_out(
    lease: Lease, run: AuditRun, should_stop: Callable[[], bool], labeller: RelationLabeller | None
) -> Ending:
    options = RunOptions.read(run.labeller_options)
    parameters = AuditParameters.from_dict(run.parameters)
    rows = work.open_traces(lease)
    if run.labeller == labellers.STORED:
        note_start(lease, manifest.of_run(run, None))
        ending = _audit_stored(lease, rows, parameters, options, should_stop)
        reported: set[str] = set()
        faults: dict[str, tuple[int, str]] = {}
    else:
        labeller = labeller or labellers.build(run.labeller, options)
        note_start(lease, manifest.of_run(run, labeller))
        lazy = run.order == AuditRun.Order.LAZY
        begin = trace_work(parameters, window=options.window, lazy=lazy)
        questions = Questions(rows, begin, labeller.key, call_store)

        def finish(trace: TraceWork) -> None:
            store_audit(lease, trace.row, trace.scored(), trace.scope.parameters)

        ask = labeller.label_batch
        pipeline = Pipeline(lease, run, questions, labeller, ask, finish, options, should_stop)
        ending = pipeline.run()
        reported, faults = pipeline.reported, pipeline.faults
        if ending.state == RunState.CANCELLED:
            _audit_what_is_there(lease, questions)
    note_reported(lease, reported, "labeller")
    if ending.state is not None:
        return ending
    missing = list(run.run_traces.exclude(state=RunState.DONE).order_by("pk"))
    if not missing:
        return Ending(RunState.DONE)
    words = f"{len(missing):,} of {run.run_traces.count():,} traces have relations without a valid answer"
    return Ending(RunState.PARTIAL, f"{words}; resuming asks these again.{commonest(faults)}")


def commonest(faults: dict[str, tuple[int, str]]) -> str:
    """Return a sentence on why most answers of this attempt are not valid, "" where all are."""
    if not faults:
        return ""
    status, (count, said) = max(faults.items(), key=lambda item: item[1][0])
    return f" Most often ({count:,}): {said or status}"


def _audit_stored(
    lease: Lease,
    rows: list[AuditRunTrace],
    parameters: AuditParameters,
    options: RunOptions,
    should_stop: Callable[[], bool],
) -> Ending:
    for row in rows:
        with transaction.atomic():
            touched = work.touch(lease)
        if touched.cancel_requested:
            return Ending(RunState.CANCELLED, "Cancelled. Traces audited before keep their results.")
        if should_stop():
            return Ending(RunState.QUEUED)
        context = row.trace.context_segments
        found = stored_relations(row.trace.stored_relations, context, options.max_premises)
        largest = max((len(relation[0]) for relation, _, _ in found), default=1)
        scored = [ScoredRelation(relation, label, "valid", share) for relation, label, share in found]
        store_audit(lease, row, scored, effective_parameters(parameters, context, largest))
    return Ending(None)


def _audit_what_is_there(lease: Lease, questions: Questions) -> None:
    """Audit the traces that a cancelled run had begun; their results say how much is missing."""
    for trace in questions.open_traces:
        scored = trace.scored()
        if any(item.label is not None for item in scored):
            store_audit(lease, trace.row, scored, trace.scope.parameters)


def note_start(lease: Lease, content: dict[str, object]) -> None:
    """Write into the run's manifest that it starts now, with this content."""
    with transaction.atomic():
        run = lease.locked_run()
        run.manifest = manifest.with_start(run.manifest, content)
        run.save(update_fields=["manifest", "updated_at"])


def note_reported(lease: Lease, reported: set[str], part: str) -> None:
    """Add to a part of the manifest what servers said of their model and revision, known once they have answered."""
    if not reported:
        return
    with transaction.atomic():
        run = lease.locked_run()
        known = set(run.manifest[part]["reported"])
        run.manifest[part]["reported"] = sorted(known | reported)
        run.save(update_fields=["manifest", "updated_at"])
