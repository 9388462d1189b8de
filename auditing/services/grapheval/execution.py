"""Carrying out a step of a study: the engine of audit runs (`execution.take_up`, `Pipeline`) with other questions.

What is stored decides what is left to do: a worker that takes a run up again asks for what has no reply, and makes
chains, facts and answers of the replies that are there.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import transaction

from annotation.models import Case
from auditing.elicitation.protocol import Elicitor
from auditing.models import ReasoningRun, ReasoningRunItem
from auditing.selectors.reasoning_audit import SEED
from auditing.services import manifest, work
from auditing.services.execution import never, note_start, take_up
from auditing.services.grapheval import asking_sources, chains, runs
from auditing.services.grapheval.asking import STUDIES, CaseWork
from auditing.services.grapheval.asking_choices import Step, asks, work_on
from auditing.services.grapheval.asking_facts import open_chains
from auditing.services.options import RunOptions
from auditing.services.pipeline import Ending
from auditing.services.request_runs import ask_about
from auditing.services.work import Lease
from reasonaudit.lib.canonical import canonical_json
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import add_log_line

SCHEMA = "reasonaudit.grapheval-manifest/1"

OnNext = Callable[[int], None]


def nothing_more(run_id: int) -> None:
    """Leave the run that follows to the workers' reaper, which makes jobs for runs without one."""


def execute(
    run_id: int,
    *,
    should_stop: Callable[[], bool] = never,
    elicitor: Elicitor | None = None,
    on_next: OnNext = nothing_more,
) -> str | None:
    """Carry out a step as far as possible; result as in `execution.execute`.

    Parameters
    ----------
    elicitor
        Who is asked; by default the model that the run names.
    on_next
        Told the id of the run that was stored to follow this one, once it is committed.
    """
    return take_up(STUDIES, run_id, lambda lease, run: _carry_out(lease, run, should_stop, elicitor, on_next))


def _carry_out(
    lease: Lease,
    run: ReasoningRun,
    should_stop: Callable[[], bool],
    elicitor: Elicitor | None,
    on_next: OnNext,
) -> Ending:
    if run.step == Step.SCORE:
        # A heavy import: the solvers and the embedders load with it.
        from auditing.services.grapheval import scoring

        ending = scoring.carry_out(lease, run, should_stop)
    elif not asks(run.step, run.model):
        note_start(lease, of_run(run, None))
        ending = _make_facts(lease, run, should_stop)
    else:
        ending = _ask(lease, run, should_stop, elicitor)
    if ending.state in (None, RunState.DONE, RunState.PARTIAL):
        said = _queue_next(lease, run, on_next, lacking=ending.state == RunState.PARTIAL)
        ending = Ending(ending.state, f"{ending.message} {said}".strip())
    return ending


def _ask(lease: Lease, run: ReasoningRun, should_stop: Callable[[], bool], given: Elicitor | None) -> Ending:
    elicitor = given or asking_sources.build(run.model, RunOptions.read(run.options), run.study)
    note_start(lease, of_run(run, elicitor))
    rows = work.open_rows(lease, lambda items: items.select_related("case"))

    def begin(row: ReasoningRunItem) -> CaseWork:
        return work_on(row, run.study, run.step, run.choices)

    return ask_about(lease, run, rows, begin, elicitor, should_stop, what="questions")


def _make_facts(lease: Lease, run: ReasoningRun, should_stop: Callable[[], bool]) -> Ending:
    """Give chains without facts their sentences: the rule-based fallback."""
    for row in work.open_rows(lease, lambda items: items.select_related("case")):
        with transaction.atomic():
            touched = work.touch(lease)
        if touched.cancel_requested:
            return Ending(RunState.CANCELLED, "Cancelled. Chains that got their facts keep them.")
        if should_stop():
            return Ending(RunState.QUEUED)
        with transaction.atomic():
            lease.locked_run()
            _, wanted = open_chains(run.study, row.case, run.choices["role"])
            chains.make_fallback_facts(wanted.values())
            work.settle(lease, row, row.total, {}, row.total, words=lambda: "")
    return Ending(RunState.DONE)


def _queue_next(lease: Lease, run: ReasoningRun, on_next: OnNext, *, lacking: bool) -> str:
    """Store the run that follows; returns a sentence where none can be, or where this one is `lacking` something.

    The list of steps is handed on in the same transaction, so that a worker which dies here neither loses the next
    step nor makes it twice. A step that has nothing to do is passed over.
    """
    following, said = None, ""
    with transaction.atomic():
        row = lease.locked_run()
        left = list(row.then)
        if not left:
            return ""
        cases = [item.case for item in run.items.select_related("case").order_by("pk")]
        while left and following is None:
            first, *left = left
            label = Step(first["step"]).label
            try:
                following = runs.create(
                    study=run.study,
                    step=first["step"],
                    cases=cases,
                    model=first["model"],
                    options={**first["options"], "skip_refused": True},
                    choices=first["choices"],
                    then=left,
                    by=run.created_by,
                    after=run,
                )
                add_log_line(row, f"Next: {label}, run {following.pk}.")
                if lacking:
                    said = (
                        f"{label} (run {following.pk}) goes on with what is there. "
                        "Once this run is resumed, start the steps after it again: resuming starts none of them."
                    )
            except UserError as error:
                passed_over = error.code == runs.NOTHING_TO_DO
                add_log_line(row, f"{'Passed over' if passed_over else 'Not started'}: {label}. {error}")
                if not passed_over:
                    said = f"The next step was not started: {label}. {error}"
                    break
        row.then = []
        row.save(update_fields=["then", "log", "updated_at"])
    if following is not None:
        on_next(following.pk)
    return said


def of_run(run: ReasoningRun, elicitor: Elicitor | None) -> dict[str, Any]:
    """Return what is needed to repeat a step (trust list, RP-01); every field is always there."""
    study = run.study
    identity = {} if elicitor is None else dict(elicitor.identity())
    return {
        **manifest.start_of(SCHEMA),
        "study": {
            name: getattr(study, name)
            for name in ("slug", "name", "answer_kind", "generator", "decomposer", "embedder", "labeller")
        },
        "parameters": study.parameters,
        "dataset": _dataset(run),
        "step": run.step,
        "choices": run.choices,
        "then": run.then,
        "questions": run.items.count(),
        "model": {
            "spec": run.model,
            "kind": identity.get("kind", manifest.UNKNOWN) if elicitor else None,
            "model": identity.get("model", manifest.UNKNOWN) if elicitor else None,
            "revision": (identity.get("revision") or manifest.UNKNOWN) if elicitor else None,
            "reported": [],
            "prompts": identity.get("prompts"),
            "endpoint": identity.get("endpoint") or None,
            "sent": identity.get("params", {}),
            "identity": identity,
        },
        "seed": SEED if "chosen" in run.choices else None,
        "options": run.options,
        "starts": [],
    }


def _dataset(run: ReasoningRun) -> dict[str, Any]:
    """Return what was asked about: the data set, and one hash over the questions of the run."""
    digest = hashlib.sha256()
    count = 0
    rows = Case.objects.filter(reasoning_run_items__run=run).order_by("external_id")
    for case in rows.iterator(chunk_size=500):
        content = {
            "case": case.external_id,
            "context": case.context,
            "question": case.question,
            "reference": case.reference,
            "options": case.meta.get("options"),
        }
        digest.update(canonical_json(content) + b"\n")
        count += 1
    dataset = run.study.dataset
    return {"slug": dataset.slug, "name": dataset.name, "questions": count, "sha256": digest.hexdigest()}
