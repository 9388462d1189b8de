"""The network layer under the `openai` client: pinned, bounded HTTP/1.1 connections.

The `openai` client takes any httpx2 transport. This one replaces httpx2's own for three reasons:

- safety: it connects only to addresses that passed the guard, at the time of connecting (`guard`);
- bounds: it counts every byte of a reply while it arrives, before and after decompression, and stops at a
  limit, so an endless or compressed-bomb reply cannot fill the memory;
- speed: one call costs about half the processor time of the general transport, which decides how close a run
  of 10,660 short calls comes to the server's own pace (`tests/benchmarks/bench_calls.py`).

It speaks to one origin only, uses no proxy, follows no redirect. Parsing is done by httptools (the parser of
Node.js, part of ``uvicorn[standard]``).
"""

import asyncio
import re
import ssl
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any, cast

import httptools
import httpx2

from auditing.llm.errors import (
    LLMError,
    LLMPaused,
    LLMRefused,
    LLMReplyTooLarge,
    LLMTimeout,
    LLMUnparsable,
    LLMUnreachable,
)
from auditing.llm.guard import Endpoint, EndpointRefused

IDLE_SECONDS = 4.0
"""Idle connections are dropped after this time: uvicorn, which serves vLLM, closes them after 5 s."""

MAX_HEADERS = 200


class Reply:
    """A complete reply: status, headers (lower-case bytes), body after decompression."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Connection(asyncio.Protocol):
    """One keep-alive connection that carries one request at a time."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Reply] | None = None
        self._parser: Any = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_complete = False
        self._body = bytearray()
        self._received = 0
        self._compressed = False
        self._inflate: Any = None
        self._keep_alive = False
        self.closed = False
        self.idle_since = 0.0

    # --- asyncio ------------------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's class is not a subclass of it

    def connection_lost(self, exc: Exception | None) -> None:
        """End the open request: a reply that its head left open ends here, any other is broken."""
        self.closed = True
        self._fail(_broken())

    def eof_received(self) -> bool:
        """Handle the server's end of stream, which may complete a body without a stated length."""
        self.closed = True  # at once: the transport tells of the loss only in the loop's next round
        if self._waiting and self._head_complete:
            framed = any(name in (b"content-length", b"transfer-encoding") for name, _ in self._headers)
            if not framed:
                self.on_message_complete()
        return False

    def data_received(self, data: bytes) -> None:
        """Feed the parser."""
        if not self._waiting:
            self.close()  # bytes nobody asked for: the connection is out of step
            return
        self._received += len(data)
        if self._received > self._max_bytes:
            self._too_large()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(LLMUnparsable("The server's answer is not HTTP."))

    # --- httptools ----------------------------------------------------------------------------------------
    def on_message_begin(self) -> None:
        """Forget the interim answer before this message; one after the finished reply nobody asked for."""
        if not self._waiting:
            self.close()
            return
        self._headers, self._head_complete, self._compressed = [], False, False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect one header; those after the body (trailers) are dropped."""
        if not self._waiting or self._head_complete:
            return
        if len(self._headers) >= MAX_HEADERS:
            self._too_large()
            return
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Prepare for the body's encoding."""
        self._head_complete = True
        for name, value in self._headers:
            if name == b"content-encoding" and value.lower() not in (b"", b"identity"):
                if value.lower() not in (b"gzip", b"x-gzip", b"deflate"):
                    self._fail(LLMUnparsable("The server used a compression that was not asked for."))
                    return
                self._compressed = True

    def on_body(self, data: bytes) -> None:
        """Collect a piece of the body, decompressed, up to the limit."""
        if not self._waiting:  # past the limit already: a limit of 0 would mean none to zlib
            return
        if self._compressed:
            if self._inflate is None:
                self._inflate = zlib.decompressobj(47)  # 32 + 15: zlib or gzip, whichever the data say
            try:
                data = self._inflate.decompress(data, self._max_bytes - len(self._body) + 1)
            except zlib.error:
                self._fail(LLMUnparsable("The compressed reply is damaged."))
                return
        self._body += data
        if len(self._body) > self._max_bytes:
            self._too_large()

    def on_message_complete(self) -> None:
        """Hand the finished reply to the waiting request."""
        waiter, parser = self._waiter, self._parser
        if waiter is None or waiter.done():
            return
        status = parser.get_status_code()
        if status == 101:
            self._fail(LLMUnparsable("The server wants to go on in another protocol than HTTP."))
            return
        if 100 <= status < 200:  # an interim answer: the real one follows
            self._head_complete = False
            return
        if self._inflate is not None and (not self._inflate.eof or self._inflate.unused_data):
            self._fail(LLMUnparsable("The compressed reply is damaged."))
            return
        self._keep_alive = bool(parser.should_keep_alive()) and not self.closed
        waiter.set_result(Reply(status, self._headers, bytes(self._body)))
        self._body = bytearray()

    # --- use ----------------------------------------------------------------------------------------------
    async def exchange(self, head: bytes, body: bytes) -> Reply:
        """Send one request and return its complete reply; the connection is closed on any failure."""
        if self.closed or self._transport is None:
            raise _broken()
        self._headers, self._head_complete, self._body = [], False, bytearray()
        self._compressed, self._inflate, self._received = False, None, 0
        self._keep_alive = False
        self._parser = httptools.HttpResponseParser(self)
        self._waiter = asyncio.get_running_loop().create_future()
        self._transport.write(head + body)
        try:
            return await self._waiter
        except BaseException:  # also cancellation: a half-read reply must not meet the next request
            self.close()
            raise
        finally:
            self._waiter = None
            if not self._keep_alive:
                self.close()

    def close(self) -> None:
        """Close at once, dropping unread bytes."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    @property
    def _waiting(self) -> bool:
        """Whether a request waits for its reply."""
        return self._waiter is not None and not self._waiter.done()

    def _fail(self, error: LLMError) -> None:
        """End the open request, if one waits, with an error, and the connection in any case."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)
        self._keep_alive = False
        self.close()

    def _too_large(self) -> None:
        self._fail(LLMReplyTooLarge(f"The reply is larger than the {self._max_bytes:,} bytes allowed."))


def _broken() -> LLMUnreachable:
    return LLMUnreachable("The connection to the model server broke before the reply was complete.")


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Connections to one endpoint, kept alive and shared by all calls of one event loop.

    Parameters
    ----------
    endpoint
        The checked base URL.
    addresses
        Returns the addresses to connect to, checked now; may block on name resolution, runs in a thread.
    max_bytes
        Limit of one reply, raw and decompressed.
    connect_seconds
        Limit for resolving, connecting and the TLS handshake.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        addresses: Callable[[], Sequence[str]],
        *,
        max_bytes: int,
        connect_seconds: float,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._addresses = addresses
        self._max_bytes = max_bytes
        self._connect_seconds = connect_seconds
        if tls is None and endpoint.scheme == "https":
            tls = ssl.create_default_context()
        self._tls = tls
        self._idle: list[Connection] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request of the `openai` client and return the complete response."""
        url = request.url
        host = url.raw_host.decode("ascii").rstrip(".")  # in the form of `Endpoint`: xn--, no final dot
        port = url.port or (443 if url.scheme == "https" else 80)
        if (url.scheme, host, port) != (self._endpoint.scheme, self._endpoint.host, self._endpoint.port):
            raise LLMRefused("A request to another server than the configured one was stopped.")
        lines = [f"{request.method} ".encode() + url.raw_path + b" HTTP/1.1\r\n"]
        for name, value in request.headers.raw:
            if name.lower() in _SENT_HEADERS:
                if _LINE_BREAK.search(value):
                    raise LLMPaused(
                        "The API key holds a line break or a NUL character. Enter it again, then resume."
                    )
                lines.append(name + b": " + value + b"\r\n")
        lines.append(b"Accept-Encoding: identity\r\n\r\n")
        body = request.content
        connection = self._take_idle() or await self._connect()
        reply = await connection.exchange(b"".join(lines), body)
        if not connection.closed:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        headers = [(name, value) for name, value in reply.headers if name in _PASSED_ON]
        return httpx2.Response(reply.status, headers=headers, content=reply.body)

    def _take_idle(self) -> Connection | None:
        """Return the most recently used live connection; forget the stale ones."""
        now = time.monotonic()
        while self._idle:
            connection = self._idle.pop()
            if connection.closed:
                continue
            if now - connection.idle_since < IDLE_SECONDS:
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_seconds):
                addresses = await loop.run_in_executor(None, self._addresses)
                for position, address in enumerate(addresses):
                    try:
                        _, connection = await loop.create_connection(
                            lambda: Connection(self._max_bytes),
                            address,
                            self._endpoint.port,
                            ssl=self._tls,
                            server_hostname=self._endpoint.host if self._tls is not None else None,
                        )
                        return connection
                    except ssl.SSLError:
                        raise LLMUnreachable(
                            f"The TLS handshake with {self._endpoint.origin} failed. Check scheme, port and "
                            "certificate."
                        ) from None
                    except OSError:
                        if position + 1 == len(addresses):
                            raise
        except EndpointRefused as error:
            raise LLMRefused(str(error)) from None
        except TimeoutError:
            raise LLMTimeout(
                f"No connection to {self._endpoint.origin} within {self._connect_seconds:g} s."
            ) from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise LLMUnreachable(
                f"No connection to {self._endpoint.origin} ({reason}). Is the model server running there?"
            ) from None
        raise AssertionError("the guard returns at least one address")

    async def aclose(self) -> None:
        """Close all idle connections."""
        while self._idle:
            self._idle.pop().close()


# The client library would also send details of this machine (``X-Stainless-*``) and organisation names from
# the environment; a model server needs none of them.
_SENT_HEADERS = frozenset(
    {b"host", b"authorization", b"content-type", b"content-length", b"accept", b"user-agent", b"connection"}
)
_LINE_BREAK = re.compile(rb"[\r\n\0]")
# All that the provider reads. Others would have effects in the client library: Content-Type can name a charset
# such as zlib, which unpacks the text of an error past every limit; Set-Cookie and Location would be taken in.
_PASSED_ON = frozenset({b"retry-after"})
