"""The stored answers of judges: looked up by key, accepted once (the rules of `auditing.services.call_store`).

A valid answer is never replaced: whoever asks the same question later reuses it. An invalid or failed one stays for
the record and gives way to a valid answer. Every reply is kept, each in a row of its own.
"""

import zlib
from collections.abc import Iterable, Sequence

from django.db.models import Max

from auditing.judging.protocol import JudgeAnswer
from auditing.models import CallStatus, JudgeCall, JudgeCallAttempt
from auditing.services.call_store import COMPRESSION, LOOKUP_CHUNK, REASON_LENGTH, NewAnswer, split_status

FIELDS = (
    "judge",
    "status",
    "problem",
    "verdict",
    "reason",
    "model_reported",
    "parser_version",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "requests",
    "seconds",
)


def lookup(keys: Sequence[str]) -> dict[str, JudgeCall]:
    """Return the stored calls of these keys, whatever their status; unknown keys are absent."""
    found: dict[str, JudgeCall] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        rows = JudgeCall.objects.filter(key__in=keys[start : start + LOOKUP_CHUNK])
        found.update((row.key, row) for row in rows)
    return found


def valid_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return the verdicts of those keys that have a valid answer."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        rows = JudgeCall.objects.filter(
            key__in=keys[start : start + LOOKUP_CHUNK], status=CallStatus.VALID, verdict__isnull=False
        )
        found.update((key, str(verdict)) for key, verdict in rows.values_list("key", "verdict"))
    return found


def accept(answers: Iterable[NewAnswer], *, labeller: str, parser_version: str) -> set[str]:
    """Store a batch of answers with distinct keys; returns the keys whose answer was taken.

    A key that is missing from the result already had a valid answer. To be called in a transaction: rows are made
    and locked in key order, so that two workers with the same keys wait for each other instead of deadlocking.
    """
    batch = {new.key: new for new in sorted(answers, key=lambda new: new.key)}
    if not batch:
        return set()
    JudgeCall.objects.bulk_create(
        [JudgeCall(key=key, judge=labeller[:200], status=CallStatus.ERROR) for key in batch],
        ignore_conflicts=True,
    )
    rows = list(JudgeCall.objects.select_for_update().filter(key__in=batch).order_by("key"))
    open_rows = [row for row in rows if row.status != CallStatus.VALID]
    for row in open_rows:
        _fill(row, batch[row.key], labeller, parser_version)
    JudgeCall.objects.bulk_update(open_rows, FIELDS)
    last = dict(
        JudgeCallAttempt.objects.filter(call__in=open_rows)
        .order_by()
        .values_list("call")
        .annotate(last=Max("number"))
    )
    JudgeCallAttempt.objects.bulk_create(
        JudgeCallAttempt(
            call=row,
            number=last.get(row.pk, 0) + position,
            status=attempt.status[:REASON_LENGTH],
            raw_request=zlib.compress(attempt.raw_request, COMPRESSION),
            raw_reply=zlib.compress(attempt.raw_reply, COMPRESSION),
            parser_version=parser_version,
            error=plain(attempt.error),
            seconds=attempt.seconds,
        )
        for row in open_rows
        for position, attempt in enumerate(batch[row.key].answer.attempts, start=1)
    )
    return {row.key for row in open_rows}


def _fill(row: JudgeCall, new: NewAnswer, judge: str, parser_version: str) -> None:
    answer: JudgeAnswer = new.answer
    row.judge = judge[:200]
    row.status, row.problem = split_status(answer.status)
    row.verdict = answer.verdict
    row.reason = plain(answer.reason)
    row.model_reported = plain(answer.model_reported)[:200]
    row.parser_version = parser_version
    # What earlier, useless attempts cost stays counted: all of it was paid for this question.
    row.prompt_tokens = _plus(row.prompt_tokens, answer.prompt_tokens)
    row.completion_tokens = _plus(row.completion_tokens, answer.completion_tokens)
    row.cost = row.cost if new.cost is None else (row.cost or 0) + new.cost
    row.requests += answer.requests
    row.seconds += answer.seconds


def _plus(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more


def plain(text: str) -> str:
    """Return the text as PostgreSQL can hold it: no NUL, no lone surrogate."""
    return text.replace("\x00", "\ufffd").encode("utf-8", errors="replace").decode("utf-8")
