"""A model that answers and judges as a script says, and runs of a benchmark's steps with it."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection

from auditing.elicitation.llm import LLMElicitor
from auditing.llm.protocol import ChatReply, ChatRequest
from auditing.llm.providers.scripted import Scripted
from auditing.models import Benchmark, BenchmarkRun
from auditing.services.anchor import runs
from auditing.services.anchor.execution import execute
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.builders import CHAIN

SERVER = "http://127.0.0.1:9/v1"  # nothing listens there; these tests bring their own model
MODEL = "openai:witness"
COUNTS = ("total", "done", "cached", "invalid", "failed", "calls")

Reply = str | Exception | Callable[[ChatRequest], str]


class Witness(Scripted):
    """Answers every task in the agreed form; `says` replaces the reply to some of them.

    It gives the chain of the builders, the bare answer "Way N" for take N, the rating 4, every answer but the first
    as matching with similarity 2, "correct", and the first labels of each list with a confidence of 0.75.
    `meanwhile` is done at each request, as by somebody else: in a thread with a database connection of its own.
    """

    def __init__(
        self,
        says: Mapping[str, Reply] | None = None,
        *,
        concurrency: int = 4,
        latency: float = 0.0,
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(self.reply, name="witness", revision="r1")
        self.concurrency = concurrency
        self.asked: list[ChatRequest] = []
        self._says = dict(says or {})
        self._latency = latency
        self._meanwhile = meanwhile

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        await asyncio.sleep(self._latency)
        if self._meanwhile is not None:
            await sync_to_async(self._do_meanwhile, thread_sensitive=False)()
        return await super().complete(request)

    def _do_meanwhile(self) -> None:
        assert self._meanwhile is not None
        try:
            self._meanwhile()
        finally:
            connection.close()  # the thread is borrowed

    @property
    def tasks(self) -> Counter[str]:
        """How often each task was asked."""
        return Counter(request.inputs["task"][0] for request in self.asked)

    def reply(self, request: ChatRequest) -> str:
        task = request.inputs["task"][0]
        said = self._says.get(task)
        if isinstance(said, Exception):
            raise said
        if said is not None:
            return said if isinstance(said, str) else said(request)
        return default_reply(request)


def default_reply(request: ChatRequest) -> str:
    """What a `Witness` says by itself."""
    task = request.inputs["task"][0]
    if task == "video_answer":
        return CHAIN
    if task == "brief_answer":
        return f"Way {request.parameters()['seed']}"
    if task.endswith("_rating"):
        return rated(request, 4)
    if task == "difficulty":
        matches = [False] + [True] * (int(request.inputs["count"][0]) - 1)
        return checked(request, matches=matches, similarity_rating=2, explanation="One differs.")
    if task == "correctness":
        return checked(request, correct=True, reason="It says the same.")
    category, subcategory = (
        request.inputs[name][0].splitlines()[0].removeprefix("- ").partition(":\t")[0]
        for name in ("categories", "subcategories")
    )
    return checked(request, category=category, subcategory=subcategory, confidence=0.75, reason="So it is.")


def rated(request: ChatRequest, value: object, words: str = "Nearly all of it is there.") -> str:
    """A rating in the form asked for."""
    return f'{{"rating": {json.dumps(value)}}}\nCheck: {request.inputs["check"][0]}\n{words}'


def checked(request: ChatRequest, **fields: Any) -> str:
    """A verdict in the form asked for."""
    return json.dumps({"check": request.inputs["check"][0], **fields})


def elicitor(model: Witness, **more: Any) -> LLMElicitor:
    """What asks the model."""
    return LLMElicitor(model, "witness", **more)


def benchmark(items: int = 3, **more: Any) -> Benchmark:
    """A benchmark whose questions differ: equal requests are sent once."""
    made = builders.benchmark(items, **more)
    for item in made.items.select_related("question"):
        item.question.text = f"Why does dog {item.number} run?"
        item.question.save(update_fields=["text"])
    return made


def make_run(benchmark: Benchmark, step: str, **more: Any) -> BenchmarkRun:
    """A stored run of one step."""
    model = "" if step == "ground" else MODEL
    return runs.create(
        **{"benchmark": benchmark, "step": step, "model": model, "options": {"base_url": SERVER}, **more}
    )


def carry_out(run: BenchmarkRun, model: Witness, *, reasks: int | None = 0, **more: Any) -> str | None:
    """Carry a run out with this model."""
    return execute(run.pk, elicitor=elicitor(model, reasks=reasks), **more)


def counts(run: BenchmarkRun) -> tuple[int, ...]:
    """The run's counts as they are stored, in the order of `COUNTS`."""
    run.refresh_from_db()
    return tuple(getattr(run, name) for name in COUNTS)
