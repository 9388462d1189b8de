"""Chat completions from any server that speaks the OpenAI API: vLLM, llama.cpp, OpenRouter, OpenAI.

Calls go through the `openai` package (its address handling, headers and status errors), with its own retries
switched off: the project's retry table (`auditing.llm.retry`) decides. Requests are sent and replies kept as
bytes, so that what is stored is exactly what went over the wire.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any

import httpx2
import openai

from auditing.llm.connections import PinnedTransport
from auditing.llm.errors import (
    LLMError,
    LLMPaused,
    LLMRateLimited,
    LLMRefused,
    LLMTimeout,
    LLMUnparsable,
    LLMUnreachable,
)
from auditing.llm.guard import (
    Endpoint,
    EndpointRefused,
    Resolver,
    check_base_url,
    checked_addresses,
    system_resolver,
)
from auditing.llm.limiter import AdaptiveLimiter
from auditing.llm.protocol import ChatReply, ChatRequest
from auditing.llm.retry import (
    REAL_CLOCK,
    Clock,
    RetryPolicy,
    error_for_status,
    parse_retry_after,
    with_retries,
)

logger = logging.getLogger(__name__)
logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs a line per call: 10,660 for one long trace

MAX_REPLY_BYTES = 8 * 1024 * 1024
CONNECT_SECONDS = 10.0
GIVE_UP_AFTER = 5
"""Calls in a row that ended without a reply before the provider pauses the run (circuit breaker)."""

NO_KEY = "none"
"""Sent as the key where none is configured: the `openai` client insists on one, local servers ignore it."""


class OpenAICompatible:
    """A chat completions endpoint.

    Parameters
    ----------
    base_url
        For example ``http://localhost:8000/v1``.
    api_key
        Bound to this endpoint's origin: the transport refuses to send a request anywhere else.
    allowed_hosts
        Private or loopback hosts that the operator allows (see `auditing.llm.guard`).
    concurrency
        Most calls in flight; fewer after 429 answers.
    max_reply_bytes
        Limit of one reply, raw and decompressed.

    Raises
    ------
    EndpointRefused
        The base URL is not allowed, or the key cannot be one.
    """

    kind = "openai"
    remote = True

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        allowed_hosts: Collection[str] = (),
        concurrency: int = 16,
        policy: RetryPolicy | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        connect_seconds: float = CONNECT_SECONDS,
        resolver: Resolver = system_resolver,
        clock: Clock = REAL_CLOCK,
    ) -> None:
        self._endpoint = check_base_url(base_url, allowed_hosts)
        if not (api_key.isascii() and api_key.isprintable()):
            raise EndpointRefused(
                "The API key holds a character that no key has (a space from copying, perhaps). Check LLM_API_KEY."
            )
        self._allowed = frozenset(allowed_hosts)
        self._api_key = api_key
        self._policy = policy or RetryPolicy()
        self._max_bytes = max_reply_bytes
        self._connect_seconds = connect_seconds
        self._resolver = resolver
        self._clock = clock
        self._limiter = AdaptiveLimiter(concurrency)
        self._failed_calls = 0
        self._silences = 0
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.concurrency = concurrency

    def __repr__(self) -> str:
        """Name the endpoint, never the key."""
        return f"OpenAICompatible({self._endpoint.origin!r})"

    @property
    def endpoint(self) -> Endpoint:
        """The checked endpoint."""
        return self._endpoint

    @property
    def limiter(self) -> AdaptiveLimiter:
        """The limiter, for status displays."""
        return self._limiter

    def identity(self) -> Mapping[str, object]:
        """Return the endpoint's kind and address, without the key."""
        return {"kind": self.kind, "endpoint": self._endpoint.base_url}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send a chat request, see `post`."""
        return await self.post("/chat/completions", request.body())

    async def post(self, path: str, body: bytes) -> ChatReply:
        """Send a body to an address below the base URL, again where the retry table says so; return the raw reply.

        Raises
        ------
        LLMPaused
            401, 402, 403, or `GIVE_UP_AFTER` calls in a row that no other call would fare better than.
        LLMError
            Any other named failure, after the last allowed attempt.
        """
        started = self._clock.now()

        async def send(seconds: float) -> bytes:
            await self._limiter.acquire()
            try:
                return await self._send(path, body, seconds)
            finally:
                self._limiter.release()

        try:
            reply, attempts = await with_retries(send, self._policy, self._clock, self._note_failure)
        except LLMError as error:
            if self._says_nothing_works(error):
                self._count_failed_call(error)
            raise
        self._silences = 0
        self._limiter.succeeded()
        if reply.lstrip()[:1] == b"<":
            # A proxy's login page or a wrong address: the reply stays one that cannot be read, but not for ever.
            self._count_failed_call(
                LLMUnparsable(
                    "The server sent a web page in place of a reply. Is its base URL the one that ends with /v1?",
                    body=reply,
                )
            )
        else:
            self._failed_calls = 0
        return ChatReply(reply, body, attempts, self._clock.now() - started)

    async def models(self) -> list[str]:
        """Return the model names that the server lists; raises a named `LLMError`."""
        response = await self._guarded(self._connected().get("/models", cast_to=httpx2.Response), 30.0)
        try:
            return [str(entry["id"]) for entry in response.json()["data"]]
        except (ValueError, KeyError, TypeError):
            raise LLMUnparsable(
                "The server's list of models could not be read. Is its base URL the one that ends with /v1?"
            ) from None

    @staticmethod
    def _says_nothing_works(error: LLMError) -> bool:
        """Whether a failure is about the server rather than about this one request."""
        return error.retryable or error.http_status == 404

    def _count_failed_call(self, error: LLMError) -> None:
        self._failed_calls += 1
        if self._failed_calls >= GIVE_UP_AFTER:
            raise self._paused(error) from None

    @staticmethod
    def _paused(error: LLMError) -> LLMPaused:
        paused = LLMPaused(
            f"{GIVE_UP_AFTER} calls in a row failed. The last one: {error} Put this right, then resume.",
            http_status=error.http_status,
            body=error.body,
        )
        paused.attempts = error.attempts
        return paused

    def _note_failure(self, error: LLMError) -> None:
        if isinstance(error, LLMRateLimited):
            self._limiter.jammed()
        if isinstance(error, LLMTimeout):
            # A server that hangs would keep every call for all its attempts: ten minutes without a word.
            self._silences += 1
            if self._silences >= max(GIVE_UP_AFTER, self.concurrency):
                paused = LLMPaused(
                    f"The model server left {self._silences} requests in a row without a reply. The last one: {error} "
                    "Look whether it is overloaded or still loading the model, then resume.",
                    http_status=error.http_status,
                )
                paused.attempts = error.attempts
                raise paused
        logger.info(
            "LLM call failed: %s, attempt %d, status %s", error.name, error.attempts, error.http_status
        )

    async def _send(self, path: str, body: bytes, seconds: float) -> bytes:
        call = self._connected().post(path, cast_to=httpx2.Response, content=body)
        return (await self._guarded(call, seconds)).content

    async def _guarded(self, call: Any, seconds: float) -> httpx2.Response:
        """Await one request within its time, with every failure turned into a named error."""
        try:
            async with asyncio.timeout(seconds):
                response: httpx2.Response = await call
        except TimeoutError:
            raise LLMTimeout(f"The model server gave no complete reply within {seconds:.0f} s.") from None
        except openai.APIStatusError as error:
            # `from None`: the original holds the request, and with it the key's header.
            retry_after = parse_retry_after(error.response.headers.get("retry-after"), self._clock.wall())
            raise (
                error_for_status(error.status_code, retry_after, error.response.content)
                or LLMRefused("The model server's answer could not be used.")
            ) from None
        except openai.APITimeoutError:
            raise LLMTimeout("The model server gave no reply in time.") from None
        except openai.APIConnectionError:
            raise LLMUnreachable("The connection to the model server failed.") from None
        if not response.is_success:
            problem = error_for_status(response.status_code, None, response.content)
            raise problem or LLMRefused("The model server's answer could not be used.")
        return response

    def _connected(self) -> openai.AsyncOpenAI:
        """Return the client of the running event loop: connections cannot move from one loop to another."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            transport = PinnedTransport(
                self._endpoint,
                lambda: checked_addresses(self._endpoint, self._allowed, self._resolver),
                max_bytes=self._max_bytes,
                connect_seconds=self._connect_seconds,
            )
            http = httpx2.AsyncClient(
                transport=transport, follow_redirects=False, trust_env=False, timeout=None
            )
            self._client = openai.AsyncOpenAI(
                base_url=self._endpoint.base_url,
                api_key=self._api_key or NO_KEY,
                organization=None,
                project=None,
                max_retries=0,
                timeout=None,
                http_client=http,
            )
            self._loop = loop
        return self._client

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None
