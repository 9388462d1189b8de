"""Elicitors by name, against a server that speaks the protocol and misbehaves."""

import json
from pathlib import Path

import pytest

from auditing.elicitation.factory import ElicitorError, make_elicitor
from auditing.llm.errors import LLMPaused
from auditing.llm.retry import RetryPolicy
from auditing.prompts.templates import PromptError
from tests.auditing.elicitation.cases import ALL

QUICK = RetryPolicy(max_attempts=2, attempt_seconds=5, total_seconds=20, backoff_base=0.01, backoff_cap=0.02)


async def ask(server, task="chain", **options):
    asking = make_elicitor(
        "openai:scripted",
        **{"base_url": server.base_url, "allowed_hosts": ["127.0.0.1"], "policy": QUICK, **options},
    )
    try:
        return (await asking.ask_batch([ALL[task]]))[0]
    finally:
        await asking.aclose()


async def test_a_text_with_what_it_took(server):
    answer = await ask(server, api_key=None)
    assert answer.status == "valid"
    assert json.loads(answer.value)["label"], "no steps: a reply all the same"
    assert (answer.model_reported, answer.completion_tokens, answer.requests) == (
        "scripted@scripted-1",
        12,
        1,
    )
    assert answer.prompt_tokens > 0
    body = json.loads(answer.attempts[0].raw_request)
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == (
        "scripted",
        0.7,
        4,
        4096,
    )
    assert json.loads(answer.attempts[0].raw_reply)["choices"]


@pytest.mark.parametrize(
    ("do", "status"),
    [
        ("empty", "invalid:empty"),
        ("length", "invalid:truncated"),
        ("refusal", "invalid:refusal"),
        ("reasoning_only", "invalid:reasoning_only"),
        ("html", "invalid:unparsable"),
        ("truncated_json", "invalid:unparsable"),
    ],
)
async def test_replies_that_do_not_count_are_asked_again_and_paid(server, do, status):
    server.change(behaviours=[{"do": do}])
    answer = await ask(server)
    assert (answer.status, answer.value, answer.requests) == (status, None, 2)
    if do == "empty":
        assert answer.completion_tokens == 24


async def test_a_reply_without_the_fields_is_no_judgement(server):
    answer = await ask(server, "soundness")
    assert answer.status == "invalid:wrong_schema"


async def test_a_server_that_fails_is_an_error_and_a_wrong_key_pauses(server):
    server.change(behaviours=[{"do": "status", "status": 500}])
    answer = await ask(server)
    assert (answer.status, answer.requests) == ("error:server_fault", 2)
    assert "SECRET" not in answer.error
    server.change(api_key="right")
    with pytest.raises(LLMPaused):
        await ask(server, api_key="wrong")


@pytest.mark.parametrize("spec", ["", "scripted", "openai:", "openai: ", "local:x", "replay:folder"])
def test_a_name_that_is_none_is_refused_with_the_form(spec):
    with pytest.raises(ElicitorError, match="Use 'openai:MODEL'"):
        make_elicitor(spec, base_url="http://127.0.0.1:1/v1", allowed_hosts=["127.0.0.1"])


def test_the_address_is_needed_and_prompts_of_ones_own_are_taken(tmp_path: Path):
    with pytest.raises(ElicitorError, match="address of the server"):
        make_elicitor("openai:m", base_url=None)
    place = {"base_url": "http://127.0.0.1:1/v1", "allowed_hosts": ["127.0.0.1"], "prompt_folder": tmp_path}
    with pytest.raises(PromptError, match="none of the files"):
        make_elicitor("openai:m", **place)
    (tmp_path / "facts.txt").write_text("[user]\n{{question}} {{steps}}\n")
    made = make_elicitor(" openai: my/model ".strip(), temperature=None, reasks=0, **place)
    assert (made.name, made.prompt("facts")["id"], made.prompt("chain")["id"]) == (
        "my/model",
        "facts",
        "chain-v1",
    )
