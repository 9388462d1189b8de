"""Saving people's ratings, and who rates: what is stored, what is refused, and what the chain of events says."""

import pytest

from annotation.services.editing import WorkRefused
from auditing.models import BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_rating import shown_version
from auditing.services.anchor import rating_work
from reasonaudit.lib.chain import verify
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event, EventStream
from tests.auditing import benchmark_rows as rows
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    made = rows.benchmark(items=2)
    rows.references(made)
    rows.answers(made, "m1")
    made.ann, made.lead = make_user("physician", "ann"), make_user("researcher", "lea")
    made.answer = ModelAnswer.objects.filter(item__benchmark=made).order_by("item__number").first()

    def save(facet="answer", value=4, base=0, **fields):
        return rating_work.save(
            benchmark=made,
            facet=facet,
            by=made.ann,
            base_version=base,
            value=value,
            **{"answer_id": made.answer.pk, **fields},
        )

    made.save_rating = save
    return made


def events():
    return list(Event.objects.order_by("pk").values_list("action", flat=True))


def revision(benchmark):
    return type(benchmark).objects.get(pk=benchmark.pk).revision


def test_a_rating_is_stored_with_what_it_is_of(scene) -> None:
    before = revision(scene)
    reply = scene.save_rating(value=2, note="Too short.")
    row = Rating.objects.get()
    reference = Reference.objects.get(item=scene.answer.item_id)
    assert (row.value, row.words, row.status, row.user, row.source) == (
        2,
        "Too short.",
        "given",
        scene.ann,
        "",
    )
    assert (row.reference, row.reference_sha256, row.answer_sha256) == (
        reference,
        reference.sha256,
        scene.answer.sha256,
    )
    assert reply["complete"] is False
    assert reply["version"] > 0
    assert revision(scene) == before + 1
    event = Event.objects.get()
    assert (event.stream.name, event.actor_id) == (f"benchmark:{scene.pk}", scene.ann.pk)
    assert event.data == {
        "answer": scene.answer.pk,
        "facet": "answer",
        "old": None,
        "new": {"value": 2, "note": "Too short."},
        "complete": False,
    }


def test_the_answer_is_complete_with_its_third_facet_and_no_longer_when_one_is_taken_back(scene) -> None:
    replies = [scene.save_rating(facet) for facet in ("answer", "hallucination", "divergence")]
    assert [reply["complete"] for reply in replies] == [False, False, True]
    reply = scene.save_rating("answer", None, replies[0]["version"])
    assert (reply["version"], reply["complete"]) == (0, False)
    assert Rating.objects.count() == 2
    assert events() == [*["rating.save"] * 3, "rating.take_back"]
    assert Event.objects.last().data["old"] == {"value": 4, "note": ""}
    assert verify(EventStream.objects.get(name=f"benchmark:{scene.pk}")) is None


def test_a_changed_rating_says_what_was_before(scene) -> None:
    first = scene.save_rating(value=2)
    scene.save_rating(value=3, base=first["version"])
    assert Rating.objects.get().value == 3
    assert Event.objects.order_by("-pk").first().data["old"] == {"value": 2, "note": ""}


def test_taking_back_what_was_not_given_changes_nothing(scene) -> None:
    before = revision(scene)
    assert scene.save_rating(value=None)["version"] == 0
    assert (events(), revision(scene)) == ([], before)


def test_two_tabs_do_not_overwrite_each_other(scene) -> None:
    first = scene.save_rating(value=2)
    with pytest.raises(WorkRefused) as refused:
        scene.save_rating(value=5)
    current = refused.value.extra["current"]
    assert (refused.value.code, current["value"], current["version"]) == (
        "version_conflict",
        2,
        first["version"],
    )
    assert Rating.objects.get().value == 2


def test_a_rating_of_earlier_texts_is_replaced_as_if_there_were_none(scene) -> None:
    scene.save_rating(value=2)
    ModelAnswer.objects.filter(pk=scene.answer.pk).update(sha256="f" * 64)
    scene.save_rating(value=5)
    row = Rating.objects.get()
    assert (row.value, row.answer_sha256) == (5, "f" * 64)


def test_a_rating_of_texts_that_are_others_by_now_is_refused(scene) -> None:
    reference = Reference.objects.get(item=scene.answer.item_id)
    seen = shown_version(scene.answer, reference)
    Reference.objects.filter(pk=reference.pk).update(sha256="f" * 64)
    with pytest.raises(UserError) as refused:
        scene.save_rating(shown=seen)
    assert (refused.value.code, Rating.objects.count()) == ("other_texts", 0)
    reference.refresh_from_db()
    scene.save_rating(shown=shown_version(scene.answer, reference))
    assert Rating.objects.get().reference_sha256 == "f" * 64


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"facet": "correct"}, "unknown_facet"),
        ({"facet": "beauty"}, "unknown_facet"),
        ({"value": 0}, "off_scale"),
        ({"value": 6}, "off_scale"),
        ({"note": "x" * 2001}, "too_long"),
        ({"answer_id": 10**9}, "no_such_answer"),
    ],
)
def test_what_cannot_be_stored_is_refused(scene, wrong, code) -> None:
    with pytest.raises(UserError) as refused:
        scene.save_rating(**wrong)
    assert (refused.value.code, Rating.objects.count(), events()) == (code, 0, [])


def test_answers_that_nobody_is_asked_about_cannot_be_rated(scene) -> None:
    other = rows.benchmark()
    rows.answers(other, "m1")
    rows.answers(scene, "m1", setting="no_video")
    for pk in (
        ModelAnswer.objects.filter(item__benchmark=other).first().pk,
        ModelAnswer.objects.get(item=scene.answer.item_id, setting="no_video").pk,
    ):
        with pytest.raises(UserError) as refused:
            scene.save_rating(answer_id=pk)
        assert refused.value.code == "no_such_answer"
    Reference.objects.all().delete()
    with pytest.raises(UserError) as refused:
        scene.save_rating()
    assert refused.value.code == "no_reference"


# Who rates


def test_people_are_listed_taken_off_and_listed_again(scene) -> None:
    row = rating_work.add_rater(scene, "ann", scene.lead)
    rating_work.remove_rater(scene, row.pk, scene.lead)
    assert BenchmarkRater.objects.get().active is False
    assert rating_work.add_rater(scene, "ann", scene.lead).pk == row.pk
    assert BenchmarkRater.objects.get().active is True
    assert events() == ["benchmark.add_rater", "benchmark.remove_rater", "benchmark.add_rater"]
    assert Event.objects.first().data == {"user": scene.ann.pk}


def test_who_cannot_be_listed(scene) -> None:
    rating_work.add_rater(scene, "ann", scene.lead)
    gone = make_user("physician", "gus")
    type(gone).objects.filter(pk=gone.pk).update(is_active=False)
    for name, code in (("ann", "already_listed"), ("gus", "switched_off"), ("nobody", "no_account")):
        with pytest.raises(UserError) as refused:
            rating_work.add_rater(scene, name, scene.lead)
        assert refused.value.code == code
    assert BenchmarkRater.objects.count() == 1


def test_a_rater_of_another_benchmark_cannot_be_taken_off_here(scene) -> None:
    row = BenchmarkRater.objects.create(benchmark=rows.benchmark(), user=scene.ann)
    with pytest.raises(UserError) as refused:
        rating_work.remove_rater(scene, row.pk, scene.lead)
    assert refused.value.code == "no_rater"


@pytest.mark.parametrize("number", [0, -1, 2001])
def test_a_sample_has_bounds(scene, number) -> None:
    with pytest.raises(UserError) as refused:
        rating_work.set_sample(scene, number, scene.lead)
    assert (refused.value.code, events()) == ("bad_sample", [])


def test_a_size_that_holds_already_is_not_recorded_again(scene) -> None:
    assert rating_work.set_sample(scene, 7, scene.lead)
    assert not rating_work.set_sample(scene, 7, scene.lead)
    assert events() == ["benchmark.sample"]
