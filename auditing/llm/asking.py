"""Asking one request until its reply can be read: the loop, and the record of what was sent and what came back.

It knows nothing of what is asked: the caller says how a completion is read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from auditing.llm.completion import Completion, parse_completion
from auditing.llm.errors import LLMError, LLMPaused, LLMUnparsable
from auditing.llm.protocol import ERROR_PREFIX, INVALID_PREFIX, VALID, ChatProvider, ChatRequest


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply, or the lack of one: the bytes sent and received, and what they were found to be."""

    status: str
    raw_request: bytes = b""
    raw_reply: bytes = b""
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TextReading:
    """What a completion says: ``valid`` with a text, or ``invalid:<why>`` with a sentence on what is wrong."""

    status: str
    value: str | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a request.

    Attributes
    ----------
    reading
        Of the last reply, which decides; its status is ``error:<name>`` when none came.
    attempts
        The replies in order.
    prompt_tokens, completion_tokens
        Of all attempts together, since all are paid; None where the server does not say.
    requests
        Requests sent, retries of the transport included.
    """

    reading: TextReading
    attempts: tuple[Attempt, ...]
    model_reported: str
    prompt_tokens: int | None
    completion_tokens: int | None
    requests: int
    seconds: float


def invalid(why: str, message: str) -> TextReading:
    """Return the reading of a reply that does not count."""
    return TextReading(f"{INVALID_PREFIX}{why}", None, message)


async def ask_until_valid(
    provider: ChatProvider,
    request: ChatRequest,
    read: Callable[[Completion], TextReading],
    *,
    reasks: int,
) -> Asked:
    """Ask, and ask again with the same parameters while the reply is invalid, `reasks` times at most.

    Raises
    ------
    LLMPaused
        A fault that would hit every further request. Any other failure is an answer with an error status.
    """
    attempts: list[Attempt] = []
    completions: list[Completion] = []
    requests, seconds = 0, 0.0
    while True:
        try:
            reply = await provider.complete(request)
        except LLMPaused:
            raise
        except LLMError as error:
            reading = TextReading(f"{ERROR_PREFIX}{error.name}", None, str(error))
            attempts.append(Attempt(reading.status, request.body(), error.body, str(error)))
            requests += error.attempts
            break
        requests += reply.attempts
        seconds += reply.seconds
        try:
            completion = parse_completion(reply.body)
        except LLMUnparsable as error:
            reading = invalid(error.name, str(error))
        else:
            completions.append(completion)
            reading = read(completion)
        attempts.append(
            Attempt(reading.status, reply.request_body, reply.body, reading.message, reply.seconds)
        )
        if reading.status == VALID or len(attempts) > reasks:
            break
    return Asked(
        reading=reading,
        attempts=tuple(attempts),
        model_reported=next((name for one in reversed(completions) if (name := one.reported)), ""),
        prompt_tokens=sum_of_known([one.prompt_tokens for one in completions]),
        completion_tokens=sum_of_known([one.completion_tokens for one in completions]),
        requests=requests,
        seconds=seconds,
    )


def sum_of_known(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the counts that a server gave, None where it gave none."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
