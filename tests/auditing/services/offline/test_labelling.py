"""What is asked, how often, and what becomes of the answers."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from annotation.formats.records import SegmentRecord, TraceRecord
from auditing.core.nli import Label, candidates
from auditing.core.parameters import AuditParameters
from auditing.llm.errors import LLMPaused
from auditing.nli.protocol import RelationAnswer, RelationQuery
from auditing.services.offline.answer_cache import AnswerCache
from auditing.services.offline.documents import audit_trace
from auditing.services.offline.errors import LabellerError
from auditing.services.offline.labelling import Labelling, label

LABELS = tuple(Label)


class Counting:
    """A labeller that answers by a rule and counts what it was asked."""

    kind, name, quality_note, remote = "counting", "counting", "", False

    def __init__(self, answer=None, *, concurrency=4, batch_size=1):
        self.concurrency, self.batch_size = concurrency, batch_size
        self.asked: Counter[RelationQuery] = Counter()
        self.batches: list[int] = []
        self.open = self.most_open = 0
        self.closed = False
        self._answer = answer or (lambda query: LABELS[sum(map(len, (*query.premises, query.target))) % 4])

    def identity(self):
        return {"kind": "counting", "model": "counting", "prompt": {"id": "none"}}

    def key(self, query):
        return "|".join((*query.premises, query.target)).encode().hex()

    async def label_batch(self, queries):
        self.asked.update(queries)
        self.batches.append(len(queries))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        for _ in range(1 + len(self.batches) % 3):  # answers arrive in another order than asked
            await asyncio.sleep(0)
        self.open -= 1
        return [self._one(self._answer(query)) for query in queries]

    @staticmethod
    def _one(found):
        return RelationAnswer("valid", found) if isinstance(found, Label) else RelationAnswer(found, None)

    async def aclose(self):
        self.closed = True


def record(*texts: str, context: int = 1, name: str = "t") -> TraceRecord:
    return TraceRecord(
        name, name, "general", "", tuple(SegmentRecord(text) for text in texts), context_segments=context
    )


def run(*traces: TraceRecord, labeller=None, parameters=None, **options):
    labeller = labeller or Counting()
    settings = parameters or AuditParameters()
    return label(Labelling([(trace, settings) for trace in traces], labeller, **options))


FIVE = record("a", "bb", "ccc", "dddd", "eeeee")


@pytest.mark.parametrize(("concurrency", "batch"), [(1, 1), (4, 1), (2, 7), (16, 64)])
def test_every_relation_is_asked_once(concurrency, batch):
    labeller = Counting(concurrency=concurrency, batch_size=batch)
    (found,) = run(FIVE, labeller=labeller)
    assert found.calls == found.coverage.total == found.coverage.labelled == 20  # C(6, 3)
    assert set(found.graph.labels) == set(candidates(5, AuditParameters()))
    assert set(labeller.asked.values()) == {1}
    assert labeller.most_open <= concurrency
    assert max(labeller.batches) <= batch
    assert labeller.closed


def test_the_texts_of_a_relation_are_those_of_its_segments():
    labeller = Counting()
    run(FIVE, labeller=labeller)
    assert RelationQuery(("bb", "dddd"), "eeeee") in labeller.asked


def test_equal_questions_are_asked_once():
    #  S2 and S3 have the same text: {S1}->S2 and {S1}->S3 are one question. The relations of n = 3 are
    #  {1}->2, {1}->3, {2}->3, {1,2}->3: three different questions.
    labeller = Counting()
    (found,) = run(record("a", "b", "b"), labeller=labeller)
    assert sum(labeller.asked.values()) == 3
    assert found.calls == 4
    assert found.cached == 1


def test_the_same_trace_twice_costs_one():
    labeller = Counting()
    first, second = run(FIVE, replace(FIVE, id="u"), labeller=labeller)
    assert sum(labeller.asked.values()) == 20
    assert (first.cached, second.cached) == (0, 20)
    assert first.graph.labels == second.graph.labels


def test_context_segments_are_no_targets_but_premises():
    labeller = Counting()
    (found,) = run(record("a", "bb", "ccc", "dddd", context=2), labeller=labeller)
    # Targets 3 and 4: {1},{2},{1,2} and {1},{2},{3},{1,2},{1,3},{2,3}.
    assert found.calls == 9
    assert {target for _, target in found.graph.labels} == {3, 4}


def test_a_window_keeps_the_context_and_the_nearest_segments():
    (found,) = run(FIVE, window=1, parameters=AuditParameters(m_max=1))
    assert set(found.graph.labels) == {
        ((1,), 2),
        ((1,), 3),
        ((2,), 3),
        ((1,), 4),
        ((3,), 4),
        ((1,), 5),
        ((4,), 5),
    }


def test_lj_08_an_invalid_reply_is_missing_coverage_and_never_a_label():
    faults = {"ccc": "invalid:not_json", "bb": "error:timeout"}
    labeller = Counting(lambda query: faults.get(query.target, Label.NEUTRAL))
    (found,) = run(record("a", "bb", "ccc", "dddd"), labeller=labeller)
    assert found.coverage.to_dict() == {"total": 10, "labelled": 6, "invalid": 3, "missing": 1, "skipped": 0}
    assert {target for _, target in found.graph.labels} == {4}
    assert found.statuses[((1,), 2)] == "error:timeout"


@pytest.mark.parametrize("scope", ["any", "singleton", "none"])
def test_the_lazy_order_gives_the_same_labels_with_no_more_calls(scope):
    parameters = AuditParameters(contradiction_scope=scope)
    texts = [f"segment {i * 37 % 11 * 'x'} {i}" for i in range(9)]
    traces = [record(*texts[:n], name=str(n)) for n in (2, 5, 9)]
    eager = run(*traces, parameters=parameters)
    lazy = run(*traces, parameters=parameters, order="lazy")
    for one, other in zip(eager, lazy, strict=True):
        assert audit_trace(one).labels == audit_trace(other).labels
        assert other.calls + other.coverage.skipped == one.calls
    assert sum(one.calls for one in lazy) <= sum(one.calls for one in eager)
    if scope == "none":
        assert sum(one.calls for one in lazy) < sum(one.calls for one in eager)


def test_lj_17_what_the_lazy_order_asks_does_not_depend_on_arrival():
    parameters = AuditParameters(contradiction_scope="none")
    traces = [record(*(f"{name}{i * 'y'}" for i in range(1, 8)), name=name) for name in "abc"]
    asked = []
    for concurrency in (1, 3, 16):
        labeller = Counting(concurrency=concurrency)
        run(*traces, labeller=labeller, parameters=parameters, order="lazy")
        asked.append(labeller.asked)
    assert asked[0] == asked[1] == asked[2]


def test_a_fault_that_stops_everything_becomes_one_sentence(tmp_path):
    calls = []

    def answer(query):
        calls.append(query)
        if len(calls) > 3:
            raise LLMPaused("The key is refused. Set LLM_API_KEY.")
        return Label.IMPLIED

    labeller = Counting(answer, concurrency=1)
    cache = AnswerCache(tmp_path, labeller.identity())
    with pytest.raises(LabellerError, match=r"^The key is refused\. Set LLM_API_KEY\.$"):
        run(FIVE, labeller=labeller, cache=cache)
    assert labeller.closed
    # What was answered before is kept: the next run asks 17 of 20.
    again = Counting()
    run(FIVE, labeller=again, cache=AnswerCache(tmp_path, again.identity()))
    assert sum(again.asked.values()) == 17


def test_a_second_run_asks_nothing(tmp_path):
    first = Counting()
    (found,) = run(FIVE, labeller=first, cache=AnswerCache(tmp_path, first.identity()))
    second = Counting()
    (again,) = run(FIVE, labeller=second, cache=AnswerCache(tmp_path, second.identity()))
    assert not second.asked
    assert again.graph.labels == found.graph.labels
    assert (found.cached, again.cached) == (0, 20)
    assert found.calls == again.calls


def test_progress_counts_up_to_the_total():
    seen = []
    run(FIVE, progress=seen.append)
    assert seen[-1].done == seen[-1].total == 20
    assert [tally.done for tally in seen] == sorted(tally.done for tally in seen)


def test_a_trace_of_context_only_asks_nothing():
    (found,) = run(record("a"))
    assert found.calls == found.coverage.total == 0
