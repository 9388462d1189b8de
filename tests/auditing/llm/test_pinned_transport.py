"""Connections to one endpoint: reuse, origin, what is sent and passed on, TLS."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx2
import pytest

from auditing.llm import connections
from auditing.llm.connections import PinnedTransport
from auditing.llm.errors import LLMError, LLMRefused, LLMServerFault, LLMUnparsable, LLMUnreachable
from auditing.llm.guard import Endpoint, EndpointRefused
from auditing.llm.protocol import ChatRequest, Message
from auditing.llm.providers.openai_compatible import OpenAICompatible
from auditing.llm.retry import RetryPolicy

OK = b"HTTP/1.1 200 OK\r\n"
HEAD_END = b"\r\n\r\n"
EMPTY_OBJECT = OK + b"Content-Length: 2" + HEAD_END + b"{}"
LIMIT = 100_000


class RawServer:
    """Answers the nth request, over all connections, with the nth reply; an empty reply closes at once."""

    def __init__(self, replies: Sequence[bytes], *, close: bool) -> None:
        self.replies = list(replies)
        self.close = close
        self.connections = 0
        self.heads: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while self.replies:
                head = await reader.readuntil(HEAD_END)
                self.heads.append(head)
                await reader.readexactly(2)  # every request of these tests has the body {}
                writer.write(self.replies.pop(0))
                await writer.drain()
                if self.close:
                    break
        writer.close()


@contextlib.asynccontextmanager
async def raw_server(
    *replies: bytes, close: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawServer]:
    server = RawServer(replies, close=close)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


def endpoint(port: int, host: str = "localhost", scheme: str = "http") -> Endpoint:
    return Endpoint(f"{scheme}://{host}:{port}/v1", scheme, host, port)


def transport_to(
    port: int,
    host: str = "localhost",
    tls: ssl.SSLContext | None = None,
    addresses: Sequence[str] = ("127.0.0.1",),
) -> PinnedTransport:
    scheme = "http" if tls is None else "https"
    return PinnedTransport(
        endpoint(port, host, scheme), lambda: addresses, max_bytes=LIMIT, connect_seconds=5, tls=tls
    )


async def post(transport: PinnedTransport, url: str = "", **headers: str) -> httpx2.Response:
    target = url or f"{transport._endpoint.base_url}/chat/completions"
    request = httpx2.Request("POST", target, content=b"{}", headers=headers)
    return await asyncio.wait_for(transport.handle_async_request(request), 5)


async def test_an_error_status_does_not_cost_the_connection():
    refused = b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno"
    async with raw_server(refused, EMPTY_OBJECT, refused) as server:
        transport = transport_to(server.port)
        assert [(await post(transport)).status_code for _ in range(3)] == [500, 200, 500]
        assert server.connections == 1
        await transport.aclose()


@pytest.mark.parametrize(
    "first",
    [
        OK + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        EMPTY_OBJECT + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged",
        b"garbage\r\n",
    ],
    ids=["close", "old version", "a second reply", "garbage"],
)
async def test_a_connection_that_cannot_be_trusted_is_not_used_again(first):
    async with raw_server(first, EMPTY_OBJECT) as server:
        transport = transport_to(server.port)
        with contextlib.suppress(LLMError):
            await post(transport)
        assert (await post(transport)).content == b"{}"
        assert server.connections == 2
        await transport.aclose()


async def test_a_connection_that_the_server_closed_while_idle_is_replaced():
    async with raw_server(EMPTY_OBJECT, EMPTY_OBJECT, close=True) as server:
        transport = transport_to(server.port)
        for _ in range(2):
            await post(transport)
            await asyncio.sleep(0.05)  # the server's end arrives
        assert server.connections == 2
        await transport.aclose()


async def test_an_old_idle_connection_is_replaced(monkeypatch):
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    async with raw_server(EMPTY_OBJECT, EMPTY_OBJECT) as server:
        transport = transport_to(server.port)
        await post(transport)
        await post(transport)
        assert server.connections == 2
        await transport.aclose()


async def test_the_next_address_is_tried_when_one_refuses():
    async with raw_server(EMPTY_OBJECT) as server:
        transport = transport_to(server.port, addresses=["::1", "127.0.0.1"])
        assert (await post(transport)).status_code == 200
        await transport.aclose()


async def test_ih_10_only_what_the_provider_reads_is_passed_on():
    reply = OK + b"Content-Length: 2\r\nSet-Cookie: a=b\r\nLocation: http://x\r\nRetry-After: 7\r\n\r\n{}"
    async with raw_server(reply) as server:
        transport = transport_to(server.port)
        headers = (await post(transport)).headers
        assert headers["retry-after"] == "7"
        assert "set-cookie" not in headers
        assert "location" not in headers
        await transport.aclose()


async def test_ih_10_a_key_cannot_smuggle_headers():
    async with raw_server(EMPTY_OBJECT) as server:
        with pytest.raises(EndpointRefused, match="API key"):
            OpenAICompatible(
                f"http://127.0.0.1:{server.port}/v1",
                api_key="key\r\nX-Smuggled: yes",
                allowed_hosts=["127.0.0.1"],
                policy=RetryPolicy(max_attempts=1),
            )
        assert server.heads == []


@pytest.mark.parametrize(
    "url",
    ["http://localhost:1/v1", "http://other:{port}/v1", "https://localhost:{port}/v1", "http://localhost/v1"],
)
async def test_ih_10_a_request_to_another_origin_is_stopped(url):
    async with raw_server(EMPTY_OBJECT) as server:
        transport = transport_to(server.port)
        with pytest.raises(LLMRefused, match="another server"):
            await post(transport, url.format(port=server.port))
        assert server.connections == 0


@pytest.mark.parametrize("host", ["xn--bcher-kva.example", "models.example.", "MODELS.example", "[::1]"])
async def test_a_host_name_is_the_same_however_it_is_spelled(host):
    async with raw_server(EMPTY_OBJECT) as server:
        checked = Endpoint(f"http://{host}:{server.port}/v1", "http", host.lower().strip(".[]"), server.port)
        transport = PinnedTransport(checked, lambda: ["127.0.0.1"], max_bytes=LIMIT, connect_seconds=5)
        assert (await post(transport)).status_code == 200
        await transport.aclose()


@pytest.mark.parametrize("charset", ["zlib", "bz2", "hex", "nonsense", "undefined"])
async def test_lj_07_the_named_charset_of_an_error_is_not_believed(charset):
    # A text decoder named zlib or bz2 would unpack the body, past every limit.
    body = b"UPSTREAM"
    head = (
        f"HTTP/1.1 500 Oh\r\nContent-Type: application/json; charset={charset}\r\nContent-Length: {len(body)}"
    )
    async with raw_server(head.encode() + HEAD_END + body) as server:
        transport = transport_to(server.port)
        http = httpx2.AsyncClient(transport=transport)
        response = await http.post(f"http://localhost:{server.port}/v1/x", content=b"{}")
        assert response.text == "UPSTREAM"
        await http.aclose()


@pytest.mark.parametrize("status", [b"000", b"042", b"599", b"600", b"999"])
async def test_odd_status_codes_are_named_errors(status):
    async with raw_server(b"HTTP/1.1 " + status + b" Odd\r\nContent-Length: 2\r\n\r\n{}") as server:
        source = OpenAICompatible(
            f"http://127.0.0.1:{server.port}/v1",
            allowed_hosts=["127.0.0.1"],
            policy=RetryPolicy(max_attempts=1, attempt_seconds=3),
        )
        with pytest.raises((LLMRefused, LLMServerFault, LLMUnparsable, LLMUnreachable)):
            await source.complete(ChatRequest(model="m", messages=(Message("user", "x"),)))
        await source.aclose()


# --- TLS ----------------------------------------------------------------------------------------------------
NAME = "models.example.org"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for NAME, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("the program openssl, which makes a certificate for this test, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = subprocess.run(
        [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(cert)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return cert, key


def server_side(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


async def test_tls_asks_for_the_name_and_keeps_the_connection(certificate):
    names: list[str | None] = []
    context = server_side(certificate)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    async with raw_server(EMPTY_OBJECT, EMPTY_OBJECT, tls=context) as server:
        transport = transport_to(server.port, NAME, ssl.create_default_context(cafile=certificate[0]))
        for _ in range(2):
            assert (await post(transport)).content == b"{}"
        assert names == [NAME]  # one handshake for two requests, to the address 127.0.0.1 under this name
        await transport.aclose()


@pytest.mark.parametrize("host", ["other.example.org", "127.0.0.1"])
async def test_ih_10_a_certificate_for_another_name_is_refused(certificate, host):
    async with raw_server(EMPTY_OBJECT, tls=server_side(certificate)) as server:
        transport = transport_to(server.port, host, ssl.create_default_context(cafile=certificate[0]))
        with pytest.raises(LLMUnreachable, match="certificate"):
            await post(transport)
        assert server.heads == []


async def test_ih_10_an_unknown_authority_is_refused_by_default(certificate):
    async with raw_server(EMPTY_OBJECT, tls=server_side(certificate)) as server:
        checked = endpoint(server.port, NAME, "https")
        transport = PinnedTransport(checked, lambda: ["127.0.0.1"], max_bytes=LIMIT, connect_seconds=5)
        with pytest.raises(LLMUnreachable, match="certificate"):
            await post(transport)
        assert server.heads == []
