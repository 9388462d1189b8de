"""A small real HTTP server that speaks the chat completions API, with faults on request. Only the
standard library.

Run it in a process of its own, so that the code under test and its benchmark share nothing with it:

    with start_scripted_server(latency=0.02, labels={"rule": "hash"}) as server:
        ... server.base_url ...          # http://127.0.0.1:PORT/v1
        server.stats()["keys"]           # requests seen per key
        server.requests()                # the request log, one dict per request

or by hand: ``python tests/scripted_server.py --scenario FILE.json`` (prints the base URL on the first line).

Scenario (a JSON object; every field has a default)
    latency       seconds before each reply, as a mean (0)
    model         name in /v1/models and in replies ("scripted")
    api_key       if set, any other bearer key gets 401
    max_in_flight above this many open requests at once the server answers 429 (no limit)
    retry_after   value of the Retry-After header of those 429 replies (none)
    labels        {"rule": "hash"}: label by a hash of the messages, evenly over the four;
                  {"rule": "constant", "label": "neutral"};
                  {"rule": "table", "table": [["part of user message", "label"], ...], "default": ...}
    verdicts      answers to direct judges (requests whose schema has a verdict), same rules as labels:
                  {"rule": "hash"} (evenly trustworthy and problematic), "constant" or "table"
    reason        the reason that judges give ("Because.")
    logprobs      when asked: "pieces" (label in 3-letter tokens, the default), "whole" or "none"
    check         copy the check code of the prompt into the reply (true)
    check_pattern regular expression with one group that finds the check code in the messages
    log           file to write the request log to, JSON lines (written as the requests arrive)
    behaviours    list of rules, the first that matches decides; each has "do" and, all optional,
                  "contains" (substring of the body), "nth" (list: only the nth requests of the same key, from
                  1), "requests" ([from, to] by the server's request count, from 1), "share" (0..1 of the
                  keys)

What "do" can say: status (with "status", "headers", "body"), hang, drip ("interval", "size"), reset, html,
truncated_json, truncated_body, gzip_bomb ("megabytes"), huge ("megabytes"), gzip, bad_utf8, redirect
("location"), empty_body, error_object, no_choices, and completions with a fault: empty, length, refusal,
reasoning_only, prose, fenced, thinking, wrong_schema, extra_field, duplicate_field, unknown_label,
wrong_check, echo, obey (answers with the last JSON object that stands in the user message, as a model that
follows an injected instruction would).

The key of a request is the SHA-256 of its messages and model. GET /_scripted/stats gives counts, POST
/_scripted/scenario replaces the scenario of the running server.
"""

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LABELS = ("contradiction", "neutral", "implied", "entailment")
VERDICTS = ("trustworthy", "problematic")
CHECK_PATTERN = r"check code[^0-9a-f]*([0-9a-f]{8})\b"
HEADER_END = b"\r\n\r\n"


class Scripted:
    """The state shared by all connections: scenario, counts, log."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.counts: Counter[str] = Counter()
        self.total = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.connections = 0
        self.statuses: Counter[int] = Counter()
        self.log: Any = None
        self.load(scenario)

    def load(self, scenario: dict[str, Any]) -> None:
        """Take a scenario; the counts stay."""
        self.latency = float(scenario.get("latency", 0.0))
        self.model = scenario.get("model", "scripted")
        self.api_key = scenario.get("api_key")
        self.max_in_flight = scenario.get("max_in_flight")
        self.retry_after = scenario.get("retry_after")
        self.labels = scenario.get("labels", {"rule": "hash"})
        self.verdicts = scenario.get("verdicts", {"rule": "hash"})
        self.reason = scenario.get("reason", "Because.")
        self.logprobs = scenario.get("logprobs", "pieces")
        self.check = scenario.get("check", True)
        self.check_pattern = re.compile(scenario.get("check_pattern", CHECK_PATTERN), re.IGNORECASE)
        self.behaviours = scenario.get("behaviours", [])
        if scenario.get("log") and self.log is None:
            self.log = open(scenario["log"], "a", encoding="utf-8", buffering=1)  # noqa: SIM115

    def behaviour(self, body: str, key: str) -> dict[str, Any]:
        """Return the first matching rule, or an empty one."""
        for rule in self.behaviours:
            if "contains" in rule and rule["contains"] not in body:
                continue
            if "nth" in rule and self.counts[key] not in rule["nth"]:
                continue
            if "requests" in rule and not rule["requests"][0] <= self.total <= rule["requests"][1]:
                continue
            if "share" in rule and int(key[:8], 16) / 0xFFFFFFFF >= rule["share"]:
                continue
            return dict(rule)
        return {}

    def label(self, user: str, key: str, rules: dict[str, Any], words: tuple[str, ...]) -> str:
        """Return the label or verdict for a request."""
        rule = rules["rule"]
        if rule == "constant":
            return str(rules["label"])
        if rule == "table":
            for substring, label in rules["table"]:
                if substring in user:
                    return str(label)
            return str(rules.get("default", words[1]))
        return words[int(key[-4:], 16) % len(words)]

    def completion(self, request: dict[str, Any], key: str, do: str) -> bytes:
        """Return the body of a chat completion."""
        messages = request.get("messages", [])
        user = "\n".join(m["content"] for m in messages if m["role"] == "user")
        schema = (request.get("response_format") or {}).get("json_schema", {}).get("schema", {})
        judging = "verdict" in schema.get("properties", {})
        name = "verdict" if judging else "label"
        if judging:
            segment = user.rpartition("<<<SEGMENT ")[2]  # what is judged, not what stands before it
            label = self.label(segment, key, self.verdicts, VERDICTS)
        else:
            label = self.label(user, key, self.labels, LABELS)
        found = self.check_pattern.search("\n".join(m["content"] for m in messages)) if self.check else None
        fields: dict[str, str] = {"check": found.group(1)} if found else {}
        fields[name] = label
        if judging:
            fields["reason"] = self.reason
        message: dict[str, Any] = {"role": "assistant", "content": json.dumps(fields)}
        finish = "stop"
        if do == "empty":
            message["content"] = ""
        elif do == "length":
            message["content"], finish = f'{{"{name}": "ent', "length"
        elif do == "refusal":
            message["content"], message["refusal"] = None, "I cannot help with that."
        elif do == "reasoning_only":
            message["content"], message["reasoning_content"] = None, f"The label must be {label}."
        elif do == "prose":
            message["content"] = f"The relation is {label}."
        elif do == "fenced":
            message["content"] = f"```json\n{message['content']}\n```"
        elif do == "thinking":
            message["content"] = f'<think>Is it {{"label": "neutral"}}?</think>\n{message["content"]}'
        elif do == "wrong_schema":
            message["content"] = json.dumps({"relation": label})
        elif do == "extra_field":
            message["content"] = json.dumps({**fields, "note": "sure"})
        elif do == "duplicate_field":
            message["content"] = message["content"][:-1] + f', "{name}": "neutral"}}'
        elif do == "unknown_label":
            message["content"] = json.dumps({**fields, name: "supports"})
        elif do == "wrong_check":
            message["content"] = json.dumps({**fields, "check": "00000000"})
        elif do == "echo":
            message["content"] = user
        elif do == "obey":
            objects = re.findall(r"\{[^{}]*\}", user)
            message["content"] = objects[-1] if objects else message["content"]
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if request.get("logprobs") and self.logprobs != "none" and message["content"]:
            choice["logprobs"] = {"content": self.tokens(message["content"], label)}
        return json.dumps(
            {
                "id": f"chatcmpl-{self.total}",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": self.model,
                "system_fingerprint": "scripted-1",
                "choices": [choice],
                "usage": {
                    "prompt_tokens": len(user) // 4,
                    "completion_tokens": 12,
                    "total_tokens": len(user) // 4 + 12,
                },
            }
        ).encode()

    def tokens(self, content: str, label: str) -> list[dict[str, Any]]:
        """Return a token list for the content: the label gets 0.7 of the mass, the others 0.1 each."""
        head, sep, tail = content.rpartition(label)
        if not sep:
            return [{"token": content, "logprob": -0.1, "top_logprobs": []}]
        size = len(label) if self.logprobs == "whole" else 3
        logs = {word[:size]: -0.35667494393873245 if word == label else -2.302585092994046 for word in LABELS}
        first = {
            "token": label[:size],
            "logprob": logs[label[:size]],
            "top_logprobs": [{"token": token, "logprob": value} for token, value in logs.items()],
        }
        rest = [label[i : i + size] for i in range(size, len(label), size)]
        plain = [
            {"token": token, "logprob": 0.0, "top_logprobs": [{"token": token, "logprob": 0.0}]}
            for token in rest
        ]
        around = [{"token": token, "logprob": 0.0, "top_logprobs": []} for token in (head, tail)]
        return [around[0], first, *plain, around[1]]


def head(status: int, length: int | None, headers: dict[str, str] | None = None) -> bytes:
    """Return a response head; length None means that the caller frames the body itself."""
    lines = {
        "Content-Type": "application/json",
        **({} if length is None else {"Content-Length": str(length)}),
    }
    lines.update(headers or {})
    return (f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n").encode()


class Connection(asyncio.Protocol):
    """One keep-alive connection; answers one request at a time."""

    def __init__(self, state: Scripted) -> None:
        self.state = state
        self.buffer = b""
        self.transport: Any = None
        self.busy = False
        self.tasks: set[Any] = set()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.state.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        for task in self.tasks:
            task.cancel()
        if self.busy:
            self.done()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self.next_request()

    def next_request(self) -> None:
        end = self.buffer.find(HEADER_END)
        if end < 0:
            return
        first, _, rest = self.buffer[:end].decode("latin-1").partition("\r\n")
        headers = {
            k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in rest.split("\r\n"))
        }
        length = int(headers.get("content-length", "0"))
        start = end + len(HEADER_END)
        if len(self.buffer) < start + length:
            return
        body, self.buffer = self.buffer[start : start + length], self.buffer[start + length :]
        method, path, _ = first.split(" ", 2)
        self.route(method, path, headers, body)

    def route(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        state = self.state
        if path == "/_scripted/stats":
            self.write(200, json.dumps(stats(state)).encode())
        elif path == "/_scripted/scenario":
            state.load(json.loads(body))
            self.write(200, b"{}")
        elif path == "/v1/models":
            self.write(
                200, json.dumps({"object": "list", "data": [{"id": state.model, "object": "model"}]}).encode()
            )
        elif method == "POST" and path == "/v1/chat/completions":
            self.chat(headers, body)
        else:
            self.write(404, b'{"error": {"message": "no such path"}}')

    def chat(self, headers: dict[str, str], body: bytes) -> None:
        state = self.state
        request = json.loads(body)
        text = body.decode()
        canonical = json.dumps([request.get("model"), request.get("messages")], sort_keys=True)
        key = hashlib.sha256(canonical.encode()).hexdigest()
        self.busy = True
        state.total += 1
        state.counts[key] += 1
        state.in_flight += 1
        state.most_in_flight = max(state.most_in_flight, state.in_flight)
        rule = state.behaviour(text, key)
        if state.api_key and headers.get("authorization") != f"Bearer {state.api_key}":
            rule = {"do": "status", "status": 401}
        elif state.max_in_flight and state.in_flight > state.max_in_flight:
            wait = {} if state.retry_after is None else {"Retry-After": str(state.retry_after)}
            rule = {"do": "status", "status": 429, "headers": wait}
        if state.log is not None:
            entry = {
                "t": time.time(),
                "n": state.total,
                "key": key,
                "nth": state.counts[key],
                "do": rule.get("do", "answer"),
            }
            state.log.write(json.dumps(entry) + "\n")
        loop = asyncio.get_running_loop()
        # The selector rounds every wait up to whole milliseconds: half of one less makes the latency a mean.
        wait = max(0.0, state.latency - 0.0005)
        self.tasks = {loop.call_later(wait, self.answer, request, key, rule)}

    def answer(self, request: dict[str, Any], key: str, rule: dict[str, Any]) -> None:
        do = rule.get("do", "answer")
        fault = getattr(self, f"do_{do}", None)
        if fault is not None:
            fault(rule, request, key)
        else:
            self.write(200, self.state.completion(request, key, do))

    def done(self) -> None:
        self.busy = False
        self.state.in_flight -= 1

    def write(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, close: bool = False
    ) -> None:
        self.state.statuses[status] += 1
        if self.busy:
            self.done()
        if self.transport.is_closing():
            return
        self.transport.write(head(status, len(body), headers) + body)
        if close:
            self.transport.close()
        elif self.buffer:
            self.next_request()

    # --- faults -------------------------------------------------------------------------------------------
    def do_status(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = rule.get("body", '{"error": {"message": "UPSTREAM-SECRET scripted failure"}}')
        self.write(int(rule["status"]), body.encode(), rule.get("headers"))

    def do_hang(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        """Never answer; the client has to give up."""

    def do_drip(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        async def drip() -> None:
            body = b" " * int(rule.get("size", 1000)) + self.state.completion(request, key, "answer")
            self.transport.write(head(200, len(body)))
            for position in range(len(body)):
                self.transport.write(body[position : position + 1])
                await asyncio.sleep(float(rule.get("interval", 0.05)))
            self.done()

        self.tasks = {asyncio.ensure_future(drip())}

    def do_reset(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.transport.abort()

    def do_html(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.write(
            200,
            b"<!doctype html><html><body>Sign in UPSTREAM-SECRET</body></html>",
            {"Content-Type": "text/html"},
        )

    def do_truncated_json(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = self.state.completion(request, key, "answer")
        self.write(200, body[: len(body) // 2])

    def do_truncated_body(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = self.state.completion(request, key, "answer")
        self.done()
        self.transport.write(head(200, len(body)) + body[: len(body) // 2])
        self.transport.close()

    def do_gzip_bomb(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = gzip.compress(b"\0" * (int(rule.get("megabytes", 100)) << 20), 9)
        self.write(200, body, {"Content-Encoding": "gzip"})

    def do_gzip(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = gzip.compress(self.state.completion(request, key, "answer"))
        self.write(200, body, {"Content-Encoding": "gzip"})

    def do_huge(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        async def stream() -> None:
            self.transport.write(head(200, None, {"Transfer-Encoding": "chunked"}))
            piece = b"%x\r\n" % 65536 + b"x" * 65536 + b"\r\n"
            for _ in range(int(rule.get("megabytes", 1000)) * 16):
                if self.transport.is_closing():
                    return
                self.transport.write(piece)
                await asyncio.sleep(0)
            self.transport.close()

        self.tasks = {asyncio.ensure_future(stream())}

    def do_bad_utf8(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        body = self.state.completion(request, key, "answer")
        self.write(200, body.replace(b"label", b"l\xff\xfeel").replace(b"verdict", b"v\xff"))

    def do_redirect(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.write(307, b"", {"Location": rule["location"]})

    def do_empty_body(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.write(200, b"")

    def do_error_object(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.write(200, b'{"error": {"message": "UPSTREAM-SECRET overloaded", "code": 502}}')

    def do_no_choices(self, rule: dict[str, Any], request: dict[str, Any], key: str) -> None:
        self.write(200, b'{"object": "chat.completion", "choices": []}')


def stats(state: Scripted) -> dict[str, Any]:
    """Return the counts so far."""
    return {
        "requests": state.total,
        "keys": dict(state.counts),
        "in_flight": state.in_flight,
        "most_in_flight": state.most_in_flight,
        "connections": state.connections,
        "statuses": dict(state.statuses),
    }


async def serve(scenario: dict[str, Any], port: int) -> None:
    """Serve on the loopback interface until the process is ended; prints the base URL first."""
    state = Scripted(scenario)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(state), "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


class ScriptedServer:
    """A running server process, as seen from the test."""

    def __init__(self, base_url: str, process: "subprocess.Popen[str]", log: Path) -> None:
        self.base_url = base_url
        self.process = process
        self.log = log

    def _call(self, path: str, body: bytes | None = None) -> Any:
        url = self.base_url.removesuffix("/v1") + path
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(url, data=body), timeout=30) as reply:
            return json.loads(reply.read())

    def stats(self) -> dict[str, Any]:
        """Return requests, keys (key -> count), in_flight, most_in_flight, connections, statuses."""
        return dict(self._call("/_scripted/stats"))

    def requests(self) -> list[dict[str, Any]]:
        """Return the request log: t (Unix seconds), n, key, nth, do."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def change(self, **scenario: Any) -> None:
        """Replace the scenario of the running server; the counts stay."""
        self._call("/_scripted/scenario", json.dumps(scenario).encode())


@contextlib.contextmanager
def start_scripted_server(*, port: int = 0, **scenario: Any) -> Iterator[ScriptedServer]:
    """Start the server in its own process with this scenario, and end it on leaving the block."""
    with tempfile.TemporaryDirectory(prefix="scripted-server-") as folder:
        log = Path(scenario.setdefault("log", str(Path(folder) / "requests.jsonl")))
        log.touch()
        file = Path(folder) / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        command = [
            sys.executable,
            "-I",
            str(Path(__file__).resolve()),
            "--scenario",
            str(file),
            "--port",
            str(port),
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            base_url = process.stdout.readline().strip()
            if not base_url:
                raise RuntimeError(f"the scripted server did not start (exit code {process.wait(10)})")
            yield ScriptedServer(base_url, process, log)
        finally:
            process.terminate()
            process.wait(10)


def main() -> None:
    """Run the server from the command line."""
    parser = argparse.ArgumentParser(description="Scripted chat completions server for tests and benchmarks.")
    parser.add_argument("--scenario", type=Path, help="JSON file, see the module's docstring")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments = parser.parse_args()
    scenario = json.loads(arguments.scenario.read_text(encoding="utf-8")) if arguments.scenario else {}
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(scenario, arguments.port))


if __name__ == "__main__":
    main()
