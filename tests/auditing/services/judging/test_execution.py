"""Runs of judges: what is asked, what is stored, how a run ends, and what it counts."""

import json
import threading
import time
import zlib
from decimal import Decimal
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction

from auditing.llm.errors import LLMPaused
from auditing.llm.providers import openai_compatible
from auditing.llm.retry import RetryPolicy
from auditing.models import JudgeCall, JudgeCallAttempt, JudgeRun, JudgeVerdict
from auditing.selectors.judges import judge_verdicts
from auditing.services import runs, work
from auditing.services.judging.execution import execute
from auditing.services.judging.verdicts import JUDGES
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import LeaseLost
from tests.auditing import factories

pytestmark = pytest.mark.django_db


def counts(run: JudgeRun) -> dict[str, int]:
    run.refresh_from_db()
    return {name: getattr(run, name) for name in ("total", "done", "cached", "invalid", "failed", "calls")}


def verdicts(run: JudgeRun) -> dict[int, str | None]:
    return dict(JudgeVerdict.objects.filter(run=run).values_list("segment__index", "verdict"))


def test_every_segment_but_the_case_is_judged_once_with_what_came_before_it(make_run):
    trace = factories.trace(4, texts=("case", "a", "b", "c"))
    run = make_run(trace)
    judge = factories.FakeJudge()
    assert execute(run.pk, judge=judge) == RunState.DONE
    asked = {(question.case, question.previous, question.segment) for question in judge.asked}
    assert asked == {
        (("case",), (), "a"),
        (("case",), ("a",), "b"),
        (("case",), ("a", "b"), "c"),
    }
    assert {question.domain for question in judge.asked} == {"clinical"}
    assert judge.closed
    assert counts(run) == {"total": 3, "done": 3, "cached": 0, "invalid": 0, "failed": 0, "calls": 3}
    assert (run.prompt_tokens, run.completion_tokens, run.cost) == (30, 6, None)
    assert run.lease_owner == ""
    expected = {
        2 + i: factories.hash_verdict(q) for i, q in enumerate(sorted(judge.asked, key=lambda q: q.segment))
    }
    assert verdicts(run) == expected
    row = JudgeVerdict.objects.get(run=run, segment__index=2)
    assert (row.status, row.reason) == ("valid", "Because of a")
    assert row.call.model_reported == "fake@r1"


def test_several_given_segments_are_all_the_case(make_run):
    trace = factories.trace(4, texts=("a", "b", "c", "d"), context_segments=3)
    judge = factories.FakeJudge()
    execute(make_run(trace).pk, judge=judge)
    (question,) = judge.asked
    assert (question.case, question.previous, question.segment) == (("a", "b", "c"), (), "d")


def test_a_trace_whose_segments_hold_no_case_is_judged_with_the_text_of_its_case(make_run):
    trace = factories.trace(2, texts=("a", "b"))
    type(trace).objects.filter(pk=trace.pk).update(context_segments=0)
    trace.case.context = "The case."
    trace.case.save()
    trace.refresh_from_db()
    run = make_run(trace)
    judge = factories.FakeJudge()
    assert execute(run.pk, judge=judge) == RunState.DONE
    assert [(question.case, question.segment) for question in judge.asked] == [
        (("The case.",), "a"),
        (("The case.",), "b"),
    ]
    assert set(verdicts(run)) == {1, 2}


def test_rp_04_every_reply_is_kept_compressed_with_the_parser_that_read_it(make_run):
    run = make_run(factories.trace(3, texts=("case", "good", "bad")))

    def answers(question):
        return factories.no_verdict() if question.segment == "bad" else "trustworthy"

    execute(run.pk, judge=factories.FakeJudge(answers))
    good, *bad = JudgeCallAttempt.objects.order_by("call__status", "number").reverse()
    assert good.call.status == "valid"
    assert json.loads(zlib.decompress(good.raw_request)) == ["case", "good"]
    assert zlib.decompress(good.raw_reply) == b"trustworthy"
    assert [(a.number, a.status, zlib.decompress(a.raw_reply)) for a in reversed(bad)] == [
        (1, "invalid:not_json", b"<html>"),
        (2, "invalid:not_json", b"prose"),
    ], "the re-ask is a row of its own"


def test_lj_08_what_does_not_parse_is_missing_and_never_a_verdict(make_run):
    def answers(question):
        return {"b": factories.no_verdict("refusal"), "c": factories.no_reply(), "d": "trustworthy"}[
            question.segment
        ]

    trace = factories.trace(4, texts=("case", "b", "c", "d"))
    run = make_run(trace)
    assert execute(run.pk, judge=factories.FakeJudge(answers)) == RunState.PARTIAL
    assert counts(run) == {"total": 3, "done": 1, "cached": 0, "invalid": 1, "failed": 1, "calls": 3}
    assert verdicts(run) == {2: None, 3: None, 4: "trustworthy"}
    statuses = dict(JudgeVerdict.objects.values_list("segment__index", "status"))
    assert statuses == {2: "invalid:refusal", 3: "error:timeout", 4: "valid"}
    assert next(iter(judge_verdicts([trace]).values())) == {
        row.segment_id: (1 if row.verdict else None) for row in JudgeVerdict.objects.all()
    }
    (row,) = run.run_traces.all()
    assert row.state == RunState.PARTIAL
    assert "1 got no reply, 1 got a reply that is no verdict" in row.message
    assert "Most often (1)" in run.message


def test_lj_08_the_database_itself_refuses_a_verdict_that_is_not_valid(make_run):
    run = make_run(factories.trace(2))
    segment = run.traces.get().all_segments.get(index=2)
    for status, verdict in (("invalid:empty", "trustworthy"), ("valid", None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeVerdict.objects.create(run=run, segment=segment, status=status, verdict=verdict)
    with pytest.raises(IntegrityError), transaction.atomic():
        JudgeCall.objects.create(key="0" * 64, judge="j", status="invalid", verdict="trustworthy")


def test_lj_02_only_verdicts_are_reused_and_equal_questions_are_paid_once(make_run):
    def first(question):
        return factories.no_verdict() if question.segment == "b" else "trustworthy"

    into = factories.dataset()
    one = factories.trace(3, into=into, texts=("case", "a", "b"), name="one")
    two = factories.trace(3, into=into, texts=("case", "a", "b"), name="two")
    run = make_run(one, two)
    judge = factories.FakeJudge(first)
    assert execute(run.pk, judge=judge) == RunState.PARTIAL
    assert len(judge.asked) == 2, "two traces with the same texts"
    assert counts(run) == {"total": 4, "done": 2, "cached": 0, "invalid": 2, "failed": 0, "calls": 2}
    again = make_run(one, two)
    judge = factories.FakeJudge(lambda question: "problematic")
    assert execute(again.pk, judge=judge) == RunState.DONE
    assert [question.segment for question in judge.asked] == ["b"]
    assert counts(again) == {"total": 4, "done": 4, "cached": 2, "invalid": 0, "failed": 0, "calls": 1}
    call = JudgeCall.objects.get(verdict="problematic")
    assert list(call.attempts.values_list("number", "status")) == [
        (1, "invalid:not_json"),
        (2, "invalid:not_json"),
        (3, "valid"),
    ], "the replies that were none stay"
    assert call.completion_tokens == 4 + 2, "and what they cost stays counted"
    assert verdicts(run) == {2: "trustworthy", 3: None}, "what the first run found is not rewritten"


@pytest.mark.parametrize("place", ["attempts", "counts"])
def test_lj_02_answers_and_counts_are_stored_together_or_not_at_all(make_run, monkeypatch, place):
    run = make_run(factories.trace(3))

    def broken(*_, **__):
        raise RuntimeError("between two statements")

    if place == "attempts":
        monkeypatch.setattr(JudgeCallAttempt.objects, "bulk_create", broken)
    else:
        monkeypatch.setattr(work, "touch", broken)
    monkeypatch.setattr("auditing.services.pipeline.TOUCH_SECONDS", 1000)
    assert execute(run.pk, judge=factories.FakeJudge()) == RunState.FAILED
    assert not JudgeCall.objects.exists()
    assert counts(run)["done"] == counts(run)["calls"] == 0
    monkeypatch.undo()
    runs.resume(run)
    assert execute(run.pk, judge=factories.FakeJudge()) == RunState.DONE
    assert counts(run)["calls"] == 2


def test_lj_02_verdicts_and_the_end_of_their_trace_are_stored_together(make_run, monkeypatch):
    run = make_run(factories.trace(3))

    def broken(*_, **__):
        raise RuntimeError("after the verdicts")

    monkeypatch.setattr("auditing.services.judging.verdicts.settle", broken)
    assert execute(run.pk, judge=factories.FakeJudge()) == RunState.FAILED
    assert not JudgeVerdict.objects.exists()
    assert JudgeCall.objects.count() == 2, "the paid answers are kept"
    monkeypatch.undo()
    runs.resume(run)
    judge = factories.FakeJudge()
    assert execute(run.pk, judge=judge) == RunState.DONE
    assert judge.asked == []
    assert JudgeVerdict.objects.count() == 2


def test_lj_09_resume_asks_only_what_has_no_verdict(make_run):
    broken = True

    def answers(question):
        return factories.no_reply() if broken and question.segment.endswith("4.") else "trustworthy"

    run = make_run(factories.trace(5, name="x"))
    assert execute(run.pk, judge=factories.FakeJudge(answers)) == RunState.PARTIAL
    broken = False
    runs.resume(run)
    judge = factories.FakeJudge(answers)
    assert execute(run.pk, judge=judge) == RunState.DONE
    assert len(judge.asked) == 1
    assert counts(run) == {"total": 4, "done": 4, "cached": 0, "invalid": 0, "failed": 0, "calls": 5}
    assert JudgeVerdict.objects.filter(run=run).count() == 4
    assert len(run.manifest["starts"]) == 2


def _execute_and_close(run_id, judge):
    try:
        return execute(run_id, judge=judge)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_lj_09_cancel_stops_new_calls_within_two_seconds_and_keeps_what_was_said(make_run):
    run = make_run(factories.trace(200))
    judge = factories.FakeJudge(latency=0.05, concurrency=2)
    ended: list[object] = []
    worker = threading.Thread(target=lambda: ended.append(_execute_and_close(run.pk, judge)))
    worker.start()
    deadline = time.monotonic() + 10
    while not JudgeCall.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    runs.request_cancel(run)
    asked_at = time.monotonic()
    worker.join(10)
    assert time.monotonic() - asked_at < 2
    assert ended == [RunState.CANCELLED]
    left = counts(run)
    assert 0 < left["done"] < left["total"] == 199
    assert left["done"] == JudgeCall.objects.count() == JudgeVerdict.objects.count() == len(judge.asked)
    assert left["failed"] == 0, "what was never asked did not fail"
    (row,) = run.run_traces.all()
    assert f"{199 - left['done']} were not asked" in row.message
    runs.resume(run)
    second = factories.FakeJudge(concurrency=16)
    assert execute(run.pk, judge=second) == RunState.DONE
    assert len(second.asked) == 199 - left["done"]
    assert JudgeVerdict.objects.filter(run=run).count() == 199


@pytest.mark.django_db(transaction=True)
def test_lj_04_two_workers_one_run(make_run):
    run = make_run(factories.trace(40))
    judges = [factories.FakeJudge(latency=0.01) for _ in range(2)]
    ended: list[object] = []
    workers = [
        threading.Thread(target=lambda one=judge: ended.append(_execute_and_close(run.pk, one)))
        for judge in judges
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert sorted(map(str, ended)) == ["None", "done"]
    assert sum(len(judge.asked) for judge in judges) == 39


@pytest.mark.django_db(transaction=True)
def test_lj_04_two_runs_that_answer_the_same_questions_at_once_accept_each_once(make_run):
    texts = tuple(f"line {number}" for number in range(30))
    into = factories.dataset()
    pair = [make_run(factories.trace(30, into=into, texts=texts, name=name)) for name in ("one", "two")]
    judges = [factories.FakeJudge(latency=0.02, concurrency=8) for _ in pair]
    workers = [
        threading.Thread(target=_execute_and_close, args=(run.pk, judge))
        for run, judge in zip(pair, judges, strict=True)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert [counts(run)["done"] for run in pair] == [29, 29]
    assert JudgeCall.objects.filter(status="valid").count() == 29
    assert JudgeCallAttempt.objects.count() == 29, "one accepted reply each"
    assert verdicts(pair[0]) == verdicts(pair[1])


def test_lj_04_a_worker_that_lost_its_lease_writes_nothing(make_run):
    run = make_run(factories.trace(4))

    class Stolen(factories.FakeJudge):
        async def judge_batch(self, questions):
            from asgiref.sync import sync_to_async

            await sync_to_async(JudgeRun.objects.filter(pk=run.pk).update)(lease_owner="another worker")
            return await super().judge_batch(questions)

    assert execute(run.pk, judge=Stolen()) is None
    run.refresh_from_db()
    assert (run.state, run.lease_owner, run.done) == (RunState.RUNNING, "another worker", 0)
    assert not JudgeCall.objects.exists()
    assert not JudgeVerdict.objects.exists()
    with pytest.raises(LeaseLost), transaction.atomic():
        work.Lease(run.pk, "me", JUDGES).locked_run()


def test_lj_05_a_run_that_kills_its_workers_fails_with_a_reason(make_run):
    run = make_run(factories.trace(3))
    for death in range(1, 4):
        assert work.claim(run.pk, f"worker {death}", JUDGES) is not None
        JudgeRun.objects.filter(pk=run.pk).update(lease_until=None)  # the worker is gone
    assert execute(run.pk, judge=factories.FakeJudge()) is None
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "died 3 times" in run.message


def test_lj_15_a_worker_that_is_told_to_stop_gives_the_run_back(make_run):
    run = make_run(factories.trace(40))
    judge = factories.FakeJudge(latency=0.01, concurrency=2)
    assert execute(run.pk, should_stop=lambda: len(judge.asked) > 10, judge=judge) == RunState.QUEUED
    run.refresh_from_db()
    assert (run.lease_owner, run.deliveries) == ("", 0)
    assert run.done == JudgeCall.objects.count() == len(judge.asked)
    assert execute(run.pk, judge=factories.FakeJudge(concurrency=16)) == RunState.DONE


def test_lj_06_a_wrong_key_pauses_the_run_and_what_was_said_is_readable(make_run):
    asked = []

    def answers(question):
        asked.append(question)
        if len(asked) > 3:
            raise LLMPaused(
                "The model server does not accept the API key (401). Set the right key, then resume."
            )
        return "trustworthy"

    run = make_run(factories.trace(9))
    assert execute(run.pk, judge=factories.FakeJudge(answers, concurrency=1)) == RunState.PAUSED
    run.refresh_from_db()
    assert "401" in run.message
    assert counts(run)["done"] == JudgeVerdict.objects.count() == 3
    runs.resume(run)
    assert execute(run.pk, judge=factories.FakeJudge()) == RunState.DONE
    assert counts(run) == {"total": 8, "done": 8, "cached": 0, "invalid": 0, "failed": 0, "calls": 8}
    assert JudgeVerdict.objects.count() == 8


def test_lj_10_the_run_pauses_at_its_limit_of_calls(make_run):
    run = make_run(factories.trace(10), options={"max_calls": 4})
    judge = factories.FakeJudge()
    assert execute(run.pk, judge=judge) == RunState.PAUSED
    assert len(judge.asked) == 4
    run.refresh_from_db()
    assert "limit of 4 calls" in run.message


def test_lj_10_the_run_pauses_at_its_limit_of_cost_and_every_call_says_what_it_cost(make_run):
    # 10 + 2 tokens at 100,000 and 200,000 per million: 1.4 a call; 5 is passed by the fourth.
    options = {"price_prompt": "100000", "price_completion": "200000", "max_cost": "5"}
    run = make_run(factories.trace(30), options=options)
    assert execute(run.pk, judge=factories.FakeJudge(latency=0.3, concurrency=1)) == RunState.PAUSED
    run.refresh_from_db()
    assert 4 <= run.calls <= 6
    assert run.cost == run.calls * Decimal("1.4")
    assert set(JudgeCall.objects.values_list("cost", flat=True)) == {Decimal("1.400000")}


def test_lj_17_what_is_stored_does_not_depend_on_the_order_of_arrival(make_run):
    texts = [f"segment {index}" for index in range(1, 20)]
    found = set()
    for concurrency in (1, 8, 16):
        run = make_run(factories.trace(19, texts=texts))
        JudgeVerdict.objects.all().delete()
        JudgeCall.objects.all().delete()
        execute(run.pk, judge=factories.FakeJudge(concurrency=concurrency, latency=0.001))
        found.add(json.dumps(list(JudgeVerdict.objects.values_list("segment__index", "verdict", "reason"))))
    assert len(found) == 1


def test_lj_18_a_fault_of_the_program_ends_the_run_without_its_text(make_run):
    def answers(question):
        raise KeyError("sk-secret-key")

    run = make_run(factories.trace(3))
    assert execute(run.pk, judge=factories.FakeJudge(answers)) == RunState.FAILED
    run.refresh_from_db()
    assert "KeyError" in run.message
    assert "sk-secret" not in json.dumps([run.message, run.log, run.manifest])


def test_a_reply_that_the_database_cannot_hold_as_text_is_kept_as_bytes(make_run):
    from auditing.judging.protocol import Attempt, JudgeAnswer

    answer = JudgeAnswer("valid", "problematic", "bad \x00 \ud800", (Attempt("valid", b"q", b"\x00\xff"),))
    run = make_run(factories.trace(2))
    assert execute(run.pk, judge=factories.FakeJudge(lambda question: answer)) == RunState.DONE
    assert JudgeVerdict.objects.get().reason == "bad \ufffd ?"
    assert zlib.decompress(JudgeCallAttempt.objects.get().raw_reply) == b"\x00\xff"


def test_rp_01_the_manifest_names_everything_needed_to_repeat_the_run(make_run, monkeypatch):
    run = make_run(factories.trace(3))
    # Nothing listens there: each call is an error, asked again without the seconds between. The manifest is that of
    # the real judge.
    monkeypatch.setattr(openai_compatible, "RetryPolicy", partial(RetryPolicy, backoff_base=0.001))
    execute(run.pk)
    run.refresh_from_db()
    manifest = run.manifest
    assert manifest["schema"] == "reasonaudit.judge-manifest/1"
    assert manifest["dataset"]["traces"] == 1
    assert len(manifest["dataset"]["sha256"]) == 64
    assert manifest["judge"]["model"] == "fake"
    assert manifest["judge"]["id"] == run.judge_id
    assert {prompt["id"] for prompt in manifest["judge"]["prompts"].values()} == {
        "judge-clinical-v1",
        "judge-mathematical-v1",
    }
    assert manifest["judge"]["sent"]["temperature"] == 0.0
    assert manifest["verdicts"] == ["trustworthy", "problematic"]
    assert manifest["code"]["commit"]
    assert len(manifest["starts"]) == 1
    assert manifest["judge"]["revision"] == "unknown"


def test_rp_01_the_manifest_says_what_the_server_reported(make_run):
    run = make_run(factories.trace(3))
    execute(run.pk, judge=factories.FakeJudge())
    run.refresh_from_db()
    assert run.manifest["judge"]["reported"] == ["fake@r1"]
