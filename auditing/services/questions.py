"""The open questions of a run: what to ask next, who waits for which answer, and when a trace is complete.

Everything here is used from one thread, the one that talks to the database. Questions are made as they are needed,
so a run over many traces holds only a few of them in memory.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from annotation.selectors import segment_texts
from auditing.core.call_order import CallPlan
from auditing.core.nli import Label, Relation
from auditing.core.parameters import AuditParameters
from auditing.models import AuditRunTrace
from auditing.nli.protocol import RelationQuery
from auditing.services import call_store
from auditing.services.audits import MISSING, ScoredRelation
from auditing.services.relations import Scope, effective_parameters
from auditing.services.work import Answer, Answered, AnswerStore, Counts

MAX_OPEN_TRACES = 64


class Work(Protocol):
    """One trace of a run on its way, whatever is asked about it; see `TraceWork`."""

    row: Any
    known_before: int

    def next_items(self, limit: int) -> list[Any]:
        """Return up to `limit` items to ask; empty when complete or when answers must come first."""
        ...

    def query(self, item: Any) -> Any:
        """Return the texts to ask about an item."""
        ...

    def given_out(self, key: str) -> None:
        """Remember the key of the item that was given out next."""
        ...

    def tell(self, item: Any, value: Any) -> None:
        """Take the answer to an item; None where it has none."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every item that matters has an answer."""
        ...


class TraceWork:
    """One trace of an audit run on its way: its items are relations.

    Attributes
    ----------
    row : AuditRunTrace
        The trace in the run.
    scope : Scope
        Its candidate relations.
    unanswered : int
        Relations that were given out and have no stored answer yet.
    known_before : int
        Relations that this run had counted as answered before it was taken up again.
    """

    def __init__(self, row: AuditRunTrace, texts: Sequence[str], scope: Scope, *, lazy: bool) -> None:
        self.row = row
        self.scope = scope
        self.unanswered = 0
        self.known_before = row.done
        self._texts = texts
        self._plan = CallPlan(scope.n, scope.parameters, order="lazy", want="labels") if lazy else None
        self._eager: Iterator[Relation] = iter(()) if lazy else scope.relations()
        self._exhausted = False
        self._keys: list[bytes] = []
        self._asked: list[Relation] = []  # in lazy order only: the eager order can be enumerated again

    def next_items(self, limit: int) -> list[Relation]:
        """Return up to `limit` relations to ask; empty when complete or when answers must come first."""
        if self._plan is None:
            found = list(islice(self._eager, limit))
            self._exhausted = len(found) < limit
            return found
        found = []
        while len(found) < limit and (batch := self._plan.next_batch(limit - len(found))):
            for relation in batch:
                if relation[1] <= self.scope.context_segments:
                    self._plan.tell(relation, None)  # a given segment is no target
                else:
                    found.append(relation)
        self._asked += found
        return found

    def query(self, item: Relation) -> RelationQuery:
        """Return the texts of a relation."""
        return RelationQuery.of(self._texts, item)

    def given_out(self, key: str) -> None:
        """Remember the key of the relation that was given out next."""
        self._keys.append(bytes.fromhex(key))
        self.unanswered += 1

    def tell(self, item: Relation, value: Label | None) -> None:
        """Take the answer to a relation."""
        self.unanswered -= 1
        if self._plan is not None:
            self._plan.tell(item, value)

    @property
    def complete(self) -> bool:
        """Whether every relation that matters has an answer."""
        no_more = self._exhausted if self._plan is None else self._plan.finished
        return no_more and not self.unanswered

    def scored(self) -> list[ScoredRelation]:
        """Return every relation of the trace with its stored answer, in candidate order.

        In eager order relations that were never asked are part of it, as missing.
        """
        if self._plan is None:
            relations = list(self.scope.relations())
            pairs = list(
                zip(relations, [*self._keys, *[None] * (len(relations) - len(self._keys))], strict=True)
            )
        else:
            pairs = list(zip(self._asked, self._keys, strict=True))
            pairs.sort(key=lambda pair: (pair[0][1], len(pair[0][0]), pair[0][0]))
        answers = call_store.lookup(sorted({key.hex() for _, key in pairs if key is not None}))
        found = []
        for relation, key in pairs:
            answer = None if key is None else answers.get(key.hex())
            if answer is None:
                found.append(ScoredRelation(relation, None, MISSING))
            else:
                found.append(ScoredRelation(relation, answer.label, answer.shown_status, answer.probability))
        return found


@dataclass(frozen=True, slots=True)
class Question:
    """A query to send, with its key."""

    key: str
    query: Any


def trace_work(parameters: AuditParameters, *, window: int | None, lazy: bool) -> Callable[[Any], TraceWork]:
    """Return what makes the work on a trace of an audit run."""

    def begin(row: AuditRunTrace) -> TraceWork:
        texts = segment_texts(row.trace, row.segmentation)
        context = row.trace.context_segments
        scope = Scope(len(texts), context, effective_parameters(parameters, context), window)
        return TraceWork(row, texts, scope, lazy=lazy)

    return begin


class Questions:
    """The questions of all open traces of a run.

    Parameters
    ----------
    rows
        The traces of the run that are not done.
    begin
        Makes the work on one of them.
    key
        Returns the cache key of a query.
    store
        Where the answers are.
    most_open
        Traces that may be open at once, for questions so large that few may be held; such traces are begun one at a
        time, so that the run's lease and its stored answers do not wait for many of them. None: `MAX_OPEN_TRACES`.

    Attributes
    ----------
    completed : deque
        Work on traces whose last answer is stored and whose result is not.
    """

    def __init__(
        self,
        rows: Sequence[Any],
        begin: Callable[[Any], Work],
        key: Callable[[Any], str],
        store: AnswerStore,
        *,
        most_open: int | None = None,
    ) -> None:
        self.completed: deque[Any] = deque()
        self._rows = deque(rows)
        self._begin = begin
        self._key = key
        self._store = store
        self._most_open = most_open or MAX_OPEN_TRACES
        self._one_at_a_time = most_open is not None
        self._open: list[Any] = []
        self._waiting: dict[str, list[tuple[Work, Any]]] = {}
        self._spoilt: dict[
            str, str
        ] = {}  # key -> status of questions without a valid answer in this execution

    @property
    def exhausted(self) -> bool:
        """Whether every trace is complete."""
        return not self._rows and not self._open

    @property
    def open_traces(self) -> list[Any]:
        """Work on traces that were begun and are not complete."""
        return self._open

    def next(self, limit: int) -> tuple[list[Question], dict[int, Counts]]:
        """Return up to `limit` new questions, and the counts of items that are answered already.

        Both are empty when answers on their way must come first, or when nothing is left.
        """
        batch: list[tuple[Work, Any, Question]] = []
        for work in self._more_work():
            for item in work.next_items(limit - len(batch)):
                query = work.query(item)
                question = Question(self._key(query), query)
                work.given_out(question.key)
                batch.append((work, item, question))
            if len(batch) >= limit:
                break
        known = self._store.valid_keys(list({question.key for _, _, question in batch}))
        questions: list[Question] = []
        counts: dict[int, Counts] = {}
        for work, item, question in batch:
            count = counts.setdefault(work.row.pk, Counts())
            key = question.key
            if key in known:
                if work.known_before:
                    work.known_before -= 1
                else:
                    count.done += 1
                    count.cached += 1
                work.tell(item, known[key])
            elif key in self._spoilt:
                setattr(count, self._spoilt[key], getattr(count, self._spoilt[key]) + 1)
                work.tell(item, None)
            elif key in self._waiting:
                self._waiting[key].append((work, item))
            else:
                self._waiting[key] = [(work, item)]
                questions.append(question)
        self._collect_completed()
        return questions, counts

    def _more_work(self) -> Iterator[Work]:
        yield from list(self._open)
        while self._rows and len(self._open) < self._most_open:
            work = self._begin(self._rows.popleft())
            self._open.append(work)
            yield work
            if self._one_at_a_time:
                return

    def answered(self, key: str, answer: Answer) -> Answered:
        """Return the answer with the items that wait for it, to be stored."""
        items: dict[int, int] = {}
        for work, _ in self._waiting[key]:
            items[work.row.pk] = items.get(work.row.pk, 0) + 1
        return Answered(key, answer, items)

    def stored(self, answers: Sequence[Answered], values: Mapping[str, Any]) -> None:
        """Tell the traces of stored answers; `values` are what the valid ones say, whoever gave them."""
        for answered in answers:
            value = values.get(answered.key)
            if value is None:
                status = answered.answer.status
                self._spoilt[answered.key] = "invalid" if status.startswith("invalid") else "failed"
            for work, item in self._waiting.pop(answered.key):
                work.tell(item, value)
        self._collect_completed()

    def _collect_completed(self) -> None:
        complete = [work for work in self._open if work.complete]
        if complete:
            self.completed.extend(complete)
            self._open = [work for work in self._open if not work.complete]
