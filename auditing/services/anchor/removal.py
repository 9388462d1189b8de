"""Taking a series out of a benchmark: what was imported or asked for by mistake, and what follows from it."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from auditing.models import Benchmark, GroundingScore, ModelAnswer, Rating, RationaleAudit, Reference
from auditing.selectors.benchmark_series import Series, What, all_series, pick, ratings_of
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.runs import refuse_while_active

from . import difficulty
from .changes import changed, event
from .references import set_annotation_sources

BUSY = "benchmark_busy"


def remove(benchmark: Benchmark, what: str, name: str, *, people: int, by: Any) -> Series:
    """Remove the rows of a series with the ratings, scores and audits that are about them; results follow.

    Items, runs and models' stored replies stay, and so do the traces of audited rationales.

    Parameters
    ----------
    what, name
        Name the series (`selectors.benchmark_series`).
    people
        The ratings of people that `by` was told would go; with more nothing is removed.

    Raises
    ------
    UserError
        404 ``no_series``; 409 ``benchmark_busy`` as `benchmarks.delete`; 409 ``more_ratings``: people have rated since.
    """
    with transaction.atomic():
        row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        refuse_while_active(row.runs.all(), BUSY, "benchmark")
        found = pick(all_series(row), what, name)
        if found is None:
            raise UserError(
                "no_series",
                "There is nothing of this name to remove any more.",
                "Load the page again.",
                status=404,
            )
        if found.people > people:
            raise UserError(
                "more_ratings",
                f"Nothing was removed: people have given {found.people - people:,} more ratings of these rows since.",
                "Load the page again and decide anew.",
                status=409,
            )
        _remove(row, found)
        changed(row)
        about = {"what": found.what.value, "name": found.name, "rows": found.rows}
        event(
            row,
            by,
            "benchmark.remove_series",
            {**about, "ratings": found.ratings, "ratings_of_people": found.people},
        )
    return found


def drop(of: str, rows: QuerySet[Any]) -> None:
    """Remove answers or references (`of` is "answer" or "reference") with all that is about them, in the database."""
    about = {f"{of}__in": rows}
    RationaleAudit.objects.filter(**about).delete()
    # By hand and the dependent ones first: the collector would read every row.
    for gone in (Rating.objects.filter(**about), GroundingScore.objects.filter(**about), rows):
        gone._raw_delete(gone.db)


def _remove(benchmark: Benchmark, found: Series) -> None:
    if found.what == What.RATINGS:
        gone = ratings_of(benchmark).filter(user=None, source=found.name)
        gone._raw_delete(gone.db)
    elif found.what == What.REFERENCES:
        drop("reference", Reference.objects.filter(item__benchmark=benchmark, source=found.name))
        set_annotation_sources(benchmark)
    else:
        role = ModelAnswer.Role.CHAIN if found.what == What.ANSWERS else ModelAnswer.Role.ROLLOUT
        drop("answer", ModelAnswer.objects.filter(item__benchmark=benchmark, role=role, model=found.name))
        if found.what == What.ROLLOUTS:
            difficulty.apply_rule_anew(benchmark)
