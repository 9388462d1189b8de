"""Rows and labellers for the tests of services, jobs and API."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from annotation.formats.records import RelationRecord, SegmentRecord, TraceRecord
from annotation.models import Dataset, Trace
from annotation.services import traces_create
from auditing.core.nli import Label
from auditing.judging.protocol import VERDICTS, Attempt, JudgeAnswer, JudgeQuestion
from auditing.nli.keys import relation_key
from auditing.nli.protocol import RelationAnswer, RelationQuery

_NUMBERS = count(1)


def dataset(name: str = "") -> Dataset:
    number = next(_NUMBERS)
    return Dataset.objects.create(name=name or f"Set {number}", slug=f"set-{number}")


def record(
    n: int,
    *,
    name: str = "",
    relations: Sequence[tuple[Sequence[int], int, str]] = (),
    texts: Sequence[str] = (),
    context_segments: int = 1,
) -> TraceRecord:
    name = name or f"t{next(_NUMBERS)}"
    words = texts or [f"{name} segment {index}." for index in range(1, n + 1)]
    return TraceRecord(
        id=name,
        case_id=f"case-{name}",
        domain="clinical",
        title=f"Case of {name}",
        segments=tuple(SegmentRecord(text) for text in words),
        context_segments=context_segments,
        relations=tuple(RelationRecord(tuple(p), t, label) for p, t, label in relations),
    )


def trace(n: int, *, into: Dataset | None = None, **fields: object) -> Trace:
    made = record(n, **fields)  # type: ignore[arg-type]
    (stored,) = traces_create(dataset=into or dataset(), records=[made], segmenter="test", by=None)
    return stored


def hash_label(query: RelationQuery) -> Label:
    """A label that depends on the texts alone, all four about equally often."""
    return Label(hashlib.sha256(repr((query.premises, query.target)).encode()).digest()[0] % 4)


class FakeLabeller:
    """A labeller in this process: `answer` gives a Label, a RelationAnswer, or raises."""

    kind = "fake"
    quality_note = ""

    def __init__(
        self,
        answer: Callable[[RelationQuery], object] = hash_label,
        *,
        concurrency: int = 4,
        batch_size: int = 1,
        latency: float | Callable[[RelationQuery], float] = 0.0,
        name: str = "fake",
        remote: bool = True,
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.batch_size = batch_size
        self.remote = remote
        self.asked: list[RelationQuery] = []
        self.closed = False
        self._answer = answer
        self._latency = latency

    def identity(self) -> Mapping[str, object]:
        return {
            "kind": self.kind,
            "model": self.name,
            "revision": "1",
            "prompt": {"id": "p", "sha256": "0"},
            "params": {},
        }

    def key(self, query: RelationQuery) -> str:
        return relation_key(self.identity(), query)

    async def label_batch(self, queries: Sequence[RelationQuery]) -> list[RelationAnswer]:
        self.asked += queries
        delay = self._latency(queries[0]) if callable(self._latency) else self._latency
        await asyncio.sleep(delay)
        return [self._one(query) for query in queries]

    def _one(self, query: RelationQuery) -> RelationAnswer:
        found = self._answer(query)
        if isinstance(found, RelationAnswer):
            return found
        assert isinstance(found, Label)
        others = {label.word: 0.1 for label in Label} | {found.word: 0.7}
        return RelationAnswer(
            "valid",
            found,
            others,
            raw_request=json.dumps([query.premises, query.target]).encode(),
            raw_reply=found.word.encode(),
            model_reported=f"{self.name}@r1",
            prompt_tokens=10,
            completion_tokens=2,
        )

    async def aclose(self) -> None:
        self.closed = True


def invalid(why: str = "no_json") -> RelationAnswer:
    return RelationAnswer(
        f"invalid:{why}", None, raw_request=b"{}", raw_reply=b"<html>", error="The reply is no label."
    )


def failed(name: str = "timeout") -> RelationAnswer:
    return RelationAnswer(f"error:{name}", None, raw_request=b"{}", error="No reply in time.")


def hash_verdict(question: JudgeQuestion) -> str:
    """A verdict that depends on the texts alone, both about equally often."""
    return VERDICTS[hashlib.sha256(repr(question.texts).encode()).digest()[0] % 2]


class FakeJudge:
    """A judge in this process: `answer` gives a verdict's word, a JudgeAnswer, or raises."""

    kind = "fake"
    batch_size = 1
    remote = True

    def __init__(
        self,
        answer: Callable[[JudgeQuestion], object] = hash_verdict,
        *,
        concurrency: int = 4,
        latency: float = 0.0,
        name: str = "fake",
    ) -> None:
        self.name = name
        self.concurrency = concurrency
        self.asked: list[JudgeQuestion] = []
        self.closed = False
        self._answer = answer
        self._latency = latency

    def identity(self) -> Mapping[str, object]:
        return {
            "task": "judge",
            "kind": self.kind,
            "model": self.name,
            "revision": "1",
            "prompts": {},
            "params": {},
        }

    def key(self, question: JudgeQuestion) -> str:
        return hashlib.sha256(repr((self.identity(), question)).encode()).hexdigest()

    def prompt_characters(self, question: JudgeQuestion) -> int:
        return sum(map(len, question.texts))

    async def judge_batch(self, questions: Sequence[JudgeQuestion]) -> list[JudgeAnswer]:
        self.asked += questions
        await asyncio.sleep(self._latency)
        return [self._one(question) for question in questions]

    def _one(self, question: JudgeQuestion) -> JudgeAnswer:
        found = self._answer(question)
        if isinstance(found, JudgeAnswer):
            return found
        assert isinstance(found, str)
        attempt = Attempt("valid", json.dumps(question.texts).encode(), found.encode())
        return JudgeAnswer(
            "valid",
            found,
            f"Because of {question.segment}",
            (attempt,),
            model_reported=f"{self.name}@r1",
            prompt_tokens=10,
            completion_tokens=2,
        )

    async def aclose(self) -> None:
        self.closed = True


def no_verdict(why: str = "not_json") -> JudgeAnswer:
    attempts = (
        Attempt(f"invalid:{why}", b"{}", b"<html>", "No."),
        Attempt(f"invalid:{why}", b"{}", b"prose", "No."),
    )
    return JudgeAnswer(
        f"invalid:{why}",
        None,
        attempts=attempts,
        completion_tokens=4,
        requests=2,
        error="The reply is no verdict.",
    )


def no_reply(name: str = "timeout") -> JudgeAnswer:
    attempt = Attempt(f"error:{name}", b"{}", b"", "No reply in time.")
    return JudgeAnswer(f"error:{name}", None, attempts=(attempt,), error="No reply in time.")
