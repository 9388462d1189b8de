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
