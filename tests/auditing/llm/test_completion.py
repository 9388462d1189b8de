"""Reading a chat completion."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.llm.completion import parse_completion
from auditing.llm.errors import LLMUnparsable


def body(**message) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def test_reads_every_part():
    document = {
        "model": "m",
        "system_fingerprint": "r",
        "choices": [
            {
                "message": {"content": "c", "refusal": None, "reasoning_content": "because"},
                "finish_reason": "length",
                "logprobs": {
                    "content": [
                        {"token": "c", "logprob": -0.5, "top_logprobs": [{"token": "d", "logprob": -1.5}]},
                    ]
                },
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 0},
    }
    found = parse_completion(json.dumps(document).encode())
    assert (found.content, found.refusal, found.reasoning, found.finish_reason) == (
        "c",
        "",
        "because",
        "length",
    )
    assert (found.model, found.revision, found.prompt_tokens, found.completion_tokens) == ("m", "r", 7, 0)
    assert found.logprobs is not None
    assert found.logprobs[0].top == {"d": -1.5}


def test_absent_numbers_are_none_not_zero():
    found = parse_completion(body(content="x"))
    assert found.prompt_tokens is None
    assert found.completion_tokens is None
    assert found.logprobs is None


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "empty body"),
        (b"\xff\xfe", "UTF-8"),
        (b"<html>", "web page"),
        (b'{"choices": [', "not complete JSON"),
        (b"[" * 100_000, "not complete JSON"),
        (b"[]", "not an object"),
        (b"null", "not an object"),
        (b"{}", "no choices"),
        (b'{"error": {"message": "secret"}}', "error object"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": ["x"]}', "no choices"),
        (b'{"choices": [{"text": "old api"}]}', "no message"),
    ],
)
def test_lj_08_what_is_no_completion(data, sentence):
    with pytest.raises(LLMUnparsable, match=sentence) as caught:
        parse_completion(data)
    assert "secret" not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, json_values, json_values)
def test_any_json_gives_a_completion_or_the_named_error(message, logprobs, usage):
    document = {"choices": [{"message": message, "logprobs": {"content": [logprobs]}}], "usage": usage}
    try:
        found = parse_completion(json.dumps(document).encode())
    except LLMUnparsable:
        return
    assert isinstance(found.content, str)
