"""Relations of many traces through one labeller, with as many questions in flight as it takes.

Equal questions (same texts, same labeller) are asked once in a run, wherever they stand. What is asked does
not depend on the order in which answers arrive: in the lazy order a trace gets its next questions only when
all of its last ones are answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from annotation.formats.records import TraceRecord
from auditing.core.call_order import CallPlan
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Relation
from auditing.core.parameters import AuditParameters
from auditing.llm.errors import LLMPaused
from auditing.llm.reply_store import ReplyStoreError
from auditing.nli.protocol import VALID, RelationAnswer, RelationLabeller, RelationQuery
from auditing.nli.weights_check import WeightsError
from auditing.services.offline.errors import LabellerError
from auditing.services.relations import Scope

LAZY_ROUND = 8
"""Questions of one trace that the lazy order asks at once; a larger number asks more that nobody needs."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many relations of a trace were to be labelled, and what became of them.

    `skipped` are candidates that the lazy order did not need; they are no part of `total`.
    """

    total: int
    labelled: int
    invalid: int = 0
    missing: int = 0
    skipped: int = 0

    @property
    def complete(self) -> bool:
        """Whether every relation has a label."""
        return self.labelled == self.total

    def to_dict(self) -> dict[str, int]:
        """Return the counts as JSON-able values."""
        return {
            "total": self.total,
            "labelled": self.labelled,
            "invalid": self.invalid,
            "missing": self.missing,
            "skipped": self.skipped,
        }


@dataclass(frozen=True, slots=True)
class LabelledTrace:
    """A trace with its hypergraph.

    Attributes
    ----------
    parameters
        As they hold for this trace.
    statuses
        Status of each relation that was asked for and has no valid label.
    faults
        What the first answer of each such status said, in words.
    probabilities
        Probability of the label given, where the labeller states it.
    calls
        Relations put to a labeller, whether a server or the cache answered; 0 for stored relations.
    cached
        How many of them needed no new call: the cache, or the same question in this run.
    """

    record: TraceRecord
    parameters: AuditParameters
    graph: Hypergraph
    coverage: Coverage
    calls: int = 0
    cached: int = 0
    statuses: dict[Relation, str] = field(default_factory=dict)
    probabilities: dict[Relation, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


class Answers(Protocol):
    """Where answers are kept between runs."""

    def get(self, key: str) -> RelationAnswer | None:
        """Return a stored answer, or None."""
        ...

    def put(self, key: str, answer: RelationAnswer) -> None:
        """Keep an answer."""
        ...


@dataclass(frozen=True, slots=True)
class Tally:
    """Where a labelling run stands: relations done, of how many at most, from the cache, without a label."""

    done: int
    total: int
    cached: int
    unlabelled: int


def in_scope(relation: Relation, scope: Scope) -> bool:
    """Tell whether a relation is among those that a trace asks for, its size apart."""
    premises, target = relation
    return target > scope.context_segments and set(premises) <= set(scope.pool(target))


class _Work:
    """One trace on its way: what to ask next, and what is known."""

    def __init__(
        self, record: TraceRecord, parameters: AuditParameters, order: str, window: int | None
    ) -> None:
        self.record = record
        self.parameters = parameters
        self.answers: dict[Relation, RelationAnswer] = {}
        self.cached = 0
        self.open = 0
        self.exhausted = False
        self._texts = [segment.text for segment in record.segments]
        self._scope = Scope(len(self._texts), record.context_segments, parameters, window)
        self.bound = self._scope.count()
        self._plan: CallPlan | None = None
        self._queue: Iterator[Relation] = iter(())
        if order == "lazy":
            self._plan = CallPlan(len(self._texts), parameters, order="lazy", want="labels")
        else:
            self._queue = self._scope.relations()

    def take(self, limit: int) -> list[Relation]:
        """Return up to `limit` relations to ask now; sets `exhausted` when there will be no more."""
        found = list(islice(self._queue, limit))
        if not found:
            if self._plan is None:
                self.exhausted = True
            elif not self.open:
                self._queue = iter(self._next_round(self._plan))
                found = list(islice(self._queue, limit))
                self.exhausted = not found
        self.open += len(found)
        return found

    def _next_round(self, plan: CallPlan) -> list[Relation]:
        while batch := plan.next_batch(LAZY_ROUND):
            wanted = [relation for relation in batch if in_scope(relation, self._scope)]
            for relation in batch:
                if relation not in wanted:
                    plan.tell(relation, None)
            if wanted:
                return wanted
        return []

    def query(self, relation: Relation) -> RelationQuery:
        return RelationQuery.of(self._texts, relation)

    def accept(self, relation: Relation, answer: RelationAnswer, *, cached: bool) -> None:
        self.answers[relation] = answer
        self.cached += cached
        self.open -= 1
        if self._plan is not None:
            self._plan.tell(relation, answer.label)

    @property
    def finished(self) -> bool:
        return self.exhausted and not self.open

    def result(self) -> LabelledTrace:
        labels = [
            (*relation, answer.label) for relation, answer in self.answers.items() if answer.label is not None
        ]
        statuses = {
            relation: answer.status for relation, answer in self.answers.items() if answer.status != VALID
        }
        faults: dict[str, str] = {}
        for answer in self.answers.values():
            if answer.status != VALID and answer.error:
                faults.setdefault(answer.status, answer.error)
        invalid = sum(status.startswith("invalid") for status in statuses.values())
        total = len(self.answers)
        return LabelledTrace(
            record=self.record,
            parameters=self.parameters,
            graph=Hypergraph.from_labels(len(self._texts), labels),
            coverage=Coverage(total, len(labels), invalid, len(statuses) - invalid, self.bound - total),
            calls=total,
            cached=self.cached,
            statuses=statuses,
            probabilities={
                relation: answer.probabilities[answer.label.word]
                for relation, answer in self.answers.items()
                if answer.label is not None and answer.probabilities is not None
            },
            faults=faults,
        )


_Item = tuple[_Work, Relation]


class Labelling:
    """One run: traces in, labelled traces out, in the order given."""

    def __init__(
        self,
        traces: Sequence[tuple[TraceRecord, AuditParameters]],
        labeller: RelationLabeller,
        *,
        order: str = "eager",
        window: int | None = None,
        cache: Answers | None = None,
        stored: Callable[[str], bool] | None = None,
        progress: Callable[[Tally], None] | None = None,
    ) -> None:
        """Prepare a run.

        Parameters
        ----------
        traces
            Traces with the parameters that hold for each.
        cache
            Where answers are looked up before asking and kept after.
        stored
            For labellers with a store of their own: whether it holds the reply of a key, for the counts only.
        """
        self._works = [_Work(record, parameters, order, window) for record, parameters in traces]
        self._labeller = labeller
        self._cache = cache
        self._stored = stored
        self._progress = progress
        self._known: dict[str, RelationAnswer] = {}
        self._waiting: dict[str, list[_Item]] = {}
        self._total = sum(work.bound for work in self._works)
        self._first = 0
        self._done = self._cached = self._unlabelled = 0
        self._changed = asyncio.Event()

    async def run(self) -> list[LabelledTrace]:
        """Label everything.

        Raises
        ------
        LabellerError
            If the labeller says that going on makes no sense. What is in the cache stays there.
        """
        try:
            async with AsyncExitStack() as stack:
                stack.push_async_callback(self._labeller.aclose)
                async with asyncio.TaskGroup() as group:
                    for _ in range(max(1, self._labeller.concurrency)):
                        group.create_task(self._worker())
        except* (LLMPaused, ReplyStoreError, WeightsError) as faults:
            raise LabellerError(str(faults.exceptions[0])) from None
        except* ImportError as faults:
            raise LabellerError(f"The labeller lacks a Python package: {faults.exceptions[0]}.") from None
        self._tell()
        return [work.result() for work in self._works]

    async def _worker(self) -> None:
        while True:
            batch = self._next_batch()
            if batch:
                await self._ask(batch)
            elif all(work.finished for work in self._works):
                self._changed.set()
                return
            else:
                self._changed.clear()
                await self._changed.wait()

    def _next_batch(self) -> dict[str, RelationQuery]:
        """Return the next questions that nobody has answered or is asking, by key."""
        batch: dict[str, RelationQuery] = {}
        limit = max(1, self._labeller.batch_size)
        while len(batch) < limit:
            work, relations = self._next_relations(limit - len(batch))
            if work is None:
                break
            for relation in relations:
                query = work.query(relation)
                key = self._labeller.key(query)
                if key in self._waiting:
                    self._waiting[key].append((work, relation))
                elif (answer := self._look_up(key)) is not None:
                    self._accept(work, relation, answer, cached=True)
                else:
                    self._waiting[key] = [(work, relation)]
                    batch[key] = query
        return batch

    def _next_relations(self, limit: int) -> tuple[_Work | None, list[Relation]]:
        """Return the next questions of the first trace that has some; a lazy one may have to wait."""
        while self._first < len(self._works) and self._works[self._first].exhausted:
            self._first += 1
        for work in self._works[self._first :]:
            if not work.exhausted and (relations := work.take(limit)):
                return work, relations
        return None, []

    def _look_up(self, key: str) -> RelationAnswer | None:
        found = self._known.get(key)
        if found is None and self._cache is not None:
            found = self._cache.get(key)
        return found

    async def _ask(self, batch: dict[str, RelationQuery]) -> None:
        was_stored = [self._stored is not None and self._stored(key) for key in batch]
        answers = await self._labeller.label_batch(list(batch.values()))
        for key, answer, cached in zip(batch, answers, was_stored, strict=True):
            if self._cache is not None:
                self._cache.put(key, answer)
            self._known[key] = RelationAnswer(answer.status, answer.label, answer.probabilities)
            for position, (work, relation) in enumerate(self._waiting.pop(key)):
                self._accept(work, relation, answer, cached=cached or position > 0)
        self._changed.set()

    def _accept(self, work: _Work, relation: Relation, answer: RelationAnswer, *, cached: bool) -> None:
        work.accept(relation, self._slim(answer), cached=cached)
        self._done += 1
        self._cached += cached
        self._unlabelled += answer.label is None
        self._tell()

    @staticmethod
    def _slim(answer: RelationAnswer) -> RelationAnswer:
        """Drop the raw bytes: 10,660 replies would fill the memory for nothing."""
        return RelationAnswer(answer.status, answer.label, answer.probabilities, error=answer.error)

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(Tally(self._done, self._total, self._cached, self._unlabelled))


def label(labelling: Labelling) -> list[LabelledTrace]:
    """Run a labelling to its end in an event loop of its own."""
    return asyncio.run(labelling.run())
