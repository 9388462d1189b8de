"""The stored answers of labellers: looked up by key, accepted once.

A valid answer is never replaced: whoever asks the same question later reuses it. An invalid or failed one stays for
the record and gives way to a valid answer.

Written in SQL where the ORM has no words for it: one statement accepts a whole batch and says which rows it took,
so two workers that answer the same question can both commit and only one answer counts.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg
from django.db import connection

from auditing.core.nli import Label
from auditing.models import CallStatus
from auditing.nli.protocol import VALID, RelationAnswer
from reasonaudit.lib.canonical import canonical_json

LOOKUP_CHUNK = 2000
REASON_LENGTH = 80
COMPRESSION = 1  # level 6 saves a few per cent more on such short texts and costs three times the time


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as stored: status word, why it is invalid, label, and the probability of that label."""

    status: str
    reason: str
    label: Label | None
    probability: float | None

    @property
    def shown_status(self) -> str:
        """``valid``, or ``invalid:<why>``, or ``error:<name>``."""
        return self.status if not self.reason else f"{self.status}:{self.reason}"


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer that came in, with the key of its question and what it cost (None where that is not known)."""

    key: str
    answer: Any
    cost: Decimal | None = None


def split_status(status: str) -> tuple[str, str]:
    """Return (status, reason) as stored, from ``valid``, ``invalid:<why>`` or ``error:<name>``."""
    kind, _, reason = status.partition(":")
    return CallStatus(kind).value, reason[:REASON_LENGTH]


def lookup(keys: Sequence[str]) -> dict[str, StoredAnswer]:
    """Return the stored answers of these keys, whatever their status; unknown keys are absent."""
    found: dict[str, StoredAnswer] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(keys), LOOKUP_CHUNK):
            cursor.execute(
                "SELECT key, status, reason, label,"
                " (probabilities ->> (ARRAY['contradiction','neutral','implied','entailment'])[label + 1])::float8"
                " FROM auditing_relationcall WHERE key = ANY(%s)",
                [list(keys[start : start + LOOKUP_CHUNK])],
            )
            for key, status, reason, label, probability in cursor:
                known = None if label is None else Label(label)
                found[key] = StoredAnswer(status, reason, known, probability)
    return found


def valid_keys(keys: Sequence[str]) -> dict[str, Label]:
    """Return the labels of those keys that have a valid answer."""
    found: dict[str, Label] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(keys), LOOKUP_CHUNK):
            cursor.execute(
                "SELECT key, label FROM auditing_relationcall WHERE key = ANY(%s) AND status = 'valid'",
                [list(keys[start : start + LOOKUP_CHUNK])],
            )
            found.update((key, Label(label)) for key, label in cursor)
    return found


ACCEPT = """
INSERT INTO auditing_relationcall AS known
    (key, labeller, status, reason, label, probabilities, model_reported, parser_version,
     prompt_tokens, completion_tokens, attempts, seconds, created_at)
SELECT key, %s, status, reason, label, probabilities::jsonb, model_reported, %s,
       prompt_tokens, completion_tokens, attempts, seconds, now()
FROM unnest(%s::text[], %s::text[], %s::text[], %s::smallint[], %s::text[], %s::text[], %s::int[], %s::int[],
            %s::int[], %s::float8[])
     AS new (key, status, reason, label, probabilities, model_reported, prompt_tokens, completion_tokens,
             attempts, seconds)
ON CONFLICT (key) DO UPDATE SET
    labeller = excluded.labeller, status = excluded.status, reason = excluded.reason, label = excluded.label,
    probabilities = excluded.probabilities, model_reported = excluded.model_reported,
    parser_version = excluded.parser_version, prompt_tokens = excluded.prompt_tokens,
    completion_tokens = excluded.completion_tokens, seconds = excluded.seconds,
    attempts = known.attempts + excluded.attempts
WHERE known.status <> 'valid'
RETURNING id, key, attempts
"""

ATTEMPTS = """
INSERT INTO auditing_callattempt (call_id, number, status, raw_request, raw_reply, error, seconds, created_at)
SELECT call_id, number, status, raw_request, raw_reply, error, seconds, now()
FROM unnest(%s::bigint[], %s::smallint[], %s::text[], %s::bytea[], %s::bytea[], %s::text[], %s::float8[])
     AS new (call_id, number, status, raw_request, raw_reply, error, seconds)
"""


def accept(answers: Iterable[NewAnswer], *, labeller: str, parser_version: str) -> set[str]:
    """Store a batch of answers with distinct keys; returns the keys whose answer was taken.

    A key that is missing from the result already had a valid answer. To be called in a transaction.
    """
    # In key order, so that two workers that insert the same keys wait for each other instead of deadlocking.
    batch = sorted(answers, key=lambda new: new.key)
    if not batch:
        return set()
    statuses = [split_status(new.answer.status) for new in batch]
    columns = [
        [new.key for new in batch],
        [status for status, _ in statuses],
        [reason for _, reason in statuses],
        [None if new.answer.label is None else int(new.answer.label) for new in batch],
        [_probabilities(new.answer) for new in batch],
        [_text(new.answer.model_reported)[:200] for new in batch],
        [new.answer.prompt_tokens for new in batch],
        [new.answer.completion_tokens for new in batch],
        [new.answer.attempts for new in batch],
        [new.answer.seconds for new in batch],
    ]
    with _plain_cursor() as cursor:
        cursor.execute(ACCEPT, [labeller[:200], parser_version, *columns])
        taken = {key: (identity, attempts) for identity, key, attempts in cursor}
        kept = [new for new in batch if new.key in taken and (new.answer.raw_request or new.answer.raw_reply)]
        if kept:
            cursor.execute(
                ATTEMPTS,
                [
                    [taken[new.key][0] for new in kept],
                    [taken[new.key][1] for new in kept],
                    [new.answer.status[:REASON_LENGTH] for new in kept],
                    [zlib.compress(new.answer.raw_request, COMPRESSION) for new in kept],
                    [zlib.compress(new.answer.raw_reply, COMPRESSION) for new in kept],
                    [_text(new.answer.error) for new in kept],
                    [new.answer.seconds for new in kept],
                ],
            )
    return set(taken)


def _plain_cursor() -> psycopg.Cursor[Any]:
    """Return a cursor of the driver itself, which sends bytes as they are; Django's writes them out as hex text."""
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


def _probabilities(answer: RelationAnswer) -> str | None:
    if answer.status != VALID or answer.probabilities is None:
        return None
    return canonical_json(dict(answer.probabilities)).decode()


def _text(text: str) -> str:
    return text.replace("\x00", "�")  # PostgreSQL text holds no NUL
