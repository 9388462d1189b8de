"""Asking a model the questions of a run, many at a time, and storing the answers as they come.

Two threads work together. The event loop only sends and receives. Everything that touches the database, and every
piece of shared bookkeeping, happens in the thread that started the run, one step at a time; so there is one writer
and one connection, and no lock.

What is sent but not stored is bounded: `concurrency` calls and one write. A killed worker loses no more than that.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from asgiref.sync import async_to_sync, sync_to_async
from django.db import InterfaceError, OperationalError, connection

from auditing import events
from auditing.llm.errors import LLMPaused
from auditing.llm.protocol import VALID
from auditing.selectors.runs import run_progress
from auditing.services import work
from auditing.services.options import RunOptions
from auditing.services.questions import Question, Questions
from auditing.services.work import Answer, Lease, Touched
from reasonaudit.lib.models import RunState

logger = logging.getLogger(__name__)

FLUSH_ROWS = 50  # most answers in one write
FLUSH_AT = (
    25  # answers that make a write worth while; the other half may arrive during it, so that sending goes on
)
FLUSH_SECONDS = 0.25
TOUCH_SECONDS = 0.5  # how old the knowledge of a wish to cancel may get
PUBLISH_SECONDS = 0.25
GRACE_SECONDS = 1.0  # how long calls in flight may go on after a stop
TICK_SECONDS = 0.1
ASK_AHEAD = 512
SPEED_SECONDS = 5.0
DATABASE_TRIES = 6


@dataclass(frozen=True, slots=True)
class Ending:
    """How the asking ended; None as state means that everything was asked."""

    state: str | None
    message: str = ""


class Source(Protocol):
    """Who is asked: a relation labeller or a judge."""

    kind: str
    name: str
    concurrency: int
    batch_size: int

    def identity(self) -> Mapping[str, object]:
        """Everything that decides the answers."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...


class Pipeline:
    """Drives one run from its first open question to the last stored answer.

    Parameters
    ----------
    run
        The run as it was taken up.
    source, ask
        Who is asked, and its way to answer a batch of queries in their order.
    finish
        Stores the result of one completed trace; called in the thread that talks to the database.
    should_stop
        Asked often; once true, the run is given back to the queue.
    """

    def __init__(
        self,
        lease: Lease,
        run: Any,
        questions: Questions,
        source: Source,
        ask: Callable[[Sequence[Any]], Awaitable[Sequence[Answer]]],
        finish: Callable[[Any], object],
        options: RunOptions,
        should_stop: Callable[[], bool],
    ) -> None:
        self.reported: set[str] = set()
        # By status that is not valid: how many answers, and what the first one said.
        self.faults: dict[str, tuple[int, str]] = {}
        self._lease = lease
        self._questions = questions
        self._source = source
        self._ask = ask
        self._finish = finish
        parameters = source.identity().get("params")
        self._parser_version = str(parameters.get("schema", "")) if isinstance(parameters, Mapping) else ""
        self._options = options
        self._should_stop = should_stop
        self._max_cost = None if options.max_cost is None else Decimal(options.max_cost)
        self._calls_left = None if options.max_calls is None else options.max_calls - run.calls
        self._ready: deque[Question] = deque()
        self._arrived: deque[tuple[str, Answer]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._asking = 0  # questions in calls that have not come back
        self._blocked = False
        self._wish: Ending | None = None  # set by the database thread, taken up by the event loop
        self._ending: Ending | None = None
        self._ended_at = 0.0
        self._fault: BaseException | None = None
        self._flushed_at = self._touched_at = self._published_at = time.monotonic()
        self._progress: dict[str, Any] | None = None
        self._recent: deque[tuple[float, int]] = deque()

    def run(self) -> Ending:
        """Ask everything; returns how it ended. Raises `LeaseLost`, `WorkerStopped`, or the fault that ended it."""
        # A loop of its own: the worker's loop must keep its heartbeat whatever the source does.
        return async_to_sync(self._drive, force_new_loop=True)()

    # --- the event loop -----------------------------------------------------------------------------------
    async def _drive(self) -> Ending:
        self._wake = asyncio.Event()
        loop = asyncio.get_running_loop()
        database: asyncio.Task[list[Question]] | None = None
        publishing: asyncio.Task[bool] | None = None
        try:
            while True:
                if database is not None and database.done():
                    self._ready.extend(database.result())
                    database = None
                    if self._wish is not None:
                        self._end(self._wish)
                self._start_calls()
                if self._fault is not None:
                    raise self._fault
                if database is None and (step := self._next_step()):
                    database = asyncio.create_task(self._in_database(step))
                    database.add_done_callback(self._wake_up)
                if database is None and not self._calls and not self._arrived and self._is_over():
                    return self._ending or Ending(None)
                self._check_stop()
                now = time.monotonic()
                if self._progress and now - self._published_at >= PUBLISH_SECONDS:
                    if publishing is None or publishing.done():
                        publishing = asyncio.create_task(events.send_progress(self._progress))
                    self._progress, self._published_at = None, now
                timer = loop.call_later(TICK_SECONDS, self._wake.set)
                await self._wake.wait()
                timer.cancel()
                self._wake.clear()
        finally:
            await self._close([task for task in (database, publishing) if task is not None])

    async def _close(self, others: Sequence[asyncio.Task[Any]]) -> None:
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, *others, return_exceptions=True)
        await self._source.aclose()

    def _wake_up(self, _: object) -> None:
        self._wake.set()

    async def _in_database(self, step: Callable[[], list[Question]]) -> list[Question]:
        return await sync_to_async(step)()

    def _is_over(self) -> bool:
        if self._ending is not None:
            return not self._questions.completed
        return not self._ready and self._questions.exhausted and not self._questions.completed

    def _start_calls(self) -> None:
        size = self._source.batch_size
        most_open = self._source.concurrency * size + FLUSH_ROWS
        while self._ready and self._ending is None and len(self._calls) < self._source.concurrency:
            if self._asking + len(self._arrived) >= most_open:
                return
            if self._calls_left is not None:
                size = min(size, self._calls_left)
                if size <= 0:
                    limit = f"The limit of {self._options.max_calls:,} calls for this run is reached."
                    again = "A new run with a higher limit reuses what is answered."
                    return self._end(Ending(RunState.PAUSED, f"{limit} {again}"))
                self._calls_left -= min(size, len(self._ready))
            batch = [self._ready.popleft() for _ in range(min(size, len(self._ready)))]
            self._asking += len(batch)
            call = asyncio.create_task(self._call(batch))
            self._calls.add(call)
            call.add_done_callback(self._call_ended)

    async def _call(self, batch: list[Question]) -> None:
        try:
            answers = await self._ask([question.query for question in batch])
            if len(answers) != len(batch):
                raise RuntimeError(f"the model gave {len(answers)} answers to {len(batch)} questions")
            self._arrived.extend(
                (question.key, answer) for question, answer in zip(batch, answers, strict=True)
            )
        except LLMPaused as pause:
            self._end(Ending(RunState.PAUSED, str(pause)))
        except Exception as fault:  # whatever it is, the run must end with it, not hang
            self._fault = self._fault or fault
        finally:
            self._asking -= len(batch)

    def _call_ended(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        self._wake.set()

    def _end(self, ending: Ending) -> None:
        if self._ending is None:
            self._ending = ending
            self._ended_at = time.monotonic()
        self._ready.clear()

    def _check_stop(self) -> None:
        if self._ending is None and self._should_stop():
            self._end(Ending(RunState.QUEUED))
        if self._ending is not None and time.monotonic() - self._ended_at > GRACE_SECONDS:
            for call in self._calls:
                call.cancel()

    def _next_step(self) -> Callable[[], list[Question]] | None:
        now = time.monotonic()
        if self._arrived and (
            len(self._arrived) >= FLUSH_AT or not self._calls or now - self._flushed_at >= FLUSH_SECONDS
        ):
            return self._flush
        if now - self._touched_at >= TOUCH_SECONDS:
            return self._touch
        if self._questions.completed:
            return self._finish_trace
        if self._ending is None and not self._blocked and len(self._ready) < ASK_AHEAD // 2:
            return None if self._questions.exhausted else self._look_ahead
        return None

    # --- the database thread: every step returns the questions it found --------------------------------------
    def _flush(self) -> list[Question]:
        batch = [self._arrived[index] for index in range(min(FLUSH_ROWS, len(self._arrived)))]
        answers = [self._questions.answered(key, answer) for key, answer in batch]
        self._recent.append((time.monotonic(), len(batch)))
        touched, values = _with_patience(
            lambda: work.commit_answers(
                self._lease,
                answers,
                labeller=f"{self._source.kind}:{self._source.name}",
                parser_version=self._parser_version,
                prices=self._options.prices,
                speed=self._speed(),
            )
        )
        for _ in batch:  # only now: until here they count as sent and not stored
            self._arrived.popleft()
        self.reported.update(answer.model_reported for _, answer in batch if answer.model_reported)
        for _, answer in batch:
            if answer.status != VALID:
                count, first = self.faults.get(answer.status, (0, answer.error))
                self.faults[answer.status] = (count + 1, first)
        self._questions.stored(answers, values)
        self._blocked = False
        self._flushed_at = time.monotonic()
        return self._after(touched)

    def _look_ahead(self) -> list[Question]:
        questions, counts = self._questions.next(ASK_AHEAD)
        if counts:
            self._after(_with_patience(lambda: work.count_cached(self._lease, counts, self._speed())))
        self._blocked = not questions and not any(
            count.done or count.invalid or count.failed for count in counts.values()
        )
        return questions

    def _finish_trace(self) -> list[Question]:
        self._finish(self._questions.completed[0])
        self._questions.completed.popleft()
        self._blocked = False  # there is room for another one, even if this one had nothing to ask
        return []

    def _touch(self) -> list[Question]:
        return self._after(_with_patience(lambda: work.touch(self._lease, speed=self._speed())))

    def _after(self, touched: Touched) -> list[Question]:
        self._touched_at = time.monotonic()
        self._progress = run_progress(touched.run)
        if touched.cancel_requested:
            self._wish = Ending(
                RunState.CANCELLED, "Cancelled. What was answered is kept; resuming asks the rest."
            )
        elif self._max_cost is not None and (touched.run.cost or 0) >= self._max_cost:
            self._wish = Ending(
                RunState.PAUSED, f"The limit of {self._max_cost} on the cost of this run is reached."
            )
        return []

    def _speed(self) -> float | None:
        now = time.monotonic()
        while self._recent and now - self._recent[0][0] > SPEED_SECONDS:
            self._recent.popleft()
        if not self._recent:
            return None
        return sum(count for _, count in self._recent) / max(now - self._recent[0][0], TOUCH_SECONDS)


def _with_patience(step: Callable[[], Any]) -> Any:
    """Do a database step, again after a lost connection or a lock that lasted too long; waits up to 16 s in all."""
    for attempt in range(DATABASE_TRIES):
        try:
            return step()
        except (OperationalError, InterfaceError):
            if attempt == DATABASE_TRIES - 1 or connection.in_atomic_block:
                raise
            logger.warning("The database did not take a step of a run; trying again.")
            connection.close()
            time.sleep(0.5 * 2**attempt)
    raise AssertionError
