"""Making runs of steps: what is refused with the reason, what is left out, and what follows what."""

import pytest

from auditing.llm.errors import LLMTimeout
from auditing.models import ReasoningRun, StudyChain
from auditing.services import runs as any_runs
from auditing.services.grapheval import runs
from auditing.services.grapheval.execution import execute
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, RunState
from tests.auditing import factories
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.conftest import SERVER, score
from tests.auditing.services.grapheval.reasoner import Model, elicitor, take_of
from tests.auditing.services.grapheval.steps import carry_out
from tests.scripted_server import start_scripted_server

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"step": "dream"}, "unknown_step"),
        ({"choices": {"role": "sample"}}, "bad_choice"),
        ({"step": "decompose", "choices": {"role": "hero"}}, "bad_choice"),
        ({"step": "early", "choices": {"chains": ["medoid"]}}, "bad_choice"),
        ({"step": "judge", "model": "openai:m", "choices": {"most": 0}}, "bad_choice"),
        ({"step": "judge", "model": "openai:m", "choices": {"most": True}}, "bad_choice"),
        ({"choices": ["medoid"]}, "bad_choice"),
        ({"step": "judge"}, "unknown_model"),
        ({"step": "judge", "model": "openai:a\x00b"}, "unknown_model"),
        ({"step": "judge", "model": "local"}, "unknown_model"),
        ({"step": "judge", "model": "replay:/etc"}, "unknown_model"),
        ({"model": "openai:other"}, "other_generator"),
        ({"options": {"window": 2}}, "bad_option"),
        ({"options": {"max_calls": 0}}, "bad_option"),
        ({"options": {"base_url": "http://10.0.0.1/v1"}}, "endpoint_refused"),
        ({"options": {"base_url": ""}}, "no_model_server"),
        ({"cases": []}, "no_questions"),
        ({"then": {"step": "score"}}, "bad_then"),
        ({"then": [{"step": "score", "when": "now"}]}, "bad_then"),
        ({"then": [{"step": "dream"}]}, "unknown_step"),
        ({"then": [{"step": "judge"}]}, "unknown_model"),
        ({"then": [{"step": "early", "options": {"base_url": "http://10.0.0.1/v1"}}]}, "endpoint_refused"),
        ({"then": [{"step": "score"}] * 21}, "bad_then"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason_and_nothing_is_stored(study, settings, changes, code):
    settings.LLM_BASE_URL = ""
    rows.case(study)
    wanted = {"study": study, "step": "sample", **changes}
    wanted["options"] = {"base_url": SERVER, **changes.get("options", {})}
    with pytest.raises(UserError) as refused:
        runs.create(**wanted)
    assert refused.value.code == code
    assert refused.value.message.endswith(".")
    assert not ReasoningRun.objects.exists()


def test_a_study_of_stored_chains_samples_none(study, make_run):
    rows.case(study)
    study.generator = ""
    with pytest.raises(UserError) as refused:
        make_run("sample")
    assert refused.value.code == "stored_chains"


def test_questions_of_another_data_set_are_refused(study, make_run):
    ours = rows.case(study, "ours")
    theirs = rows.case(rows.study(dataset=factories.dataset()), "theirs")
    with pytest.raises(UserError) as refused:
        make_run("sample", cases=[ours, theirs])
    assert (refused.value.code, refused.value.fields) == ("other_dataset", {"cases": [theirs.pk]})


@pytest.mark.parametrize("step", ["early", "counterfactual", "ablate", "judge"])
def test_a_question_without_a_score_is_refused_with_the_remedy(study, make_run, step):
    case = rows.case(study, "q", title="The question")
    rows.chain(study, case, 1)
    with pytest.raises(UserError) as refused:
        make_run(step, cases=[case], model="openai:reasoner")
    assert refused.value.code == "not_ready"
    assert "The question: It is not scored yet" in refused.value.message
    assert "score" in refused.value.message.lower()


@pytest.mark.parametrize("step", ["early", "counterfactual", "ablate", "judge"])
def test_a_question_whose_score_is_out_of_date_is_refused_with_the_remedy(study, make_run, step):
    case = rows.case(study, "q", title="The question")
    score(study, case, rows.chain(study, case, 1))
    rows.chain(study, case, 2, answer="B")
    with pytest.raises(UserError) as refused:
        make_run(step, cases=[case], model="openai:reasoner")
    assert refused.value.code == "not_ready"
    assert "have changed since it was scored" in refused.value.message
    if step == "early":
        assert make_run(step, choices={"chains": "all"}).total == 6, "all chains need no medoid"


def test_a_question_without_chains_is_refused(study, make_run):
    rows.case(study)
    for step in ("decompose", "score"):
        with pytest.raises(UserError, match="no chain"):
            make_run(step)
    with pytest.raises(UserError, match="Forbid the medoid first"):
        make_run("decompose", choices={"role": "alternative"})


def test_a_medoid_of_one_step_has_nothing_to_edit(study, make_run):
    case = rows.case(study)
    score(study, case, rows.chain(study, case, 1, steps=["So A."]))
    with pytest.raises(UserError, match="fewer than two steps"):
        make_run("counterfactual")


def test_named_questions_are_all_worked_on_or_none_unless_the_others_may_be_skipped(study, make_run):
    ready, bare = rows.case(study, "ready"), rows.case(study, "bare")
    score(study, ready, rows.chain(study, ready, 1))
    with pytest.raises(UserError) as refused:
        make_run("early", cases=[ready, bare])
    assert refused.value.fields == {"cases": [bare.pk]}
    skipping = make_run("early", cases=[ready, bare], options={"skip_refused": True})
    assert [item.case for item in skipping.items.all()] == [ready]
    assert any(line.startswith("Left out: Question bare. It is not scored yet") for _, line in skipping.log)
    any_runs.request_cancel(skipping)
    assert [item.case for item in make_run("early").items.all()] == [ready], "of all, those that are ready"


def test_what_is_there_already_is_not_made_again(study, make_run):
    first = rows.case(study, "first")
    carry_out(make_run("sample"), Model())
    with pytest.raises(UserError) as refused:
        make_run("sample")
    assert (refused.value.code, refused.value.status) == ("nothing_to_do", 409)
    second = rows.case(study, "second")
    run = make_run("sample")
    assert {item.case: (item.total, item.state) for item in run.items.all()} == {
        first: (0, RunState.DONE),
        second: (3, RunState.QUEUED),
    }
    model = Model()
    carry_out(run, model)
    assert len(model.asked) == 3
    assert StudyChain.objects.count() == 6


def test_more_samples_are_added_to_those_that_are_there(study, make_run):
    rows.case(study)
    carry_out(make_run("sample"), Model())
    study.parameters["sampling"]["chains"] = 5
    study.save()
    run = make_run("sample")
    assert run.total == 2
    carry_out(run, Model())
    assert sorted(StudyChain.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5]


def test_two_runs_do_not_ask_the_same_at_once(study, make_run):
    one, two = rows.case(study, "one"), rows.case(study, "two")
    waiting = make_run("sample", cases=[one])
    with pytest.raises(UserError) as refused:
        make_run("sample")
    assert (refused.value.code, refused.value.status) == ("run_waits", 409)
    assert f"Run {waiting.pk}" in refused.value.message
    assert make_run("sample", cases=[two]).total == 3


def test_a_run_is_written_into_the_study_s_chain_of_events(study, make_run):
    rows.case(study)
    run = make_run("sample")
    event = Event.objects.get(action="reasoning_study.run")
    assert (event.subject_type, event.subject_id) == ("reasoning_study", "ways")
    assert event.data == {
        "run": run.pk,
        "step": "sample",
        "model": "openai:reasoner",
        "choices": {},
        "questions": 1,
    }


def test_the_key_of_the_settings_goes_to_the_address_of_the_settings_only(study, settings):
    rows.case(study)
    settings.LLM_API_KEY = "sk-secret"
    settings.LLM_BASE_URL = SERVER
    reply = {
        "do": "status",
        "status": 200,
        "body": '{"choices": [{"finish_reason": "stop", "message": {"content": "Step 1: So."}}]}',
    }
    study.parameters["sampling"]["chains"] = 1
    study.save()
    with start_scripted_server(api_key="sk-secret", behaviours=[reply]) as server:
        run = runs.create(study=study, step="sample", options={"base_url": server.base_url})
        assert execute(run.pk) == RunState.PAUSED, "the key was not sent there"
        any_runs.request_cancel(run)
        settings.LLM_BASE_URL = server.base_url
        run = runs.create(study=study, step="sample")
        assert execute(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert "sk-secret" not in str([run.manifest, run.options, run.log])


def test_broken_prompts_of_the_operator_are_said(study, settings, tmp_path, make_run):
    rows.case(study)
    settings.ELICIT_PROMPT_DIR = str(tmp_path)
    (tmp_path / "chain.txt").write_text("[user]\nReason.")
    with pytest.raises(UserError) as refused:
        make_run("sample")
    assert refused.value.code == "prompts_unusable"


# --- what follows ----------------------------------------------------------------------------------------------
def test_the_next_step_is_stored_when_a_run_is_through_and_carries_the_rest(study, make_run):
    one = rows.case(study, "one")
    rows.case(study, "two")
    then = [{"step": "decompose"}, {"step": "score", "options": {}}]
    run = make_run("sample", cases=[one], then=then)
    assert [(one["step"], one["model"]) for one in run.then] == [
        ("decompose", "openai:reasoner"),
        ("score", "minilm"),
    ]
    told: list[int] = []
    assert carry_out(run, Model(), on_next=told.append) == RunState.DONE
    following = ReasoningRun.objects.get(step="decompose")
    assert told == [following.pk]
    assert [item.case for item in following.items.all()] == [one], "of the same questions"
    assert [one["step"] for one in following.then] == ["score"]
    assert following.options["base_url"] == SERVER
    run.refresh_from_db()
    assert run.then == []
    assert f"Next: Decompose into facts, run {following.pk}." in [line for _, line in run.log]
    assert any_runs.request_cancel(following).state == RunState.CANCELLED


def test_nothing_follows_a_run_that_was_cancelled_or_failed(study, make_run):
    rows.case(study)
    run = make_run("sample", then=[{"step": "decompose"}])
    assert carry_out(run, Model({"chain": KeyError("x")})) == RunState.FAILED
    assert ReasoningRun.objects.count() == 1
    any_runs.resume(run)
    assert carry_out(run, Model()) == RunState.DONE
    assert ReasoningRun.objects.filter(step="decompose").count() == 1


def test_a_run_that_lacks_something_says_that_the_next_step_went_on_without_it(study, make_run):
    rows.case(study)

    def second_fails(request):
        if take_of(request) == 2:
            raise LLMTimeout("No reply in time.")
        return Model().reply(request)

    run = make_run("sample", then=[{"step": "decompose"}])
    assert carry_out(run, Model({"chain": second_fails})) == RunState.PARTIAL
    following = ReasoningRun.objects.get(step="decompose")
    run.refresh_from_db()
    assert f"Decompose into facts (run {following.pk}) goes on with what is there." in run.message
    assert "resuming starts none of them" in run.message
    any_runs.request_cancel(following)
    any_runs.resume(run)
    assert carry_out(run, Model()) == RunState.DONE
    assert ReasoningRun.objects.filter(step="decompose").count() == 1


def test_a_next_step_that_has_nothing_to_do_is_passed_over(study, make_run):
    case = rows.case(study)
    for number in (1, 2):
        rows.chain(study, case, number)
    then = [{"step": "decompose"}, {"step": "score"}]
    run = make_run("sample", then=then)
    no_facts_left = Model({"chain": "No step at all."})
    assert carry_out(run, no_facts_left) == RunState.DONE
    assert ReasoningRun.objects.first().step == "score"
    run.refresh_from_db()
    assert any("Passed over: Decompose into facts." in line for _, line in run.log)


def test_a_next_step_keeps_the_decomposer_that_was_named_for_it(study, make_run):
    rows.case(study)
    carry_out(make_run("sample", then=[{"step": "decompose", "model": "sentences"}]), Model())
    following = ReasoningRun.objects.get(step="decompose")
    assert following.model == "sentences"
    assert execute(following.pk) == RunState.DONE
    assert {chain.fact_source for chain in StudyChain.objects.all()} == {"sentences"}


def test_a_next_step_that_cannot_be_made_is_said_and_ends_the_list(study, make_run):
    rows.case(study)
    run = make_run("sample", then=[{"step": "early"}, {"step": "score"}])
    assert carry_out(run, Model()) == RunState.DONE
    run.refresh_from_db()
    assert "The next step was not started: Early answering." in run.message
    assert any("Not started: Early answering." in line and "not scored yet" in line for _, line in run.log)
    assert ReasoningRun.objects.count() == 1


def test_a_run_that_was_through_before_its_worker_died_makes_the_next_step_once(study, make_run, monkeypatch):
    rows.case(study)
    run = make_run("sample", then=[{"step": "decompose"}])

    def killed(run_id: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(run.pk, elicitor=elicitor(Model()), on_next=killed)
    ReasoningRun.objects.filter(pk=run.pk).update(lease_until=None)
    assert carry_out(run, Model({"chain": AssertionError()})) == RunState.DONE
    assert ReasoningRun.objects.filter(step="decompose").count() == 1
