"""Agreement and comparison with 1000 resamples: a study of 40 cases, and one of 100 times as many segments.

The baseline recomputes the statistic on the drawn cases of each resample, as `bootstrap.cluster_bootstrap` does.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from auditing.core.agreement import MEASURES, SCALE, Ratings, agreement
from auditing.core.bootstrap import cluster_bootstrap
from auditing.core.comparison import compare
from auditing.core.statistics import cohen_kappa


def best_ms(work: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of some runs in milliseconds; the machine may be busy."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def ratings(cases: int, segments: int = 8) -> Ratings:
    """Two raters who agree on about seven segments in ten."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, (cases, segments))
    second = np.where(rng.random((cases, segments)) < 0.6, first, rng.integers(0, 3, (cases, segments)))
    return Ratings(SCALE, tuple(np.stack([first, second], axis=2)))


def slow_kappa(data: Ratings) -> None:
    """Compute the interval of Cohen's kappa with the library's own loop over resamples."""
    cases = [[(SCALE[a], SCALE[b]) for a, b in case.tolist()] for case in data.cases]

    def kappa(drawn: list[list[tuple[str, str]]]) -> float | None:
        pairs = [pair for case in drawn for pair in case]
        return cohen_kappa([a for a, _ in pairs], [b for _, b in pairs], SCALE).kappa

    cluster_bootstrap(cases, kappa, rng=np.random.default_rng(0))


def labels(cases: int, right: float, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return gold labels, and predictions that are right with a given chance."""
    gold = np.random.default_rng(0).integers(0, 2, (cases, 8))
    kept = np.random.default_rng(seed).random((cases, 8)) < right
    return gold.tolist(), np.where(kept, gold, 1 - gold).tolist()


def run() -> list[dict[str, Any]]:
    """Measure both sizes."""
    table = []
    for cases, target in ((40, 50), (4000, 1000)):
        data = ratings(cases)
        one = best_ms(lambda d=data: agreement(d, ["cohen"]), 5)
        slow = best_ms(lambda d=data: slow_kappa(d), 1) if cases == 40 else None
        table.append(_row(f"Cohen's kappa, {cases} cases", one, target, slow))
        measured = best_ms(lambda d=data: agreement(d), 3)
        table.append(
            _row(f"all {len(MEASURES)} coefficients, {cases} cases", measured, None if cases == 40 else 1000)
        )
        gold, judge = labels(cases, 0.6, 1)
        labeller = labels(cases, 0.8, 2)[1]
        measured = best_ms(lambda g=gold, j=judge, r=labeller: compare(g, j, r), 3)
        table.append(_row(f"judge against labeller, {cases} cases", measured, target))
    return table


def _row(name: str, measured: float, target: float | None, slow: float | None = None) -> dict[str, Any]:
    return {
        "name": f"{name}, 1000 resamples",
        "measured": f"{measured:.1f} ms",
        "target": None if target is None else f"<= {target:g} ms",
        "baseline": None if slow is None else f"recomputed per resample: {slow:.0f} ms",
        "ratio": None if slow is None else f"x{slow / measured:,.0f}",
        "measured_ms": measured,
        "target_ms": target,
        "baseline_ms": slow,
    }


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
