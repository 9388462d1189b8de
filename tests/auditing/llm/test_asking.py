"""The loop that asks until a reply can be read."""

import json

import pytest

from auditing.llm.asking import TextReading, ask_until_valid, invalid
from auditing.llm.completion import Completion
from auditing.llm.errors import LLMPaused, LLMTimeout
from auditing.llm.protocol import ChatReply, ChatRequest, Message

REQUEST = ChatRequest("m", (Message("user", "?"),))


class Provider:
    """Gives the replies in turn: a text, bytes, or an exception; each took two requests and half a second."""

    kind, remote, concurrency = "test", False, 1

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)

    def identity(self) -> dict[str, object]:
        return {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            body: dict[str, object] = {"model": "m-1", "choices": [{"message": {"content": reply}}]}
            if reply != "free":
                body["usage"] = {"prompt_tokens": 10, "completion_tokens": 3}
            reply = json.dumps(body).encode()
        assert isinstance(reply, bytes)
        return ChatReply(reply, b"sent", 2, 0.5)

    async def aclose(self) -> None:
        return None


def read(completion: Completion) -> TextReading:
    return invalid("bad", "Bad.") if completion.content == "bad" else TextReading("valid", completion.content)


async def asked(*replies: object, reasks: int = 1):
    provider = Provider(*replies)
    return await ask_until_valid(provider, REQUEST, read, reasks=reasks), provider.replies


async def test_the_first_valid_reply_ends_it() -> None:
    found, left = await asked("good", "more")
    assert (found.reading.value, found.requests, found.seconds, left) == ("good", 2, 0.5, ["more"])
    assert (found.model_reported, found.prompt_tokens, found.completion_tokens) == ("m-1", 10, 3)


async def test_all_attempts_are_kept_and_paid_and_the_last_decides() -> None:
    found, left = await asked("bad", b"<html>", "bad", "good", reasks=2)
    assert (found.reading.status, left) == ("invalid:bad", ["good"])
    assert [attempt.status for attempt in found.attempts] == [
        "invalid:bad",
        "invalid:unparsable",
        "invalid:bad",
    ]
    assert found.attempts[1].raw_reply == b"<html>"
    assert (found.prompt_tokens, found.completion_tokens, found.requests, found.seconds) == (20, 6, 6, 1.5)


async def test_a_failure_ends_it_with_what_was_sent_before() -> None:
    error = LLMTimeout("Late.", body=b"half")
    error.attempts = 4
    found, left = await asked("bad", error, "good", reasks=5)
    assert (found.reading.status, found.reading.message, found.requests) == ("error:timeout", "Late.", 6)
    assert (found.attempts[1].raw_reply, found.attempts[1].raw_request) == (b"half", REQUEST.body())
    assert left == ["good"]


async def test_tokens_that_nobody_counted_are_not_zero() -> None:
    found, _ = await asked("free")
    assert (found.prompt_tokens, found.completion_tokens) == (None, None)
    found, _ = await asked(LLMTimeout("Late."))
    assert (found.model_reported, found.prompt_tokens) == ("", None)


async def test_the_model_is_named_as_in_the_last_reply_that_names_one() -> None:
    replies = [{"model": name, "choices": [{"message": {"content": "bad"}}]} for name in ("m-1", "m-2", "")]
    found, _ = await asked(*[json.dumps(reply).encode() for reply in replies], reasks=2)
    assert found.model_reported == "m-2"


async def test_a_pause_goes_up() -> None:
    with pytest.raises(LLMPaused):
        await asked(LLMPaused("Wrong key."))
