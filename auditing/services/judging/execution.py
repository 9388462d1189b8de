"""Carrying out a judge's run: the engine of audit runs (`execution.take_up`, `Pipeline`) with another question."""

from collections.abc import Callable
from typing import Any

from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.judging.protocol import VERDICTS, Judge
from auditing.models import JudgeRun
from auditing.services import manifest, work
from auditing.services.execution import commonest, never, note_reported, note_start, take_up
from auditing.services.judging import sources, store
from auditing.services.judging.verdicts import JUDGES, JudgeWork, store_verdicts
from auditing.services.options import RunOptions
from auditing.services.pipeline import Ending, Pipeline
from auditing.services.questions import Questions
from auditing.services.work import Lease
from reasonaudit.lib.models import RunState

SCHEMA = "reasonaudit.judge-manifest/1"


def execute(
    run_id: int, *, should_stop: Callable[[], bool] = never, judge: Judge | None = None
) -> str | None:
    """Carry out a judge's run as far as possible; parameters and result as in `execution.execute`."""
    return take_up(JUDGES, run_id, lambda lease, run: _carry_out(lease, run, should_stop, judge))


def _carry_out(lease: Lease, run: JudgeRun, should_stop: Callable[[], bool], judge: Judge | None) -> Ending:
    options = RunOptions.read(run.options)
    rows = work.open_traces(lease)
    judge = judge or sources.build(run.judge, options)
    note_start(lease, of_run(run, judge))
    questions = Questions(rows, JudgeWork, judge.key, store)

    def finish(trace: JudgeWork) -> None:
        store_verdicts(lease, trace)

    pipeline = Pipeline(lease, run, questions, judge, judge.judge_batch, finish, options, should_stop)
    ending = pipeline.run()
    if ending.state in (RunState.CANCELLED, RunState.PAUSED):
        for trace in questions.open_traces:  # what is answered can be read; a resumed run replaces it
            store_verdicts(lease, trace)
    note_reported(lease, pipeline.reported, "judge")
    if ending.state is not None:
        return ending
    missing = run.run_traces.exclude(state=RunState.DONE).count()
    if not missing:
        return Ending(RunState.DONE)
    words = f"{missing:,} of {run.run_traces.count():,} traces have segments without a verdict"
    return Ending(RunState.PARTIAL, f"{words}; resuming asks these again.{commonest(pipeline.faults)}")


def of_run(run: JudgeRun, judge: Judge) -> dict[str, Any]:
    """Return what is needed to repeat a judge's run (trust list, RP-01); every field is always there."""
    identity = dict(judge.identity())
    return {
        **manifest.start_of(SCHEMA),
        "dataset": manifest.dataset_content(run),
        "segmenter": SEGMENTER_VERSION,
        "guideline": None,
        "verdicts": list(VERDICTS),
        "judge": {
            "spec": run.judge,
            "id": run.judge_id,
            "kind": identity.get("kind", manifest.UNKNOWN),
            "model": identity.get("model", manifest.UNKNOWN),
            "revision": identity.get("revision") or manifest.UNKNOWN,
            "reported": [],
            "prompts": identity.get("prompts"),
            "endpoint": identity.get("endpoint") or None,
            "sent": identity.get("params", {}),
            "identity": identity,
        },
        "seed": None,
        "options": run.options,
        "starts": [],
    }
