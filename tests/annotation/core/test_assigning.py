"""Sharing out work and drawing orders: balance, repeatability, and no pattern that tells anything."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from annotation.core.assigning import Held, Placed, Plan, Task, plan
from annotation.core.draws import draw, item_numbers

PEOPLE = ["P1", "P2", "P3", "P4", "P5"]


def tasks(main: int, wanted: int, training: int = 0, gold: int = 0) -> list[Task]:
    kinds = [(wanted, False)] * main + [(None, True)] * training + [(None, False)] * gold
    return [Task(100 + n, wanted, training) for n, (wanted, training) in enumerate(kinds)]


def held(placed: tuple[Placed, ...], *, begun: set[tuple[str, int]] = frozenset()) -> list[Held]:  # type: ignore[assignment]
    return [Held(row.number, row.person, row.position, (row.person, row.number) in begun) for row in placed]


@given(
    seed=st.integers(0, 2**62),
    main=st.integers(0, 40),
    wanted=st.integers(1, 6),
    people=st.integers(1, 6),
    training=st.integers(0, 3),
    gold=st.integers(0, 3),
)
@settings(max_examples=200, deadline=None)
def test_every_item_gets_its_people_evenly_and_nobody_twice(seed, main, wanted, people, training, gold):
    names = [f"P{n}" for n in range(1, people + 1)]
    made = plan(seed, tasks(main, wanted, training, gold), names, [])
    pairs = Counter((row.number, row.person) for row in made.new)
    assert not pairs or max(pairs.values()) == 1
    per_item = Counter(row.number for row in made.new)
    for task in tasks(main, wanted, training, gold):
        expected = people if task.wanted is None else min(wanted, people)
        assert per_item[task.number] == expected
        missing = 0 if task.wanted is None else max(0, wanted - people)
        assert made.short.get(task.number, 0) == missing
    first_gold = 100 + main
    load = Counter(row.person for row in made.new if row.number < first_gold)
    assert (
        max((load[name] for name in names), default=0) - min((load[name] for name in names), default=0) <= 1
    )
    for name in names:
        places = sorted(row.position for row in made.new if row.person == name)
        assert places == list(range(1, len(places) + 1)), "places 1, 2, … without a gap"


@given(seed=st.integers(0, 2**62), data=st.data())
@settings(max_examples=100, deadline=None)
def test_planning_again_only_adds_and_never_moves_begun_work(seed, data):
    first = plan(seed, tasks(8, 2, training=1), PEOPLE[:3], [])
    pairs = [(row.person, row.number) for row in first.new]
    begun = set(data.draw(st.lists(st.sampled_from(pairs), unique=True)))
    more = plan(seed, tasks(8, 3, training=1, gold=2), PEOPLE[:4], held(first.new, begun=begun))
    assert not {(row.person, row.number) for row in more.new} & set(pairs)
    assert not {(row.person, row.number) for row in more.moved} & begun
    final = {(row.person, row.number): row.position for row in first.new}
    final |= {(row.person, row.number): row.position for row in (*more.moved, *more.new)}
    for person in PEOPLE[:4]:
        places = sorted(place for (who, _), place in final.items() if who == person)
        assert places == list(range(1, len(places) + 1))
    again = plan(
        seed,
        tasks(8, 3, training=1, gold=2),
        PEOPLE[:4],
        [Held(number, who, place, (who, number) in begun) for (who, number), place in final.items()],
    )
    assert (again.new, again.moved) == ((), ()), "nothing left to do"


def test_the_same_study_gives_the_same_plan_in_whatever_order_rows_come():
    items, people = tasks(20, 2, training=2, gold=3), PEOPLE[:4]
    shuffled_items, shuffled_people = items[:], people[:]
    random.Random(1).shuffle(shuffled_items)
    random.Random(2).shuffle(shuffled_people)
    one, other = plan(7, items, people, []), plan(7, shuffled_items, shuffled_people, [])
    assert set(one.new) == set(other.new)
    assert set(plan(8, items, people, []).new) != set(one.new)


def test_withdrawn_work_goes_to_somebody_else_and_keeps_its_place():
    had = [Held(100, "P1", 1, withdrawn=True), Held(100, "P2", 1)]
    made = plan(3, [Task(100, 2)], ["P1", "P2", "P3"], had)
    assert made.new == (Placed(100, "P3", 1),)
    assert plan(3, [Task(100, 2)], ["P1", "P2"], had) == Plan((), (), {100: 1})


def test_training_comes_first_in_one_order_for_all():
    made = plan(5, tasks(6, 2, training=3, gold=1), PEOPLE[:3], [])
    for person in PEOPLE[:3]:
        own = sorted((row.position, row.number) for row in made.new if row.person == person)
        assert [number for _, number in own[:3]] == [106, 107, 108]


def test_ab_04_each_place_of_an_order_is_equally_likely_for_each_item():
    """Chi-squared over 2,000 seeds: place of an item of 8, once a main item and once the hidden gold one."""
    for number in (100, 107):
        places = Counter()
        for seed in range(2000):
            made = plan(seed, tasks(7, 1, gold=1), ["P1"], [])
            places[next(row.position for row in made.new if row.number == number)] += 1
        assert stats.chisquare([places[place] for place in range(1, 9)]).pvalue > 0.001


def test_ab_04_two_people_have_unlike_orders():
    """Spearman's rho between the orders of two people is 0 on average: its mean over 400 studies of 20 items."""
    rhos = []
    for seed in range(400):
        made = plan(seed, tasks(20, 2), ["P1", "P2"], [])
        orders = {
            who: {row.number: row.position for row in made.new if row.person == who} for who in ("P1", "P2")
        }
        numbers = sorted(orders["P1"])
        rhos.append(stats.spearmanr(*([orders[who][n] for n in numbers] for who in orders)).statistic)
    # The standard error of the mean is 1 / sqrt(19 * 400) = 0.0115.
    assert abs(sum(rhos) / len(rhos)) < 4 * 0.0115


def test_ab_04_pairs_of_people_are_mixed():
    made = plan(11, tasks(60, 2), PEOPLE[:4], [])
    people: dict[int, list[str]] = {}
    for row in made.new:
        people.setdefault(row.number, []).append(row.person)
    pairs = Counter(tuple(sorted(two)) for two in people.values())
    assert len(pairs) == 6, "all pairs of four people occur"


def test_ab_04_item_numbers_tell_neither_kind_nor_order():
    numbers = item_numbers(42, 44, set())
    assert len(set(numbers)) == 44
    assert {len(str(number)) for number in numbers} == {3}
    late = item_numbers(42, 6, set(numbers))
    assert not set(late) & set(numbers)
    assert {len(str(number)) for number in late} == {3}
    assert min(late) < max(numbers), "late ones are not simply the largest"
    assert len({len(str(number)) for number in item_numbers(1, 4000, set())}) == 1


@pytest.mark.parametrize("count", [1, 450, 4000])
def test_item_numbers_increase_about_half_of_the_time(count):
    """A sorted sequence would have no descent: over random numbers, about half of the neighbours descend."""
    numbers = item_numbers(9, count, set())
    descents = sum(a > b for a, b in pairwise(numbers))
    assert count < 10 or abs(descents / (count - 1) - 0.5) < 0.1


def test_a_draw_depends_on_seed_and_words_alone():
    # SHA-256 of "1\x1fa\x1f2", first 8 bytes, by another program (coreutils sha256sum).
    assert draw(1, "a", 2) == 0x1A0B9E3A93490097
    assert draw(1, "a", 2) == draw(1, "a", "2")
    assert draw(1, "a", 2) != draw(1, "a2")
