"""What a worker writes about a run: taking it up, counting answers, ending it.

Counts and answers change in one transaction, and every change names the worker's lease: if another worker has the
run, nothing is written and `LeaseLost` is raised.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, Protocol

from django.conf import settings
from django.db import connection, transaction

from auditing.models import (
    AuditRun,
    AuditRunTrace,
    BenchmarkRun,
    BenchmarkRunItem,
    DraftItem,
    DraftRun,
    JudgeRun,
    JudgeRunTrace,
    ReasoningRun,
    ReasoningRunItem,
)
from auditing.services import call_store
from reasonaudit.lib.models import ACTIVE_STATES, RunState
from reasonaudit.lib.runs import (
    LeaseLost,
    add_log_line,
    lease_is_alive,
    set_state,
    take_lease,
)

MAX_DELIVERIES = 3
"""Workers that may die in a row on a run without one stored answer in between."""


class Answer(Protocol):
    """What every kind of answer says of itself; `value` is the label or verdict, None unless it is valid."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> Any: ...  # noqa: D102
    @property
    def error(self) -> str: ...  # noqa: D102
    @property
    def model_reported(self) -> str: ...  # noqa: D102
    @property
    def prompt_tokens(self) -> int | None: ...  # noqa: D102
    @property
    def completion_tokens(self) -> int | None: ...  # noqa: D102


class AnswerStore(Protocol):
    """Where the answers of one kind of question are kept, by key (see `call_store`)."""

    def valid_keys(self, keys: Sequence[str]) -> Mapping[str, Any]:
        """Return what the valid answers to these keys say."""
        ...

    def accept(self, answers: Iterable[Any], *, labeller: str, parser_version: str) -> set[str]:
        """Store a batch; returns the keys whose answer was taken. To be called in a transaction."""
        ...


@dataclass(frozen=True, slots=True)
class RunKind:
    """One kind of run: its tables, and where its answers are kept."""

    run: type[AuditRun | JudgeRun | DraftRun | ReasoningRun | BenchmarkRun]
    run_trace: type[AuditRunTrace | JudgeRunTrace | DraftItem | ReasoningRunItem | BenchmarkRunItem]
    store: AnswerStore


AUDITS = RunKind(AuditRun, AuditRunTrace, call_store)


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens, in the user's currency; None where no price was given."""

    prompt: Decimal | None = None
    completion: Decimal | None = None

    @property
    def known(self) -> bool:
        """Whether a cost can be computed."""
        return self.prompt is not None and self.completion is not None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """Return the cost of so many tokens, or None without a price."""
        if self.prompt is None or self.completion is None:
            return None
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1_000_000


@dataclass(slots=True)
class Counts:
    """Changes to the counts of one trace in a run, in items (relations, or segments)."""

    done: int = 0
    cached: int = 0
    invalid: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that came in, and how many items of which run trace asked for it."""

    key: str
    answer: Answer
    items: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's hold on a run."""

    run_id: int
    owner: str
    kind: RunKind = AUDITS

    @property
    def seconds(self) -> float:
        """How long it lasts unless renewed."""
        return float(settings.STALLED_AFTER_SECONDS)

    def locked_run(self) -> Any:
        """Return the run's row, locked; raises `LeaseLost` if another worker has it. Needs a transaction."""
        run = self.kind.run._default_manager.select_for_update().get(pk=self.run_id)
        if run.lease_owner != self.owner or run.state != RunState.RUNNING:
            raise LeaseLost(f"Run {self.run_id} is no longer this worker's.")
        return run


def claim(run_id: int, owner: str, kind: RunKind = AUDITS) -> Lease | None:
    """Take up a run that is queued, or whose worker died; None when there is nothing to do here."""
    with transaction.atomic():
        rows = kind.run._default_manager.select_for_update()
        run = rows.filter(pk=run_id, state__in=ACTIVE_STATES).first()
        if run is None or lease_is_alive(run):
            return None
        if run.cancel_requested_at is not None:
            set_state(run, RunState.CANCELLED, "Cancelled before a worker took it up.")
            run.save()
            return None
        if run.deliveries >= MAX_DELIVERIES:
            reason = (
                f"The worker died {run.deliveries} times on this run without storing one more answer. "
                "Look at the worker's log, then resume the run to try again."
            )
            set_state(run, RunState.FAILED, reason)
            run.save()
            return None
        lease = Lease(run_id, owner, kind)
        if run.state == RunState.QUEUED:
            set_state(run, RunState.RUNNING)
        else:
            add_log_line(run, "Taken up again: the worker before this one ended without finishing it.")
            run.sequence += 1
        take_lease(run, owner, lease.seconds)
        run.save()
    return lease


def release(lease: Lease) -> None:
    """Give the run back unfinished, because this worker is told to stop; not counted as a death."""
    with transaction.atomic():
        run = lease.locked_run()
        set_state(run, RunState.QUEUED, "The worker was stopped; another one will go on.")
        run.deliveries = max(0, run.deliveries - 1)
        run.save()


def finish(lease: Lease, state: str, message: str = "") -> Any:
    """End or pause the run."""
    with transaction.atomic():
        run = lease.locked_run()
        set_state(run, state, message)
        run.deliveries = 0
        run.save()
    return run


RETURNED = (
    "state",
    "total",
    "done",
    "cached",
    "invalid",
    "failed",
    "calls",
    "cost",
    "sequence",
    "calls_per_second",
    "message",
)
TOUCH = """
UPDATE {table} SET
    done = done + %(done)s, cached = cached + %(cached)s, invalid = invalid + %(invalid)s,
    failed = failed + %(failed)s, total = total + %(total)s, calls = calls + %(calls)s,
    prompt_tokens = prompt_tokens + %(prompt_tokens)s, completion_tokens = completion_tokens + %(completion_tokens)s,
    cost = CASE WHEN %(cost)s::numeric IS NULL THEN cost ELSE coalesce(cost, 0) + %(cost)s::numeric END,
    deliveries = CASE WHEN %(calls)s > 0 THEN 0 ELSE deliveries END,
    calls_per_second = %(speed)s, sequence = sequence + 1, updated_at = now(),
    lease_until = now() + make_interval(secs => %(lease_seconds)s)
WHERE id = %(run)s AND lease_owner = %(owner)s AND state = 'running'
RETURNING """ + ", ".join((*RETURNED, "cancel_requested_at IS NOT NULL"))

TOUCH_TRACES = """
UPDATE {table} AS row SET
    done = row.done + change.done, cached = row.cached + change.cached,
    invalid = row.invalid + change.invalid, failed = row.failed + change.failed
FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::int[], %s::int[]) AS change (id, done, cached, invalid, failed)
WHERE row.id = change.id
"""


@cache
def _statements(kind: RunKind) -> tuple[str, str]:
    """Return the two statements above for the tables of a kind."""
    return TOUCH.format(table=kind.run._meta.db_table), TOUCH_TRACES.format(
        table=kind.run_trace._meta.db_table
    )


@dataclass(frozen=True, slots=True)
class Touched:
    """The run right after a write of its worker."""

    run: Any
    cancel_requested: bool


def touch(
    lease: Lease,
    changes: Mapping[int, Counts] | None = None,
    *,
    calls: int = 0,
    total: int = 0,
    tokens: tuple[int, int] = (0, 0),
    cost: Decimal | None = None,
    speed: float | None = None,
) -> Touched:
    """Add to the counts of the run and of its traces (by id), and renew the lease. Needs a transaction if changes."""
    changes = {key: value for key, value in (changes or {}).items() if value != Counts()}
    names = ("done", "cached", "invalid", "failed")
    touch_run, touch_traces = _statements(lease.kind)
    sums = {name: sum(getattr(change, name) for change in changes.values()) for name in names}
    with connection.cursor() as cursor:
        cursor.execute(
            touch_run,
            {
                **sums,
                "total": total,
                "calls": calls,
                "prompt_tokens": tokens[0],
                "completion_tokens": tokens[1],
                "cost": cost,
                "speed": speed,
                "lease_seconds": lease.seconds,
                "run": lease.run_id,
                "owner": lease.owner,
            },
        )
        row = cursor.fetchone()
        if row is None:
            raise LeaseLost(f"Run {lease.run_id} is no longer this worker's.")
        if changes:
            columns = [[getattr(change, name) for change in changes.values()] for name in names]
            cursor.execute(touch_traces, [list(changes), *columns])
    return Touched(
        lease.kind.run(pk=lease.run_id, **dict(zip(RETURNED, row, strict=False))), cancel_requested=row[-1]
    )


def commit_answers(
    lease: Lease,
    answers: Sequence[Answered],
    *,
    labeller: str,
    parser_version: str,
    prices: Prices,
    speed: float | None,
) -> tuple[Touched, dict[str, Any]]:
    """Store answers and count them, both or neither; returns the run and what the valid answers say, by key.

    An answer whose question meanwhile got a valid answer elsewhere is dropped, and its items count as done.
    """
    changes: dict[int, Counts] = {}
    values = {item.key: item.answer.value for item in answers if item.answer.value is not None}
    store = lease.kind.store
    with transaction.atomic():
        rows = [call_store.NewAnswer(item.key, item.answer, _cost(item.answer, prices)) for item in answers]
        taken = store.accept(rows, labeller=labeller, parser_version=parser_version)
        if late := [item.key for item in answers if item.key not in taken]:
            values.update(store.valid_keys(late))
        for item in answers:
            status = call_store.split_status(item.answer.status)[0] if item.key in taken else "valid"
            name = {"valid": "done", "invalid": "invalid", "error": "failed"}[status]
            for run_trace, number in item.items.items():
                change = changes.setdefault(run_trace, Counts())
                setattr(change, name, getattr(change, name) + number)
        prompt_tokens = sum(item.answer.prompt_tokens or 0 for item in answers)
        completion_tokens = sum(item.answer.completion_tokens or 0 for item in answers)
        touched = touch(
            lease,
            changes,
            calls=len(answers),
            tokens=(prompt_tokens, completion_tokens),
            cost=prices.cost(prompt_tokens, completion_tokens),
            speed=speed,
        )
    return touched, values


def _cost(answer: Answer, prices: Prices) -> Decimal | None:
    """Return the cost of one answer; None where the price or the number of tokens is not known."""
    if answer.prompt_tokens is None and answer.completion_tokens is None:
        return None
    return prices.cost(answer.prompt_tokens or 0, answer.completion_tokens or 0)


def open_traces(lease: Lease) -> list[Any]:
    """Return the traces of the run that are not done, see `open_rows`."""
    # A run may have thousands of traces: their long fields are read one trace at a time, when needed.
    long_fields = ("trace__raw_text", "trace__meta", "trace__stored_relations")
    return open_rows(lease, lambda rows: rows.select_related("trace").defer(*long_fields))


def open_rows(lease: Lease, with_fields: Callable[[Any], Any]) -> list[Any]:
    """Return the rows of the run that are not done, and forget what they counted as invalid or failed.

    Those questions are asked again: an earlier attempt is no reason to give up on resuming. `with_fields` is given
    the query and returns it with what else it is to read.
    """
    with transaction.atomic():
        run = lease.locked_run()
        of_run = lease.kind.run_trace._default_manager.filter(run=run)
        rows = list(with_fields(of_run.exclude(state=RunState.DONE).order_by("pk")))
        lost: Counter[str] = Counter()
        for row in rows:
            lost["invalid"] += row.invalid
            lost["failed"] += row.failed
            row.invalid = row.failed = 0
            row.state, row.message = RunState.QUEUED, ""
        if rows:
            lease.kind.run_trace._default_manager.bulk_update(
                rows, ["invalid", "failed", "state", "message"], batch_size=500
            )
        run.invalid -= lost["invalid"]
        run.failed -= lost["failed"]
        run.save(update_fields=["invalid", "failed", "updated_at"])
    return rows


def count_cached(lease: Lease, changes: Mapping[int, Counts], speed: float | None) -> Touched:
    """Count relations whose answer was known."""
    with transaction.atomic():
        return touch(lease, changes, speed=speed)


def settle(
    lease: Lease, row: Any, done: int, gaps: Mapping[str, int], total: int, *, words: Callable[[], str]
) -> None:
    """Set a trace's final counts, and the run's by the difference. Needs a transaction.

    Parameters
    ----------
    row
        The trace in the run.
    done, gaps, total
        Items with a valid answer; those without by `invalid` and `error` (others were not asked); all of them.
    words
        Gives the sentence on what is missing.
    """
    run = lease.locked_run()
    before = lease.kind.run_trace._default_manager.select_for_update().get(pk=row.pk)
    after = {
        "total": total,
        "done": done,
        "invalid": gaps.get("invalid", 0),
        "failed": gaps.get("error", 0),
    }
    for name, value in after.items():
        setattr(run, name, getattr(run, name) + value - getattr(before, name))
        setattr(before, name, value)
    complete = done == total
    before.state = RunState.DONE if complete else RunState.PARTIAL
    before.message = "" if complete else words()
    before.save()
    run.sequence += 1
    run.save(update_fields=[*after, "sequence", "updated_at"])
