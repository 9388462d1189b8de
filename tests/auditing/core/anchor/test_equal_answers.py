"""Rationales where both answers are right, by hand."""

import pytest

from auditing.core.anchor.equal_answers import equal_answers

RIGHT = {"a": 5, "b": 5}


def test_items_by_hand() -> None:
    items = ["q1", "q2", "q3", "q4", "q5", "q6", "q7"]
    first = dict.fromkeys(items, RIGHT)
    second = {**first, "q5": {"a": 5, "b": 4}, "q6": {"a": 5, "b": None}}
    # Gaps: q1 2, both judges lower; q2 1, but b says the opposite; q3 -1.5, both; q4 0.5; q7 has no score.
    facet_first = {
        "q1": {"a": 5, "b": 4},
        "q2": {"a": 5, "b": 3},
        "q3": {"a": 1, "b": 2},
        "q4": {"a": 3, "b": 3},
        "q7": {"a": 3},
    }
    facet_second = {
        "q1": {"a": 3, "b": 2},
        "q2": {"a": 2, "b": 4},
        "q3": {"a": 3, "b": 3},
        "q4": {"a": 3, "b": 2},
        "q7": {"a": None},
    }
    found = equal_answers((first, second), (facet_first, facet_second))
    assert (found.n, found.not_both_right, found.rating_missing, found.facet_missing) == (4, 1, 1, 1)
    one, more = found.gaps
    assert (one.points, one.second_lower, one.first_lower) == (1.0, ("q1", "q2"), ("q3",))
    assert (one.second_lower_agreed, one.first_lower_agreed) == (1, 1)
    assert (more.points, more.second_lower, more.first_lower) == (1.5, ("q1",), ("q3",))


def test_direction_needs_a_judge_who_rated_both() -> None:
    answers = {"q1": RIGHT}
    found = equal_answers((answers, answers), ({"q1": {"a": 5, "b": None}}, {"q1": {"a": None, "b": 1}}), [2])
    assert (found.gaps[0].second_lower, found.gaps[0].second_lower_agreed) == (("q1",), 0)
    # A judge who rates both alike sees no direction.
    tied = equal_answers((answers, answers), ({"q1": {"a": 5, "b": 4}}, {"q1": {"a": 2, "b": 4}}), [1])
    assert (tied.gaps[0].second_lower, tied.gaps[0].second_lower_agreed) == (("q1",), 0)


def test_gaps_that_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match="above 0"):
        equal_answers(({}, {}), ({}, {}), [0])
    with pytest.raises(ValueError, match="1 to 5"):
        equal_answers(({"q1": {"a": 6}}, {}), ({}, {}))
    assert equal_answers(({}, {}), ({}, {})).n == 0
