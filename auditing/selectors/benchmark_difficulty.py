"""Levels of a benchmark's items, the queue of hard ones for people, and one item with all that decided its level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import F, QuerySet

from auditing.core.anchor.difficulty import DECISIONS, LEVELS, LevelShares, Review, level_shares, review
from auditing.models import Benchmark, BenchmarkItem, DifficultyReview, ModelAnswer

HARD = "hard"
PENDING = "pending"
NONE = "none"

SORTS = {
    "number": ("number",),
    "mismatches": (F("verdict__mismatches").desc(nulls_last=True), "number"),
    "similarity": (F("verdict__similarity").desc(nulls_last=True), "number"),
}


@dataclass(frozen=True, slots=True)
class Overview:
    """A benchmark's levels in numbers.

    Attributes
    ----------
    levels : LevelShares
        By the rule.
    review : Review
        What people decided about items that are hard by the rule; `pending` are the others of them.
    beside : dict of str to dict of str to int
        Imported level ("" for none) -> rule's level ("" for none) -> items.
    decided : int
        Items with a decision that the rule does not call hard any more; they are in no number of `review`.
    named : dict of str to int
        Level in the reviewers' view -> items; only where they name one.
    """

    levels: LevelShares
    review: Review
    beside: dict[str, dict[str, int]]
    decided: int
    named: dict[str, int]


def overview(benchmark: Benchmark) -> Overview:
    """Count levels and decisions; two queries."""
    rows = list(benchmark.items.order_by().values_list("difficulty", "decision", "question__difficulty"))
    beside: dict[str, dict[str, int]] = {}
    for level, _, imported in rows:
        line = beside.setdefault(imported, {})
        line[level] = line.get(level, 0) + 1
    said = (
        DifficultyReview.objects.filter(item__benchmark=benchmark).order_by().values_list("level", flat=True)
    )
    named = [level for level in said if level]
    return Overview(
        level_shares(level or None for level, *_ in rows),
        review(decision or None for level, decision, _ in rows if level == HARD),
        beside,
        sum(bool(decision) for level, decision, _ in rows if level != HARD),
        {level: named.count(level) for level in LEVELS if level in named},
    )


def difficulty_items(
    benchmark: Benchmark, *, level: str = "", decision: str = "", sort: str = "number"
) -> QuerySet[BenchmarkItem]:
    """Items with question and verdict, filtered and sorted.

    Parameters
    ----------
    level : str
        One of `LEVELS`, "none" for items without a level, "" for all.
    decision : str
        One of `DECISIONS`, "pending" for hard items without a decision, "" for all.
    sort : str
        A key of `SORTS`; the highest first, items without a value last.
    """
    rows = benchmark.items.select_related("question", "review").defer("question__document", "question__meta")
    if level in LEVELS:
        rows = rows.filter(difficulty=level)
    elif level == NONE:
        rows = rows.filter(difficulty="")
    if decision in DECISIONS:
        rows = rows.filter(decision=decision)
    elif decision == PENDING:
        rows = rows.filter(difficulty=HARD, decision="")
    return rows.order_by(*SORTS.get(sort, SORTS["number"]))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item is in the queue: neighbours and the next without a decision; None where there is none."""

    place: int
    of: int
    before: int | None
    after: int | None
    next_pending: int | None


def queue(benchmark: Benchmark) -> list[tuple[int, str]]:
    """Return item and decision of everything to review: hard items without a decision first, then those with one."""
    rows = benchmark.items.filter(difficulty=HARD) | benchmark.items.exclude(decision="")
    found = list(rows.order_by("number").values_list("pk", "decision"))
    return [row for row in found if not row[1]] + [row for row in found if row[1]]


def place_of(found: Sequence[tuple[int, str]], pk: int) -> Place | None:
    """Where an item is in the queue; None where it is not."""
    keys = [key for key, _ in found]
    if pk not in keys:
        return None
    at = keys.index(pk)
    waiting = [key for key, decision in found if not decision and key != pk]
    after = [key for key in waiting if keys.index(key) > at]
    return Place(
        place=at + 1,
        of=len(keys),
        before=keys[at - 1] if at else None,
        after=keys[at + 1] if at + 1 < len(keys) else None,
        next_pending=next(iter([*after, *waiting]), None),
    )


@dataclass(frozen=True, slots=True)
class Rollout:
    """A bare answer and what each judge says of it: True where it matches, None where the judge said nothing."""

    answer: ModelAnswer
    said: tuple[bool | None, ...]
    votes: int
    mismatch: bool | None


def rollout_rows(
    answers: Sequence[ModelAnswer], verdict: Mapping[str, Any] | None, judges: int, *, majority: bool
) -> list[Rollout]:
    """Return the rollouts of an item with the judges' verdicts, by the vote of the benchmark's rule.

    Parameters
    ----------
    answers : sequence of ModelAnswer
        In the order in which judges saw them.
    verdict : mapping or None
        `BenchmarkItem.verdict`, of exactly these answers.
    judges : int
        Judges that count.
    majority : bool
        Whether more than half of the judges make a mismatch, or half of them do.
    """
    by_judge = [] if verdict is None else verdict["by_judge"]
    rows = []
    for place, answer in enumerate(answers):
        said = tuple(None if one["matches"] is None else one["matches"][place] for one in by_judge)
        votes = sum(value is False for value in said)
        empty = not answer.final_answer.strip()
        enough = 2 * votes > judges if majority else 2 * votes >= judges
        rows.append(Rollout(answer, said, votes, (empty or enough) if judges else None))
    return rows


def judge_counts(benchmark: Benchmark) -> list[dict[str, Any]]:
    """What each judge gave over all items: judgements that count, unreadable ones, means; one query.

    Judgements of other rollouts than the present ones are in no number: `BenchmarkItem.verdict` knows only the others.
    """
    verdicts = benchmark.items.exclude(verdict=None).values_list("verdict__by_judge", flat=True)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in chain.from_iterable(verdicts.order_by("number")):
        found.setdefault(one["source"], []).append(one)
    rows = []
    for source, given in sorted(found.items()):
        valid = [one for one in given if one["mismatches"] is not None]
        rows.append(
            {
                "source": source,
                "judged": len(given),
                "valid": len(valid),
                "invalid": len(given) - len(valid),
                "mean_mismatches": _mean([one["mismatches"] for one in valid]),
                "mean_similarity": _mean([one["similarity"] for one in valid]),
            }
        )
    return rows


def _mean(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None
