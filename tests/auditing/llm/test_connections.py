"""Parsing of replies that break HTTP, by accident or on purpose, fed by hand so that every cut is exact."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Sequence

import pytest

from auditing.llm import connections
from auditing.llm.connections import Connection, Reply
from auditing.llm.errors import (
    LLMReplyTooLarge,
    LLMUnparsable,
    LLMUnreachable,
)

OK = b"HTTP/1.1 200 OK\r\n"
EMPTY_OBJECT = OK + b"Content-Length: 2\r\n\r\n{}"
HEAD_END = b"\r\n\r\n"
LIMIT = 100_000


class NoTransport(asyncio.Transport):
    """Takes what is written and remembers whether it was closed."""

    aborted = False

    def write(self, data: bytes) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True


async def fed(pieces: Sequence[bytes], *, end: bool = False, limit: int = LIMIT) -> tuple[Reply, Connection]:
    """Return the reply that a connection makes of the pieces; `end` closes the server's side after them."""
    connection = Connection(limit)
    connection.connection_made(NoTransport())
    exchange = asyncio.ensure_future(connection.exchange(b"POST /v1 HTTP/1.1\r\n\r\n", b""))
    await asyncio.sleep(0)
    for piece in pieces:
        connection.data_received(piece)
    if end:
        connection.eof_received()
        connection.connection_lost(None)
    return await asyncio.wait_for(exchange, 5), connection


READABLE = [
    ("a length", EMPTY_OBJECT, False, 200, b"{}"),
    ("chunks", OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", False, 200, b"abcde"),
    ("chunk extensions", OK + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n", False, 200, b"abc"),
    ("interim answers", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\n\r\n"
     + EMPTY_OBJECT, False, 200, b"{}"),
    ("no body", b"HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", False, 204, b""),
    ("the end as limit", OK + b"X: y\r\n\r\nall of it", True, 200, b"all of it"),
    ("no header at all", OK + b"\r\nall of it", True, 200, b"all of it"),
    ("gzip", OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"all of it"), True, 200, b"all of it"),
]  # fmt: skip


@pytest.mark.parametrize("cut", ["whole", "bytes"])
@pytest.mark.parametrize(
    ("data", "end", "status", "body"), [c[1:] for c in READABLE], ids=[c[0] for c in READABLE]
)
async def test_replies_are_read_however_they_arrive(data, end, status, body, cut):
    pieces = [data] if cut == "whole" else [bytes([byte]) for byte in data]
    reply, _ = await fed(pieces, end=end)
    assert (reply.status, reply.body) == (status, body)


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
NOT_HTTP = [
    ("two lengths", OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"),
    ("length and chunks", OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("chunks and length", OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
    ("negative length", OK + b"Content-Length: -1\r\n\r\n"),
    ("signed length", OK + b"Content-Length: +2\r\n\r\n{}"),
    ("hexadecimal length", OK + b"Content-Length: 0x2\r\n\r\n{}"),
    ("endless length", OK + b"Content-Length: 99999999999999999999999\r\n\r\n"),
    ("no chunk size", CHUNKED + b"zz\r\n"),
    ("endless chunk size", CHUNKED + b"fffffffffffffffff\r\n"),
    ("negative chunk size", CHUNKED + b"-1\r\n"),
    ("chunk longer than said", CHUNKED + b"2\r\nabcd\r\n0\r\n\r\n"),
    ("space before the colon", OK + b"Content-Length : 2\r\n\r\n{}"),
    ("no colon", OK + b"Content-Length\r\n\r\n"),
    ("folded header", OK + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"),
    ("NUL in a header", OK + b"X: a\0b\r\nContent-Length: 2\r\n\r\n{}"),
    ("bare CR in a header", OK + b"X: a\rY: b\r\nContent-Length: 2\r\n\r\n{}"),
    ("unknown version", b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    ("HTTP/2 preface", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    ("a TLS alert", b"\x15\x03\x01\x00\x02\x02\x46"),
    ("no status", b"HTTP/1.1 \r\nContent-Length: 2\r\n\r\n{}"),
    ("a request", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    (
        "another protocol",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nxx",
    ),
]


@pytest.mark.parametrize("data", [case[1] for case in NOT_HTTP], ids=[case[0] for case in NOT_HTTP])
async def test_lj_08_what_is_no_clean_http_is_refused(data):
    with pytest.raises(LLMUnparsable):
        await fed([data], end=True)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.",
        OK + b"Retry-After: 1\r\nContent-Le",  # one whole header, but not the whole head
        OK + b"Content-Length: 5\r\n\r\nabc",
        CHUNKED + b"3\r\nabc\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ],
)
async def test_lj_06_a_reply_that_ends_early_is_no_reply(data):
    with pytest.raises(LLMUnreachable, match="before the reply was complete"):
        await fed([data] if data else [], end=True)


@pytest.mark.parametrize(
    "body",
    [gzip.compress(b"a" * 500)[:-9], gzip.compress(b"a") + b"rest", b"no gzip", gzip.compress(b"a") * 2],
)
async def test_lj_08_a_damaged_compressed_reply_is_refused(body):
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    with pytest.raises(LLMUnparsable, match="damaged"):
        await fed([head + body])


async def test_lj_08_an_unknown_compression_is_refused():
    with pytest.raises(LLMUnparsable, match="compression"):
        await fed([OK + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"])


async def test_lj_07_a_bomb_cut_at_the_limit_does_not_go_off():
    # The first chunk fills the limit to the byte; the second holds the bomb. Both come in one packet.
    bomb = gzip.compress(bytes(60 << 20))
    unpacker = zlib.decompressobj(47)
    unpacker.decompress(bomb, LIMIT + 1)
    cut = len(bomb) - len(unpacker.unconsumed_tail)
    head = CHUNKED.replace(HEAD_END, b"\r\nContent-Encoding: gzip" + HEAD_END)
    packet = head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (bomb[:cut], bomb[cut:]))
    assert len(packet) < LIMIT
    tracemalloc.start()
    with pytest.raises(LLMReplyTooLarge):
        await fed([packet])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20  # bytes, against 60 MB unpacked


@pytest.mark.parametrize(
    "data",
    [
        OK + b"".join(b"X-%d: y\r\n" % n for n in range(connections.MAX_HEADERS + 1)) + b"\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * (LIMIT // 20),
        CHUNKED + b"1;" + b"x" * LIMIT,
        OK + b"Content-Length: 999999\r\n\r\n" + b"x" * LIMIT,
    ],
    ids=["headers", "interim answers", "chunk extension", "body"],
)
async def test_lj_07_every_part_of_a_reply_counts_towards_the_limit(data):
    with pytest.raises(LLMReplyTooLarge):
        await fed([data])


async def test_trailers_are_not_headers():
    trailed = CHUNKED + b"2\r\n{}\r\n0\r\nRetry-After: 9\r\n\r\n"
    reply, _ = await fed([trailed])
    assert [name for name, _ in reply.headers] == [b"transfer-encoding"]


@pytest.mark.parametrize(
    "more", [EMPTY_OBJECT, b"HTTP/1.1 500 Oh\r\nRetry-After: 9\r\nX", b"garbage", b"\x00"]
)
@pytest.mark.parametrize("together", [True, False])
async def test_bytes_after_the_reply_change_nothing_and_end_the_connection(more, together):
    pieces = [EMPTY_OBJECT + more] if together else [EMPTY_OBJECT, more]
    reply, connection = await fed(pieces)
    assert (reply.status, reply.body) == (200, b"{}")
    assert reply.headers == [(b"content-length", b"2")]
    assert connection.closed


async def test_a_closed_connection_says_so_instead_of_waiting():
    connection = Connection(LIMIT)
    connection.connection_made(NoTransport())
    connection.data_received(b"SSH-2.0-hello\r\n")  # before any request
    assert connection.closed
    with pytest.raises(LLMUnreachable):
        await asyncio.wait_for(connection.exchange(b"POST /v1 HTTP/1.1\r\n\r\n", b""), 1)
