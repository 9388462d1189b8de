"""Stored replies: accepted once, with what every attempt cost."""

import zlib
from decimal import Decimal

import pytest

from auditing.elicitation.protocol import ElicitAnswer
from auditing.llm.asking import Attempt
from auditing.models import ReasoningCall, ReasoningCallAttempt
from auditing.services import reply_store as store
from auditing.services.call_store import NewAnswer

pytestmark = pytest.mark.django_db

KEY = "a" * 64


def answer(status: str, text: str | None = None, **more: object) -> store.TaskAnswer:
    attempt = Attempt(status, b"request", b"reply")
    return store.TaskAnswer("facts", ElicitAnswer(status, text, attempts=(attempt,), **more))


def accept(given: store.TaskAnswer, cost: str | None = None) -> set[str]:
    row = NewAnswer(KEY, given, None if cost is None else Decimal(cost))
    return store.accept([row], labeller="openai:m", parser_version="")


def test_a_valid_reply_replaces_a_useless_one_and_is_never_replaced():
    assert accept(answer("invalid:empty", completion_tokens=5), cost="0.5") == {KEY}
    assert store.valid_keys([KEY]) == {}
    assert store.statuses([KEY]) == {KEY: "invalid"}
    assert accept(answer("valid", "### It is.", completion_tokens=7), cost="0.25") == {KEY}
    assert accept(answer("valid", "Another word.")) == set()
    assert store.valid_keys([KEY]) == {KEY: "### It is."}
    row = ReasoningCall.objects.get()
    assert (row.task, row.model, row.status, row.problem) == ("facts", "openai:m", "valid", "")
    assert (row.completion_tokens, row.requests, row.cost) == (12, 2, Decimal("0.75"))
    attempts = ReasoningCallAttempt.objects.all()
    assert [(one.number, one.status) for one in attempts] == [(1, "invalid:empty"), (2, "valid")]
    assert zlib.decompress(bytes(attempts[0].raw_reply)) == b"reply"


def test_a_text_that_the_database_cannot_hold_is_made_storable():
    accept(answer("valid", "a\x00b \ud800"))
    assert store.valid_keys([KEY]) == {KEY: "a\ufffdb ?"}


def test_unknown_keys_are_absent():
    assert store.valid_keys([KEY]) == store.statuses([KEY]) == {}
