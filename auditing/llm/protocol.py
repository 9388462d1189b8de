"""What every language model provider takes and gives.

A provider sends one chat request and returns the raw reply. It does not judge what the reply says: reading
a completion is `auditing.llm.completion`, reading a label is `auditing.nli`.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

MAX_OUTPUT_TOKENS = 4096
"""Default output limit, the paper's (UroReason paper, appendix E.1; it serves with a context of 8192)."""

VALID = "valid"
INVALID_PREFIX = "invalid:"
ERROR_PREFIX = "error:"
"""How an answer that was read out of a reply ended: valid, ``invalid:<why>`` (a reply that is none of the agreed
answers), ``error:<name>`` (no reply)."""

CHARACTERS_PER_TOKEN = 4
"""For estimates before anything is sent; every tokenizer counts differently."""

CONTEXT_TOKENS = 8192
"""The paper's context length for models served by vLLM (it states 4096 for API models)."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a message: a line of text that stands before it, and its bytes (JPEG)."""

    caption: str
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; role is ``system``, ``user`` or ``assistant``. Pictures come after the text, in their order."""

    role: str
    content: str
    pictures: tuple[Picture, ...] = ()

    def body(self) -> dict[str, object]:
        """Return the message as it is sent: pictures as data URLs, each after its caption."""
        if not self.pictures:
            return {"role": self.role, "content": self.content}
        parts: list[dict[str, object]] = [{"type": "text", "text": self.content}]
        for picture in self.pictures:
            url = "data:image/jpeg;base64," + base64.b64encode(picture.jpeg).decode("ascii")
            parts.append({"type": "text", "text": picture.caption})
            parts.append({"type": "image_url", "image_url": {"url": url}})
        return {"role": self.role, "content": parts}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion to ask for.

    Attributes
    ----------
    max_tokens
        Upper bound on output tokens, at least 1.
    temperature
        0 is greedy decoding, the paper's setting.
    response_format
        JSON schema constraint in the form of the OpenAI API, or None.
    top_logprobs
        How many alternatives per token to ask for; None asks for no log-probabilities.
    extra
        Further body fields, sent as they are (``provider`` of OpenRouter, ``chat_template_kwargs`` of vLLM).
    key, inputs
        The cache key (empty where nobody looks replies up), and the named texts the prompt was filled with.
        Never sent: the replay and scripted providers answer by them.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int = MAX_OUTPUT_TOKENS
    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = None
    response_format: Mapping[str, object] | None = None
    top_logprobs: int | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    key: str = ""
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if not self.messages:
            raise ValueError("a chat request needs at least one message")

    def parameters(self) -> dict[str, object]:
        """Return every parameter that is sent beside model and messages."""
        sent: dict[str, object] = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        if self.top_p is not None:
            sent["top_p"] = self.top_p
        if self.seed is not None:
            sent["seed"] = self.seed
        if self.response_format is not None:
            sent["response_format"] = self.response_format
        if self.top_logprobs is not None:
            sent["logprobs"] = True
            sent["top_logprobs"] = self.top_logprobs
        sent.update(self.extra)
        return sent

    def body(self) -> bytes:
        """Return the request body: UTF-8 JSON, the same bytes for the same request."""
        messages = [message.body() for message in self.messages]
        document = {"model": self.model, "messages": messages, **self.parameters()}
        # A lone surrogate (broken input text) cannot be UTF-8; the replacement mark keeps the call possible.
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", errors="replace"
        )


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The raw reply to one request, and what it took to get it."""

    body: bytes
    request_body: bytes
    attempts: int = 1
    seconds: float = 0.0


class ChatProvider(Protocol):
    """A source of chat completions."""

    kind: str
    remote: bool
    concurrency: int

    def identity(self) -> Mapping[str, object]:
        """Return what decides the replies beside the request: endpoint origin, kind, revision."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the raw reply, or raise a named `auditing.llm.errors.LLMError`."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
