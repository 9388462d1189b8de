"""Numbers of the people of a benchmark: the same on pages and in files, whatever they did and wherever they did it."""

import pytest

from auditing.models import BenchmarkRater, TaxonomyLabel
from auditing.selectors.benchmark_people import people_names, people_numbers
from auditing.services.anchor import ratings
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders

pytestmark = pytest.mark.django_db


def test_who_worked_first_comes_first_and_numbers_that_came_with_an_import_stay():
    made = builders.benchmark(1)
    item = builders.item(made)
    answer = builders.answer(item)
    idle, late, early, sorter = (make.user("physician") for _ in range(4))
    for listed in (idle, late):
        BenchmarkRater.objects.create(benchmark=made, user=listed)
    given = ratings.NewRating
    TaxonomyLabel.objects.create(item=item, user=sorter, category="Gaming")
    for one in (
        given(answer, "answer", None, user=early, value=1),
        given(answer, "answer", None, user=late, value=1),
        given(answer, "answer", None, source="imported:rater-2", value=1),
        given(answer, "answer", None, source="imported:rater-02", value=1),
        given(answer, "answer", None, source="openai:judge", value=1),
        given(answer, "answer", None, user=early, value=5),
    ):
        ratings.put_many([one])
    assert people_numbers(made) == {
        early.pk: 1,
        late.pk: 3,
        "imported:rater-2": 2,
        "imported:rater-02": 4,
        sorter.pk: 5,
        idle.pk: 6,
    }
    names = people_names(made)
    assert (names[late.pk], names["imported:rater-2"]) == ("Rater 3", "Rater 2 (imported)")


def test_two_queries_whatever_is_there(django_assert_num_queries):
    made = builders.benchmark(1)
    with django_assert_num_queries(2):
        assert people_numbers(made) == {}
