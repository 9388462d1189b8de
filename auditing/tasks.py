"""Background jobs: thin wrappers that put the services on the queue. One job a run, and only its id in it."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import transaction
from procrastinate import JobContext
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status

from annotation.models import Dataset, Trace
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRun, BenchmarkRun, DraftRun, JudgeRun, ReasoningRun
from auditing.services import execution, generation, runs
from auditing.services.anchor import execution as benchmark_execution
from auditing.services.anchor import runs as benchmark_runs
from auditing.services.drafts import execution as draft_execution
from auditing.services.drafts import runs as draft_runs
from auditing.services.grapheval import execution as reasoning_execution
from auditing.services.grapheval import runs as reasoning_runs
from auditing.services.judging import execution as judge_execution
from auditing.services.judging import runs as judge_runs
from reasonaudit.lib.models import RunRecord
from reasonaudit.lib.runs import abandoned

logger = logging.getLogger(__name__)
QUEUE = "audits"


def lock_of(run_id: int) -> str:
    """Return the queue's lock of a run: two jobs with one lock never run at once."""
    return f"audit-run-{run_id}"


def judge_lock_of(run_id: int) -> str:
    """Return the same for a judge's run."""
    return f"judge-run-{run_id}"


def draft_lock_of(run_id: int) -> str:
    """Return the same for a run of drafts."""
    return f"draft-run-{run_id}"


def reasoning_lock_of(run_id: int) -> str:
    """Return the same for a step of a study of reasoning."""
    return f"reasoning-run-{run_id}"


def benchmark_lock_of(run_id: int) -> str:
    """Return the same for a step of a benchmark."""
    return f"benchmark-run-{run_id}"


@app.task(name="auditing.run", queue=QUEUE, pass_context=True)
def run_audit(context: JobContext, *, run_id: int) -> str | None:
    """Carry out a run."""
    return execution.execute(run_id, should_stop=context.should_abort)


@app.task(name="auditing.judge", queue=QUEUE, pass_context=True)
def run_judge(context: JobContext, *, run_id: int) -> str | None:
    """Carry out a judge's run."""
    return judge_execution.execute(run_id, should_stop=context.should_abort)


@app.task(name="auditing.draft", queue=QUEUE, pass_context=True)
def run_draft(context: JobContext, *, run_id: int) -> str | None:
    """Carry out a run of drafts."""
    return draft_execution.execute(run_id, should_stop=context.should_abort)


@app.task(name="auditing.reason", queue=QUEUE, pass_context=True)
def run_reasoning(context: JobContext, *, run_id: int) -> str | None:
    """Carry out a step of a study of reasoning, make the job of the step that follows, or the results ready."""
    left = reasoning_execution.execute(
        run_id, should_stop=context.should_abort, on_next=_enqueue_stored_reasoning_run
    )
    if left is not None:
        # The statistics load scipy, which the web server and other commands can do without.
        from auditing.services.grapheval import results

        results.make_ready(run_id)
    return left


def _enqueue_stored_reasoning_run(run_id: int) -> None:
    run_reasoning.configure(lock=reasoning_lock_of(run_id)).defer(run_id=run_id)


@app.task(name="auditing.benchmark", queue=QUEUE, pass_context=True)
def run_benchmark(context: JobContext, *, run_id: int) -> str | None:
    """Carry out a step of a benchmark; the results that follow from it are a job of their own."""
    left = benchmark_execution.execute(run_id, should_stop=context.should_abort)
    if left is not None:
        enqueue_benchmark_results(BenchmarkRun.objects.values_list("benchmark_id", flat=True).get(pk=run_id))
    return left


@app.task(name="auditing.benchmark_results", queue=QUEUE)
def benchmark_results(*, benchmark_id: int) -> None:
    """Compute what of a benchmark's results is of an earlier state."""
    # The statistics load scipy, which the web server and other commands can do without.
    from auditing.services.anchor import results

    results.make_ready(benchmark_id)


RunModel = type[AuditRun] | type[JudgeRun] | type[DraftRun] | type[ReasoningRun] | type[BenchmarkRun]

# Each kind of run: its model, its job, its lock.
KINDS: tuple[tuple[RunModel, Any, Callable[[int], str]], ...] = (
    (AuditRun, run_audit, lock_of),
    (JudgeRun, run_judge, judge_lock_of),
    (DraftRun, run_draft, draft_lock_of),
    (ReasoningRun, run_reasoning, reasoning_lock_of),
    (BenchmarkRun, run_benchmark, benchmark_lock_of),
)


@app.task(name="auditing.answer", queue=QUEUE)
def answer_case(*, case_id: int, labeller: str, options: dict[str, Any], user_id: int | None) -> int:
    """Let a model answer a case; returns the id of the trace."""
    return generation.answer_stored_case(case_id, labeller, options, user_id).pk


@app.periodic(cron="* * * * *")
@app.task(name="auditing.reap", queue=QUEUE, queueing_lock="audit-reaper", pass_context=True)
async def reap_periodically(context: JobContext, timestamp: int) -> None:
    """Look after dead workers every minute, whatever started the workers."""
    await reap()


def enqueue_audit_run(
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
    """Create a run and its job, both or neither; see `runs.create`."""
    with transaction.atomic():
        run = runs.create(
            dataset=dataset,
            traces=traces,
            labeller=labeller,
            options=options,
            parameters=parameters,
            order=order,
            by=by,
            name=name,
        )
        run_audit.configure(lock=lock_of(run.pk)).defer(run_id=run.pk)
    return run


def enqueue_judge_run(
    *,
    dataset: Dataset,
    traces: Iterable[Trace],
    judge: str,
    options: Mapping[str, Any] | None = None,
    by: Any = None,
    name: str = "",
) -> JudgeRun:
    """Create a judge's run and its job, both or neither; see `judging.runs.create`."""
    with transaction.atomic():
        run = judge_runs.create(
            dataset=dataset, traces=traces, judge=judge, options=options, by=by, name=name
        )
        run_judge.configure(lock=judge_lock_of(run.pk)).defer(run_id=run.pk)
    return run


def enqueue_draft_run(**asked: Any) -> DraftRun:
    """Create a run of drafts and its job, both or neither; see `drafts.runs.create`."""
    with transaction.atomic():
        run = draft_runs.create(**asked)
        run_draft.configure(lock=draft_lock_of(run.pk)).defer(run_id=run.pk)
    return run


def enqueue_reasoning_run(**asked: Any) -> ReasoningRun:
    """Create a run of one step of a study and its job, both or neither; see `grapheval.runs.create`."""
    with transaction.atomic():
        run = reasoning_runs.create(**asked)
        _enqueue_stored_reasoning_run(run.pk)
    return run


def enqueue_benchmark_run(**asked: Any) -> BenchmarkRun:
    """Create a run of one step of a benchmark and its job, both or neither; see `anchor.runs.create`."""
    with transaction.atomic():
        run = benchmark_runs.create(**asked)
        run_benchmark.configure(lock=benchmark_lock_of(run.pk)).defer(run_id=run.pk)
    return run


def enqueue_benchmark_results(pk: int) -> None:
    """Let a worker compute the results of a benchmark; nothing more where that waits already."""
    try:
        # In a transaction of its own: the refusal of a second job would spoil the caller's.
        with transaction.atomic():
            benchmark_results.configure(
                lock=f"benchmark-results-{pk}", queueing_lock=f"benchmark-results-{pk}"
            ).defer(benchmark_id=pk)
    except AlreadyEnqueued:
        logger.debug("The results of benchmark %s wait for a worker already.", pk)


def enqueue_resume(run: runs.AnyRun, by: Any = None) -> runs.AnyRun:
    """Resume a run of any kind and make its job, both or neither."""
    with transaction.atomic():
        row = runs.resume(run, by)
        job, lock = next((job, lock) for model, job, lock in KINDS if isinstance(row, model))
        job.configure(lock=lock(row.pk)).defer(run_id=row.pk)
    return row


def enqueue_answer(case_id: int, model: str, by: Any = None, options: Mapping[str, Any] | None = None) -> int:
    """Let a worker have a model answer a case; returns the job's id."""
    generation.check(case_id, model, options)
    user_id = None if by is None else by.pk
    job = answer_case.configure(lock=f"answer-case-{case_id}")
    return job.defer(case_id=case_id, labeller=model, options=dict(options or {}), user_id=user_id)


async def reap() -> list[int]:
    """Start again what dead workers left, and runs that never got a job; returns the ids put on the queue.

    Called in a worker. Jobs of workers without a heartbeat go back to the queue; then every active run that no
    worker holds and that has no job gets one. Two reapers at once do no harm: a run's lease lets one worker in.
    """
    manager = app.job_manager
    stalled = await manager.get_stalled_jobs(seconds_since_heartbeat=settings.STALLED_AFTER_SECONDS)
    for job in stalled:
        try:
            await manager.retry_job(job)
            logger.warning("Job %s (%s) of a dead worker is started again.", job.id, job.task_name)
        except ConnectorException:
            logger.info("Job %s was started again by another worker.", job.id)
    enqueued = []
    for model, task, lock in KINDS:
        for run_id in await sync_to_async(_abandoned_runs, thread_sensitive=False)(model):
            waiting = [
                job
                for status in (Status.TODO, Status.DOING)
                for job in await manager.list_jobs_async(
                    task=task.name, lock=lock(run_id), status=status.value
                )
            ]
            if not waiting:
                await task.configure(lock=lock(run_id)).defer_async(run_id=run_id)
                enqueued.append(run_id)
    return enqueued


def _abandoned_runs(model: type[RunRecord]) -> list[int]:
    from django.db import connection

    try:
        return abandoned(model)
    finally:
        connection.close()  # this thread is borrowed from a pool and would keep its connection for ever
