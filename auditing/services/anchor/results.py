"""The results of a benchmark, in parts, each stored as it was at a revision.

A part of a large benchmark takes seconds to compute, so the worker does it after each change; a page shows what is
stored and says so where it is of an earlier revision. Of a small benchmark a missing part is computed at once.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from django.db import transaction

from auditing.models import Benchmark, BenchmarkResult, ModelAnswer, Rating
from auditing.selectors.benchmark_ratings import Table, tables

logger = logging.getLogger(__name__)

PARTS: Mapping[str, str] = {
    "collection": "results_collection",
    "panel": "results_panel",
    "agreement": "results_agreement",
    "people": "results_people",
    "sources": "results_sources",
    "ablation": "results_ablation",
    "grounding": "results_grounding",
    "groups": "results_groups",
    "difficulty": "results_difficulty",
}
"""Part -> module of this package, whose ``document(benchmark)`` computes it."""

ON_RATINGS = frozenset({"panel", "agreement", "people", "groups"})
"""Parts about what judges gave against the main reference; ``document`` takes it as a second argument."""

AT_ONCE = 3_000
"""Ratings, and answers, up to which a page computes what is missing itself."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A part as a page shows it.

    Attributes
    ----------
    document : dict or None
        None where it was never computed.
    behind : bool
        Whether the benchmark has changed since.
    """

    document: dict[str, Any] | None
    behind: bool


def part(benchmark: Benchmark, name: str) -> Stored:
    """Return a part of the results; computes it if the benchmark is small and what is stored is of another revision."""
    row = BenchmarkResult.objects.filter(benchmark=benchmark, part=name).first()
    if row is not None and row.revision == benchmark.revision:
        return Stored(row.document, behind=False)
    if is_small(benchmark):
        return Stored(compute(benchmark, name), behind=False)
    return Stored(None if row is None else row.document, behind=True)


def is_small(benchmark: Benchmark) -> bool:
    """Return whether a part takes no longer than a page may."""
    several = (
        Rating.objects.filter(answer__item__benchmark=benchmark),
        ModelAnswer.objects.filter(item__benchmark=benchmark),
    )
    return not any(rows.order_by()[AT_ONCE : AT_ONCE + 1].exists() for rows in several)


def compute(benchmark: Benchmark, name: str) -> dict[str, Any]:
    """Compute a part and store it under the revision that the benchmark had when its rows were read."""
    # Read anew: with the parameters of before a change the part would be stored as if it followed from those of now.
    now = Benchmark.objects.get(pk=benchmark.pk)
    return _compute(now, name, lambda: tables(now))


def _compute(benchmark: Benchmark, name: str, judged: Callable[[], Mapping[str, Table]]) -> dict[str, Any]:
    """Compute a part; whatever `judged` gives was read after the benchmark."""
    make: Callable[..., dict[str, Any]] = import_module(f"auditing.services.anchor.{PARTS[name]}").document
    with transaction.atomic():
        document = make(benchmark, judged()) if name in ON_RATINGS else make(benchmark)
    BenchmarkResult.objects.update_or_create(
        benchmark=benchmark, part=name, defaults={"revision": benchmark.revision, "document": document}
    )
    return document


def make_ready(benchmark_id: int) -> None:
    """Compute every part that is not of the present revision; a fault is logged and leaves the others.

    Ratings are read once for all parts. A change meanwhile leaves the parts behind, also those that have it already.
    """
    benchmark = Benchmark.objects.filter(pk=benchmark_id).first()
    if benchmark is None:
        return
    there = dict(BenchmarkResult.objects.filter(benchmark=benchmark).values_list("part", "revision"))
    judged = cache(lambda: tables(benchmark))
    for name in PARTS:
        if there.get(name) == benchmark.revision:
            continue
        try:
            _compute(benchmark, name, judged)
        except Exception:
            logger.exception("The part %s of the results of %s could not be computed", name, benchmark)
