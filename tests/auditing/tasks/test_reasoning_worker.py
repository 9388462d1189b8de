"""Steps of a study in real worker processes over a real server: killed in the middle, and followed by the next step."""

import json
import signal

import pytest

from auditing import tasks
from auditing.models import ReasoningCall, ReasoningCallAttempt, ReasoningRun, StudyChain
from auditing.services.grapheval import runs
from auditing.services.pipeline import FLUSH_ROWS
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.tasks.test_worker_process import wait_for
from tests.scripted_server import start_scripted_server

IN_FLIGHT = 3
CHAINS = 24


def says(content: str) -> dict[str, object]:
    """A rule of the scripted server: this reply to every request."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    body = json.dumps({"object": "chat.completion", "model": "scripted", "choices": [choice]})
    return {"do": "status", "status": 200, "body": body, "headers": {"Content-Type": "application/json"}}


CHAIN = says("Step 1: One. [depends_on: none]\nStep 2: So A. [depends_on: 1]\nThe final answer is: A")
FACTS = says("### One. [step: 1, depends_on: none]\n### So A. [step: 2, depends_on: 1]")


@pytest.mark.django_db(transaction=True)
def test_a_step_survives_a_killed_worker_and_the_next_step_follows_by_itself(start_worker):
    study = rows.study(
        generator="openai:scripted",
        decomposer="openai:scripted",
        parameters={"sampling": {"chains": CHAINS}},
    )
    rows.case(study)
    facts = {**FACTS, "contains": "Take this reasoning apart into single facts."}
    with start_scripted_server(latency=0.1, behaviours=[facts, CHAIN]) as server:
        run = tasks.enqueue_reasoning_run(
            study=study,
            step="sample",
            options={"base_url": server.base_url, "concurrency": IN_FLIGHT},
            then=[{"step": "decompose"}],
        )
        worker = start_worker()
        wait_for(lambda: len(server.requests()) >= CHAINS // 2)
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        run.refresh_from_db()
        assert run.state == RunState.RUNNING
        assert run.done == ReasoningCall.objects.count(), "replies and counts change together"
        lost = len(server.requests()) - run.done
        assert 0 <= lost <= IN_FLIGHT + FLUSH_ROWS
        start_worker()
        following = wait_for(lambda: ReasoningRun.objects.filter(step="decompose", state="done").first())
        asked = server.stats()
    run.refresh_from_db()
    assert (run.state, run.total, run.done, run.cached) == (RunState.DONE, CHAINS, CHAINS, 0)
    assert StudyChain.objects.count() == CHAINS
    assert asked["requests"] <= CHAINS + lost + 1, "equal chains are taken apart with one call"
    assert ReasoningCallAttempt.objects.count() == CHAINS + 1, "each was accepted once"
    assert (following.total, following.done, following.calls) == (CHAINS, CHAINS, 1)
    assert {len(chain.facts) for chain in StudyChain.objects.all()} == {2}


@pytest.mark.django_db(transaction=True)
def test_a_worker_makes_the_job_of_the_next_step_itself(start_worker):
    study = rows.study(
        generator="openai:scripted", decomposer="sentences", parameters={"sampling": {"chains": 2}}
    )
    rows.case(study)
    with start_scripted_server(behaviours=[CHAIN]) as server:
        tasks.enqueue_reasoning_run(
            study=study, step="sample", options={"base_url": server.base_url}, then=[{"step": "decompose"}]
        )
        start_worker(stall=600)  # its reaper comes too late to help
        wait_for(lambda: ReasoningRun.objects.filter(step="decompose", state="done").exists(), seconds=40)
    assert [chain.fact_source for chain in StudyChain.objects.all()] == ["sentences", "sentences"]


@pytest.mark.django_db(transaction=True)
def test_a_run_without_a_job_gets_one_from_the_reaper(start_worker):
    study = rows.study(generator="", decomposer="sentences")
    case = rows.case(study)
    rows.chain(study, case, 1, facts=[])
    run = runs.create(study=study, step="decompose")
    start_worker()
    wait_for(lambda: ReasoningRun.objects.get(pk=run.pk).state == RunState.DONE)
    assert len(StudyChain.objects.get().facts) == 3
