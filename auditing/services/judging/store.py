"""The stored answers of judges: looked up by key, accepted once (the rules of `auditing.services.call_store`).

A valid answer is never replaced: whoever asks the same question later reuses it. An invalid or failed one stays for
the record and gives way to a valid answer. Every reply is kept, each in a row of its own.
"""

from collections.abc import Iterable, Sequence

from auditing.judging.protocol import JudgeAnswer
from auditing.models import CallStatus, JudgeCall, JudgeCallAttempt
from auditing.services.call_rows import CallTables, accept_rows, plain
from auditing.services.call_store import LOOKUP_CHUNK, NewAnswer

TABLES = CallTables(JudgeCall, JudgeCallAttempt, "judge", ("verdict", "reason", "cost"))


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
    """Store a batch of answers; see `accept_rows`."""
    return accept_rows(
        TABLES,
        answers,
        labeller=labeller,
        parser_version=parser_version,
        fill=_fill,
        of_attempts={"parser_version": parser_version},
    )


def _fill(row: JudgeCall, new: NewAnswer) -> None:
    answer: JudgeAnswer = new.answer
    row.verdict = answer.verdict
    row.reason = plain(answer.reason)
    row.cost = row.cost if new.cost is None else (row.cost or 0) + new.cost
