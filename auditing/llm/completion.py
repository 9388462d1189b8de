"""Reading a chat completion out of raw reply bytes, strictly.

Only the first choice is read. Anything that is not the shape of a chat completion raises `LLMUnparsable` with
a sentence that names the fault, not the content.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditing.llm.errors import LLMUnparsable

PARSER_VERSION = "completion-1"


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One output token, its log-probability, and the alternatives listed for it (text -> log-probability)."""

    token: str
    logprob: float
    top: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Completion:
    """The parts of a chat completion that this project uses. Absent numbers are None, never 0."""

    content: str
    refusal: str
    reasoning: str
    finish_reason: str
    model: str
    revision: str
    prompt_tokens: int | None
    completion_tokens: int | None
    logprobs: tuple[TokenLogprob, ...] | None

    @property
    def reported(self) -> str:
        """Model and revision as the server names them; "" where it names none."""
        return "@".join(part for part in (self.model, self.revision) if part)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _logprobs(value: object) -> tuple[TokenLogprob, ...] | None:
    """Return the token list, or None when it is absent or not in the documented shape."""
    entries = value.get("content") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not entries:
        return None
    tokens = []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            return None
        logprob = entry.get("logprob")
        if not isinstance(logprob, int | float):
            return None
        top: dict[str, float] = {}
        for other in entry.get("top_logprobs") or []:
            if not isinstance(other, dict):
                return None
            text, other_value = other.get("token"), other.get("logprob")
            if isinstance(text, str) and isinstance(other_value, int | float):
                top[text] = max(float(other_value), top.get(text, float("-inf")))
        tokens.append(TokenLogprob(entry["token"], float(logprob), top))
    return tuple(tokens)


def parse_completion(body: bytes) -> Completion:
    """Return the completion in a reply body.

    Raises `LLMUnparsable` for wrong encoding, HTML, invalid or cut-off JSON, an error object, no choices.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LLMUnparsable(f"The reply is not valid UTF-8 (byte {error.start}).", body=body) from None
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        if text.lstrip()[:1] == "<":
            message = "The server answered with a web page instead of JSON. Base URLs usually end in /v1."
        elif not text.strip():
            message = "The server answered with an empty body."
        else:
            message = "The reply is not complete JSON."
        raise LLMUnparsable(message, body=body) from None
    if not isinstance(document, dict):
        raise LLMUnparsable("The reply is JSON, but not an object.", body=body)
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        what = "an error object" if document.get("error") else "no choices"
        raise LLMUnparsable(f"The reply is not a chat completion: it has {what}.", body=body)
    message_part = choices[0].get("message")
    if not isinstance(message_part, dict):
        raise LLMUnparsable("The reply is not a chat completion: its choice has no message.", body=body)
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        content=_text(message_part.get("content")),
        refusal=_text(message_part.get("refusal")),
        reasoning=_text(message_part.get("reasoning_content")) or _text(message_part.get("reasoning")),
        finish_reason=_text(choices[0].get("finish_reason")),
        model=_text(document.get("model")),
        revision=_text(document.get("system_fingerprint")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        logprobs=_logprobs(choices[0].get("logprobs")),
    )
