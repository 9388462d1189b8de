"""People's ratings: the sample, each person's queue, what is one's own, and who may see what others gave."""

from collections import Counter

import pytest

from auditing.models import BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors import benchmark_rating as rating
from auditing.selectors.benchmark_rating_page import answer_texts, clip_object, cues, rating_payload
from auditing.services.anchor import rating_work
from tests.auditing import benchmark_rows as rows
from tests.auditing.views.rows import make_user
from tests.videos import factories as videos
from videos.models import Video

FACETS = ("answer", "hallucination", "divergence")


# The sample


def pairs(**models: range) -> list[tuple[int, str]]:
    return [(pk, model) for model, keys in models.items() for pk in keys]


def test_each_model_gives_as_many_answers_as_the_others() -> None:
    everything = pairs(a=range(100), b=range(100, 200), c=range(200, 203))
    model = dict(everything)
    found = rating.drawn(everything, 30, 0, 7)
    # c has three only; the others share the rest.
    assert Counter(model[pk] for pk in found) in ({"a": 14, "b": 13, "c": 3}, {"a": 13, "b": 14, "c": 3})
    assert len(set(found)) == 30


def test_the_sample_does_not_depend_on_the_order_of_rows_and_a_smaller_one_begins_a_larger_one() -> None:
    everything = pairs(a=range(50), b=range(50, 100))
    assert rating.drawn(reversed(everything), 20, 0, 7) == rating.drawn(everything, 20, 0, 7)
    assert rating.drawn(everything, 60, 0, 7)[:20] == rating.drawn(everything, 20, 0, 7)
    assert sorted(rating.drawn(everything, 500, 0, 7)) == list(range(100))


def test_seed_and_benchmark_decide_which_answers_are_drawn() -> None:
    everything = pairs(a=range(1000))
    first = set(rating.drawn(everything, 100, 0, 7))
    # Of 100 in 1,000, another draw of 100 has 10 on average; 40 would be more than ten standard deviations.
    assert len(first & set(rating.drawn(everything, 100, 1, 7))) < 40
    assert len(first & set(rating.drawn(everything, 100, 0, 8))) < 40


def test_answers_added_later_leave_those_of_other_models_as_they_were() -> None:
    before = pairs(a=range(40), b=range(100, 140))
    after = [*before, *pairs(b=range(140, 180))]
    of_a = [pk for pk in rating.drawn(before, 20, 0, 7) if pk < 100]
    assert [pk for pk in rating.drawn(after, 20, 0, 7) if pk < 100] == of_a
    one_more = [*before, (999, "b")]
    assert len(set(rating.drawn(before, 20, 0, 7)) - set(rating.drawn(one_more, 20, 0, 7))) <= 1


# Rows


@pytest.fixture
def scene(db):
    """Four items with a human reference, answers of two models; Ann and Ben rate."""
    made = rows.benchmark(items=4)
    rows.references(made)
    rows.answers(made, "m1")
    rows.answers(made, "m2")
    made.ann, made.ben = make_user("physician", "ann"), make_user("researcher", "ben")
    for person in (made.ann, made.ben):
        BenchmarkRater.objects.create(benchmark=made, user=person)
    return made


def answers_of(benchmark, model="m1"):
    return list(ModelAnswer.objects.filter(item__benchmark=benchmark, model=model).order_by("item__number"))


def give(answer, user, value=4, facets=FACETS, source="human", **fields):
    reference = Reference.objects.get(item=answer.item_id, source=source)
    for facet in facets:
        Rating.objects.create(
            answer=answer,
            reference=reference,
            facet=facet,
            user=user,
            value=value,
            status="given",
            **{"answer_sha256": answer.sha256, "reference_sha256": reference.sha256, **fields},
        )


def test_only_answers_with_the_main_reference_in_the_main_setting_are_sampled(scene) -> None:
    rows.answers(scene, "m1", setting="no_audio")
    ModelAnswer.objects.create(
        item=scene.items.first(), role="rollout", model="m1", text="Yes", sha256="0" * 64
    )
    Reference.objects.filter(item__benchmark=scene, item__number=4).update(source="other")
    found = ModelAnswer.objects.filter(pk__in=[pk for pk, _ in rating.sample(scene)])
    assert sorted(found.values_list("model", "setting", "role", "item__number")) == [
        (model, "full", "chain", number) for model in ("m1", "m2") for number in (1, 2, 3)
    ]


def test_the_size_that_was_chosen_last_holds_for_this_benchmark_only(scene) -> None:
    other = rows.benchmark()
    assert rating.sample_size(scene) == 100
    rating_work.set_sample(scene, 3, scene.ben)
    rating_work.set_sample(scene, 5, scene.ben)
    assert (rating.sample_size(scene), rating.sample_size(other)) == (5, 100)
    assert len(rating.sample(scene)) == 5


def test_everybody_gets_the_same_answers_in_an_order_of_their_own_and_items_stand_together(scene) -> None:
    many = rows.benchmark(items=12)
    rows.references(many)
    for model in ("m1", "m2"):
        rows.answers(many, model)
    one, other = rating.queue(many, scene.ann), rating.queue(many, scene.ben)
    assert sorted(one) == sorted(other)
    assert one != other
    assert [one[k][1] for k in range(0, 24, 2)] == [one[k][1] for k in range(1, 24, 2)]
    models = dict(ModelAnswer.objects.filter(item__benchmark=many).values_list("pk", "model"))
    assert {models[one[k][0]] for k in range(0, 24, 2)} == {"m1", "m2"}


def test_a_rating_of_an_earlier_version_is_asked_again(scene) -> None:
    first, second, third, _ = answers_of(scene)
    give(first, scene.ann)
    give(second, scene.ann, answer_sha256="1" * 64)
    give(third, scene.ann, reference_sha256="1" * 64)
    give(third, scene.ben)
    ids = [first.pk, second.pk, third.pk]
    assert set(rating.own_ratings(scene, scene.ann, ids)) == {first.pk}
    assert rating.earlier_ratings(scene, scene.ann, ids) == {second.pk, third.pk}


def test_a_rating_against_another_reference_is_not_ones_rating_here(scene) -> None:
    rows.references(scene, "drafted", writer="m1")
    first, *_ = answers_of(scene)
    give(first, scene.ann, source="drafted")
    assert rating.own_ratings(scene, scene.ann) == {}


# Who may see ratings


def ids(benchmark):
    return set(ModelAnswer.objects.filter(item__benchmark=benchmark).values_list("pk", flat=True))


def test_a_rater_sees_ratings_only_of_answers_rated_on_every_facet(scene) -> None:
    first, second, third, _ = answers_of(scene)
    give(first, scene.ben)
    give(second, scene.ben, facets=FACETS[:2])
    give(third, scene.ann)
    assert rating.may_see_ratings(scene.ben, ids(scene)) == {first.pk}
    assert rating.may_see_ratings(scene.ann, ids(scene)) == {third.pk}
    give(second, scene.ben, facets=FACETS[2:], answer_sha256="1" * 64)
    assert rating.may_see_ratings(scene.ben, ids(scene)) == {first.pk}


def test_researchers_who_do_not_rate_see_all_and_others_nothing(scene) -> None:
    everything = ids(scene)
    assert rating.may_see_ratings(make_user("researcher", "cas"), everything) == everything
    assert rating.may_see_ratings(make_user("physician", "dee"), everything) == set()
    assert rating.may_see_ratings(scene.ben, []) == set()


def test_being_a_rater_of_one_benchmark_closes_nothing_of_another(scene) -> None:
    other = rows.benchmark()
    rows.answers(other, "m1")
    assert rating.may_see_ratings(scene.ben, ids(scene) | ids(other)) == ids(other)


def test_whoever_was_taken_off_the_list_sees_all(scene) -> None:
    BenchmarkRater.objects.filter(user=scene.ben).update(active=False)
    assert rating.may_see_ratings(scene.ben, ids(scene)) == ids(scene)


def test_answers_that_nobody_is_asked_to_rate_are_open_to_researchers_who_rate(scene) -> None:
    before = ids(scene)
    rows.answers(scene, "m1", setting="no_audio")
    assert rating.may_see_ratings(scene.ben, ids(scene)) == ids(scene) - before
    assert rating.may_see_ratings(scene.ann, ids(scene)) == set()


def test_what_may_be_seen_takes_as_many_queries_for_many_answers(scene, django_assert_num_queries) -> None:
    for query_ids in ([answers_of(scene)[0].pk], ids(scene)):
        with django_assert_num_queries(4):
            rating.may_see_ratings(scene.ben, query_ids)


# The page


def test_the_payload_tells_nothing_of_models_judges_or_others(scene) -> None:
    first, *_ = answers_of(scene)
    give(first, scene.ben, value=1)
    give(first, scene.ann, value=5, facets=("answer",))
    reference = Reference.objects.get(item=first.item_id)
    Rating.objects.create(
        answer=first, reference=reference, facet="answer", source="openai:judge", value=2, status="strict"
    )
    payload = rating_payload(scene, scene.ann, rating.queue(scene, scene.ann))
    said = payload["said"]
    assert {pk: {facet: one["value"] for facet, one in given.items()} for pk, given in said.items()} == {
        str(first.pk): {"answer": 5}
    }
    text = str({name: payload[name] for name in ("answers", "items", "queue", "said")})
    for word in ("m1", "m2", "judge", "ben"):
        assert word not in text
    assert payload["urls"]["items"] == ""


def test_the_texts_begin_one_before_the_first_open_answer(scene, monkeypatch) -> None:
    monkeypatch.setattr("auditing.selectors.benchmark_rating_page.AT_ONCE", 3)
    order = rating.queue(scene, scene.ann)
    for pk, _ in order[:4]:
        give(ModelAnswer.objects.get(pk=pk), scene.ann)
    payload = rating_payload(scene, scene.ann, order)
    assert set(payload["answers"]) == {str(pk) for pk, _ in order[3:6]}


def test_texts_of_an_answer_are_its_cues_and_those_of_the_reference(scene) -> None:
    first, *_ = answers_of(scene)
    found = answer_texts(scene, [first.pk])
    answer, item = found["answers"][str(first.pk)], found["items"][str(first.item_id)]
    assert answer["final_answer"] == item["final_answer"] == "Yes."
    assert answer["cues"][0] == {
        "kind": "visual",
        "timeframe": "00:00 - 00:01",
        "intervals": [[0, 1_000_000]],
        "description": "It runs.",
        "analysis": "So.",
    }
    assert [cue["kind"] for cue in item["cues"]] == ["visual", "audio"]
    assert item["question"] == "What happens in 1?"


def test_answers_of_another_benchmark_are_not_told(scene) -> None:
    other = rows.benchmark()
    rows.references(other)
    rows.answers(other, "m1")
    assert answer_texts(scene, ids(other)) == {"answers": {}, "items": {}}


def test_a_cue_that_says_nothing_is_left_out() -> None:
    empty = {"timeframe": {"whole": False, "intervals": [], "raw": ""}, "description": "", "analysis": ""}
    whole = {"timeframe": {"whole": True, "intervals": [], "raw": ""}, "description": "", "analysis": ""}
    assert [cue["timeframe"] for cue in cues({"visual": empty, "audio": whole})] == ["throughout"]


@pytest.mark.parametrize(
    ("fields", "preparing", "why"),
    [
        ({}, False, ""),
        ({"needs_proxy": "it is long"}, True, "The clip is being prepared for playing."),
        ({"needs_proxy": "it is long", "proxy": {"width": 1}}, False, ""),
        (
            {"state": Video.State.FAILED, "message": "It is cut."},
            False,
            "The clip cannot be played: failed. It is cut.",
        ),
    ],
)
@pytest.mark.django_db
def test_why_a_clip_cannot_be_played(fields, preparing, why) -> None:
    found = clip_object(videos.video(**fields))
    assert (found["preparing"], found["why"]) == (preparing, why)


def test_the_page_takes_as_many_queries_for_many_answers(scene, django_assert_num_queries) -> None:
    small = rows.benchmark(items=2)
    rows.references(small)
    rows.answers(small, "m1")
    for benchmark in (small, scene):
        order = rating.queue(benchmark, scene.ann)
        with django_assert_num_queries(5):
            rating_payload(benchmark, scene.ann, order)


def test_raters_are_listed_with_how_much_they_rated(scene) -> None:
    first, second, *_ = answers_of(scene)
    give(first, scene.ann)
    give(second, scene.ann, facets=FACETS[:2])
    give(second, scene.ben, answer_sha256="1" * 64)
    found = rating.raters(scene, ids(scene))
    assert [(one["pseudonym"], one["row"].user.username, one["done"]) for one in found] == [
        ("Rater 1", "ann", 1),
        ("Rater 2", "ben", 0),
    ]


def test_benchmarks_to_rate_are_those_where_one_is_listed_now(scene) -> None:
    other = rows.benchmark()
    BenchmarkRater.objects.create(benchmark=other, user=scene.ann, active=False)
    assert rating.to_rate(scene.ann) == [scene]
    assert rating.to_rate(make_user("physician", "dee")) == []
