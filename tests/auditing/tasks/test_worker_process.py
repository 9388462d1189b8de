"""Real worker processes: killed, stopped, and run over a real server."""

import random
import signal
import time

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from auditing import tasks
from auditing.models import (
    AuditResult,
    CallAttempt,
    JudgeCall,
    JudgeCallAttempt,
    JudgeVerdict,
    RelationCall,
)
from auditing.services import results
from auditing.services.pipeline import FLUSH_ROWS
from auditing.services.work import MAX_DELIVERIES
from reasonaudit.lib.models import RunState
from tests.auditing import factories
from tests.scripted_server import start_scripted_server

IN_FLIGHT = 4
KILLS = 5
PATIENCE_SECONDS = 60


def wait_for(condition, seconds=PATIENCE_SECONDS):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("what the test waits for did not come")


def enqueue(server, n):
    trace = factories.trace(n)
    options = {"base_url": server.base_url, "concurrency": IN_FLIGHT}
    return tasks.enqueue_audit_run(
        dataset=trace.case.dataset, traces=[trace], labeller="openai:scripted", options=options
    )


def state(run):
    run.refresh_from_db()
    return run.state


def stored(run):
    run.refresh_from_db()
    return run.done


@pytest.mark.django_db(transaction=True)
def test_lj_03_a_run_survives_workers_killed_at_random_points(start_worker):
    keys = 120  # 9 segments: C(10, 3) relations, all texts different
    moments = sorted(random.Random(20).sample(range(8, 112), KILLS))
    with start_scripted_server(latency=0.04) as server:
        run = enqueue(server, 9)
        lost = 0
        for moment in moments:
            worker = start_worker()
            wait_for(lambda wanted=moment + lost: len(server.requests()) >= wanted)
            run.refresh_from_db()
            if (
                run.deliveries >= MAX_DELIVERIES - 1
            ):  # once more without an answer and the run would be given up
                wait_for(lambda before=run.done: stored(run) > before)
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
            time.sleep(0.3)  # a commit that the database had already received still comes through
            run.refresh_from_db()
            assert run.done == run.calls == RelationCall.objects.count(), "answers and counts change together"
            in_flight = len(server.requests()) - run.done - lost
            assert 0 <= in_flight <= IN_FLIGHT + FLUSH_ROWS
            lost += in_flight
        start_worker()
        wait_for(lambda: state(run) not in (RunState.QUEUED, RunState.RUNNING))
        asked = server.stats()["keys"]
    assert run.state == RunState.DONE, run.message
    assert (run.total, run.done, run.cached, run.invalid, run.failed) == (keys, keys, 0, 0, 0)
    assert len(asked) == keys
    assert RelationCall.objects.filter(status="valid").count() == keys
    assert CallAttempt.objects.count() == keys, "each key was accepted once"
    assert sum(asked.values()) <= keys + lost
    assert max(asked.values()) <= 1 + KILLS
    result = AuditResult.objects.get(run=run)
    assert (result.labelled, result.total) == (keys, keys)
    assert results.replay_matches(result)
    assert run.deliveries == 0


@pytest.mark.django_db(transaction=True)
def test_lj_15_sigterm_gives_the_run_back_within_ten_seconds_and_the_next_worker_ends_it(start_worker):
    with start_scripted_server(latency=0.1) as server:
        run = enqueue(server, 8)
        worker = start_worker()
        wait_for(lambda: len(server.requests()) >= 10)
        asked_to_stop = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        worker.wait(10)
        assert time.monotonic() - asked_to_stop < 10
        assert state(run) == RunState.QUEUED
        assert run.lease_owner == ""
        assert run.done == RelationCall.objects.count() == len(server.requests()), (
            "nothing in flight was thrown away"
        )
        start_worker()
        wait_for(lambda: state(run) == RunState.DONE)
        assert len(server.requests()) == 84


@pytest.mark.django_db(transaction=True)
def test_lj_16_a_run_that_never_got_a_job_is_found(start_worker):
    trace = factories.trace(3, relations=[((1,), 2, "entailment")])
    from auditing.services import runs

    run = runs.create(dataset=trace.case.dataset, traces=[trace], labeller="stored")
    assert not ProcrastinateJob.objects.exists()
    start_worker("--until-idle").wait(PATIENCE_SECONDS)
    assert state(run) == RunState.DONE


@pytest.mark.django_db(transaction=True)
def test_lj_03_a_judge_s_run_survives_workers_killed_at_random_points_and_pays_once(start_worker):
    keys = 80
    trace = factories.trace(keys + 1)
    moments = sorted(random.Random(7).sample(range(6, 70), 3))
    with start_scripted_server(latency=0.04) as server:
        run = tasks.enqueue_judge_run(
            dataset=trace.case.dataset,
            traces=[trace],
            judge="openai:scripted",
            options={"base_url": server.base_url, "concurrency": IN_FLIGHT},
        )
        lost = 0
        for moment in moments:
            worker = start_worker()
            wait_for(lambda wanted=moment + lost: len(server.requests()) >= wanted)
            run.refresh_from_db()
            if run.deliveries >= MAX_DELIVERIES - 1:
                wait_for(lambda before=run.done: stored(run) > before)
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
            time.sleep(0.3)
            run.refresh_from_db()
            assert run.done == run.calls == JudgeCall.objects.count(), "answers and counts change together"
            in_flight = len(server.requests()) - run.done - lost
            assert 0 <= in_flight <= IN_FLIGHT + FLUSH_ROWS
            lost += in_flight
        start_worker()
        wait_for(lambda: state(run) not in (RunState.QUEUED, RunState.RUNNING))
        asked = server.stats()["keys"]
    assert run.state == RunState.DONE, run.message
    assert (run.total, run.done, run.cached, run.invalid, run.failed) == (keys, keys, 0, 0, 0)
    assert len(asked) == keys
    assert JudgeCallAttempt.objects.count() == keys, "each key was accepted once"
    assert sum(asked.values()) <= keys + lost
    assert JudgeVerdict.objects.filter(run=run, status="valid").count() == keys
