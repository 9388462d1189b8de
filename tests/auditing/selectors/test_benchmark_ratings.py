"""Which ratings count, under which name, and why the others do not."""

import pytest

from auditing.models import BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import people_names
from auditing.selectors.benchmark_ratings import Table, current, tables
from tests.annotation.factories import user
from tests.auditing import benchmark_rows as rows
from videos.models import VideoQuestion

pytestmark = pytest.mark.django_db


def ratings(of, facet: str, **choices) -> Table:
    """The table of one facet."""
    return tables(of, [facet], **choices)[facet]


def test_every_rating_has_its_place_and_every_hole_its_reason(django_assert_num_queries):
    of = rows.benchmark(2)
    rows.references(of)
    rows.answers(of, "m2")
    rows.answers(of, "m1")
    rows.rate(
        of,
        "answer",
        {
            "m1": [{"a": 5, "b": "invalid"}, {"a": "stale"}],
            "m2": [{"a": 1, "b": 2}, {"b": "error"}],
        },
    )
    rows.rate(of, "divergence", {"m1": [{"c": 4}, {}]})
    rows.rate(of, "correct", {"m1": [{"a": 1}, {}]})
    first, second = (str(pk) for pk in of.items.values_list("pk", flat=True))
    with django_assert_num_queries(2):
        every = tables(of)
    assert list(every) == ["answer", "hallucination", "divergence"]
    assert every["divergence"].raters == ["c"]
    assert (every["hallucination"].raters, every["hallucination"].missing) == ([], {})
    found = every["answer"]
    assert found.by_model == {
        "m1": {first: {"a": 5, "b": None}, second: {"a": None, "b": None}},
        "m2": {first: {"a": 1, "b": 2}, second: {"a": None, "b": None}},
    }
    assert list(found.by_model) == ["m1", "m2"]
    assert list(found.by_model["m1"]) == [first, second]
    assert found.raters == ["a", "b"]
    assert found.missing_of == {
        "m1": {"not_rated": 1, "stale": 1, "invalid": 1},
        "m2": {"not_rated": 1, "error": 1},
    }
    assert found.missing == {"not_rated": 2, "stale": 1, "invalid": 1, "error": 1}
    assert found.answers["m2"][first] == ModelAnswer.objects.get(model="m2", item_id=int(first)).pk


def test_a_changed_reference_makes_ratings_old():
    of = rows.benchmark(1)
    rows.references(of)
    rows.answers(of, "m")
    rows.rate(of, "answer", {"m": [{"a": 5}]})
    rating = Rating.objects.get()
    assert Rating.objects.filter(current()).get() == rating
    Reference.objects.update(sha256="1" * 64)
    assert not Rating.objects.filter(current()).exists()
    assert ratings(of, "answer").missing == {"stale": 1}


def test_ratings_against_another_reference_or_none_are_apart():
    of = rows.benchmark(1)
    for source in ("human", "draft-model"):
        rows.references(of, source)
    rows.answers(of, "m")
    for source, value in (("human", 5), ("draft-model", 3), ("", 2)):
        rows.rate(of, "answer", {"m": [{"a": value}]}, reference=source)
    item = str(of.items.get().pk)

    def value(reference: str | None) -> object:
        return ratings(of, "answer", reference=reference).by_model["m"][item]["a"]

    assert [value(None), value("human"), value("draft-model"), value("")] == [5, 5, 3, 2]
    of.parameters["reference"] = "draft-model"
    assert value(None) == 3
    assert ratings(of, "answer", reference="nobody").by_model == {"m": {item: {}}}


def test_without_a_reference_the_answer_is_compared_with_that_of_the_question():
    of = rows.benchmark(3)
    rows.references(of, items=[1])
    rows.answers(of, "m")
    for facet in ("answer", "divergence"):
        rows.rate(of, facet, {"m": [{"a": 5}, {}, {}]})
        rows.rate(of, facet, {"m": [{"a": 1}, {"a": 2}, {}]}, reference="")
    VideoQuestion.objects.filter(benchmark_items__number=3).update(answer="")
    first, second, third = (str(pk) for pk in of.items.values_list("pk", flat=True))
    found = ratings(of, "answer")
    assert found.by_model["m"] == {first: {"a": 5}, second: {"a": 2}, third: {"a": None}}
    assert found.missing == {"no_reference": 1}
    # What a rationale invents, or where it strays, cannot be said without one.
    found = ratings(of, "divergence")
    assert found.by_model["m"] == {first: {"a": 5}, second: {"a": None}, third: {"a": None}}
    assert found.missing == {"no_reference": 2}
    assert ratings(of, "answer", reference="human").by_model["m"][second] == {"a": None}


def test_other_settings_takes_and_bare_answers_do_not_count():
    of = rows.benchmark(1)
    rows.references(of)
    rows.answers(of, "m")
    rows.answers(of, "m", setting="no_video")
    rows.answers(of, "m", take=2)
    rows.answers(of, "m", role="rollout")
    for answer in ModelAnswer.objects.all():
        number = 5 - (answer.setting == "no_video") - 2 * (answer.take == 2) - 3 * (answer.role == "rollout")
        Rating.objects.create(
            answer=answer,
            reference=Reference.objects.get(),
            facet="answer",
            source="a",
            value=number,
            status="strict",
            answer_sha256=answer.sha256,
            reference_sha256=Reference.objects.get().sha256,
        )
    item = str(of.items.get().pk)
    assert ratings(of, "answer").by_model == {"m": {item: {"a": 5}}}
    assert ratings(of, "answer", setting="no_video").by_model == {"m": {item: {"a": 4}}}
    assert ratings(of, "answer", setting="no_audio").by_model == {}


def test_people_have_pseudonyms_and_judges_are_not_among_them():
    of = rows.benchmark(2)
    rows.references(of)
    rows.answers(of, "m")
    late, early, unlisted = user(), user(), user()
    for one in (early, late):
        BenchmarkRater.objects.create(benchmark=of, user=one)
    rows.rate(
        of,
        "hallucination",
        {"m": [{"judge": 2, late: 4, unlisted: 1, "imported:jo": 3}, {"judge": 1}]},
    )
    first, second = (str(pk) for pk in of.items.values_list("pk", flat=True))
    found = ratings(of, "hallucination", people=True)
    # What a person was not asked is not missing.
    assert found.by_model == {"m": {first: {"Rater 1": 4, "Rater 2": 1, "Rater 3 (imported)": 3}, second: {}}}
    assert found.raters == ["Rater 1", "Rater 2", "Rater 3 (imported)"]
    assert found.missing == {}
    assert ratings(of, "hallucination").by_model == {"m": {first: {"judge": 2}, second: {"judge": 1}}}
    assert people_names(of)[early.pk] == "Rater 4"
