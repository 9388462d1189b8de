"""What a judge's run would do is what it then does; what cannot be judged or chosen is refused with the reason."""

from decimal import Decimal

import pytest

from annotation.models import Trace
from auditing.models import JudgeCall, JudgeRun
from auditing.services.judging import planning, runs
from auditing.services.judging.execution import execute
from reasonaudit.lib.errors import UserError
from tests.auditing import factories
from tests.auditing.services.judging.conftest import SERVER
from tests.scripted_server import start_scripted_server

pytestmark = pytest.mark.django_db


def test_lj_11_the_plan_equals_the_run_on_a_real_server():
    shared = ["case", "one", "two"]
    first = factories.trace(5, texts=[*shared, "three", "four"])
    second = factories.trace(5, texts=[*shared, "five", "six"], into=first.case.dataset)
    with start_scripted_server() as server:
        options = {"base_url": server.base_url, "price_prompt": "2", "price_completion": "8"}
        wanted = {"judge": "openai:scripted", "options": options}
        alone = runs.create(dataset=first.case.dataset, traces=[first], **wanted)
        assert execute(alone.pk) == "done"
        plan = planning.plan(traces=[first, second], **wanted)
        before = server.stats()["requests"]
        run = runs.create(dataset=first.case.dataset, traces=[first, second], **wanted)
        assert execute(run.pk) == "done"
        new = server.stats()["requests"] - before
    run.refresh_from_db()
    assert (plan.segments, plan.cached, plan.new_calls) == (8, 6, 2)
    assert new == run.calls == 2
    assert run.cached == 6
    assert plan.cost_estimate is not None
    assert run.cost > 0
    # The scripted server counts a quarter of the user message's characters: the plan counts the system message too.
    assert plan.prompt_tokens_estimate > run.prompt_tokens > 0
    assert JudgeCall.objects.count() == 6


def test_lj_11_an_unknown_price_is_said_and_is_not_zero():
    plan = planning.plan(traces=[factories.trace(4)], judge="openai:m", options={"base_url": SERVER})
    assert (plan.segments, plan.new_calls, plan.cost_estimate) == (3, 3, None)
    assert any("price is not known" in note for note in plan.notes)
    priced = planning.plan(
        traces=[factories.trace(4)],
        judge="openai:m",
        options={"base_url": SERVER, "price_prompt": "0", "price_completion": "1"},
    )
    assert priced.cost_estimate == Decimal(3 * planning.REPLY_TOKENS) / 1_000_000
    assert not JudgeRun.objects.exists()


def test_a_trace_without_reasoning_is_refused_or_left_out():
    whole = factories.trace(3)
    bare = factories.trace(2, into=whole.case.dataset)
    bare.all_segments.filter(index=2).delete()  # as a case that waits for an answer
    with pytest.raises(UserError) as refused:
        runs.create(
            dataset=whole.case.dataset, traces=[whole, bare], judge="openai:m", options={"base_url": SERVER}
        )
    assert refused.value.code == "not_judgeable"
    assert refused.value.fields == {"traces": [bare.pk]}
    options = {"base_url": SERVER, "skip_refused": True}
    run = runs.create(dataset=whole.case.dataset, traces=[whole, bare], judge="openai:m", options=options)
    assert list(run.traces.all()) == [whole]
    assert any("Left out" in line for _, line in run.log)
    with pytest.raises(UserError, match="no reasoning segment"):
        runs.create(dataset=whole.case.dataset, traces=[bare], judge="openai:m", options=options)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"judge": "local"}, "unknown_judge"),
        ({"judge": "openai:"}, "unknown_judge"),
        ({"judge": "replay:/etc"}, "unknown_judge"),
        ({"options": {"window": 2}}, "bad_option"),
        ({"options": {"max_premises": 2}}, "bad_option"),
        ({"options": {"max_calls": 0}}, "bad_option"),
        ({"options": {"max_cost": "5"}}, "bad_option"),
        ({"options": {"base_url": "http://10.0.0.1/v1"}}, "endpoint_refused"),
        ({"options": {"base_url": ""}}, "no_model_server"),
        ({"traces": []}, "no_traces"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason_and_nothing_is_stored(settings, changes, code):
    settings.LLM_BASE_URL = ""
    trace = factories.trace(3)
    options = {"base_url": SERVER, **changes.get("options", {})}
    wanted = {"traces": [trace], "judge": "openai:m", **changes, "options": options}
    with pytest.raises(UserError) as refused:
        runs.create(dataset=trace.case.dataset, **wanted)
    assert refused.value.code == code
    assert not JudgeRun.objects.exists()


def test_lj_18_the_key_of_the_settings_goes_to_the_address_of_the_settings_only(settings):
    settings.LLM_API_KEY = "sk-secret"
    settings.LLM_BASE_URL = SERVER
    with start_scripted_server(api_key="sk-secret") as server:
        trace = factories.trace(2)
        wanted = {"dataset": trace.case.dataset, "traces": [trace], "judge": "openai:scripted"}
        run = runs.create(**wanted, options={"base_url": server.base_url})
        assert execute(run.pk) == "paused", "the key was not sent there"
        settings.LLM_BASE_URL = server.base_url
        run = runs.create(**wanted)
        assert execute(run.pk) == "done"
    run.refresh_from_db()
    assert "sk-secret" not in str([run.manifest, run.identity, run.options, run.log])


def test_a_prompt_folder_of_the_operator_is_used_and_a_broken_one_is_said(settings, tmp_path):
    trace = factories.trace(2)
    wanted = {
        "dataset": trace.case.dataset,
        "traces": [trace],
        "judge": "openai:m",
        "options": {"base_url": SERVER},
    }
    ours = runs.create(**wanted)
    settings.JUDGE_PROMPT_DIR = str(tmp_path)
    with pytest.raises(UserError, match="neither judge-clinical"):
        runs.create(**wanted)
    (tmp_path / "judge-clinical.txt").write_text("[user]\n{{case}}{{previous}}{{segment}}")
    own = runs.create(**wanted)
    assert own.identity["prompts"]["clinical"]["id"] == "judge-clinical"
    assert own.judge_id != ours.judge_id, "another prompt is another judge"
    assert Trace.objects.count() == 1
