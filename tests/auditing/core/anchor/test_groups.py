"""Means by group, with what they rest on, by hand."""

import math

import pytest

from auditing.core.anchor.groups import NO_GROUP, group_means

GROUPS = {"q1": "hard", "q2": "hard", "q3": "easy", "q4": None, "q5": "hard", "q6": "odd"}


def test_groups_by_hand() -> None:
    columns = {
        "m1 answer": {"q1": 2.0, "q2": 4.0, "q3": 5.0, "q4": 1.0, "q5": None, "q9": 3.0},
        "m2 answer": {"q6": 4.0},
    }
    found = group_means(columns, GROUPS, ["easy", "medium", "hard"])
    assert [(row.group, row.items) for row in found] == [
        ("easy", 1),
        ("medium", 0),
        ("hard", 3),
        ("odd", 1),
        (NO_GROUP, 1),
    ]
    cells = [row.columns["m1 answer"] for row in found]
    assert [(cell.mean.value, cell.n, cell.missing) for cell in cells] == [
        (5.0, 1, 0),
        (None, 0, 0),
        (3.0, 2, 1),
        (None, 0, 1),
        (1.0, 1, 0),
    ]
    assert cells[2].sd == pytest.approx(math.sqrt(2))
    assert (cells[2].mean.low, cells[2].mean.high) == (2.0, 4.0)
    assert cells[0].sd is cells[0].mean.low is None
    assert found[3].columns["m2 answer"].mean.value == 4.0


def test_other_groups_follow_in_alphabetical_order() -> None:
    groups = {"q1": "sports", "q2": "", "q3": "gaming", "q4": "shopping"}
    found = group_means({}, groups, ["shopping"])
    assert [row.group for row in found] == ["shopping", "gaming", "sports", NO_GROUP]


def test_without_items_there_are_only_the_named_groups() -> None:
    (row,) = group_means({"answer": {"q1": 1.0}}, {}, ["human"])
    assert (row.group, row.items, row.columns["answer"].mean.value) == ("human", 0, None)
    assert group_means({}, {}) == []
