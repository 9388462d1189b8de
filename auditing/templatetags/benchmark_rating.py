"""Template tag for the page of one's work: the benchmarks whose answers one rates."""

from typing import Any

from django import template

from auditing.models import Benchmark
from auditing.selectors.benchmark_rating import to_rate

register = template.Library()


@register.simple_tag
def benchmarks_to_rate(user: Any) -> list[Benchmark]:
    """The benchmarks whose answers this person rates, by name."""
    return to_rate(user)
