"""Embeddings of any server with the OpenAI API's ``/embeddings``: vLLM, llama.cpp, OpenAI.

Addresses, keys, retries and limits are those of the chat provider (`auditing.llm`): the same guard decides where a
request may go.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from auditing.embeddings.protocol import Vectors, no_vectors, unit_rows
from auditing.llm.errors import LLMUnparsable
from auditing.llm.providers.openai_compatible import OpenAICompatible


class OpenAIEmbedder:
    """Embeds texts by a server.

    Parameters
    ----------
    model
        The server's name of the model.
    base_url
        For example ``http://localhost:8000/v1``.
    revision
        Revision of the model, where it is known; the address otherwise stands for it.
    options
        As of `OpenAICompatible`: api_key, allowed_hosts, concurrency, policy, max_reply_bytes, connect_seconds.

    Raises
    ------
    EndpointRefused
        The base URL is not allowed, or the key cannot be one.
    """

    kind = "openai"
    remote = True
    batch_size = 64

    def __init__(self, model: str, *, base_url: str, revision: str = "", **options: Any) -> None:
        self.name = model
        self._provider = OpenAICompatible(base_url, **options)
        self._version = revision or self._provider.endpoint.base_url

    @property
    def version(self) -> str:
        """The revision that was given, or the server's address."""
        return self._version

    async def encode(self, texts: Sequence[str]) -> Vectors:
        """Ask for all texts in one request; raises a named `LLMError`."""
        if not texts:
            return no_vectors()
        document = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", errors="replace"
        )
        reply = await self._provider.post("/embeddings", body)
        return read_reply(reply.body, len(texts))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._provider.aclose()


def read_reply(body: bytes, count: int) -> Vectors:
    """Return the vectors of a reply by their index; raises `LLMUnparsable` unless there is one for each text."""
    try:
        entries = json.loads(body)["data"]
        by_index = {
            int(entry["index"]): np.asarray(entry["embedding"], dtype=np.float64) for entry in entries
        }
        if len(entries) != count or set(by_index) != set(range(count)):
            raise ValueError("not one vector for each text")
        return unit_rows([by_index[index] for index in range(count)])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise LLMUnparsable(
            "The server's reply holds no embedding for every text. Does it serve an embedding model at this address?",
            body=body,
        ) from None
