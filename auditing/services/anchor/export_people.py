"""People of an exported benchmark by pseudonyms: rater-1 and so on, never by name.

Who came with an import as ``imported:rater-3`` is rater-3 again. Everybody else gets the next number that is free, by
their first rating, then by their first label, then by their first decision. So an export of what was imported says the
same, and nobody is mixed up with somebody who rates here.
"""

import re
from collections.abc import Iterator
from itertools import count

from django.db.models import Min

from auditing.models import Benchmark, DifficultyReview, Rating, TaxonomyLabel
from auditing.selectors.benchmark_ratings import IMPORTED_PERSON, by_people

Person = int | str
"""A user's key, or the source of what somebody gave elsewhere."""

_KEPT = re.compile(rf"{IMPORTED_PERSON}(rater-[1-9][0-9]{{0,5}})")


def pseudonyms(benchmark: Benchmark) -> dict[Person, str]:
    """Return the pseudonym of everybody who rated, sorted or decided in a benchmark."""
    people = list(dict.fromkeys(_people(benchmark)))
    kept: dict[Person, str] = {
        one: found[1] for one in people if isinstance(one, str) and (found := _KEPT.fullmatch(one))
    }
    taken = set(kept.values())
    free = (name for number in count(1) if (name := f"rater-{number}") not in taken)
    return {one: kept.get(one) or next(free) for one in people}


def _people(benchmark: Benchmark) -> Iterator[Person]:
    """Everybody, some more than once, in the order in which numbers are given."""
    ratings = Rating.objects.filter(by_people(), answer__item__benchmark=benchmark)
    labels = TaxonomyLabel.objects.filter(by_people(), item__benchmark=benchmark)
    for rows in (ratings, labels):
        first = rows.order_by().values("user_id", "source").annotate(first=Min("pk"))
        for row in sorted(first, key=lambda row: row["first"]):
            yield row["user_id"] or row["source"]
    reviews = DifficultyReview.objects.filter(item__benchmark=benchmark).order_by("pk")
    for user, source in reviews.values_list("user_id", "source"):
        yield user or source
