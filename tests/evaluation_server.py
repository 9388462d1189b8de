"""A small real HTTP server that answers ANCHOR's tasks, told apart by the rules of our prompts.

What it says by itself follows from the request, so that tables can be worked out by hand:

- It answers with `answers[question]` where it was shown pictures, and with "I cannot tell." without them; a model in
  `wrong` always gives "Something else." Its reasoning names the question and cites 0:01 to 0:02.
- A judge grades 5 where the reference is part of the output (upper and lower case alike), otherwise what `grades` has
  for this task, else 2; a judge in `strict` gives one less. An answer matches, and is correct, by the same rule; how
  alike answers are is how many differ, 5 at most.
- Of categories it takes the first of each list, at a confidence of 0.9.

`first` holds replies that are given before those, by task: prose, other codes, whatever a test wants to see refused.
The server lives in a thread of the test.
"""

import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from auditing.elicitation.anchor_asking import NO_ANSWER, labels_of
from auditing.elicitation.prompts import elicitation_prompts

CHECK = re.compile(r"Check code: (\w+)\s*$")
FENCED = re.compile(r"<<<([A-Z ]+) ([0-9a-f]{32})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
CANNOT_TELL = "I cannot tell."
WRONG = "Something else."


@dataclass(frozen=True)
class Asked:
    """A request: its task, the model's name, the texts by the names of their fences, and what else it holds."""

    task: str
    model: str
    texts: dict[str, str]
    check: str
    pictures: int
    seed: int | None
    user: str


class EvaluationServer:
    """What was asked, what is to be said, and where the server listens."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.asked: Counter[str] = Counter()
        self.requests: list[Asked] = []
        self.answers: dict[str, str] = {}
        self.wrong: set[str] = set()
        self.strict: set[str] = set()
        self.grades: dict[str, int] = {}
        self.first: defaultdict[str, list[str]] = defaultdict(list)
        self._lock = threading.Lock()
        self._tasks = {
            dict(prompt.sections)["system"]: task for task, prompt in elicitation_prompts().items()
        }

    def answer(self, body: dict[str, Any]) -> str:
        """Return what the model writes to a request."""
        asked = self._read(body)
        with self._lock:
            self.asked[asked.task] += 1
            self.requests.append(asked)
            if self.first[asked.task]:
                return self.first[asked.task].pop(0).replace("CODE", asked.check)
        return str(getattr(self, f"_{asked.task}")(asked))

    def _read(self, body: dict[str, Any]) -> Asked:
        rules, said = (message["content"] for message in body["messages"])
        parts = said if isinstance(said, list) else [{"type": "text", "text": said}]
        user = parts[0]["text"]
        check = CHECK.search(user)
        return Asked(
            task=self._tasks[rules],
            model=body["model"],
            texts={name: text for name, _, text in FENCED.findall(user)},
            check=check[1] if check else "",
            pictures=sum(part["type"] == "image_url" for part in parts),
            seed=body.get("seed"),
            user=user,
        )

    def _final(self, asked: Asked) -> str:
        if asked.model in self.wrong:
            return WRONG
        return self.answers.get(asked.texts["QUESTION"], CANNOT_TELL) if asked.pictures else CANNOT_TELL

    def _video_answer(self, asked: Asked) -> str:
        sound = "A voice is heard." if "TRANSCRIPT" in asked.texts else ""
        boxes = "Boxes:\n- thing @ 00:01.0: 10 20 30 40\n" if asked.pictures else ""
        return (
            "Visual Cue:\n- Timeframe: 00:01 - 00:02\n- Description: Something is seen.\n"
            f"- Analysis: It bears on the question: {asked.texts['QUESTION']}\n"
            f"Audio Cue:\n- Timeframe: 00:01 - 00:02\n- Description: {sound}\n- Analysis: {sound and 'It fits.'}\n"
            f"Final Answer: {self._final(asked)}\n{boxes}"
        )

    def _brief_answer(self, asked: Asked) -> str:
        return self._final(asked)

    def _rating(self, asked: Asked) -> str:
        rating = 5 if _holds(asked) else self.grades.get(asked.task, 2)
        rating -= asked.model in self.strict
        return f'{{"rating": {rating}}}\nCheck: {asked.check}\nCompared with the reference by {asked.model}.'

    _answer_rating = _hallucination_rating = _divergence_rating = _rating

    def _difficulty(self, asked: Asked) -> str:
        answers = [line.partition(". ")[2] for line in asked.texts["ANSWERS"].splitlines()]
        reference = asked.texts["REFERENCE"].casefold()
        return json.dumps(
            {
                "check": asked.check,
                "matches": [reference in text.casefold() and text != NO_ANSWER for text in answers],
                "similarity_rating": min(5, len({text.casefold() for text in answers})),
                "explanation": f"Compared by {asked.model}.",
            }
        )

    def _correctness(self, asked: Asked) -> str:
        return json.dumps({"check": asked.check, "correct": _holds(asked), "reason": "Compared."})

    def _taxonomy(self, asked: Asked) -> str:
        labels = {name: labels_of(asked.texts.get(name, "")) for name in ("CATEGORIES", "SUBCATEGORIES")}
        return json.dumps(
            {
                "check": asked.check,
                "category": labels["CATEGORIES"][0],
                "subcategory": next(iter(labels["SUBCATEGORIES"]), ""),
                "confidence": 0.9,
                "reason": "It is the first.",
            }
        )


def _holds(asked: Asked) -> bool:
    reference, output = asked.texts.get("REFERENCE", ""), asked.texts.get("OUTPUT", "")
    return bool(reference) and reference.casefold() in output.casefold()


@contextmanager
def evaluation_server() -> Iterator[EvaluationServer]:
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
    served = EvaluationServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
