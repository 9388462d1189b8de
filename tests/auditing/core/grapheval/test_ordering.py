"""Groups of equal answers and the order inside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.ordering import AnswerGroup, answer_groups, linkage_order


def test_the_group_of_the_best_chain_comes_first() -> None:
    distances = np.array([[0, 0.2, 0.9, 0.4], [0.2, 0, 0.8, 0.6], [0.9, 0.8, 0, 0.5], [0.4, 0.6, 0.5, 0]])
    found = answer_groups(["a", "b", None, "a"], distances, [2, 3, 1, 0])
    assert found == (
        AnswerGroup(None, (2,), None),
        AnswerGroup("a", (0, 3), 0.4),
        AnswerGroup("b", (1,), None),
    )


def test_alike_chains_stand_together() -> None:
    # Two pairs far from each other, given in turn: each pair must be adjacent.
    places = np.array([0.0, 10.0, 0.1, 10.1])
    order = linkage_order(abs(places[:, None] - places))
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


def test_without_distances_the_order_is_kept() -> None:
    found = answer_groups(["a", "b", "a"], None, [1, 0, 2])
    assert [(group.answer, group.members, group.mean_distance) for group in found] == [
        ("b", (1,), None),
        ("a", (0, 2), None),
    ]


def test_nothing_to_order() -> None:
    assert answer_groups([], np.zeros((0, 0)), []) == ()
    assert linkage_order(np.zeros((2, 2))) == [0, 1]


def test_every_chain_must_be_named_once() -> None:
    with pytest.raises(ValueError, match="exactly once"):
        answer_groups(["a", "b"], None, [0, 0])


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), max_size=12).flatmap(
        lambda answers: st.tuples(
            st.just(answers),
            st.permutations(range(len(answers))),
            st.lists(st.floats(-1e-16, 1.4), min_size=144, max_size=144),
        )
    )
)
def test_every_chain_stands_once_beside_its_like(
    sample: tuple[list[str | None], list[int], list[float]],
) -> None:
    answers, best_first, values = sample
    n = len(answers)
    upper = np.triu(np.reshape(values, (12, 12))[:n, :n], k=1)
    groups = answer_groups(answers, upper + upper.T, best_first)
    assert sorted(place for group in groups for place in group.members) == list(range(n))
    assert all({answers[place] for place in group.members} == {group.answer} for group in groups)
    assert len(groups) == len(set(answers))
