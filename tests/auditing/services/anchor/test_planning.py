"""What a step of a benchmark would do is what it then does."""

from decimal import Decimal

import pytest

from auditing.models import BenchmarkRun, ReasoningCall
from auditing.services import elicitors
from auditing.services.anchor import planning
from reasonaudit.lib.models import RunState
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import (
    MODEL,
    SERVER,
    Witness,
    benchmark,
    carry_out,
    elicitor,
    make_run,
)

pytestmark = pytest.mark.django_db

RULE = {"rollouts": 4, "medium_mismatches": 2, "hard_mismatches": 3}


@pytest.fixture(autouse=True)
def _scripted(monkeypatch) -> None:
    """Plans and runs name the same model, so that the keys of their requests are the same."""
    monkeypatch.setattr(elicitors, "build", lambda spec, options: elicitor(Witness()))


def plan(of, step, **more):
    model = "" if step == "ground" else MODEL
    return planning.plan(benchmark=of, step=step, **{"model": model, "options": {"base_url": SERVER}, **more})


def play(of, step, **more):
    """Plan and carry out; returns both, after checking that the plan told what the run did."""
    told = plan(of, step, **more)
    run, model = make_run(of, step, **more), Witness()
    assert carry_out(run, model) == RunState.DONE
    run.refresh_from_db()
    assert (told.requests, told.new_calls, told.cached) == (run.total, run.calls, run.cached)
    assert len(model.asked) == told.new_calls
    return told, run


def test_the_plan_of_each_step_equals_its_run():
    of = benchmark(2, parameters={"rule": RULE, "rollouts_each": 4})
    for item in of.items.select_related("question__video", "benchmark"):
        builders.reference(item)
    assert play(of, "answer")[0].new_calls == 2
    assert play(of, "answer", choices={"setting": "no_audio"})[0].new_calls == 2
    assert play(of, "rollout")[0].new_calls == 8
    assert play(of, "difficulty")[0].new_calls == 2
    assert play(of, "rate")[0].new_calls == 6
    # With and without sound the model said the same, so a judge is asked once for both.
    told, run = play(of, "correct")
    assert (told.requests, told.new_calls, run.done) == (4, 2, 4)
    assert play(of, "taxonomy")[0].new_calls == 2
    told, run = play(of, "ground")
    assert (told.requests, told.new_calls, told.seconds_estimate) == (2, 0, None)
    assert told.notes == ["No model server is asked."]


def test_a_plan_asks_and_stores_nothing_and_knows_what_is_known():
    of = benchmark(2)
    carry_out(make_run(of, "taxonomy"), Witness())
    calls = ReasoningCall.objects.count()
    type(of.items.first()).objects.update(category="")
    of.items.get(number=1).taxonomy_labels.all().delete()
    told = plan(of, "taxonomy")
    assert (told.items, told.requests, told.new_calls, told.cached) == (1, 1, 0, 1)
    assert ReasoningCall.objects.count() == calls
    assert BenchmarkRun.objects.count() == 1


def test_refused_and_passed_items_are_counted():
    of = benchmark(3)
    builders.answer(builders.item(of, 1))
    type(of.items.first().question).objects.filter(benchmark_items__number=1).update(answer="")
    builders.answer(builders.item(of, 2))
    told = plan(of, "correct")
    assert (told.items, told.passed) == (1, 1)
    assert [(item.number, why) for item, why in told.refused] == [
        (1, "Nobody says what the right answer is, so no answer is judged.")
    ]
    assert told.to_dict()["refused"][0]["number"] == 1
    assert "1 items have no such answer." in told.notes


def test_an_unknown_price_is_no_price_and_a_known_one_is_multiplied():
    of = benchmark(1)
    assert plan(of, "answer").cost_estimate is None
    told = plan(
        of, "answer", options={"base_url": SERVER, "price_prompt": "100000", "price_completion": "200000"}
    )
    tokens = told.prompt_tokens_estimate + 2 * told.completion_tokens_estimate
    assert told.cost_estimate == Decimal(tokens) / 10
    assert told.prompt_tokens_estimate > 0


def test_pictures_are_counted_without_being_made(settings, monkeypatch):
    from auditing.services.anchor import material

    settings.LLM_IMAGE_MODELS = ["witness"]
    monkeypatch.setattr(material, "why_not", lambda video, pictures: "")
    monkeypatch.setattr("auditing.services.anchor.asking_answers.why_not", lambda video, pictures: "")
    of = benchmark(1)
    without = plan(of, "answer", choices={"pictures": 1})
    told = plan(of, "answer", choices={"pictures": 9})
    # Each picture counts for 425 tokens, and its caption for a few.
    assert 8 * 425 <= told.prompt_tokens_estimate - without.prompt_tokens_estimate < 8 * 445
    assert any(note.startswith("9 pictures of each clip go along.") for note in told.notes)
