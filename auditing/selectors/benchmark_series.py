"""What a benchmark holds in series that came together and can go together: a model's answers, a source's references."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, QuerySet

from auditing.models import Benchmark, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import by_people

RULES = "rule:"
"""How the source of ratings begins that follow from the answers."""


class What(StrEnum):
    """Of what a series is."""

    ANSWERS = "answers"
    ROLLOUTS = "rollouts"
    REFERENCES = "references"
    RATINGS = "ratings"

    @property
    def words(self) -> str:
        """What the rows are called on pages."""
        return {
            What.ANSWERS: "Answers with reasoning",
            What.ROLLOUTS: "Bare answers",
            What.REFERENCES: "References",
            What.RATINGS: "Ratings",
        }[self]


@dataclass(frozen=True, slots=True)
class Series:
    """Rows of one kind under one name.

    Attributes
    ----------
    name : str
        The model of answers, the source of references and ratings.
    rows : int
        How many.
    ratings : int
        That are about these rows; of ratings, the rows themselves.
    people : int
        Those of them that people gave, here or elsewhere.
    """

    what: What
    name: str
    rows: int
    ratings: int
    people: int


def all_series(benchmark: Benchmark) -> list[Series]:
    """Return every series of a benchmark, by kind and name; five queries."""
    ratings = ratings_of(benchmark).order_by()
    answers = ModelAnswer.objects.filter(item__benchmark=benchmark).order_by()
    references = Reference.objects.filter(item__benchmark=benchmark).order_by()
    by_answer = {
        (role, model): (n, people)
        for role, model, n, people in _counted(ratings, "answer__role", "answer__model")
    }
    by_reference = {source: (n, people) for source, n, people in _counted(ratings, "reference__source")}
    found = [
        Series(
            What.ANSWERS if role == "chain" else What.ROLLOUTS,
            model,
            rows,
            *by_answer.get((role, model), (0, 0)),
        )
        for role, model, rows in answers.values_list("role", "model").annotate(Count("pk"))
    ]
    found += [
        Series(What.REFERENCES, source, rows, *by_reference.get(source, (0, 0)))
        for source, rows in references.values_list("source").annotate(Count("pk"))
    ]
    given = ratings.filter(user=None).exclude(source__startswith=RULES)
    found += [Series(What.RATINGS, source, n, n, people) for source, n, people in _counted(given, "source")]
    order = list(What)
    return sorted(found, key=lambda one: (order.index(one.what), one.name))


def pick(found: Iterable[Series], what: str, name: str) -> Series | None:
    """Return the series of this kind and name; None where there is none."""
    return next((one for one in found if (one.what, one.name) == (what, name)), None)


def ratings_of(benchmark: Benchmark) -> QuerySet[Rating]:
    """Return the ratings of a benchmark."""
    return Rating.objects.filter(answer__item__benchmark=benchmark)


def _counted(rows: QuerySet[Rating], *names: str) -> Iterable[tuple[Any, ...]]:
    return rows.values_list(*names).annotate(n=Count("pk"), people=Count("pk", filter=by_people()))
