"""What a user is to a benchmark (for the permission matrix), and whose clips raters may look at."""

from collections.abc import Mapping
from typing import Any

from auditing.models import Benchmark, BenchmarkRater
from reasonaudit.lib.access import Facts, register
from videos.models import Video
from videos.selectors.access import add_reason, sees_everything

RATER = "rater"
READER = "reader"


def benchmark_facts(user: Any, arguments: Mapping[str, Any]) -> Facts | None:
    """Of the benchmark named by `slug`: `rater` for those who are listed, `reader` for those who lead studies."""
    benchmark = Benchmark.objects.filter(slug=arguments["slug"]).first()
    if benchmark is None:
        return None
    relations = {READER} if sees_everything(user) else set()
    if BenchmarkRater.objects.filter(benchmark=benchmark, user_id=user.pk, active=True).exists():
        relations.add(RATER)
    return Facts(benchmark, frozenset(relations))


def rates_video(user: Any, video: Video) -> bool:
    """Whether the user rates answers to a question about this video."""
    return BenchmarkRater.objects.filter(
        user_id=user.pk, active=True, benchmark__items__question__video=video
    ).exists()


def register_all() -> None:
    """Make benchmarks known to the permission matrix, and who may see a video because they rate answers about it."""
    add_reason(rates_video)
    register("benchmark", benchmark_facts)
