"""What every change of a benchmark does, in the caller's transaction: the revision goes up, an event is written."""

from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Rating, Reference
from reasonaudit.lib.chain import record_event

STREAM = "benchmark:{pk}"


def hold(benchmark_id: int) -> None:
    """Lock a benchmark until the transaction ends; it is there.

    Whoever changes several kinds of its rows in one transaction does this first: two that did so in another order
    would wait for each other, and what each read of the other's rows would be too old.
    """
    Benchmark.objects.select_for_update(no_key=True).only("pk").get(pk=benchmark_id)


def changed(benchmark: Benchmark) -> None:
    """Say that results which follow from the benchmark's rows are of an earlier revision now."""
    Benchmark.objects.filter(pk=benchmark.pk).update(revision=F("revision") + 1)


def event(benchmark: Benchmark, by: Any, action: str, data: Mapping[str, Any]) -> None:
    """Record what was done to a benchmark, in the chain of its own."""
    record_event(
        stream=STREAM.format(pk=benchmark.pk),
        actor=by,
        action=action,
        subject_type="benchmark",
        subject_id=benchmark.slug,
        data=data,
    )


def many_stored() -> None:
    """Have the database count its rows anew once a bulk of them is committed.

    By itself it does so within a minute. Until then it plans for the few rows that were there before, and the ratings
    of 1,000 items take 8 s to read instead of 0.1 s.
    """
    transaction.on_commit(count_rows_anew)


def count_rows_anew() -> None:
    """Bring the planner's statistics of answers, ratings and what they belong to up to date."""
    tables = ", ".join(
        connection.ops.quote_name(model._meta.db_table)
        for model in (BenchmarkItem, Reference, ModelAnswer, Rating)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
