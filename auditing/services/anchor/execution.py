"""Carrying out a step of a benchmark: the engine of audit runs (`execution.take_up`, `Pipeline`) with other questions.

What is stored decides what is left to do: a worker that takes a run up again asks for what has no reply, and makes
answers, ratings, judgements and labels of the replies that are there.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from auditing.elicitation.protocol import Elicitor
from auditing.elicitation.tasks import Task
from auditing.models import BenchmarkItem, BenchmarkRun, BenchmarkRunItem
from auditing.services import elicitors, manifest, work
from auditing.services.anchor import grounding
from auditing.services.anchor.asking import BENCHMARKS, ItemWork, Step
from auditing.services.anchor.asking_choices import WORKS, asks, read, work_on
from auditing.services.execution import never, note_start, take_up
from auditing.services.options import RunOptions
from auditing.services.pipeline import Ending
from auditing.services.request_runs import Watch, ask_about
from auditing.services.work import Lease
from reasonaudit.lib.canonical import canonical_json

SCHEMA = "reasonaudit.benchmark-manifest/1"
MOST_PICTURES_HELD = 256
"""Of all open items together: of 768 pixels about 25 MB, and as much again in the requests that are on their way."""

CANCELLED = "Cancelled. What was answered is kept; resuming asks the rest."
TASKS: dict[str, tuple[Task, ...]] = {
    "answer": ("video_answer",),
    "rollout": ("brief_answer",),
    "difficulty": ("difficulty",),
    "rate": ("answer_rating", "hallucination_rating", "divergence_rating"),
    "correct": ("correctness",),
    "taxonomy": ("taxonomy",),
}
"""What each step asks."""


def execute(
    run_id: int, *, should_stop: Callable[[], bool] = never, elicitor: Elicitor | None = None
) -> str | None:
    """Carry out a step as far as possible; result as in `execution.execute`.

    Parameters
    ----------
    elicitor
        Who is asked; by default the model that the run names.
    """
    return take_up(BENCHMARKS, run_id, lambda lease, run: _carry_out(lease, run, should_stop, elicitor))


def _carry_out(
    lease: Lease, run: BenchmarkRun, should_stop: Callable[[], bool], elicitor: Elicitor | None
) -> Ending:
    if asks(run.step):
        return _ask(lease, run, should_stop, elicitor)
    note_start(lease, of_run(run, None))
    return grounding.carry_out(lease, run, should_stop)


def _ask(lease: Lease, run: BenchmarkRun, should_stop: Callable[[], bool], given: Elicitor | None) -> Ending:
    elicitor = given or elicitors.build(run.model, RunOptions.read(run.options))
    note_start(lease, of_run(run, elicitor))
    watch = Watch(lease, should_stop, CANCELLED)
    step = Step(run.benchmark, run.step, run.model, run.choices, watch.is_over)
    rows = work.open_rows(lease, lambda items: items)  # what they are about is read when an item is begun

    def begin(row: BenchmarkRunItem) -> ItemWork:
        [row.item] = read(run.step, [row.item_id])
        WORKS[run.step].read_ahead([row.item], step)
        return work_on(row, step)

    return ask_about(
        lease,
        run,
        rows,
        begin,
        elicitor,
        should_stop,
        what="items",
        watch=watch,
        most_open=_most_open(run),
    )


def _most_open(run: BenchmarkRun) -> int | None:
    """How many items may be open at once: few where each holds pictures."""
    pictures = int(run.choices.get("pictures", 0))
    return max(4, MOST_PICTURES_HELD // pictures) if pictures else None


def of_run(run: BenchmarkRun, elicitor: Elicitor | None) -> dict[str, Any]:
    """Return what is needed to repeat a step (trust list, RP-01); every field is always there."""
    benchmark = run.benchmark
    identity = {} if elicitor is None else dict(elicitor.identity())
    prompts: Any = identity.get("prompts")
    used = TASKS.get(run.step, ())
    return {
        **manifest.start_of(SCHEMA),
        "benchmark": {
            "slug": benchmark.slug,
            "name": benchmark.name,
            "video_set": benchmark.video_set.slug,
            "revision": benchmark.revision,
        },
        "parameters": benchmark.parameters,
        "step": run.step,
        "choices": run.choices,
        "items": {"count": run.items.count(), "sha256": _items_sha256(run)},
        "model": {
            "spec": run.model,
            "kind": identity.get("kind", manifest.UNKNOWN) if elicitor else None,
            "model": identity.get("model", manifest.UNKNOWN) if elicitor else None,
            "revision": (identity.get("revision") or manifest.UNKNOWN) if elicitor else None,
            "reported": [],
            "prompts": {task: prompts.get(task) for task in used} if prompts else None,
            "endpoint": identity.get("endpoint") or None,
            "sent": identity.get("params", {}),
            "identity": {name: value for name, value in identity.items() if name != "prompts"},
        },
        "options": run.options,
        "starts": [],
    }


def _items_sha256(run: BenchmarkRun) -> str:
    """Return one hash over the questions of the run and the clips that they are about."""
    digest = hashlib.sha256()
    rows = BenchmarkItem.objects.filter(run_items__run=run).order_by("number")
    fields = ("external_id", "text", "answer", "options")
    names = [f"question__{name}" for name in fields]
    for *values, clip in rows.values_list(*names, "question__video__sha256").iterator(chunk_size=500):
        digest.update(canonical_json({**dict(zip(fields, values, strict=True)), "clip": clip}) + b"\n")
    return digest.hexdigest()
