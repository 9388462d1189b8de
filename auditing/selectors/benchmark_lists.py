"""The list of benchmarks: what is in each, and how far it is. A few queries, however many there are."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, ModelAnswer, Rating
from reasonaudit.lib.models import ACTIVE_STATES


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A benchmark in a list.

    Attributes
    ----------
    items : int
        Questions in it.
    models, judges : tuple of str
        Who answered with reasoning, and which judges rated (no people), by name.
    answers : int
        Answers with reasoning, in every setting.
    active : int
        Runs that wait or go on.
    """

    benchmark: Benchmark
    items: int
    models: tuple[str, ...]
    judges: tuple[str, ...]
    answers: int
    active: int

    @property
    def state(self) -> tuple[str, str]:
        """The state of a run that looks like it, and its words."""
        if self.active:
            return "running", "Running"
        if not self.items:
            return "none", "No item"
        if not self.answers:
            return "none", "No answer yet"
        return ("done", "Rated") if self.judges else ("partial", "Not rated")


def benchmark_list() -> QuerySet[Benchmark]:
    """Every benchmark by name, with its set and who made it."""
    return Benchmark.objects.select_related("video_set", "created_by").order_by("name", "pk")


def rows_of(benchmarks: Sequence[Benchmark]) -> list[BenchmarkRow]:
    """What a list says of benchmarks, in their order."""
    keys = [benchmark.pk for benchmark in benchmarks]
    items = dict(
        BenchmarkItem.objects.filter(benchmark__in=keys)
        .order_by()
        .values("benchmark")
        .annotate(n=Count("pk"))
        .values_list("benchmark", "n")
    )
    models: defaultdict[int, dict[str, int]] = defaultdict(dict)
    chains = ModelAnswer.objects.filter(item__benchmark__in=keys, role=ModelAnswer.Role.CHAIN)
    for key, model, number in (
        chains.order_by()
        .values("item__benchmark", "model")
        .annotate(n=Count("pk"))
        .values_list("item__benchmark", "model", "n")
    ):
        models[key][model] = number
    judges: defaultdict[int, set[str]] = defaultdict(set)
    rated = Rating.objects.filter(answer__item__benchmark__in=keys, user=None)
    for key, source in rated.order_by().values_list("answer__item__benchmark", "source").distinct():
        judges[key].add(source)
    active = dict(
        BenchmarkRun.objects.filter(benchmark__in=keys, state__in=ACTIVE_STATES)
        .order_by()
        .values("benchmark")
        .annotate(n=Count("pk"))
        .values_list("benchmark", "n")
    )
    return [
        BenchmarkRow(
            benchmark,
            items.get(benchmark.pk, 0),
            tuple(sorted(models[benchmark.pk])),
            tuple(sorted(judges[benchmark.pk])),
            sum(models[benchmark.pk].values()),
            active.get(benchmark.pk, 0),
        )
        for benchmark in benchmarks
    ]


def runs_of(benchmark: Benchmark, most: int) -> dict[str, Any]:
    """The newest runs, those that wait or go on, and whether there are earlier ones; logs are not read."""
    runs = list(
        BenchmarkRun.objects.filter(benchmark=benchmark)
        .select_related("created_by")
        .defer("log", "manifest")
        .order_by("-pk")[: most + 1]
    )
    active = [run for run in runs if run.is_active]
    return {"runs": runs[:most], "earlier_runs": len(runs) > most, "running": active[-1] if active else None}
