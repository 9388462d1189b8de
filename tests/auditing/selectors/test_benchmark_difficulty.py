"""The queue of hard items, and the rollouts of one with what each judge says."""

import pytest

from auditing.models import BenchmarkItem, ModelAnswer
from auditing.selectors.benchmark_difficulty import (
    difficulty_items,
    judge_counts,
    overview,
    place_of,
    queue,
    rollout_rows,
)
from tests.auditing import benchmark_rows as made


def test_a_place_in_the_queue_and_the_next_without_a_decision():
    order = [(5, ""), (7, ""), (9, ""), (2, "confirmed"), (4, "rejected")]
    first, last, decided = place_of(order, 5), place_of(order, 9), place_of(order, 2)
    assert (first.place, first.of, first.before, first.after, first.next_pending) == (1, 5, None, 7, 7)
    # After the last one that waits, those before it come again.
    assert (last.before, last.after, last.next_pending) == (7, 2, 5)
    assert (decided.before, decided.after, decided.next_pending) == (9, 4, 5)
    assert place_of([(5, "")], 5).next_pending is None
    assert place_of(order, 1) is None


def verdict(*judges):
    """A verdict of judges, each a list of matches or None."""
    return {"by_judge": [{"source": f"j{place}", "matches": said} for place, said in enumerate(judges)]}


def test_rollouts_with_the_judges_votes():
    answers = [ModelAnswer(final_answer=text) for text in ("a", "b", " ", "d")]
    said = verdict([True, False, True, True], None, [False, False, True, True])
    rows = rollout_rows(answers, said, 2, majority=False)
    assert [row.said for row in rows] == [
        (True, None, False),
        (False, None, False),
        (True, None, True),
        (True, None, True),
    ]
    # Half of the two judges are enough, and an empty answer is a mismatch whatever they say.
    assert [(row.votes, row.mismatch) for row in rows] == [(1, True), (2, True), (0, True), (0, False)]
    strict = rollout_rows(answers, said, 2, majority=True)
    assert [row.mismatch for row in strict] == [False, True, True, False]
    unjudged = rollout_rows(answers, verdict(None), 0, majority=False)
    assert [(row.said, row.mismatch) for row in unjudged] == [((None,), None)] * 4
    assert [row.said for row in rollout_rows(answers, None, 0, majority=False)] == [()] * 4


@pytest.fixture
def benchmark(db):
    """Six items: three hard ones of which one is decided, a medium and an easy one, one without a level."""
    of = made.benchmark(items=6)
    rows = (
        (1, "hard", "confirmed", 12, 2),
        (2, "easy", "", 0, 1),
        (3, "hard", "", 16, 5),
        (4, "medium", "corrected", 6, 2),
        (5, "hard", "", 11, 4),
    )
    for number, level, decision, mismatches, similarity in rows:
        judges = [
            {"source": "openai:b", "mismatches": mismatches, "similarity": similarity},
            {"source": "openai:a", "mismatches": None, "similarity": None},
        ]
        BenchmarkItem.objects.filter(number=number).update(
            difficulty=level,
            decision=decision,
            verdict={"mismatches": mismatches, "similarity": similarity, "by_judge": judges},
        )
    return of


def numbers(rows):
    """The numbers of items."""
    return [row.number for row in rows]


def test_the_queue_has_what_waits_first(benchmark):
    keys = dict(benchmark.items.values_list("pk", "number"))
    assert [keys[pk] for pk, _ in queue(benchmark)] == [3, 5, 1, 4]


def test_items_are_filtered_and_sorted(benchmark):
    assert numbers(difficulty_items(benchmark, level="hard")) == [1, 3, 5]
    assert numbers(difficulty_items(benchmark, level="none")) == [6]
    assert numbers(difficulty_items(benchmark, decision="pending")) == [3, 5]
    assert numbers(difficulty_items(benchmark, decision="corrected")) == [4]
    # As numbers, not as texts, and items without a value last.
    assert numbers(difficulty_items(benchmark, sort="mismatches")) == [3, 1, 5, 4, 2, 6]
    assert numbers(difficulty_items(benchmark, sort="similarity")) == [3, 5, 1, 4, 2, 6]


def test_counts_of_levels_decisions_and_judges(benchmark):
    found = overview(benchmark)
    assert found.levels.counts == {"easy": 1, "medium": 1, "hard": 3}
    assert found.levels.without == 1
    assert found.review.counts == {"confirmed": 1, "corrected": 0, "rejected": 0}
    # The decision about the medium item is in no share.
    assert (found.review.pending, found.review.confirmed.n, found.decided) == (2, 1, 1)
    unreadable, read = judge_counts(benchmark)
    assert (unreadable["source"], unreadable["valid"], unreadable["invalid"]) == ("openai:a", 0, 5)
    assert unreadable["mean_mismatches"] is None
    assert (read["valid"], read["mean_mismatches"], read["mean_similarity"]) == (5, 9.0, 2.8)
