"""The provider against a real server that misbehaves."""

import asyncio
import contextlib
import logging
import socket
import time
import traceback
import tracemalloc

import httpx2
import pytest

from auditing.llm import errors
from auditing.llm.completion import parse_completion
from auditing.llm.guard import EndpointRefused
from auditing.llm.protocol import ChatRequest, Message
from auditing.llm.providers.openai_compatible import GIVE_UP_AFTER, OpenAICompatible
from auditing.llm.retry import RetryPolicy

KEY = "sk-canary-5f1d0c"
QUICK = RetryPolicy(max_attempts=3, attempt_seconds=5, total_seconds=20, backoff_base=0.01, backoff_cap=0.02)


def provider(base_url: str, **options) -> OpenAICompatible:
    settings = {"api_key": KEY, "allowed_hosts": ["127.0.0.1"], "policy": QUICK, **options}
    return OpenAICompatible(base_url, **settings)


def request(text: str = "hello") -> ChatRequest:
    return ChatRequest(model="scripted", messages=(Message("user", text),), max_tokens=16)


async def ask(server, text: str = "hello", **options):
    return await ask_at(server.base_url, text, **options)


async def ask_at(base_url: str, text: str = "hello", **options):
    source = provider(base_url, **options)
    try:
        return await source.complete(request(text))
    finally:
        await source.aclose()


async def test_a_reply_comes_as_raw_bytes(server):
    reply = await ask(server)
    completion = parse_completion(reply.body)
    assert completion.model == "scripted"
    assert completion.revision == "scripted-1"
    assert completion.finish_reason == "stop"
    assert completion.completion_tokens == 12
    assert reply.attempts == 1
    assert reply.request_body == request().body()


@pytest.mark.parametrize("key", ["sk-\u2019abc", "sk-abc\n", "sk\x00"])
def test_a_key_that_cannot_be_one_is_refused_and_not_shown(key):
    with pytest.raises(EndpointRefused, match="Check LLM_API_KEY") as caught:
        provider("http://127.0.0.1:1/v1", api_key=key)
    assert key not in str(caught.value)


async def test_a_list_of_models_that_is_none_is_named(server, monkeypatch):
    source = provider(server.base_url)
    monkeypatch.setattr(source, "_guarded", answer_with(b"<html>"))
    with pytest.raises(errors.LLMUnparsable, match="ends with /v1"):
        await source.models()
    await source.aclose()


def answer_with(body: bytes):
    async def guarded(call, seconds):
        call.close()
        return httpx2.Response(200, content=body)

    return guarded


async def test_models_are_listed(server):
    source = provider(server.base_url)
    assert await source.models() == ["scripted"]
    await source.aclose()


async def test_connections_are_kept_and_shared(server):
    source = provider(server.base_url, concurrency=4)
    before = server.stats()
    await asyncio.gather(*[source.complete(request(f"n {n}")) for n in range(40)])
    after = server.stats()
    await source.aclose()
    assert after["requests"] - before["requests"] == 40
    assert after["connections"] - before["connections"] <= 4 + 2  # two of them are these stats calls


async def test_lj_06_429_is_asked_again_after_retry_after(server):
    server.change(behaviours=[{"do": "status", "status": 429, "headers": {"Retry-After": "0.4"}, "nth": [1]}])
    started = time.monotonic()
    reply = await ask(server, "limited once")
    assert reply.attempts == 2
    assert time.monotonic() - started >= 0.4


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503])
async def test_lj_06_server_faults_are_asked_again(server, status):
    server.change(behaviours=[{"do": "status", "status": status, "nth": [1, 2]}])
    assert (await ask(server, f"fault {status}")).attempts == 3


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_lj_06_refusals_are_final(server, status):
    server.change(behaviours=[{"do": "status", "status": status}])
    with pytest.raises(errors.LLMRefused) as caught:
        await ask(server, f"refused {status}")
    assert caught.value.attempts == 1
    assert b"UPSTREAM-SECRET" in caught.value.body  # kept for the record ...
    assert "UPSTREAM" not in str(caught.value)  # ... and not shown (IH-10)


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_lj_06_key_and_credit_faults_pause_the_run(server, status):
    server.change(behaviours=[{"do": "status", "status": status}])
    with pytest.raises(errors.LLMPaused, match="resume") as caught:
        await ask(server, f"paused {status}")
    assert caught.value.attempts == 1


async def test_wrong_key_pauses_and_right_key_works(server):
    server.change(api_key=KEY)
    assert (await ask(server)).attempts == 1
    with pytest.raises(errors.LLMPaused, match="API key"):
        await ask(server, api_key="another")


async def test_lj_07_a_hanging_server_ends_at_the_deadline(server):
    server.change(behaviours=[{"do": "hang"}])
    policy = RetryPolicy(max_attempts=2, attempt_seconds=0.2, total_seconds=5, backoff_base=0.01)
    started = time.monotonic()
    with pytest.raises(errors.LLMTimeout):
        await ask(server, "hang", policy=policy)
    assert 0.4 <= time.monotonic() - started < 4


async def test_lj_07_a_dripping_body_ends_at_the_deadline(server):
    # Every byte comes well within any read timeout; only a deadline over the whole reply ends this.
    server.change(behaviours=[{"do": "drip", "interval": 0.02, "size": 10_000}])
    policy = RetryPolicy(max_attempts=1, attempt_seconds=0.5, total_seconds=5)
    started = time.monotonic()
    with pytest.raises(errors.LLMTimeout):
        await ask(server, "drip", policy=policy)
    assert time.monotonic() - started < 4


async def test_lj_07_an_endless_body_stops_at_the_limit(server):
    server.change(behaviours=[{"do": "huge", "megabytes": 1000}])
    with pytest.raises(errors.LLMReplyTooLarge, match="1,048,576 bytes") as caught:
        await ask(server, "huge", max_reply_bytes=1 << 20)
    assert caught.value.attempts == 1


async def test_lj_07_a_gzip_bomb_stops_at_the_limit(server):
    server.change(behaviours=[{"do": "gzip_bomb", "megabytes": 64}])
    tracemalloc.start()
    with pytest.raises(errors.LLMReplyTooLarge):
        await ask(server, "bomb", max_reply_bytes=1 << 20)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 << 20  # bytes: the 64 MB were never unpacked


async def test_lj_07_an_endless_head_stops_at_the_limit():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    source = provider(
        f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1",
        max_reply_bytes=1 << 20,
        policy=RetryPolicy(max_attempts=1, attempt_seconds=5),
    )
    with pytest.raises((errors.LLMReplyTooLarge, errors.LLMUnparsable)):
        await source.complete(request())
    await source.aclose()
    listener.close()


async def test_a_small_gzip_reply_is_read_although_it_was_not_asked_for(server):
    server.change(behaviours=[{"do": "gzip"}])
    assert parse_completion((await ask(server, "gzip")).body).model == "scripted"


@pytest.mark.parametrize("do", ["truncated_body", "reset"])
async def test_lj_06_broken_connections_are_asked_again(server, do):
    server.change(behaviours=[{"do": do, "nth": [1, 2]}])
    assert (await ask(server, do)).attempts == 3


@pytest.mark.parametrize(
    ("do", "sentence"),
    [
        ("html", "web page"),
        ("truncated_json", "not complete JSON"),
        ("bad_utf8", "not valid UTF-8"),
        ("empty_body", "empty body"),
        ("error_object", "an error object"),
        ("no_choices", "no choices"),
    ],
)
async def test_lj_08_bodies_that_are_no_completion_are_named(server, do, sentence):
    server.change(behaviours=[{"do": do}])
    reply = await ask(server, do)
    with pytest.raises(errors.LLMUnparsable, match=sentence) as caught:
        parse_completion(reply.body)
    assert caught.value.body == reply.body
    assert "UPSTREAM" not in str(caught.value)


async def test_ih_09_redirects_are_refused(server):
    server.change(behaviours=[{"do": "redirect", "location": server.base_url + "/elsewhere"}])
    before = server.stats()["requests"]
    with pytest.raises(errors.LLMRefused, match="redirects"):
        await ask(server, "redirect")
    assert server.stats()["requests"] == before + 1


async def test_ih_09_a_name_that_turns_private_is_refused_at_the_connection(server):
    answers = iter([["8.8.8.8"], ["127.0.0.1"], ["127.0.0.1"]])
    asked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    # The name was public when it was configured (first answer) and is private when it is used.
    port = server.base_url.rsplit(":", 1)[1]
    source = provider(f"http://models.example.org:{port}", allowed_hosts=[], resolver=resolver)
    assert resolver("models.example.org", 80) == ["8.8.8.8"]
    before = server.stats()["requests"]
    with pytest.raises(errors.LLMRefused, match="private network"):
        await source.complete(request())
    assert asked == ["models.example.org", "models.example.org"]
    assert server.stats()["requests"] == before


async def test_ih_10_requests_to_another_server_are_stopped(server):
    source = provider(server.base_url)
    with pytest.raises(errors.LLMRefused, match="another server"):
        await source._guarded(source._connected().post("http://models.example.org/v1/x", cast_to=object), 5)
    await source.aclose()


async def test_a_server_that_is_not_there_is_named_and_pauses_the_run():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    source = provider(f"http://127.0.0.1:{port}/v1", policy=RetryPolicy(max_attempts=2, backoff_base=0.001))
    for _ in range(GIVE_UP_AFTER - 1):
        with pytest.raises(errors.LLMUnreachable, match=r"Is the model server running there\?") as caught:
            await source.complete(request())
        assert caught.value.attempts == 2
    with pytest.raises(errors.LLMPaused, match=r"5 calls in a row failed.*Is the model server running"):
        await source.complete(request())


@pytest.mark.parametrize(
    ("status", "pauses"),
    [(404, True), (408, True), (429, True), (500, True), (400, False), (413, False), (422, False)],
)
async def test_lj_12_a_server_that_only_fails_pauses_the_run(server, status, pauses):
    server.change(behaviours=[{"do": "status", "status": status}])
    source = provider(server.base_url, policy=RetryPolicy(max_attempts=1))
    for n in range(GIVE_UP_AFTER - 1):
        with pytest.raises(errors.LLMError) as caught:
            await source.complete(request(f"only fails {n}"))
        assert not isinstance(caught.value, errors.LLMPaused)
    with pytest.raises(errors.LLMError) as caught:
        await source.complete(request("only fails"))
    assert isinstance(caught.value, errors.LLMPaused) is pauses
    await source.aclose()


async def test_lj_12_a_server_that_only_sends_web_pages_pauses_the_run(server):
    server.change(behaviours=[{"do": "html"}])
    source = provider(server.base_url)
    for n in range(GIVE_UP_AFTER - 1):
        assert (await source.complete(request(f"page {n}"))).body.startswith(b"<")
    with pytest.raises(errors.LLMPaused, match=r"5 calls in a row failed.*web page.*ends with /v1") as caught:
        await source.complete(request("page"))
    assert caught.value.body.startswith(b"<")
    await source.aclose()


async def test_lj_12_a_server_that_hangs_pauses_the_run_before_every_attempt_is_used_up(server):
    server.change(behaviours=[{"do": "hang", "contains": "hangs"}])
    policy = RetryPolicy(max_attempts=50, attempt_seconds=0.1, backoff_base=0.001, backoff_cap=0.002)
    source = provider(server.base_url, policy=policy, concurrency=2 * GIVE_UP_AFTER)
    before = server.stats()["requests"]
    ended = await asyncio.gather(
        *(source.complete(request(f"hangs {n}")) for n in range(2 * GIVE_UP_AFTER)), return_exceptions=True
    )
    assert all(isinstance(error, errors.LLMPaused) for error in ended)
    assert "10 requests in a row without a reply" in str(ended[0]) + str(ended[-1])
    assert server.stats()["requests"] - before < 5 * len(ended), "of 500 attempts"
    await source.aclose()


async def test_lj_12_one_reply_forgets_the_silence(server):
    server.change(behaviours=[{"do": "hang", "contains": "hangs"}])
    source = provider(
        server.base_url,
        policy=RetryPolicy(max_attempts=2, attempt_seconds=0.05, backoff_base=0.001),
        concurrency=1,
    )
    for n in range(GIVE_UP_AFTER):
        with pytest.raises(errors.LLMTimeout):
            await source.complete(request(f"hangs {n}"))
        await source.complete(request(f"works {n}"))
    await source.aclose()


async def test_lj_12_one_success_forgets_the_failures(server):
    server.change(behaviours=[{"do": "status", "status": 500, "contains": "fails"}])
    source = provider(server.base_url, policy=RetryPolicy(max_attempts=1))
    for n in range(3 * GIVE_UP_AFTER):
        if n % (GIVE_UP_AFTER - 1) == 0:
            await source.complete(request("works"))
        else:
            with pytest.raises(errors.LLMServerFault):
                await source.complete(request("fails"))
    await source.aclose()


async def test_lj_12_concurrency_falls_on_429_and_rises_again(server):
    server.change(latency=0.01, max_in_flight=4, retry_after=0.02)
    source = provider(
        server.base_url,
        concurrency=16,
        policy=RetryPolicy(max_attempts=50, total_seconds=60, backoff_base=0.01),
    )
    replies = await asyncio.gather(*[source.complete(request(f"jam {n}")) for n in range(60)])
    assert len(replies) == 60
    assert source.limiter.limit < 16
    server.change()
    await asyncio.gather(*[source.complete(request(f"free {n}")) for n in range(400)])
    assert source.limiter.limit == 16
    await source.aclose()


async def test_cancelling_a_call_frees_its_place(server):
    server.change(behaviours=[{"do": "hang", "contains": "stuck"}])
    source = provider(server.base_url, concurrency=1)
    stuck = asyncio.create_task(source.complete(request("stuck")))
    await asyncio.sleep(0.1)
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    assert (await source.complete(request("next"))).attempts == 1
    await source.aclose()


async def test_lj_18_the_key_is_in_no_text(server, caplog):
    server.change(behaviours=[{"do": "status", "status": 500}])
    source = provider(server.base_url)
    patient = " ".join(["canary", "text", "of", "a", "patient"])  # so that the source line does not hold it
    caplog.set_level(logging.DEBUG)
    with pytest.raises(errors.LLMServerFault) as caught:
        await source.complete(request(patient))
    shown = (
        "".join(traceback.format_exception(caught.value))
        + repr(source)
        + str(source.identity())
        + caplog.text
    )
    assert KEY not in shown
    assert patient not in shown
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


async def test_only_needed_headers_are_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    heads: list[bytes] = []

    async def record(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(record, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    source = provider(f"http://127.0.0.1:{port}/v1")
    await source.complete(request())
    await source.aclose()
    listener.close()
    names = {line.split(b":")[0].lower() for line in heads[0].split(b"\r\n")[1:] if line}
    assert names <= {
        b"host", b"authorization", b"content-type", b"content-length", b"accept", b"user-agent",
        b"connection", b"accept-encoding",
    }  # fmt: skip
    assert b"authorization: bearer " + KEY.encode() in heads[0].lower()


async def test_a_body_without_a_length_ends_with_the_connection():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    source = provider(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1")
    assert (await source.complete(request())).body == b"all of it"
    await source.aclose()
    listener.close()


async def test_https_to_a_server_without_tls_is_named():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    with pytest.raises(errors.LLMUnreachable, match=f"TLS handshake with https://127.0.0.1:{port} failed"):
        await ask_at(f"https://127.0.0.1:{port}/v1")
    listener.close()


async def test_garbage_instead_of_http_is_named():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        await writer.drain()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    source = provider(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1")
    with pytest.raises(errors.LLMUnparsable, match="not HTTP"):
        await source.complete(request())
    await source.aclose()
    listener.close()


def test_the_provider_works_from_one_event_loop_after_another(server):
    source = provider(server.base_url)
    for _ in range(2):
        assert asyncio.run(source.complete(request())).attempts == 1
