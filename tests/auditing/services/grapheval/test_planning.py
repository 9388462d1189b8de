"""What a step would do is what it then does."""

from decimal import Decimal

import pytest

from auditing.models import ReasoningCall, ReasoningRun, StudyChain
from auditing.services.grapheval import asking_sources, planning
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.conftest import SERVER, score
from tests.auditing.services.grapheval.reasoner import Model, elicitor
from tests.auditing.services.grapheval.steps import carry_out

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _scripted(monkeypatch) -> None:
    """Plans and runs name the same model, so that the keys of their requests are the same."""
    monkeypatch.setattr(asking_sources, "build", lambda spec, options, study: elicitor(Model()))


def plan(study, step, **more):
    return planning.plan(study=study, step=step, **{"options": {"base_url": SERVER}, **more})


def play(study, make_run, step, **more):
    """Plan and carry out; returns both, after checking that the plan told what the run did."""
    told = plan(study, step, **more)
    run = make_run(step, **more)
    model = Model()
    assert carry_out(run, model) == RunState.DONE
    run.refresh_from_db()
    assert (told.requests, told.new_calls, told.cached) == (run.total, run.calls, run.cached)
    assert len(model.asked) == told.new_calls
    return told, run


def test_the_plan_of_each_step_equals_its_run(study, make_run):
    for name in ("one", "two"):
        rows.case(study, name)
    told, _ = play(study, make_run, "sample")
    assert (told.questions, told.requests, told.new_calls) == (2, 6, 6)
    told, _ = play(study, make_run, "decompose")
    assert told.new_calls == 6
    for case in study.dataset.cases.all():
        score(study, case, StudyChain.objects.get(case=case, number=1))
    told, _ = play(study, make_run, "early")
    assert told.new_calls == 6
    told, _ = play(study, make_run, "counterfactual")
    assert told.new_calls == 8
    assert any("4 of the calls depend on what the model answers before" in note for note in told.notes)
    told, _ = play(study, make_run, "ablate")
    assert told.new_calls == 6
    told, _ = play(study, make_run, "judge", model="openai:reasoner")
    assert told.new_calls == 4, "in each question the medoid, and the one chain for B"


def test_what_is_known_is_counted_as_such_and_its_consequences_are_followed(study, make_run):
    case = rows.case(study)
    medoid = rows.chain(study, case, 1)
    score(study, case, medoid)
    play(study, make_run, "counterfactual")
    medoid.refresh_from_db()
    medoid.counterfactual = None
    medoid.save()
    told = plan(study, "counterfactual")
    assert (told.requests, told.new_calls, told.cached) == (4, 0, 4)
    assert told.prompt_tokens_estimate == 0


def test_equal_requests_are_one_call(study, make_run):
    case = rows.case(study)
    for number in (1, 2):
        rows.chain(study, case, number, facts=["One.", f"Two {number}."])
    told, _ = _early_of_all(study, make_run)
    assert (told.requests, told.new_calls) == (4, 3), "both chains begin with the same fact"


def _early_of_all(study, make_run):
    choices = {"chains": "all"}
    told = plan(study, "early", choices=choices)
    run = make_run("early", choices=choices)
    model = Model()
    carry_out(run, model)
    assert len(model.asked) == told.new_calls
    return told, run


def test_an_unknown_price_is_said_and_is_not_zero(study):
    rows.case(study)
    told = plan(study, "sample")
    assert told.cost_estimate is None
    assert any("price is not known" in note for note in told.notes)
    priced = plan(
        study,
        "sample",
        options={"base_url": SERVER, "price_prompt": "0", "price_completion": "1"},
    )
    assert priced.cost_estimate == Decimal(3 * planning.REPLY_TOKENS["chain"]) / 1_000_000
    assert not ReasoningRun.objects.exists()
    assert not ReasoningCall.objects.exists()


def test_a_plan_names_what_cannot_be_worked_on_and_what_it_does_not_count(study):
    ready, bare = rows.case(study, "ready"), rows.case(study, "bare")
    score(study, ready, rows.chain(study, ready, 1))
    told = plan(study, "early", then=[{"step": "score"}]).to_dict()
    assert told["questions"] == 1
    assert [entry["case"] for entry in told["refused"]] == [bare.pk]
    assert "not scored yet" in told["refused"][0]["message"]
    assert any("What follows (Compare and score)" in note for note in told["notes"])
    assert told["prompts"]["early_answer"]["sha256"]


def test_a_score_asks_no_model(study):
    case = rows.case(study)
    for number in (1, 2):
        rows.chain(study, case, number)
    told = plan(study, "score")
    assert (told.requests, told.new_calls, told.seconds_estimate) == (2, 0, None)
    assert "No model server is asked." in told.notes


def test_a_plan_refuses_what_a_run_refuses(study):
    rows.case(study)
    with pytest.raises(UserError) as refused:
        plan(study, "sample", choices={"x": 1})
    assert refused.value.code == "bad_choice"
