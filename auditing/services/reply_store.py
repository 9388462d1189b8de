"""The stored replies of models that are asked in words: looked up by key, accepted once (the rules of `call_store`).

Studies of reasoning and benchmarks share these tables, so what one of them asked is known to the other. What is kept
is the text that a model wrote. What it says is read out of it by the parsers each time, so the same stored replies
always give the same chains, facts, answers and ratings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from auditing.elicitation.reading import PARSER_VERSION
from auditing.models import CallStatus, ReasoningCall, ReasoningCallAttempt
from auditing.services.call_rows import CallTables, accept_rows, plain
from auditing.services.call_store import LOOKUP_CHUNK, NewAnswer

TABLES = CallTables(ReasoningCall, ReasoningCallAttempt, "model", ("task", "text", "cost"))
TASK_LENGTH = 20


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """An answer of an elicitor together with the task that it answers, which the stored row names."""

    task: str
    answer: Any

    def __getattr__(self, name: str) -> Any:
        """Return what the answer itself has: status, value, tokens, attempts."""
        return getattr(self.answer, name)


def valid_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return the texts of those keys that have a valid reply."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        rows = ReasoningCall.objects.filter(
            key__in=keys[start : start + LOOKUP_CHUNK], status=CallStatus.VALID
        )
        found.update(rows.values_list("key", "text"))
    return found


def statuses(keys: Sequence[str]) -> dict[str, str]:
    """Return ``valid``, ``invalid`` or ``error`` for those keys that were answered at all."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        rows = ReasoningCall.objects.filter(key__in=keys[start : start + LOOKUP_CHUNK])
        found.update(rows.values_list("key", "status"))
    return found


def problems(keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return (``invalid`` or ``error``, why) for those keys that were answered without a valid reply."""
    found: dict[str, tuple[str, str]] = {}
    for start in range(0, len(keys), LOOKUP_CHUNK):
        rows = ReasoningCall.objects.filter(key__in=keys[start : start + LOOKUP_CHUNK])
        for key, status, why in rows.exclude(status=CallStatus.VALID).values_list("key", "status", "problem"):
            found[key] = (status, why)
    return found


def accept(answers: Iterable[NewAnswer], *, labeller: str, parser_version: str) -> set[str]:
    """Store a batch of answers; see `accept_rows`."""
    version = parser_version or PARSER_VERSION
    return accept_rows(TABLES, answers, labeller=labeller, parser_version=version, fill=_fill)


def _fill(row: ReasoningCall, new: NewAnswer) -> None:
    row.task = str(new.answer.task)[:TASK_LENGTH]
    row.text = plain(new.answer.value or "")
    row.cost = row.cost if new.cost is None else (row.cost or 0) + new.cost
