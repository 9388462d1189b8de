"""A whole study: the game-24 log from file to statistics, other weights, and the bootstrap of the correlations.

The log (100 puzzles of 100 chains) is measured where ../shared/data has it. Scoring anew is what a sweep would cost
without the stored sums: distances, summary and medoid of every question for every combination, without a matching. The
plain bootstrap is `core.bootstrap.bootstrap_correlations`, one metric after the other.
"""

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from auditing.core.bootstrap import BootstrapQuestion, bootstrap_correlations, distance_metric
from auditing.core.grapheval.consensus import choose_medoid
from auditing.core.grapheval.distance import DistanceParts
from auditing.core.grapheval.resampling import RECOMPUTED, Sampled, draws, resampled_correlations
from auditing.core.grapheval.sweeps import SweptQuestion, sweep
from auditing.core.grapheval.uncertainty import pairwise, summarise
from tests.conftest import SHARED

LOG = SHARED / "data/reasoning/tot_game24/gpt-4_0.7_naive_cot_sample_100_start900_end1000.json"
QUESTIONS, CHAINS, FACTS = 100, 100, 12
BETAS, GAMMAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
PLAIN_RESAMPLES = 20
MEMORY_TARGET, STUDY_TARGET = 4096, 600


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Return the shortest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(
    name: str,
    measured: str,
    target: str | None = None,
    baseline: str | None = None,
    ratio: float | None = None,
) -> dict[str, Any]:
    """Return a row of the table."""
    return {
        "name": name,
        "measured": measured,
        "target": target,
        "baseline": baseline,
        "ratio": None if ratio is None else f"x{ratio:,.0f}",
    }


def megabytes() -> float:
    """Return the most memory that this process has had."""
    # Kilobytes on Linux, bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def game24(path: Path) -> list[dict[str, Any]]:
    """Measure the log from file to statistics, with the embedder that comes along."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.test")
    import django
    from django.apps import apps

    if not apps.ready:
        django.setup()
    from auditing.core.grapheval.study_document import study_document
    from auditing.services.offline import grapheval
    from auditing.services.offline.loading import load

    start = time.perf_counter()
    settings = grapheval.Settings()
    questions = grapheval.questions_of(load([path], without_steps=True).traces, settings)
    read = time.perf_counter()
    marks: list[float] = []
    scored = grapheval.score_questions(
        questions, settings, scoring=lambda _: marks.append(time.perf_counter())
    )
    embedded = marks[0] if marks else read
    document = study_document(grapheval.material_of(scored, settings, path.name))
    done = time.perf_counter()
    puzzles, scoring = len(questions), marks[-1] - embedded
    chains = document["counts"]["chains"]
    return [
        row(
            f"game-24 log, {puzzles} puzzles, {chains:,} chains, whole",
            f"{done - start:.0f} s",
            f"<= {STUDY_TARGET} s",
        ),
        row("  of it reading", f"{read - start:.1f} s"),
        row("  of it embedding (and the first puzzle)", f"{embedded - read:.0f} s"),
        row("  of it scoring, a puzzle", f"{1000 * scoring / max(1, puzzles - 1):.0f} ms"),
        row("  of it statistics", f"{done - marks[-1]:.1f} s"),
        row(
            "  texts embedded",
            f"{scored.texts:,}",
            None,
            f"facts: {scored.facts:,}",
            scored.facts / scored.texts,
        ),
        row("  peak memory", f"{megabytes():.0f} MB", f"<= {MEMORY_TARGET} MB"),
    ]


def made(rng: np.random.Generator) -> tuple[DistanceParts, list[Any], list[Any], list[str | None]]:
    """Return one question: parts of its distances, supports, terminals and answers."""
    halves = [np.triu(rng.random((CHAINS, CHAINS)), 1) for _ in range(2)]
    nged, terminal = (half + half.T for half in halves)
    np.fill_diagonal(terminal, 1.0)
    shares = [rng.random(FACTS) for _ in range(CHAINS)]
    answers: list[str | None] = [str(value) for value in rng.integers(0, 5, CHAINS)]
    return DistanceParts(nged, nged, nged, terminal), shares, [(FACTS - 1,)] * CHAINS, answers


def sweeps() -> list[dict[str, Any]]:
    """Measure a 6 x 6 sweep over beta and gamma."""
    rng = np.random.default_rng(0)
    samples = [made(rng) for _ in range(QUESTIONS)]
    usual = [choose_medoid(parts.distances(), *rest) for parts, *rest in samples]
    faithful = rng.random(QUESTIONS)
    questions = [
        SweptQuestion(
            one[0].nged,
            one[0].terminal,
            medoid.consensus,
            one[3],
            [answer == "1" for answer in one[3]],
            {"early_gold": float(value)},
        )
        for one, medoid, value in zip(samples, usual, faithful, strict=True)
    ]

    def swept() -> list[Any]:
        return sweep(questions, alphas=[0.8], betas=BETAS, gammas=GAMMAS, own=(0.8, 0.4, 5.0))

    def anew(beta: float, gamma: float) -> list[float]:
        means = []
        for parts, *rest in samples:
            distances = parts.distances(beta, gamma)
            means.append(summarise(pairwise(distances)).grcs or 0.0)
            choose_medoid(distances, *rest)
        return means

    own = next(found for found in swept() if (found.beta, found.gamma) == (0.4, 5.0))
    assert abs(float(np.mean(anew(0.4, 5.0))) - (own.grcs or 0.0)) < 1e-9
    fast = seconds(swept, 3)
    slow = seconds(lambda: anew(0.4, 5.0), 2) * len(BETAS) * len(GAMMAS)
    name = f"sweep of 6 betas and 6 gammas, {QUESTIONS} questions of {CHAINS} chains"
    return [
        row(name, f"{1000 * fast:.0f} ms", None, f"scored anew, scaled: {1000 * slow:,.0f} ms", slow / fast)
    ]


def bootstrap() -> list[dict[str, Any]]:
    """Measure 1,000 resamples of all metrics that are computed again."""
    rng = np.random.default_rng(0)
    questions = []
    for _ in range(QUESTIONS):
        parts, _, _, answers = made(rng)
        values = rng.random(CHAINS).tolist()
        questions.append(Sampled(parts.distances(), parts.nged, answers, {}, {}, {"early_gold": values}))
    drawn = draws([CHAINS] * QUESTIONS)

    def ours(metrics: tuple[str, ...]) -> list[Any]:
        return resampled_correlations(questions, drawn, faithfulness=["early_gold"], metrics=metrics)

    plain = [
        BootstrapQuestion(
            question.distances, np.array(question.chain_faithfulness["early_gold"], dtype=np.float64)
        )
        for question in questions
    ]
    some = drawn[:PLAIN_RESAMPLES]
    slow = seconds(lambda: bootstrap_correlations(plain, some, distance_metric("grcs")))
    slow *= len(drawn) / PLAIN_RESAMPLES
    one, every = seconds(lambda: ours(("grcs",)), 2), seconds(lambda: ours(RECOMPUTED), 2)
    baseline = f"loop over {PLAIN_RESAMPLES} resamples, scaled: {slow:.1f} s"
    return [
        row("bootstrap of GRCS, 1,000 resamples", f"{1000 * one:.0f} ms", None, baseline, slow / one),
        row(f"  of all {len(RECOMPUTED)} metrics", f"{1000 * every:.0f} ms", "<= 60000 ms"),
    ]


def run() -> list[dict[str, Any]]:
    """Measure all of it; the log first, while the memory is that of the study."""
    table = game24(LOG) if LOG.is_file() else [row("game-24 log: not there", "\N{EN DASH}")]
    return table + sweeps() + bootstrap()


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
