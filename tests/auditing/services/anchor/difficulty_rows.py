"""Rollouts and judgements for the tests of difficulty."""

from collections.abc import Sequence

from auditing.core.anchor.difficulty import Judgement
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Setting
from auditing.services.anchor import difficulty


def rollouts(of: Benchmark, models: Sequence[str], takes: int) -> None:
    """Bare answers of these models to every item."""
    ModelAnswer.objects.bulk_create(
        ModelAnswer(
            item=item,
            role=ModelAnswer.Role.ROLLOUT,
            model=model,
            setting=Setting.FULL,
            take=take,
            text=f"{model} {take}",
            final_answer=f"{model} {take}",
            sha256="0" * 64,
        )
        for item in of.items.all()
        for model in models
        for take in range(1, takes + 1)
    )


def judged(item: BenchmarkItem, level: str, source: str = "openai:judge") -> BenchmarkItem:
    """The item with one judgement that gives it this level: all, half or none of the rollouts miss."""
    n = BenchmarkParameters.from_dict(item.benchmark.parameters).rule.rollouts
    misses = {"hard": n, "medium": n // 2, "easy": 0}[level]
    matches = (*[False] * misses, *[True] * (n - misses))
    similarity = {"hard": 5, "medium": 3, "easy": 1}[level]
    difficulty.judge(item, source, Judgement(matches, similarity, "Because."))
    return difficulty.assess(item)
