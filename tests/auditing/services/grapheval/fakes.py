"""An embedder and runs for the tests of scoring."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from auditing.embeddings.protocol import Vectors, unit_rows
from auditing.models import ReasoningRun, ReasoningRunItem, ReasoningStudy

WIDTH = 8


class FakeEmbedder:
    """Vectors that depend on the text alone; `asked` holds every text that was encoded."""

    kind = "fake"
    remote = False
    version = "1"

    def __init__(
        self, *, name: str = "fake", batch_size: int = 64, fail: Callable[[], None] = lambda: None
    ) -> None:
        self.name = name
        self.batch_size = batch_size
        self.asked: list[str] = []
        self.calls = 0
        self.closed = False
        self._fail = fail

    async def encode(self, texts: Sequence[str]) -> Vectors:
        self._fail()
        self.calls += 1
        self.asked += texts
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        return unit_rows([np.random.default_rng(seed).normal(size=WIDTH) for seed in seeds])

    async def aclose(self) -> None:
        self.closed = True


def score_run(study: ReasoningStudy) -> ReasoningRun:
    """A run that scores every question of a study, as `runs.create` makes it."""
    cases = list(study.dataset.cases.all())
    totals = {case.pk: study.chains.filter(case=case, role="sample").count() for case in cases}
    run = ReasoningRun.objects.create(
        study=study, step=ReasoningRun.Step.SCORE, model=study.embedder, total=sum(totals.values())
    )
    ReasoningRunItem.objects.bulk_create(
        ReasoningRunItem(run=run, case=case, total=totals[case.pk]) for case in cases
    )
    return run
