"""Embeddings of a server, over the wire."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from auditing.embeddings.openai_compatible import OpenAIEmbedder, read_reply
from auditing.embeddings.protocol import Embedder
from auditing.llm import errors
from auditing.llm.guard import EndpointRefused
from auditing.llm.retry import RetryPolicy
from tests.auditing.embeddings.servers import EmbeddingServer, embedding_server, vectors

KEY = "sk-canary-77ab"
QUICK = RetryPolicy(max_attempts=3, attempt_seconds=5, total_seconds=20, backoff_base=0.01, backoff_cap=0.02)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


async def ask(server: EmbeddingServer, texts: list[str]) -> Any:
    embedder = OpenAIEmbedder(
        "small", base_url=server.base_url, api_key=KEY, allowed_hosts=["127.0.0.1"], policy=QUICK
    )
    assert isinstance(embedder, Embedder)
    try:
        return await embedder.encode(texts)
    finally:
        await embedder.aclose()


async def test_vectors_come_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    rows = await ask(server, ["abcd", "a\u00e9"])
    # The server answers [4, 1] and [2, 1], the last text first.
    assert rows == pytest.approx(np.array([[4, 1] / np.sqrt(17), [2, 1] / np.sqrt(5)]), abs=1e-6)
    assert rows.dtype == np.float32
    [(path, headers, document)] = server.requests
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert document == {"model": "small", "input": ["abcd", "a\u00e9"], "encoding_format": "float"}


async def test_no_texts_ask_nothing(server: EmbeddingServer) -> None:
    assert (await ask(server, [])).shape == (0, 0)
    assert server.requests == []


async def test_lj_06_a_server_fault_is_asked_again_and_a_refusal_is_not(server: EmbeddingServer) -> None:
    answers = iter([(503, b"busy")])
    server.answer = lambda document: next(answers, vectors(document))
    assert (await ask(server, ["a"])).shape == (1, 2)
    assert len(server.requests) == 2

    server.requests.clear()
    server.answer = lambda document: (400, b"no")
    with pytest.raises(errors.LLMRefused):
        await ask(server, ["a"])
    assert len(server.requests) == 1


async def test_a_wrong_key_pauses_and_is_not_shown(server: EmbeddingServer) -> None:
    server.answer = lambda document: (401, b"no")
    with pytest.raises(errors.LLMPaused) as caught:
        await ask(server, ["a"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://169.254.169.254/v1", "file:///etc/passwd"]
)
def test_ih_09_the_guard_of_the_chat_provider_decides_where_requests_go(url: str) -> None:
    with pytest.raises(EndpointRefused):
        OpenAIEmbedder("small", base_url=url)


def _body(*vectors_by_index: tuple[int, list[Any]]) -> bytes:
    return json.dumps({"data": [{"index": index, "embedding": v} for index, v in vectors_by_index]}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"data": null}',
        b'{"data": [1, 2]}',
        _body((0, [1.0])),  # one is missing
        _body((0, [1.0]), (0, [1.0])),
        _body((0, [1.0]), (2, [1.0])),
        _body((0, [1.0]), (1, [1.0]), (1, [2.0])),
        _body((0, [1.0]), (1, [1.0, 2.0])),
        _body((0, [1.0]), (1, ["x"])),
        _body((0, [1.0]), (1, [float("nan")])),
        _body((0, [1.0]), (1, [[1.0]])),
        _body((0, []), (1, [])),
        b"[" * 100_000,
    ],
)
def test_a_reply_without_a_vector_for_every_text_is_none(body: bytes) -> None:
    with pytest.raises(errors.LLMUnparsable, match="no embedding for every text"):
        read_reply(body, 2)


def test_the_address_stands_for_an_unknown_revision() -> None:
    first = OpenAIEmbedder("small", base_url="https://a.example/v1/")
    assert first.version == "https://a.example/v1"
    assert OpenAIEmbedder("small", base_url="https://a.example/v1", revision="r7").version == "r7"
