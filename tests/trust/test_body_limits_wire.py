"""IH-06 on the wire: the web server itself, spoken to by raw sockets, answers before a long body has come."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from django.db import connections

from reasonaudit import handler
from reasonaudit.asgi import application

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1024 * 1024
PATIENCE = 30


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(handler, "_keep_connections", connections.close_all)
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    end = time.monotonic() + PATIENCE
    while not server.started and time.monotonic() < end:
        time.sleep(0.01)
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)
    bound.close()


def opened(port: int, *lines: str) -> socket.socket:
    wire = socket.create_connection(("127.0.0.1", port), PATIENCE)
    head = ["POST /api/v1/runs/ HTTP/1.1", "Host: testserver", "Content-Type: application/json", *lines]
    wire.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
    return wire


def answer(wire: socket.socket) -> http.client.HTTPResponse:
    response = http.client.HTTPResponse(wire)
    response.begin()
    return response


@pytest.mark.parametrize("expect", ["Expect: 100-continue", "X-Nothing: 1"])
def test_ih_06_the_answer_comes_before_the_body(port: int, expect: str) -> None:
    with opened(port, f"Content-Length: {64 * MIB}", expect) as wire:
        response = answer(
            wire
        )  # http.client passes over a "100 Continue"; none is sent: see the raw bytes below
        assert response.status == 413
        assert b'"code":"too_large"' in response.read().replace(b" ", b"")


def test_ih_06_nobody_is_told_to_go_on(port: int) -> None:
    with opened(port, f"Content-Length: {64 * MIB}", "Expect: 100-continue") as wire:
        assert wire.recv(12) == b"HTTP/1.1 413"


def test_ih_06_a_browser_that_sends_all_first_reads_the_refusal_and_goes_on(port: int) -> None:
    """A connection that broke off would look like a lost network, and the page would send it again for ever."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", "/api/v1/runs/", b"x" * (20 * MIB), {"Content-Type": "application/json"})
    refused = connection.getresponse()
    assert refused.status == 413
    refused.read()
    before = connection.sock
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    assert connection.sock is before
    connection.close()


def test_ih_06_pieces_without_a_length_are_refused_while_they_come(port: int) -> None:
    with opened(port, "Transfer-Encoding: chunked") as wire:
        for _ in range(4):
            wire.sendall(b"100000\r\n" + b"x" * MIB + b"\r\n")
        assert answer(wire).status == 413  # the last piece was never announced
