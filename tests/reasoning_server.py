"""A small real HTTP server that answers every task of a GraphEVAL study, told apart by the rules of our prompts.

Three of its first chains say "yes", each in words of its own, all later ones are the same chain for "no": so the vote
and the medoid part. The server lives in a thread of the test.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from auditing.elicitation.prompts import elicitation_prompts

CHECK = re.compile(r"Check code: (\w+)")
STEP = re.compile(r"Step (\d+): (.*?) \[depends_on: (.*?)\]")


class ReasoningServer:
    """What was asked, by task, and where the server listens."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.asked: Counter[str] = Counter()

    def answer(self, body: dict[str, Any]) -> str:
        """Return what the model writes to a request."""
        rules, asked = (message["content"] for message in body["messages"])
        task = next(
            task for task, prompt in elicitation_prompts().items() if dict(prompt.sections)["system"] == rules
        )
        self.asked[task] += 1
        if task in ("chain", "forbidden_chain"):
            return _chain(int(body["seed"]), "Else" if task == "forbidden_chain" else "Now")
        if task == "facts":
            lines = (
                f"### {text} [step: {number}, depends_on: {deps}]"
                for number, text, deps in STEP.findall(asked)
            )
            return "\n".join(lines)
        if task == "counterfactual":
            return "Edited step: Something else is the case."
        if task in ("early_answer", "edited_answer"):
            return f"The final answer is: {'no' if 'Birds' in asked else 'yes'}"
        check = CHECK.search(asked)
        criteria = ["sound"] if task == "soundness" else ["atomic", "grounded", "dependencies"]
        return json.dumps(
            {"check": check[1] if check else "", **dict.fromkeys(criteria, "yes"), "reason": "Because."}
        )


def _chain(take: int, word: str) -> str:
    if take > 3:
        return "Step 1: Birds fly. [depends_on: none]\nStep 2: So it cannot. [depends_on: 1]\nThe final answer is: no"
    one, two = [("Alone", "rivers"), ("Apart", "stones"), ("Aside", "clouds")][take - 1]
    return (
        f"Step 1: {word} {one} stand {two}. [depends_on: none]\nStep 2: {two} make it so. [depends_on: 1]\n"
        "The final answer is: yes"
    )


@contextmanager
def reasoning_server() -> Iterator[ReasoningServer]:
    """Serve until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": served.answer(body)}
            reply = {
                "id": "1",
                "object": "chat.completion",
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = ReasoningServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
