"""Accepting answers that are kept with every attempt, each a row of its own.

The rules are those of `auditing.services.call_store`. Judges, drafts and reasoning studies share this; what
is particular to one of them is in its own store.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from auditing.models import (
    CallStatus,
    DraftCall,
    DraftCallAttempt,
    JudgeCall,
    JudgeCallAttempt,
    ReasoningCall,
    ReasoningCallAttempt,
)
from auditing.services.call_store import COMPRESSION, REASON_LENGTH, NewAnswer, split_status

FIELDS = (
    "status",
    "problem",
    "model_reported",
    "parser_version",
    "prompt_tokens",
    "completion_tokens",
    "requests",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class CallTables:
    """Tables of calls and attempts; `labeller` is the column that says who answered, `own` are further columns."""

    call: type[JudgeCall] | type[DraftCall] | type[ReasoningCall]
    attempt: type[JudgeCallAttempt] | type[DraftCallAttempt] | type[ReasoningCallAttempt]
    labeller: str
    own: tuple[str, ...] = ()


def accept_rows(
    tables: CallTables,
    answers: Iterable[NewAnswer],
    *,
    labeller: str,
    parser_version: str,
    fill: Callable[[Any, NewAnswer], None] | None = None,
    of_attempts: Mapping[str, Any] | None = None,
) -> set[str]:
    """Store a batch of answers with distinct keys; returns the keys whose answer was taken.

    A key that is missing from the result already had a valid answer. To be called in a transaction: rows are made
    and locked in key order, so that two workers with the same keys wait for each other instead of deadlocking.

    Parameters
    ----------
    fill
        Sets the `own` columns of a call.
    of_attempts
        Further columns of every attempt.
    """
    batch = {new.key: new for new in sorted(answers, key=lambda new: new.key)}
    if not batch:
        return set()
    calls: Any = tables.call._default_manager
    attempts: Any = tables.attempt._default_manager
    who = {tables.labeller: labeller[:200]}
    calls.bulk_create(
        [tables.call(key=key, status=CallStatus.ERROR, **who) for key in batch],
        ignore_conflicts=True,
    )
    rows: list[Any] = list(calls.select_for_update().filter(key__in=batch).order_by("key"))
    open_rows = [row for row in rows if row.status != CallStatus.VALID]
    for row in open_rows:
        new = batch[row.key]
        setattr(row, tables.labeller, labeller[:200])
        _fill(row, new.answer, parser_version)
        if fill is not None:
            fill(row, new)
    calls.bulk_update(open_rows, (tables.labeller, *FIELDS, *tables.own))
    last = dict(
        attempts.filter(call__in=open_rows).order_by().values_list("call").annotate(last=Max("number"))
    )
    attempts.bulk_create(
        tables.attempt(
            call=row,
            number=last.get(row.pk, 0) + position,
            status=attempt.status[:REASON_LENGTH],
            raw_request=zlib.compress(attempt.raw_request, COMPRESSION),
            raw_reply=zlib.compress(attempt.raw_reply, COMPRESSION),
            error=plain(attempt.error),
            seconds=attempt.seconds,
            **(of_attempts or {}),
        )
        for row in open_rows
        for position, attempt in enumerate(batch[row.key].answer.attempts, start=1)
    )
    return {row.key for row in open_rows}


def _fill(row: Any, answer: Any, parser_version: str) -> None:
    row.status, row.problem = split_status(answer.status)
    row.model_reported = plain(answer.model_reported)[:200]
    row.parser_version = parser_version
    # What earlier, useless attempts cost stays counted: all of it was paid for this question.
    row.prompt_tokens = _plus(row.prompt_tokens, answer.prompt_tokens)
    row.completion_tokens = _plus(row.completion_tokens, answer.completion_tokens)
    row.requests += answer.requests
    row.seconds += answer.seconds


def _plus(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more


def plain(text: str) -> str:
    """Return the text as PostgreSQL can hold it: no NUL, no lone surrogate."""
    return text.replace("\x00", "\ufffd").encode("utf-8", errors="replace").decode("utf-8")
