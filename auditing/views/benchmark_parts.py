"""What every page of a benchmark has: its head with the tabs, and the parts of the results that it shows."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse

from auditing import tasks
from auditing.models import Benchmark
from auditing.services.anchor import results

TABS = (
    ("items", "Items", "benchmark_detail"),
    ("difficulty", "Difficulty", "benchmark_difficulty"),
    ("panel", "Panel", "benchmark_panel"),
    ("agreement", "Agreement", "benchmark_agreement"),
    ("people", "People", "benchmark_people"),
    ("sources", "References", "benchmark_sources"),
    ("cues", "Cues", "benchmark_ablation"),
    ("grounding", "Grounding", "benchmark_grounding"),
    ("groups", "Groups", "benchmark_groups"),
)


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of a benchmark's head."""

    key: str
    word: str
    address: str


def find(slug: str) -> Benchmark:
    """The benchmark of that name with its set, or 404."""
    return get_object_or_404(Benchmark.objects.select_related("video_set"), slug=slug)


def frame(request: HttpRequest, benchmark: Benchmark, tab: str, **context: Any) -> dict[str, Any]:
    """The context of ``auditing/benchmark_base.html``, with what the page adds. `tab` is a key of `TABS`."""
    return {"section": "benchmarks", "benchmark": benchmark, "tab": tab, "tabs": _tabs(benchmark), **context}


def shown(benchmark: Benchmark, part: str) -> tuple[dict[str, Any] | None, bool]:
    """A part of the results as it is stored, and whether it is of an earlier state; then it is computed anew."""
    stored = results.part(benchmark, part)
    if stored.behind:
        tasks.enqueue_benchmark_results(benchmark.pk)
    return stored.document, stored.behind


def _tabs(benchmark: Benchmark) -> list[Tab]:
    return [Tab(key, word, reverse(f"auditing:{route}", args=[benchmark.slug])) for key, word, route in TABS]
