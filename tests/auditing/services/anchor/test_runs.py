"""Making runs of a benchmark's steps: what is stored, what is refused, and with which words."""

import pytest

from auditing.models import BenchmarkRun
from auditing.services import runs as any_runs
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, RunState
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import MODEL, benchmark, make_run

pytestmark = pytest.mark.django_db


def refused(*args, **kwargs) -> UserError:
    with pytest.raises(UserError) as caught:
        make_run(*args, **kwargs)
    return caught.value


def unready(of, number: int) -> None:
    clip = of.items.get(number=number).question.video
    type(clip).objects.filter(pk=clip.pk).update(state="failed")


def test_a_run_has_a_row_for_each_item_its_choices_whole_and_an_event():
    of = benchmark(3)
    run = make_run(of, "rollout", choices={"takes": "2"})
    assert (run.state, run.total, run.model) == (RunState.QUEUED, 6, MODEL)
    assert run.choices == {"takes": 2, "name": "witness", "pictures": 0}
    assert [row.total for row in run.items.all()] == [2, 2, 2]
    event = Event.objects.get(action="benchmark.run")
    assert event.data["choices"] == run.choices
    assert (event.data["items"], event.data["refused"]) == (3, 0)


def test_of_all_items_those_that_cannot_be_worked_on_stay_as_failed():
    of = benchmark(3)
    unready(of, 2)
    run = make_run(of, "answer")
    assert [row.state for row in run.items.all()] == ["queued", "failed", "queued"]
    assert run.total == 2
    assert any("Cannot be worked on: Item 2." in line for _, line in run.log)


def test_where_no_item_can_be_worked_on_the_first_reason_refuses_the_run():
    of = benchmark(2)
    unready(of, 1)
    unready(of, 2)
    error = refused(of, "answer")
    assert (error.code, error.status) == ("not_ready", 422)
    assert str(error).startswith("Item 1: Its clip")
    assert "So it is with 1 more." in str(error)
    assert error.fields["items"] == list(of.items.values_list("pk", flat=True))


def test_nothing_to_do_and_nothing_to_work_on_are_said():
    of = benchmark(1)
    assert refused(of, "rate").code == "no_items"
    item = builders.item(of)
    builders.answer(item, "witness")
    assert refused(of, "answer").code == "nothing_to_do"
    assert refused(of, "difficulty").code == "not_ready"
    assert not BenchmarkRun.objects.exists()


def test_a_second_run_of_the_same_waits_and_one_of_another_model_or_choice_does_not():
    of = benchmark(1)
    first = make_run(of, "answer")
    error = refused(of, "answer")
    assert (error.code, error.status) == ("run_waits", 409)
    make_run(of, "answer", choices={"setting": "no_video"})
    make_run(of, "answer", model="openai:other")
    any_runs.request_cancel(first)
    make_run(of, "answer")


@pytest.mark.parametrize(
    ("step", "more", "field"),
    [
        ("dance", {}, "step"),
        ("answer", {"model": ""}, "model"),
        ("answer", {"model": "local"}, "model"),
        ("answer", {"choices": {"setting": "no_nose"}}, "setting"),
        ("answer", {"choices": {"facets": ["answer"]}}, "facets"),
        ("answer", {"choices": {"pictures": 65}}, "pictures"),
        ("answer", {"choices": {"name": "x" * 201}}, "name"),
        ("answer", {"choices": "full"}, "choices"),
        ("rollout", {"choices": {"takes": 0}}, "takes"),
        ("rollout", {"choices": {"takes": True}}, "takes"),
        ("rollout", {"choices": {"takes": "9" * 400}}, "takes"),
        ("rate", {"choices": {"facets": ["beauty"]}}, "facets"),
        ("rate", {"choices": {"facets": ["correct"]}}, "facets"),
        ("rate", {"choices": {"models": [5]}}, "models"),
        ("rate", {"choices": {"models": ["a\x00b"]}}, "models"),
        ("answer", {"choices": {"name": "\ud800"}}, "name"),
        ("rate", {"choices": {"references": ["no such name!"]}}, "references"),
        ("correct", {"choices": {"settings": ["full", "none"]}}, "settings"),
        ("answer", {"options": {"window": 3}}, "window"),
        ("answer", {"options": {"base_url": ""}}, "base_url"),
        ("answer", {"options": {"price_prompt": "1"}}, "price_completion"),
    ],
)
def test_what_cannot_be_chosen_is_named_and_nothing_is_stored(step, more, field, settings):
    settings.LLM_BASE_URL = ""
    error = refused(benchmark(1), step, **more)
    assert error.status in (400, 422)
    assert field in error.fields
    assert not BenchmarkRun.objects.exists()


def test_defaults_come_from_the_benchmark_and_the_settings(settings):
    settings.LLM_IMAGE_MODELS = ["seer"]
    of = benchmark(
        1, parameters={"setting": "no_boxes", "reference": "gemini", "pictures": 5, "rollouts_each": 2}
    )
    item = builders.item(of)
    builders.answer(item, "model-a", setting="no_boxes")
    builders.reference(item, "gemini", kind="generated")
    rate = make_run(of, "rate").choices
    assert (rate["setting"], rate["references"], rate["models"]) == ("no_boxes", ["gemini"], None)
    assert rate["facets"] == ["answer", "hallucination", "divergence"]
    assert make_run(of, "rollout").choices["takes"] == 2
    # Answers are asked for with all cues: the setting of the benchmark says which of them tables show.
    assert make_run(of, "answer", model="openai:other").choices == {
        "setting": "full",
        "name": "other",
        "pictures": 0,
    }
    error = refused(of, "answer", model="openai:seer")
    assert "The file of its clip" in str(error)
    without = make_run(of, "answer", model="openai:seer", choices={"setting": "no_video"})
    assert without.choices["pictures"] == 0
