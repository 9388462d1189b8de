"""Scores of a panel, the part of each judge, their spread, and differences of models, by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.panel import (
    judge_spread,
    mean_estimate,
    mean_estimates,
    model_score,
    panel_scores,
    score_difference,
)

RATINGS = {
    "q1": {"a": 5, "b": 3, "c": None},
    "q2": {"a": 2, "b": 2, "c": 2},
    "q3": {"a": None, "b": None, "c": None},
    "q4": {"a": 1, "b": None, "c": None},
}


def test_an_item_counts_once_however_many_judges_rated_it() -> None:
    # Items 4, 2 and 1: mean 7/3, squares 25/9 + 1/9 + 16/9 = 42/9, by 2: 7/3.
    found = panel_scores(RATINGS)
    assert found.items == {"q1": 4.0, "q2": 2.0, "q3": None, "q4": 1.0}
    assert found.mean == pytest.approx(7 / 3)
    assert found.sd == pytest.approx(math.sqrt(7 / 3))
    assert (found.n_items, found.n_ratings, found.n_missing, found.n_unrated) == (3, 6, 6, 1)


@pytest.mark.parametrize("rating", [0, 6, 4.5, True, "4"])
def test_what_is_not_on_the_scale_is_refused(rating: object) -> None:
    with pytest.raises(ValueError, match="1 to 5, or missing"):
        panel_scores({"q1": {"a": rating}})


def test_what_each_judge_gave() -> None:
    found = model_score(RATINGS, ["a", "b", "c", "silent"])
    a, b, c, silent = found.judges
    assert (a.mean, a.n, a.missing, a.counts) == (pytest.approx(8 / 3), 3, 1, {1: 1, 2: 1, 3: 0, 4: 0, 5: 1})
    assert (b.mean, b.sd) == (2.5, pytest.approx(math.sqrt(0.5)))
    assert (c.mean, c.sd, c.n) == (2.0, None, 1)
    assert (silent.mean, silent.n, silent.missing) == (None, 0, 4)


def test_how_far_judges_are_apart() -> None:
    # q1: 5 and 3, range 2, sd sqrt(2); q2: three equal ones. q3 and q4 have fewer than two.
    found = judge_spread(RATINGS)
    assert (found.n, found.too_few) == (2, 2)
    assert found.mean_range == 1.0
    assert found.mean_sd == pytest.approx(math.sqrt(2) / 2)
    assert (found.equal, found.wide) == (0.5, 0.5)
    assert found.ranges == {"q1": 2, "q2": 0, "q3": None, "q4": None}
    # All three rated q2 only, and alike.
    assert (found.common, found.between_judges) == (1, 0.0)
    strict = judge_spread({"q1": {"a": 5, "b": 3}, "q2": {"a": 4, "b": 3}, "q3": {"a": 1, "b": None}})
    assert (strict.common, strict.between_judges) == (2, 1.5)
    nobody = judge_spread({"q1": {"a": 5}})
    assert nobody.mean_range is nobody.equal is nobody.between_judges is None


def test_the_interval_draws_items() -> None:
    # Of two items 1 and 5, a resample has the mean 1, 3 or 5 with chances 1/4, 1/2, 1/4.
    found = model_score({"q1": {"a": 1, "b": 1}, "q2": {"a": 5, "b": 5}}).estimate
    assert (found.value, found.low, found.high, found.n) == (3.0, 1.0, 5.0, 2)
    one = model_score({"q1": {"a": 1, "b": 5}}).estimate
    assert (one.value, one.low) == (3.0, None)
    assert "two cases" in one.no_interval_because
    assert model_score({}).estimate.undefined_because == "no item has a value"


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [1.0, 2.0, 2.5, 4.0, 5.0, 3.0]
    assert mean_estimate(values, seed=3) == mean_estimate(values, seed=3)
    assert mean_estimate(values, seed=3) != mean_estimate(values, seed=4)


def test_values_of_a_group_are_drawn_together() -> None:
    # With one group there is nothing to draw; alone, the four values have an interval.
    values = [1.0, 1.0, 5.0, 5.0]
    assert mean_estimate(values, ["q1"] * 4).low is None
    assert mean_estimate(values, ["q1", "q1", "q2", "q2"]).low == 1.0
    assert mean_estimate([1.0, None, 4.0]).value == 2.5


def test_several_values_of_the_same_items_have_the_means_and_intervals_that_each_has_alone():
    columns = {
        "all": [0.1 * place for place in range(20)],
        "some": [None if place % 3 else 0.7 * place for place in range(20)],
        "as many": [None if place % 3 else 1.0 / (1 + place) for place in range(20)],
        "one": [4.0] + [None] * 19,
        "none": [None] * 20,
    }
    found = mean_estimates(columns, seed=3)
    assert list(found) == list(columns)
    for name, values in columns.items():
        alone = mean_estimate(values, seed=3)
        for field in ("value", "low", "high"):
            assert getattr(found[name], field) == pytest.approx(getattr(alone, field), abs=1e-12)
        for field in ("undefined_because", "no_interval_because", "n", "cases", "resamples", "dropped"):
            assert getattr(found[name], field) == getattr(alone, field)
    assert found["one"].no_interval_because == "an interval needs at least two cases"
    assert found["none"].value is None
    assert mean_estimates({}) == {}


def test_models_are_compared_on_the_items_that_both_have() -> None:
    first = {"q1": 3.0, "q2": 4.0, "q3": 5.0, "q4": None, "q5": 2.0}
    second = {"q1": 4.0, "q2": 4.5, "q3": None, "q4": None, "q6": 1.0}
    found = score_difference(first, second)
    assert found.difference.value == pytest.approx(0.75)
    assert (found.n, found.only_first, found.only_second, found.neither) == (2, 2, 1, 1)
    # Two differences of one sign: W = 0, p = 2 / 2^2.
    assert (found.test.statistic, found.test.p) == (0.0, 0.5)


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(1, 5)),
        max_size=6,
    )
)
def test_scores_lie_between_the_ratings_and_everything_is_counted(ratings: dict[str, dict[str, int]]) -> None:
    found = panel_scores(ratings)
    assert found.n_items + found.n_unrated == len(ratings)
    assert found.n_ratings + found.n_missing == sum(map(len, ratings.values()))
    for item, score in found.items.items():
        valid = [rating for rating in ratings[item].values() if rating is not None]
        assert score is None if not valid else min(valid) <= score <= max(valid)
