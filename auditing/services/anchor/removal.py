"""Taking a series out of a benchmark: what was imported or asked for by mistake, and what follows from it."""

from typing import Any

from django.db import transaction

from auditing.models import Benchmark, GroundingScore, ModelAnswer, RationaleAudit, Reference
from auditing.selectors.benchmark_series import Series, What, ratings_of, series
from reasonaudit.lib.errors import UserError

from . import difficulty
from .benchmarks import check_idle
from .changes import changed, event
from .references import set_annotation_sources


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
        check_idle(row)
        found = series(row, what, name)
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


def _remove(benchmark: Benchmark, found: Series) -> None:
    ratings = ratings_of(benchmark)
    if found.what == What.RATINGS:
        gone = ratings.filter(user=None, source=found.name)
        gone._raw_delete(gone.db)
        return
    # In the database and by hand, the dependent ones first: the collector would read every row.
    if found.what == What.REFERENCES:
        references = Reference.objects.filter(item__benchmark=benchmark, source=found.name)
        RationaleAudit.objects.filter(reference__in=references).delete()
        for rows in (
            ratings.filter(reference__in=references),
            GroundingScore.objects.filter(reference__in=references),
            references,
        ):
            rows._raw_delete(rows.db)
        set_annotation_sources(benchmark)
        return
    role = ModelAnswer.Role.CHAIN if found.what == What.ANSWERS else ModelAnswer.Role.ROLLOUT
    answers = ModelAnswer.objects.filter(item__benchmark=benchmark, role=role, model=found.name)
    RationaleAudit.objects.filter(answer__in=answers).delete()
    for dependent in (
        ratings.filter(answer__in=answers),
        GroundingScore.objects.filter(answer__in=answers),
        answers,
    ):
        dependent._raw_delete(dependent.db)
    if found.what == What.ROLLOUTS:
        difficulty.apply_rule_anew(benchmark)
