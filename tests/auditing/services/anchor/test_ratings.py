"""Ratings are one row a rater, about the versions that were rated."""

import pytest

from auditing.models import Rating
from auditing.selectors.benchmark_ratings import current
from auditing.services.anchor import ratings
from auditing.services.anchor.ratings import NewRating, put_many
from tests.auditing.services.anchor import builders
from tests.videos.app_fixtures import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    return builders.benchmark(items=2)


@pytest.fixture
def answer(made):
    return builders.answer(builders.item(made))


@pytest.fixture
def reference(made):
    return builders.reference(builders.item(made))


def test_a_rating_replaces_the_raters_earlier_one_and_no_other(made, answer, reference):
    person = user()
    first = [
        NewRating(answer, "answer", reference, source="j", value=4, status="strict", words="Good."),
        NewRating(answer, "answer", None, source="j", value=3, status="strict"),
        NewRating(answer, "answer", reference, user=person, value=2),
        NewRating(answer, "divergence", reference, source="j", value=1, status="strict"),
    ]
    assert put_many(first) == 4
    pk = Rating.objects.get(source="j", facet="answer", reference=reference).pk
    made.refresh_from_db()
    revision = made.revision
    again = [NewRating(answer, "answer", reference, source="j", status="invalid", why="no_json", words="Hm.")]
    assert put_many(again) == 1
    row = Rating.objects.get(pk=pk)
    assert (row.value, row.status, row.why, row.words) == (None, "invalid", "no_json", "Hm.")
    assert put_many([NewRating(answer, "answer", reference, user=person, value=5)]) == 1
    assert sorted(Rating.objects.values_list("value", flat=True), key=str) == [1, 3, 5, None]
    made.refresh_from_db()
    assert made.revision == revision + 2


def test_the_last_of_two_in_one_batch_counts(answer):
    rows = [NewRating(answer, "answer", None, source="j", value=value, status="strict") for value in (1, 2)]
    assert put_many(rows) == 1
    assert Rating.objects.get().value == 2


def test_nothing_to_store_is_no_change(made):
    assert put_many([]) == 0
    made.refresh_from_db()
    assert made.revision == 1


def test_a_rating_is_current_until_answer_or_reference_changes(answer, reference):
    put_many([NewRating(answer, "answer", reference, source="j", value=4, status="strict")])
    put_many([NewRating(answer, "correct", None, source="rule:option", value=1)])

    def now() -> list[bool]:
        rows = Rating.objects.select_related("answer", "reference").order_by("facet")
        by_sql = set(Rating.objects.filter(current()).values_list("pk", flat=True))
        assert [row.pk in by_sql for row in rows] == [ratings.is_current(row) for row in rows]
        return [ratings.is_current(row) for row in rows]

    assert now() == [True, True]
    reference.sha256 = "0" * 64
    reference.save()
    assert now() == [False, True]
    answer.sha256 = "1" * 64
    answer.save()
    assert now() == [False, False]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"value": 6}, "no rating"),
        ({"value": 0}, "no rating"),
        ({"value": True}, "no rating"),
        ({"value": 4.0}, "no rating"),
        ({"facet": "correct", "value": 2}, "use 0 to 1"),
        ({"facet": "style"}, "no facet"),
        ({"value": None}, "cannot have the value"),
        ({"status": "invalid"}, "cannot have the value"),
        ({"status": "error", "value": 1}, "cannot have the value"),
        ({"source": ""}, "of a judge or of a person"),
    ],
)
def test_what_is_no_rating_is_never_stored(answer, fields, said):
    good = NewRating(answer, "answer", None, source="k", value=1, status="strict")
    given = {
        "answer": answer,
        "facet": "answer",
        "reference": None,
        "source": "j",
        "value": 4,
        "status": "strict",
    }
    with pytest.raises(ValueError, match=said):
        put_many([good, NewRating(**{**given, **fields})])
    assert not Rating.objects.exists()


def test_a_rating_is_of_one_rater_and_of_its_own_items_reference(made, answer):
    both = NewRating(answer, "answer", None, source="j", user=user(), value=4)
    with pytest.raises(ValueError, match="of a judge or of a person"):
        put_many([both])
    other = builders.reference(builders.item(made, 2))
    with pytest.raises(ValueError, match="another item"):
        put_many([NewRating(answer, "answer", other, source="j", value=4)])
