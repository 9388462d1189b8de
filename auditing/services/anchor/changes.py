"""What every change of a benchmark does, in the caller's transaction: the revision goes up, an event is written."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F

from auditing.models import Benchmark
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
