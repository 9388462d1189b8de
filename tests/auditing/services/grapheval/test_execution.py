"""Runs of steps: how they end, what they count, and that nothing is paid for twice."""

import threading
import time
from decimal import Decimal

import pytest
from django.db import connection

from annotation.models import Trace
from auditing.llm.errors import LLMPaused, LLMTimeout
from auditing.models import (
    ReasoningCall,
    ReasoningRun,
    StudyChain,
)
from auditing.services import pipeline, work
from auditing.services import runs as any_runs
from auditing.services.grapheval.asking import STUDIES
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.conftest import score
from tests.auditing.services.grapheval.reasoner import Model
from tests.auditing.services.grapheval.steps import carry_out, counts

pytestmark = pytest.mark.django_db


def test_a_question_that_cannot_be_worked_on_any_more_is_named_and_the_others_go_on(study, make_run):
    cases = [rows.case(study, f"q{number}") for number in range(70)]  # more than are open at once
    for case in cases:
        score(study, case, rows.chain(study, case, 1))
    run = make_run("early")
    study.scores.exclude(case=cases[-1]).delete()
    assert carry_out(run, Model()) == RunState.PARTIAL
    assert StudyChain.objects.exclude(early=None).get().case == cases[-1]
    first = run.items.get(case=cases[0])
    assert first.state == RunState.FAILED
    assert "not scored yet" in first.message


def test_a_worker_that_dies_is_followed_by_one_that_pays_for_the_rest_only(study, make_run):
    rows.case(study, "one")
    rows.case(study, "two")
    run = make_run("sample")
    first = Model(concurrency=1, latency=0.3)

    def killed() -> bool:
        if len(first.asked) >= 4:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        carry_out(run, first, should_stop=killed)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING, "it had no time to say that it ends"
    ReasoningRun.objects.filter(pk=run.pk).update(lease_until=None)  # it is gone
    paid = ReasoningCall.objects.filter(status="valid").count()
    assert 1 <= paid <= 4
    assert StudyChain.objects.count() in (0, 3), "a question has all of its chains or none"
    second = Model()
    assert carry_out(run, second) == RunState.DONE
    assert len(second.asked) == 6 - paid
    assert counts(run) == (6, 6, 0, 0, 0, 6)
    assert StudyChain.objects.count() == Trace.objects.count() == 6


def test_a_worker_that_is_told_to_stop_gives_the_run_back(study, make_run):
    for name in ("one", "two", "three", "four"):
        rows.case(study, name)
    run = make_run("sample")
    model = Model(concurrency=1, latency=0.05)
    assert carry_out(run, model, should_stop=lambda: len(model.asked) > 3) == RunState.QUEUED
    run.refresh_from_db()
    assert (run.lease_owner, run.deliveries) == ("", 0)
    second = Model()
    assert carry_out(run, second) == RunState.DONE
    assert len(model.asked) + len(second.asked) == 12
    assert StudyChain.objects.count() == 12


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_run_stops_within_two_seconds_and_keeps_the_chains_that_are_there(study, make_run):
    study.parameters["sampling"]["chains"] = 150
    study.save()
    rows.case(study)
    run = make_run("sample")
    model = Model(concurrency=2, latency=0.1)
    ended: list[object] = []

    def body() -> None:
        try:
            ended.append(carry_out(run, model))
        finally:
            connection.close()

    worker = threading.Thread(target=body)
    worker.start()
    deadline = time.monotonic() + 20
    while not ReasoningCall.objects.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    any_runs.request_cancel(run)
    worker.join(10)
    assert ended == [RunState.CANCELLED]
    total, done, _, _, failed, _ = counts(run)
    assert 0 < done < total == 150
    assert failed == 0
    assert done == StudyChain.objects.count() == ReasoningCall.objects.count()
    any_runs.resume(run)
    second = Model(concurrency=32)
    assert carry_out(run, second) == RunState.DONE
    assert len(second.asked) == 150 - done
    assert counts(run)[:2] == (150, 150)


def test_a_wrong_key_pauses_the_run(study, make_run):
    rows.case(study)
    run = make_run("sample")
    pause = LLMPaused("The model server does not accept the API key (401). Set the right key, then resume.")
    assert carry_out(run, Model({"chain": pause})) == RunState.PAUSED
    run.refresh_from_db()
    assert "401" in run.message
    any_runs.resume(run)
    assert carry_out(run, Model()) == RunState.DONE


def test_the_run_pauses_at_its_limits(study, make_run):
    rows.case(study)
    run = make_run("sample", options={"max_calls": 2})
    model = Model()
    assert carry_out(run, model) == RunState.PAUSED
    assert len(model.asked) == 2
    run.refresh_from_db()
    assert "limit of 2 calls" in run.message
    assert sorted(StudyChain.objects.values_list("number", flat=True)) == [1, 2], "what is there can be read"


def test_another_worker_that_has_the_run_is_left_alone(study, make_run):
    rows.case(study)
    run = make_run("sample")
    assert work.claim(run.pk, "another", STUDIES) is not None
    model = Model()
    assert carry_out(run, model) is None
    assert not model.asked


def test_many_equal_requests_that_failed_do_not_hold_the_run_up(study, make_run, monkeypatch):
    monkeypatch.setattr(pipeline, "ASK_AHEAD", 4)
    case = rows.case(study)
    for number in range(1, 12):
        rows.chain(study, case, number)  # all the same: a model that collapsed
    run = make_run("early", choices={"chains": "all"})
    ended = time.monotonic() + 20

    def too_late() -> bool:
        return time.monotonic() > ended

    model = Model({"early_answer": LLMTimeout("No reply in time.")})
    assert carry_out(run, model, should_stop=too_late) == RunState.PARTIAL
    assert model.tasks == {"early_answer": 3}
    assert counts(run) == (33, 0, 0, 0, 33, 3)


def test_a_fault_of_the_program_ends_the_run_without_its_text(study, make_run):
    rows.case(study)
    run = make_run("sample")
    assert carry_out(run, Model({"chain": KeyError("sk-secret-key")})) == RunState.FAILED
    run.refresh_from_db()
    assert "KeyError" in run.message
    assert "sk-secret" not in str([run.message, run.log, run.manifest])


def test_rp_01_the_manifest_names_everything_needed_to_repeat_the_step(study, make_run):
    case = rows.case(study, options={"A": "this"})
    run = make_run("sample", then=[{"step": "decompose"}])
    carry_out(run, Model())
    run.refresh_from_db()
    manifest = run.manifest
    assert manifest["schema"] == "reasonaudit.grapheval-manifest/1"
    assert manifest["study"]["slug"] == "ways"
    assert manifest["parameters"]["sampling"]["chains"] == 3
    assert (manifest["step"], manifest["choices"], manifest["questions"]) == ("sample", {}, 1)
    assert [one["step"] for one in manifest["then"]] == ["decompose"]
    assert manifest["dataset"]["questions"] == 1
    assert manifest["dataset"]["slug"] == case.dataset.slug
    assert len(manifest["dataset"]["sha256"]) == 64
    model = manifest["model"]
    assert (model["spec"], model["model"], model["revision"]) == ("openai:reasoner", "reasoner", "r1")
    assert model["reported"] == ["reasoner"]
    assert {len(prompt["sha256"]) for prompt in model["prompts"].values()} == {64}
    assert model["sent"]["temperature"] == 0.7
    assert len(manifest["starts"]) == 1


def test_the_cost_is_counted_where_the_server_says_its_tokens(study, make_run):
    rows.case(study)
    options = {"price_prompt": "1", "price_completion": "2"}
    run = make_run("sample", options=options)
    carry_out(run, Model())
    run.refresh_from_db()
    assert (run.prompt_tokens, run.cost) == (0, Decimal(0)), "the scripted provider names none"
