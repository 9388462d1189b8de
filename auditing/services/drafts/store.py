"""The stored answers to requests for drafts (the rules of `auditing.services.call_store`).

A valid answer is never replaced. Every reply is kept, each in a row of its own, and a draft is always read out of one.
"""

import zlib
from collections.abc import Iterable, Sequence

from django.db.models import Max

from auditing.drafting.llm import reading_of, reported
from auditing.drafting.protocol import DraftAnswer
from auditing.llm.protocol import VALID
from auditing.models import CallStatus, DraftCall, DraftCallAttempt
from auditing.services.call_store import COMPRESSION, REASON_LENGTH, NewAnswer, split_status
from auditing.services.judging.store import plain

FIELDS = (
    "drafter",
    "status",
    "problem",
    "model_reported",
    "parser_version",
    "prompt_tokens",
    "completion_tokens",
    "requests",
    "seconds",
)


def known_answer(key: str, kind: str, duration_us: int) -> DraftAnswer | None:
    """Return the draft that the stored reply to a request holds, read anew; None where there is no valid one.

    The same bytes give the same draft; a reply that a newer parser does not take any more is asked for again.
    """
    call = DraftCall.objects.filter(key=key, status=CallStatus.VALID).first()
    attempt = None if call is None else call.attempts.order_by("number").last()
    if attempt is None:
        return None
    reading, completion = reading_of(kind, zlib.decompress(bytes(attempt.raw_reply)), duration_us)
    if reading.status != VALID:
        return None
    name = "" if completion is None else reported(completion)
    return DraftAnswer(reading.status, reading.value, reading.warnings, model_reported=name)


def valid_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return those keys that have a valid answer; what it says is read by `known_answer`."""
    rows = DraftCall.objects.filter(key__in=keys, status=CallStatus.VALID)
    return dict.fromkeys(rows.values_list("key", flat=True), VALID)


def accept(answers: Iterable[NewAnswer], *, labeller: str, parser_version: str) -> set[str]:
    """Store a batch of answers with distinct keys; returns the keys whose answer was taken. Needs a transaction."""
    batch = {new.key: new for new in sorted(answers, key=lambda new: new.key)}
    DraftCall.objects.bulk_create(
        [DraftCall(key=key, drafter=labeller[:200], status=CallStatus.ERROR) for key in batch],
        ignore_conflicts=True,
    )
    rows = list(DraftCall.objects.select_for_update().filter(key__in=batch).order_by("key"))
    open_rows = [row for row in rows if row.status != CallStatus.VALID]
    for row in open_rows:
        answer: DraftAnswer = batch[row.key].answer
        row.drafter = labeller[:200]
        row.status, row.problem = split_status(answer.status)
        row.model_reported = plain(answer.model_reported)[:200]
        row.parser_version = parser_version
        row.prompt_tokens = _plus(row.prompt_tokens, answer.prompt_tokens)
        row.completion_tokens = _plus(row.completion_tokens, answer.completion_tokens)
        row.requests += answer.requests
        row.seconds += answer.seconds
    DraftCall.objects.bulk_update(open_rows, FIELDS)
    numbers = dict(
        DraftCallAttempt.objects.filter(call__in=open_rows)
        .order_by()
        .values_list("call")
        .annotate(last=Max("number"))
    )
    DraftCallAttempt.objects.bulk_create(
        DraftCallAttempt(
            call=row,
            number=numbers.get(row.pk, 0) + position,
            status=attempt.status[:REASON_LENGTH],
            raw_request=zlib.compress(attempt.raw_request, COMPRESSION),
            raw_reply=zlib.compress(attempt.raw_reply, COMPRESSION),
            error=plain(attempt.error),
            seconds=attempt.seconds,
        )
        for row in open_rows
        for position, attempt in enumerate(batch[row.key].answer.attempts, start=1)
    )
    return {row.key for row in open_rows}


def _plus(before: int | None, more: int | None) -> int | None:
    return before if more is None else (before or 0) + more
