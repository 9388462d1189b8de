"""A step of a benchmark in real worker processes over a real server, and the results that follow by themselves."""

import json
import signal

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from auditing import tasks
from auditing.models import BenchmarkResult, ModelAnswer, ReasoningCall
from reasonaudit.lib.models import RunState
from tests.auditing.services.anchor import builders
from tests.auditing.tasks.test_worker_process import wait_for
from tests.scripted_server import start_scripted_server

TAKES = 16


def says(content: str) -> dict[str, object]:
    """A rule of the scripted server: this reply to every request."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    body = json.dumps({"object": "chat.completion", "model": "scripted", "choices": [choice]})
    return {"do": "status", "status": 200, "body": body, "headers": {"Content-Type": "application/json"}}


@pytest.mark.django_db(transaction=True)
def test_a_step_survives_a_killed_worker_and_the_results_follow_by_themselves(start_worker):
    benchmark = builders.benchmark(1)
    with start_scripted_server(latency=0.1, behaviours=[says("A whistle.")]) as server:
        run = tasks.enqueue_benchmark_run(
            benchmark=benchmark,
            step="rollout",
            model="openai:scripted",
            options={"base_url": server.base_url, "concurrency": 2},
            choices={"takes": TAKES},
        )
        worker = start_worker()
        wait_for(lambda: len(server.requests()) >= TAKES // 2)
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        run.refresh_from_db()
        assert run.state == RunState.RUNNING
        assert run.done == ReasoningCall.objects.count(), "replies and counts change together"
        start_worker()
        wait_for(lambda: BenchmarkResult.objects.filter(benchmark=benchmark, part="collection").exists())
    run.refresh_from_db()
    assert (run.state, run.done) == (RunState.DONE, TAKES)
    assert ModelAnswer.objects.filter(role="rollout").count() == TAKES


@pytest.mark.django_db
def test_the_results_of_a_benchmark_wait_for_a_worker_once():
    benchmark, other = builders.benchmark(1), builders.benchmark(1)
    for pk in (benchmark.pk, benchmark.pk, other.pk):
        tasks.enqueue_benchmark_results(pk)
    waiting = ProcrastinateJob.objects.filter(task_name="auditing.benchmark_results", status="todo")
    assert sorted(job.args["benchmark_id"] for job in waiting) == sorted([benchmark.pk, other.pk])
