"""Benchmarks are made of a set's questions, changed and removed, each with an event."""

import pytest

from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, ModelAnswer, Rating, Reference
from auditing.services.anchor import benchmarks
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos
from tests.videos.app_fixtures import user
from videos.models import VideoQuestion

pytestmark = pytest.mark.django_db


def actions() -> list[str]:
    return list(
        Event.objects.filter(action__startswith="benchmark.").order_by("pk").values_list("action", flat=True)
    )


def test_every_question_of_the_set_is_an_item_in_the_order_of_the_set():
    of = videos.video_set()
    second, first = videos.video(of, title="B"), videos.video(of, title="A")
    videos.question(second, external_id="b1", category="Sports", difficulty="hard")
    videos.question(first, external_id="a1")
    videos.question(first, external_id="a2")
    videos.question(external_id="of another set")
    person = user()
    made = benchmarks.create(name=" Street  sounds ", video_set=of, parameters={"resamples": 50}, by=person)
    rows = made.items.values_list("number", "question__external_id", "category", "category_by", "difficulty")
    assert list(rows) == [
        (1, "a1", "", "", ""),
        (2, "a2", "", "", ""),
        (3, "b1", "Sports", "imported", ""),
    ]
    assert (made.slug, made.created_by, made.revision) == ("street-sounds", person, 1)
    assert (made.parameters["resamples"], made.parameters["reference"]) == (50, "human")
    event = Event.objects.get(action="benchmark.create")
    assert (event.subject_id, event.actor_id, event.data["items"]) == ("street-sounds", person.pk, 3)
    assert event.data["parameters"]["match_from"] == "0.5", "no floats in a hashed event"


def test_two_of_one_name_have_two_addresses_and_pages_keep_theirs():
    of = builders.benchmark(items=1).video_set
    slugs = [benchmarks.create(name=name, video_set=of).slug for name in ("Runs", "New", "One", "One", "?1")]
    assert slugs == ["runs-2", "new-2", "one", "one-2", "1"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "..."}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"description": "x" * 20_001}, "description"),
        ({"parameters": {"setting": "blind"}}, "parameters"),
        ({"parameters": {"colour": 1}}, "parameters"),
        ({"parameters": {"pictures": 65}}, "parameters"),
        ({"parameters": {"pictures": "many"}}, "parameters"),
        ({"parameters": {"rule": {"x": 1}}}, "parameters"),
        ({"parameters": {"reference": 5}}, "parameters"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(given, field):
    made = builders.benchmark(items=1)
    with pytest.raises(UserError) as refused:
        benchmarks.create(**{"name": "A", "video_set": made.video_set, **given})
    assert (refused.value.code, list(refused.value.fields)) == ("bad_benchmark", [field])
    assert Benchmark.objects.count() == 1


def test_a_set_without_a_question_makes_none():
    with pytest.raises(UserError) as refused:
        benchmarks.create(name="A", video_set=videos.video_set())
    assert refused.value.code == "no_questions"
    assert not Benchmark.objects.exists()
    assert actions() == []


def test_new_questions_come_after_the_items_that_are_there():
    made = builders.benchmark(items=2)
    assert benchmarks.add_questions(made, by=None) == 0
    assert actions() == ["benchmark.create"]
    clip = videos.video(made.video_set, title="A first title")
    videos.question(clip, external_id="late")
    assert benchmarks.add_questions(made, by=None) == 1
    assert builders.item(made, 3).question.external_id == "late"
    made.refresh_from_db()
    assert made.revision == 2


def test_a_change_of_parameters_is_a_new_revision_and_one_of_words_is_none():
    made = builders.benchmark(items=1)
    same = benchmarks.change(made, name="B", description=" b ", parameters=made.parameters, by=None)
    assert (same.name, same.description, same.slug, same.revision) == ("B", "b", made.slug, 1)
    other = benchmarks.change(same, name="B", description="", parameters={"setting": "no_audio"}, by=None)
    assert (other.parameters["setting"], other.revision) == ("no_audio", 2)
    event = Event.objects.filter(action="benchmark.change").last()
    assert event.data["parameters_before"]["setting"] == "full"


def test_another_main_reference_is_another_annotation_source():
    made = builders.benchmark(items=2)
    first, second = (builders.item(made, number) for number in (1, 2))
    builders.reference(first)
    builders.reference(first, "generated", kind="generated")
    builders.reference(second, "generated", kind="generated")
    benchmarks.change(made, name="B", description="", parameters={"reference": "generated"}, by=None)
    assert [row.annotation_source for row in made.items.all()] == ["ai", "ai"]
    benchmarks.change(made, name="B", description="", parameters={}, by=None)
    assert [row.annotation_source for row in made.items.all()] == ["human", ""]


def test_a_benchmark_goes_with_all_that_hangs_on_it_and_questions_stay():
    made, other = builders.benchmark(items=2), builders.benchmark(items=1)
    for of in (made, other):
        item = builders.item(of)
        answer, reference = builders.answer(item), builders.reference(item)
        builders.rating(answer, reference=reference)
    builders.rating(builders.answer(builders.item(made, 2)), user=user(), value=3)
    benchmarks.delete(made, by=None)
    for model in (Benchmark, BenchmarkItem, ModelAnswer, Reference, Rating):
        assert model.objects.count() == 1, model
    assert VideoQuestion.objects.count() == 3
    event = Event.objects.get(action="benchmark.delete")
    counted = {
        name: event.data[name] for name in ("items", "references", "answers", "ratings", "ratings_of_people")
    }
    assert counted == {"items": 2, "references": 1, "answers": 2, "ratings": 2, "ratings_of_people": 1}


def test_none_is_removed_under_a_run():
    made = builders.benchmark(items=1)
    run = BenchmarkRun.objects.create(benchmark=made, step="rate", state="running")
    with pytest.raises(UserError) as refused:
        benchmarks.delete(made, by=None)
    assert (refused.value.code, refused.value.status) == ("benchmark_busy", 409)
    BenchmarkRun.objects.filter(pk=run.pk).update(state="done")
    benchmarks.delete(made, by=None)
    assert not Benchmark.objects.exists()


def test_counts_say_what_is_there_with_missing_ratings_apart():
    made = builders.benchmark(items=2)
    first, second = (builders.item(made, number) for number in (1, 2))
    reference = builders.reference(first)
    answer = builders.answer(first)
    builders.answer(second, setting="no_audio", text="prose")
    builders.answer(second, role="rollout", text="B")
    builders.rating(answer, reference=reference)
    builders.rating(answer, "divergence", None, reference=reference)
    builders.rating(answer, user=user(), value=2)
    builders.rating(answer, source="imported:Kim", value=2)
    assert benchmarks.counts(made) == {
        "items": 2,
        "references": {"human": 1},
        "answers": {"model-a, full": 1, "model-a, no_audio": 1},
        "rollouts": {"model-a": 1},
        "ratings": {
            "openai:judge-a, answer": 1,
            "openai:judge-a, divergence, missing": 1,
            "people, answer": 2,
        },
        "warnings": {"no_cues": 1, "no_final_answer": 1, "no_times": 1},
    }
