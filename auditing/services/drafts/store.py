"""The stored answers to requests for drafts (the rules of `auditing.services.call_store`).

A valid answer is never replaced. Every reply is kept, each in a row of its own, and a draft is always read out of one.
"""

import zlib
from collections.abc import Iterable, Sequence

from auditing.drafting.llm import reading_of
from auditing.drafting.protocol import DraftAnswer
from auditing.llm.protocol import VALID
from auditing.models import CallStatus, DraftCall, DraftCallAttempt
from auditing.services.call_rows import CallTables, accept_rows
from auditing.services.call_store import NewAnswer

TABLES = CallTables(DraftCall, DraftCallAttempt, "drafter")


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
    name = "" if completion is None else completion.reported
    return DraftAnswer(reading.status, reading.value, reading.warnings, model_reported=name)


def valid_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return those keys that have a valid answer; what it says is read by `known_answer`."""
    rows = DraftCall.objects.filter(key__in=keys, status=CallStatus.VALID)
    return dict.fromkeys(rows.values_list("key", flat=True), VALID)


def accept(answers: Iterable[NewAnswer], *, labeller: str, parser_version: str) -> set[str]:
    """Store a batch of answers; see `accept_rows`."""
    return accept_rows(TABLES, answers, labeller=labeller, parser_version=parser_version)
