"""Storing ratings: one row a rater, answer, facet and reference, with the versions that it is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from auditing.models import Benchmark, BenchmarkRun, Facet, ModelAnswer, Rating, Reference

from .changes import changed, hold

BATCH = 5_000
_FACETS = frozenset(Facet.values)
_NO_VALUE = (Rating.Status.INVALID, Rating.Status.ERROR)
_KEY = {
    "answer_id": "bigint",
    "facet": "text",
    "reference_id": "bigint",
    "user_id": "bigint",
    "source": "text",
}
"""Columns that say which rating it is, and their types."""
_REST = {
    "value": "smallint",
    "status": "text",
    "why": "text",
    "words": "text",
    "answer_sha256": "text",
    "reference_sha256": "text",
    "run_id": "bigint",
}
COLUMNS = (*_KEY, *_REST)
_WRITE = f"""
    INSERT INTO {Rating._meta.db_table} ({", ".join(COLUMNS)}, created_at, updated_at)
    SELECT *, %s, %s FROM unnest({", ".join(f"%s::{kind}[]" for kind in (*_KEY.values(), *_REST.values()))})
    ON CONFLICT ({", ".join(_KEY)}) DO UPDATE SET
        {", ".join(f"{name} = EXCLUDED.{name}" for name in (*_REST, "updated_at"))}
"""  # noqa: S608 - only the names above are put in


@dataclass(frozen=True, slots=True)
class NewRating:
    """A rating to store.

    Attributes
    ----------
    answer : ModelAnswer
        What is rated; its hash is taken from here.
    facet : str
        A value of `Facet`.
    reference : Reference or None
        Measure of the rating, of the same item; None where the item's own answer was.
    source, user
        The judge's spec (or ``rule:…``, ``imported:…``), or the person; exactly one of the two.
    value : int or None
        1 to 5, or 0 and 1 for ``correct``; None with status ``invalid`` or ``error``, and only then.
    status, why, words
        How the value came about (`Rating.Status`), why there is none, and the rater's words.
    run : BenchmarkRun or None
        That asked.
    """

    answer: ModelAnswer
    facet: str
    reference: Reference | None
    source: str = ""
    user: Any = None
    value: int | None = None
    status: str = Rating.Status.GIVEN
    why: str = ""
    words: str = ""
    run: BenchmarkRun | None = None


def put_many(rows: Iterable[NewRating]) -> int:
    """Store ratings, each in place of the rater's earlier one of the same; returns how many.

    Raises
    ------
    ValueError
        A rating that is not on its scale, of nobody or of two, or against the reference of another item; nothing is
        stored then.
    """
    given = list(rows)
    if not given:
        return 0
    of = sorted({row.answer.item.benchmark_id for row in given})
    with transaction.atomic():
        for pk in of:
            hold(pk)
        count = store(given)
        for pk in of:
            changed(Benchmark(pk=pk))
    return count


def store(rows: Sequence[NewRating]) -> int:
    """Write ratings without saying that the benchmark changed: for a caller that says so once for many.

    A file may hold tens of thousands: no model instance is made of them, which is most of what `bulk_create` costs.
    """
    made = {}
    for row in rows:
        check(row)
        key = _key(row)
        made[key] = (*key, *_values(row))
    write(made.values())
    return len(made)


def write(rows: Iterable[tuple[Any, ...]]) -> None:
    """Write ratings whose values were checked, as tuples in the order of `COLUMNS`; no key may occur twice."""
    now, left = timezone.now(), iter(rows)
    with connection.cursor() as cursor:
        while batch := list(islice(left, BATCH)):
            cursor.execute(_WRITE, [now, now, *map(list, zip(*batch, strict=True))])


def is_current(rating: Rating) -> bool:
    """Whether a rating is about the present answer and reference (in SQL: `benchmark_ratings.current`)."""
    reference = "" if rating.reference is None else rating.reference.sha256
    return rating.answer_sha256 == rating.answer.sha256 and rating.reference_sha256 == reference


def check(row: NewRating) -> None:
    """Raise `ValueError` for a rating that cannot be stored."""
    low, high = (0, 1) if row.facet == Facet.CORRECT else (1, 5)
    if row.facet not in _FACETS:
        raise ValueError(f"There is no facet {row.facet!r}; use one of {', '.join(Facet.values)}.")
    if (row.value is None) != (row.status in _NO_VALUE):
        raise ValueError(f"A rating with the status {row.status!r} cannot have the value {row.value!r}.")
    is_whole = isinstance(row.value, int) and not isinstance(row.value, bool)
    if row.value is not None and not (is_whole and low <= row.value <= high):
        raise ValueError(f"{row.value!r} is no rating of {row.facet}; use {low} to {high}.")
    if bool(row.source) == (row.user is not None):
        raise ValueError("A rating is of a judge or of a person.")
    if row.reference is not None and row.reference.item_id != row.answer.item_id:
        raise ValueError("The reference is another item's.")


def _key(row: NewRating) -> tuple[Any, ...]:
    """Values of the columns of `_KEY`."""
    user = None if row.user is None else row.user.pk
    return row.answer.pk, row.facet, row.reference and row.reference.pk, user, row.source


def _values(row: NewRating) -> tuple[Any, ...]:
    """Values of the columns of `_REST`."""
    return (
        row.value,
        row.status,
        row.why[:40],
        row.words,
        row.answer.sha256,
        "" if row.reference is None else row.reference.sha256,
        None if row.run is None else row.run.pk,
    )
