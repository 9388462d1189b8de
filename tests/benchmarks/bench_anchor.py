"""ANCHOR's evaluation: kappa of three raters, a panel with intervals, judges' replies, boxes of a tracker.

Kappa is compared with scikit-learn, and boxes with known figures of the TUD tracks where ../shared/data has them.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from auditing.core.anchor.judge_reply import SCALE, read_rating
from auditing.core.anchor.panel import FACETS, model_score
from auditing.core.anchor.people import against_people
from auditing.core.anchor.rating_agreement import pairwise
from auditing.core.grounding import match_boxes
from tests.conftest import SHARED

TRACKS = SHARED / "data/reasoning/mot_tud"
ROWS, RATERS, REPLIES = 30_000, 3, 20_000
ITEMS, MODELS, JUDGES = 1000, 5, 4
EXPECTED = {
    "TUD-Campus": (0.7296, 0.941, 0.582, 0.719, 209),
    "TUD-Stadtmitte": (0.6566, 0.940, 0.609, 0.739, 704),
}


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
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
        "ratio": None if ratio is None else f"x{ratio:,.1f}",
    }


def columns(rows: int, raters: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return ratings that agree in part: a common value, and each rater's own error."""
    rng = np.random.default_rng(seed)
    common = rng.normal(3.4, 1.1, (rows, 1))
    return np.clip(np.rint(common + rng.normal(0, 0.6, (rows, raters))), 1, 5).astype(np.int64)


def named(table: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, dict[str, int | None]]:
    """Return a table of ratings by item and rater."""
    return {
        f"q{i}": {f"j{j}": value for j, value in enumerate(line)} for i, line in enumerate(table.tolist())
    }


def kappa() -> list[dict[str, Any]]:
    """Measure every pair of three raters on 30,000 rows."""
    table = columns(ROWS, RATERS)
    ratings = named(table)

    def theirs() -> list[float]:
        pairs = [(0, 1), (0, 2), (1, 2)]
        return [
            float(cohen_kappa_score(table[:, a], table[:, b], labels=list(SCALE), weights="linear"))
            for a, b in pairs
        ]

    found = [pair.kappa or 0.0 for pair in pairwise(ratings)]
    apart = max(abs(a - b) for a, b in zip(found, theirs(), strict=True))
    ours, other = seconds(lambda: pairwise(ratings)), seconds(theirs)
    with_intervals = seconds(lambda: pairwise(ratings, resamples=1000), 1)
    name = f"linear kappa, {ROWS:,} rows x {RATERS} raters"
    return [
        row(name, f"{1000 * ours:.0f} ms", "< 1000 ms", f"scikit-learn: {1000 * other:.0f} ms", other / ours),
        row("  farthest from scikit-learn", f"{apart:.1e}", "<= 1e-9"),
        row("  with intervals of 1,000 resamples", f"{1000 * with_intervals:.0f} ms"),
    ]


def panel() -> list[dict[str, Any]]:
    """Measure the scores of all models on all facets, and the panel against people."""
    cells = [named(columns(ITEMS, JUDGES, seed)) for seed in range(MODELS * len(FACETS))]
    scores = seconds(lambda: [model_score(ratings) for ratings in cells], 1)
    people = [named(columns(ITEMS, 1, seed)) for seed in range(len(FACETS))]
    sides = [dict(zip(FACETS, side, strict=False)) for side in (cells, people)]
    compared = seconds(lambda: against_people(*sides), 1)
    return [
        row(
            f"{ITEMS:,} items x {MODELS} models x {JUDGES} judges x {len(FACETS)} facets, intervals, spread",
            f"{1000 * scores:.0f} ms",
            "< 1000 ms",
        ),
        row(
            f"panel against people, {ITEMS:,} items x {len(FACETS)} facets, intervals",
            f"{1000 * compared:.0f} ms",
        ),
    ]


def replies() -> list[dict[str, Any]]:
    """Measure the parser on replies of all kinds."""
    words = "The rationale names the same event, at another time. " * 8
    shapes = (
        '{"rating": 4}\n',
        '```json\n{"rating": 3}\n```\n',
        '**{{"rating": 2}}** ',
        "I would say 4 of 5. ",
        '{"rating": 4.5}\n',
    )
    texts = [shapes[i % len(shapes)] + words for i in range(REPLIES)]
    taken = seconds(lambda: [read_rating(text) for text in texts])
    deep = '{"rating": ' * 100_000
    return [
        row("a judge's reply of 400 characters", f"{1e6 * taken / REPLIES:.1f} us"),
        row("a reply of 1.1 MB, nested 100,000 deep", f"{1000 * seconds(lambda: read_rating(deep)):.1f} ms"),
    ]


def boxes() -> list[dict[str, Any]]:
    """Measure a tracker against gold tracks, box by box."""
    table = []
    for name, (iou, precision, recall, f1, matches) in EXPECTED.items():
        sides = []
        for kind in ("test", "gt"):
            frames: dict[int, list[Any]] = {}
            for line in (TRACKS / f"{name}_{kind}.txt").read_text(encoding="ascii").splitlines():
                frame, _, *box = line.split(",")[:6]
                frames.setdefault(int(frame), []).append(tuple(map(float, box)))
            sides.append(frames)
        found = match_boxes(*sides)
        figures = (found.mean_iou, found.precision, found.recall, found.f1)
        taken = seconds(lambda sides=sides: match_boxes(*sides))
        measured = " ".join("\N{EN DASH}" if figure is None else f"{figure:.4f}" for figure in figures)
        table.append(
            row(
                f"{name}: IoU, precision, recall, F1 ({found.matches} matches)",
                measured,
                f"{iou} {precision} {recall} {f1} ({matches})",
            )
        )
        table.append(row(f"  {len(sides[1])} frames", f"{1000 * taken:.1f} ms"))
    return table


def run() -> list[dict[str, Any]]:
    """Measure all of it."""
    tracks = boxes() if TRACKS.is_dir() else [row("TUD tracks: not there", "\N{EN DASH}")]
    return kappa() + panel() + replies() + tracks


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
