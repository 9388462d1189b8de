"""Letters, gaps and samples: random over items, the same every time, and blind to the order of rows."""

from collections import Counter
from itertools import pairwise, permutations

import pytest

from annotation.core import adjudication


def test_ab_06_letters_are_the_same_whatever_the_order_of_the_people() -> None:
    people = {1: "P1", 2: "P2", 3: "P3"}
    drawn = {
        tuple(adjudication.letters(42, 7, {key: people[key] for key in order}).items())
        for order in permutations(people)
    }
    assert len(drawn) == 1


def test_ab_06_each_person_is_a_about_half_of_the_time() -> None:
    firsts = Counter(adjudication.letters(99, item, {1: "P1", 2: "P2"})["A"] for item in range(2000))
    # Binomial(2000, 1/2): standard deviation 22.4; five of them are 112.
    assert abs(firsts[1] - 1000) < 112


def test_ab_06_letters_of_neighbouring_items_and_studies_are_unrelated() -> None:
    first = [adjudication.letters(1, item, {1: "P1", 2: "P2"})["A"] for item in range(1000)]
    other = [adjudication.letters(2, item, {1: "P1", 2: "P2"})["A"] for item in range(1000)]
    same_study = sum(a == b for a, b in pairwise(first))
    same_item = sum(a == b for a, b in zip(first, other, strict=True))
    # Binomial(1000, 1/2): standard deviation 15.8; five of them are 79.
    assert abs(same_study - 500) < 79
    assert abs(same_item - 500) < 79


def test_more_people_than_letters_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 26"):
        adjudication.letters(1, 1, {number: f"P{number}" for number in range(27)})


@pytest.mark.parametrize(
    ("labels", "gap", "agree"),
    [
        (["correct", "correct"], 0, True),
        (["correct", "uncertain"], 1, False),
        (["uncertain", "incorrect"], 1, False),
        (["incorrect", "correct"], 2, False),
        (["correct", "correct", "incorrect"], 2, False),
        (["correct", None], 1, False),
        ([None, None], 1, False),
        (["uncertain"], 0, True),
    ],
)
def test_gap_and_agreement(labels: list[str | None], gap: int, agree: bool) -> None:
    assert adjudication.gap(labels) == gap
    assert adjudication.agrees(labels) is agree


@pytest.mark.parametrize("percent", [0, 10, 50, 100])
def test_ag_13_the_sample_has_the_size_that_was_asked_for_and_never_changes(percent: int) -> None:
    places = [(item, segment) for item in range(200) for segment in range(2, 12)]
    drawn = [adjudication.is_sampled(5, item, segment, percent) for item, segment in places]
    assert drawn == [adjudication.is_sampled(5, item, segment, percent) for item, segment in places]
    share = percent / 100
    # Five standard deviations of a binomial with 2000 draws; none at 0 and 100 per cent.
    assert abs(sum(drawn) - 2000 * share) <= 5 * (2000 * share * (1 - share)) ** 0.5


def test_matches_names_those_who_gave_the_label() -> None:
    given = {"B": "correct", "A": "correct", "C": None}
    assert adjudication.matches("correct", given) == "AB"
    assert adjudication.matches("uncertain", given) == ""
