"""A run in which a model is asked about rows of any kind: the engine of audit runs with requests for questions."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from auditing.elicitation.protocol import Elicitation, Elicitor
from auditing.services import reply_store, work
from auditing.services.execution import commonest, note_reported
from auditing.services.options import RunOptions
from auditing.services.pipeline import Ending, Pipeline
from auditing.services.questions import Questions
from auditing.services.request_work import RequestWork
from auditing.services.work import Lease
from reasonaudit.lib.models import RunState

LOOK_SECONDS = 0.5
"""Between two looks whether a run is to be stopped; each also renews the lease."""


class Watch:
    """Whether a run is to be stopped, asked often while something slow is made; renews the lease now and then.

    Attributes
    ----------
    ending : Ending or None
        How the run ends, once it is to be stopped.
    """

    def __init__(self, lease: Lease, should_stop: Callable[[], bool], cancelled: str) -> None:
        self.ending: Ending | None = None
        self._lease, self._should_stop, self._cancelled = lease, should_stop, cancelled
        self._looked = 0.0

    def is_over(self) -> bool:
        """Return whether the run is to be stopped, now or before."""
        if self.ending is None and self._should_stop():
            self.ending = Ending(RunState.QUEUED)
        now = time.monotonic()
        if self.ending is None and now - self._looked >= LOOK_SECONDS:
            self._looked = now
            if work.touch(self._lease).cancel_requested:
                self.ending = Ending(RunState.CANCELLED, self._cancelled)
        return self.ending is not None


def ask_about(
    lease: Lease,
    run: Any,
    rows: Sequence[Any],
    begin: Callable[[Any], RequestWork],
    elicitor: Elicitor,
    should_stop: Callable[[], bool],
    *,
    what: str,
    watch: Watch | None = None,
    most_open: int | None = None,
) -> Ending:
    """Ask what the work on each row wants to know, and store what it makes of the replies.

    Parameters
    ----------
    rows
        The rows of the run that are open.
    begin
        Makes the work on a row.
    what
        What the rows are, in the plural: "items".
    watch
        The one that the works ask while they make their requests.
    most_open
        How many rows may be begun and not finished at once.
    """

    def finish(row_work: RequestWork) -> None:
        row_work.finish(lease)

    async def ask(batch: Sequence[Elicitation]) -> list[Any]:
        answers = await elicitor.ask_batch(batch)
        return [reply_store.TaskAnswer(one.task, answer) for one, answer in zip(batch, answers, strict=True)]

    questions = Questions(rows, begin, elicitor.key, reply_store, most_open=most_open)
    options = RunOptions.read(run.options)
    pipeline = Pipeline(lease, run, questions, elicitor, ask, finish, options, should_stop)
    ending = pipeline.run()
    if ending.state is None and watch is not None and watch.ending is not None:
        ending = watch.ending
    if ending.state in (RunState.CANCELLED, RunState.PAUSED):
        for row_work in questions.open_traces:  # what is answered is kept; a resumed run asks for the rest
            row_work.finish(lease)
    note_reported(lease, pipeline.reported, "model")
    if ending.state is not None:
        return ending
    missing = run.items.exclude(state=RunState.DONE)
    count = missing.count()
    if not count:
        return Ending(RunState.DONE)
    words = f"{count:,} of {run.items.count():,} {what} lack something; resuming asks for it again."
    refused = missing.filter(state=RunState.FAILED).order_by("pk").values_list("message", flat=True).first()
    first = f" The first that cannot be asked about: {refused}" if refused else ""
    return Ending(RunState.PARTIAL, f"{words}{commonest(pipeline.faults)}{first}")
