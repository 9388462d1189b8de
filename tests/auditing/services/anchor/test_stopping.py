"""Runs of a benchmark's steps that are cancelled, paused or killed, and go on; and what decides a run."""

import pytest

from auditing.llm.errors import LLMPaused
from auditing.models import ModelAnswer, ReasoningCall
from auditing.services import runs as any_runs
from reasonaudit.lib.models import RunState
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import (
    MODEL,
    Witness,
    carry_out,
    counts,
    make_run,
)
from tests.auditing.services.anchor.witness import (
    benchmark as bench,
)

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_run_keeps_what_was_answered_and_resuming_asks_for_the_rest():
    benchmark = bench(15)
    run = make_run(benchmark, "rollout", choices={"takes": 2})

    def cancel() -> None:
        if len(first.asked) == 3:
            any_runs.request_cancel(run)

    first = Witness(concurrency=1, latency=0.2, meanwhile=cancel)
    assert carry_out(run, first) == RunState.CANCELLED
    kept = ModelAnswer.objects.count()
    assert 3 <= kept == ReasoningCall.objects.filter(status="valid").count() < 30
    any_runs.resume(run)
    second = Witness(concurrency=32)
    assert carry_out(run, second) == RunState.DONE
    assert len(second.asked) == 30 - kept, "what was answered is not asked again"
    assert ModelAnswer.objects.count() == 30
    assert counts(run)[:2] == (30, 30)


def test_a_server_that_must_not_be_asked_on_pauses_the_run():
    benchmark = bench(2)
    run = make_run(benchmark, "answer")
    assert carry_out(run, Witness({"video_answer": LLMPaused("The key is not valid.")})) == RunState.PAUSED
    run.refresh_from_db()
    assert "The key is not valid." in run.message
    any_runs.resume(run)
    assert carry_out(run, Witness()) == RunState.DONE


def test_a_worker_that_dies_is_followed_by_one_that_pays_for_the_rest_only():
    benchmark = bench(2)
    run = make_run(benchmark, "rollout", choices={"takes": 3})
    first = Witness(concurrency=1, latency=0.3)

    def killed() -> bool:
        if len(first.asked) >= 4:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        carry_out(run, first, should_stop=killed)
    type(run).objects.filter(pk=run.pk).update(lease_until=None)  # it is gone
    paid = ReasoningCall.objects.filter(status="valid").count()
    assert 1 <= paid <= 4
    second = Witness()
    assert carry_out(run, second) == RunState.DONE
    assert len(second.asked) == 6 - paid
    assert ModelAnswer.objects.count() == 6


def test_the_manifest_names_what_decides_a_run():
    benchmark = bench(2)
    for item in benchmark.items.select_related("benchmark", "question__video"):
        builders.reference(item)
        builders.answer(item)
    run = make_run(benchmark, "rate", choices={"facets": ["answer"]})
    carry_out(run, Witness())
    run.refresh_from_db()
    said = run.manifest
    assert said["schema"] == "reasonaudit.benchmark-manifest/1"
    assert said["choices"]["references"] == ["human"]
    assert said["items"]["count"] == 2
    assert set(said["model"]["prompts"]) == {"answer_rating", "hallucination_rating", "divergence_rating"}
    assert all(len(prompt["sha256"]) == 64 for prompt in said["model"]["prompts"].values())
    assert said["parameters"]["reference"] == "human"
    assert said["model"]["spec"] == MODEL
    assert len(said["starts"]) == 1
