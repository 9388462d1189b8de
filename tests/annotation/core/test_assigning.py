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


# Groups: the questions about one clip


def clips(*sizes: int, wanted: int = 1) -> list[Task]:
    """Clips with so many questions each, numbered through."""
    groups = [f"clip {k}" for k, size in enumerate(sizes) for _ in range(size)]
    return [Task(100 + n, wanted, group=group) for n, group in enumerate(groups)]


def people_of(made: Plan) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for row in made.new:
        found.setdefault(row.number, set()).add(row.person)
    return {number: frozenset(who) for number, who in found.items()}


@given(
    seed=st.integers(0, 2**62),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    wanted=st.integers(1, 4),
    people=st.integers(1, 7),
)
@settings(max_examples=200, deadline=None)
def test_every_question_has_its_people_clips_stay_whole_and_loads_are_even(seed, sizes, wanted, people):
    names = [f"P{n}" for n in range(1, people + 1)]
    items = clips(*sizes, wanted=wanted)
    made = plan(seed, items, names, [])
    assert len({(row.number, row.person) for row in made.new}) == len(made.new), "nobody twice"
    who = people_of(made)
    assert {len(who[task.number]) for task in items} == {min(wanted, people)}
    by_clip: dict[str, set[frozenset[str]]] = {}
    for task in items:
        by_clip.setdefault(task.group, set()).add(who[task.number])
    assert {len(sets) for sets in by_clip.values()} == {1}, "one clip, the same people"
    load = Counter(row.person for row in made.new)
    loads = [load[name] for name in names]
    assert max(loads) - min(loads) <= max(sizes)
    group = {task.number: task.group for task in items}
    for name in names:
        order = [
            group[n] for _, n in sorted((row.position, row.number) for row in made.new if row.person == name)
        ]
        changes = sum(one != other for one, other in pairwise(order))
        assert changes == max(0, len(set(order)) - 1), "a clip is finished before the next one begins"


def test_clips_of_2_3_and_4_questions_for_two_people_by_hand():
    """Largest first: 4 to one, 3 to the other, 2 to the one with 3: loads 4 and 5."""
    made = plan(1, clips(2, 3, 4), ["P1", "P2"], [])
    who = people_of(made)
    assert sorted(Counter(row.person for row in made.new).values()) == [4, 5]
    assert who[100] == who[102] != who[105], "the clips of 2 and of 3 go together"


def test_a_question_added_later_goes_to_whoever_has_its_clip():
    first = plan(3, clips(3, 3, wanted=2), PEOPLE[:4], [])
    before = people_of(first)
    late = [*clips(3, 3, wanted=2), Task(200, 2, group="clip 0")]
    made = plan(3, late, PEOPLE[:4], held(first.new))
    assert people_of(made) == {200: before[100]}


def test_one_question_is_moved_and_the_rest_of_its_clip_stays():
    items = clips(3, 1, 1)
    had = [Held(100, "P1", 1), Held(101, "P1", 2, withdrawn=True), Held(102, "P1", 3), Held(103, "P2", 1)]
    made = plan(3, items, ["P1", "P2"], had)
    assert people_of(made) == {101: frozenset({"P2"}), 104: frozenset({"P2"})}
    everything_off = [Held(row.number, row.person, row.position, withdrawn=True) for row in had[:3]]
    again = plan(3, clips(3), ["P1", "P2", "P3"], everything_off)
    assert len(set(people_of(again).values())) == 1, (
        "a clip that is taken off somebody goes to one other person"
    )


def test_a_question_for_more_people_keeps_those_of_its_clip():
    items = [*clips(3), Task(103, 2, group="clip 0")]
    who = people_of(plan(4, items, PEOPLE[:3], []))
    assert who[100] == who[101] == who[102] < who[103]
    assert len(who[103]) == 2


def test_the_rest_of_a_begun_clip_comes_before_clips_that_were_not_begun():
    first = plan(9, clips(4, 4, 4, 4), ["P1"], [])
    order = [row.number for row in sorted(first.new, key=lambda row: row.position)]
    last_clip = {
        task.number for task in clips(4, 4, 4, 4) if task.group == clips(4, 4, 4, 4)[order[-1] - 100].group
    }
    begun = order[-1]
    rows = [Held(row.number, "P1", row.position, begun=row.number == begun) for row in first.new]
    made = plan(9, clips(4, 4, 4, 4), ["P1"], rows)
    place = {row.number: row.position for row in (*first.new, *made.moved)}
    assert {number for number in place if place[number] <= 3} == last_clip - {begun}
    assert place[begun] == 16, "what was begun stays where it is"


def test_the_work_grows_with_the_number_of_questions_and_not_with_its_square(monkeypatch):
    """Counted in draws, by far the dearest step: 1, 10 and 100 times 975 questions about 224 clips for 26 people."""
    from annotation.core import assigning

    drawn = 0

    def counting(*words: object) -> int:
        nonlocal drawn
        drawn += 1
        return draw(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(assigning, "draw", counting)
    counts = []
    for times in (1, 10, 100):
        drawn = 0
        sizes = [5] * (79 * times) + [4] * (145 * times)
        assert (sum(sizes), len(sizes)) == (975 * times, 224 * times)
        made = plan(1, clips(*sizes), [f"P{n}" for n in range(26)], [])
        assert len(made.new) == 975 * times
        counts.append(drawn)
    assert counts[1] == pytest.approx(10 * counts[0], rel=0.01)
    assert counts[2] == pytest.approx(100 * counts[0], rel=0.01)


def test_ab_04_each_place_of_an_order_is_equally_likely_for_each_clip():
    """Chi-squared over 2,000 seeds: the place of a clip of 3 questions among 6 clips of 3."""
    places = Counter()
    for seed in range(2000):
        made = plan(seed, clips(*[3] * 6), ["P1"], [])
        first = min(row.position for row in made.new if row.number < 103)
        places[(first - 1) // 3] += 1
    assert stats.chisquare([places[place] for place in range(6)]).pvalue > 0.001
