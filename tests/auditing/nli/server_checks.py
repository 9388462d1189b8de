"""Tests that every real model server must pass: the client's requests, its parsing, its errors, not quality.

A test module imports all names from here and brings a fixture `base_url`.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from auditing.llm.completion import parse_completion
from auditing.llm.errors import LLMRefused
from auditing.llm.protocol import ChatRequest, Message
from auditing.llm.providers.openai_compatible import OpenAICompatible
from auditing.llm.retry import RetryPolicy
from auditing.nli.llm import LLMLabeller
from auditing.nli.protocol import LABEL_WORDS, RelationQuery

ALLOWED = ["127.0.0.1", "localhost"]
PATIENT = RetryPolicy(max_attempts=2, attempt_seconds=240, total_seconds=500)
QUERY = RelationQuery(("All cats are animals.", "Tom is a cat."), "Tom is an animal.")


@pytest.fixture
async def server(base_url: str) -> AsyncIterator[OpenAICompatible]:
    provider = OpenAICompatible(base_url, allowed_hosts=ALLOWED, policy=PATIENT, concurrency=2)
    yield provider
    await provider.aclose()


async def model_of(server: OpenAICompatible) -> str:
    return (await server.models())[0]


def asked(model: str, **fields) -> ChatRequest:
    return ChatRequest(model=model, messages=(Message("user", "Say yes."),), **{"max_tokens": 8, **fields})


async def test_the_schema_is_enforced_and_the_reply_is_read(server, tmp_path: Path):
    # A prompt without a check code, since a model with random weights cannot copy one.
    prompt = tmp_path / "plain.txt"
    prompt.write_text("[user]\n{{premises}}\n\n{{target}}\n\nAnswer with a JSON object that holds the label.")
    labeller = LLMLabeller(server, await model_of(server), prompt=prompt, max_tokens=400)
    (answer,) = await labeller.label_batch([QUERY])
    assert answer.status == "valid", answer.error
    assert set(json.loads(parse_completion(answer.raw_reply).content)) == {"label"}
    assert answer.prompt_tokens > 20
    assert answer.completion_tokens > 0
    assert answer.model_reported
    if answer.probabilities is not None:
        assert set(answer.probabilities) == set(LABEL_WORDS)
        assert sum(answer.probabilities.values()) == pytest.approx(1.0)


async def test_every_reply_to_the_project_s_prompt_is_a_label_or_named_invalid(server):
    labeller = LLMLabeller(server, await model_of(server), max_tokens=200, reasks=0)
    answers = await labeller.label_batch([QUERY, RelationQuery(("It rains.",), "The street is wet.")])
    for answer in answers:
        assert answer.status == "valid" or answer.status.startswith("invalid:")
        assert (answer.label is not None) == (answer.status == "valid")


async def test_log_probabilities_come_with_the_tokens(server):
    reply = parse_completion((await server.complete(asked(await model_of(server), top_logprobs=5))).body)
    assert reply.logprobs is not None
    assert all(token.logprob <= 1e-6 and len(token.top) >= 1 for token in reply.logprobs)


async def test_greedy_decoding_repeats(server):
    request = asked(await model_of(server), seed=1)
    contents = {parse_completion((await server.complete(request)).body).content for _ in range(3)}
    assert len(contents) == 1


async def test_an_output_limit_is_reported_as_length(server):
    model = await model_of(server)
    request = ChatRequest(
        model=model, messages=(Message("user", "Count from 1 to 1000 in words."),), max_tokens=2
    )
    assert parse_completion((await server.complete(request)).body).finish_reason == "length"


async def test_a_prompt_beyond_the_context_is_refused_not_cut(server):
    request = ChatRequest(
        model=await model_of(server), messages=(Message("user", "word " * 40_000),), max_tokens=8
    )
    with pytest.raises(LLMRefused, match="refuses this request"):
        await server.complete(request)
