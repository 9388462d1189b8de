"""People of a benchmark by pseudonyms, the same on pages and in files: Rater 1 and so on, never by name.

Who came with an import as ``imported:rater-3`` is rater 3 again, so an export of what was imported says the same.
Everybody else gets the next number that is free, by their first rating, then by their first label, then by their first
decision; those who are listed and have done nothing yet come last. So a number rarely changes once it stands in a file.
"""

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from django.db.models import Min, Q, QuerySet, Value

from auditing.formats.benchmark_rows import PERSON
from auditing.models import Benchmark, BenchmarkRater, DifficultyReview, Rating, TaxonomyLabel

Person = int | str
"""A user's key, or the source of what somebody gave elsewhere."""

IMPORTED_PERSON = PERSON
"""How the source of a rating begins that a person gave elsewhere."""

_KEPT = re.compile(rf"{IMPORTED_PERSON}rater-([1-9][0-9]{{0,5}})")


def people_numbers(benchmark: Benchmark) -> dict[Person, int]:
    """Return the number of everybody who is listed, rated, sorted or decided in a benchmark; two queries."""
    rows: list[QuerySet[Any]] = [
        Rating.objects.filter(by_people(), answer__item__benchmark=benchmark),
        TaxonomyLabel.objects.filter(by_people(), item__benchmark=benchmark),
        DifficultyReview.objects.filter(item__benchmark=benchmark),
    ]
    worked = [
        found.order_by().values_list("user_id", "source").annotate(kind=Value(kind), first=Min("pk"))
        for kind, found in enumerate(rows)
    ]
    in_order = sorted(worked[0].union(*worked[1:], all=True), key=lambda row: row[2:])
    listed = BenchmarkRater.objects.filter(benchmark=benchmark).order_by("pk").values_list("user", flat=True)
    people: dict[Person, None] = dict.fromkeys([user or source for user, source, *_ in in_order])
    people |= dict.fromkeys(listed)
    kept: dict[Person, int] = {
        one: int(same[1]) for one in people if isinstance(one, str) and (same := _KEPT.fullmatch(one))
    }
    taken = set(kept.values())
    free = (number for number in count(1) if number not in taken)
    return {one: kept.get(one) or next(free) for one in people}


def people_names(benchmark: Benchmark) -> Mapping[Person, str]:
    """Return what everybody is called on pages, by number."""
    in_order = sorted(people_numbers(benchmark).items(), key=lambda entry: entry[1])
    return {one: f"Rater {number}{' (imported)' if isinstance(one, str) else ''}" for one, number in in_order}


def by_people() -> Q:
    """Say in SQL that a rating, or a label of a category, is a person's: given here, or imported as one."""
    return Q(user__isnull=False) | Q(source__startswith=IMPORTED_PERSON)
