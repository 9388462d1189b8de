"""What the charts of a study draw, as plain numbers: points by columns, fitted lines, a density.

Fits and densities are the core's; a chart draws them and computes nothing. Numbers are rounded to four decimals,
which no picture shows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from auditing.core.grapheval.baselines import BASELINES
from auditing.core.grapheval.topology import QUADRANTS, Point, density, topology_map
from auditing.core.grapheval.uncertainty import METRICS, Metric
from auditing.core.statistics import Regression, linear_regression
from auditing.selectors.reasoning_tables import Question, value_at

ALL_METRICS: tuple[Metric, ...] = METRICS + BASELINES
FAITHFULNESS = {
    "early_gold": "Early answering against gold",
    "early_own": "Early answering against its own answer",
    "counterfactual": "Counterfactual edits",
}
PLACES = 4
GRID = 40


def charts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of a study's charts.

    Returns
    -------
    dict
        `questions`: a list each of `case`, `title`, `cell`, `quadrant`, every metric and every faithfulness;
        `fits`: (metric, faithfulness) joined by a bar -> line; `topology`; `ablation`.
    """
    questions: Sequence[Question] = document.get("questions") or []
    columns: dict[str, list[Any]] = {
        "case": [question["case"] for question in questions],
        "title": [question.get("title") or question.get("external_id") or "" for question in questions],
        "cell": [question.get("cell") for question in questions],
        "quadrant": [question.get("quadrant") for question in questions],
    }
    for metric in ALL_METRICS:
        columns[metric.name] = [
            rounded(value_at(question, ("metrics", metric.name))) for question in questions
        ]
    for name in FAITHFULNESS:
        columns[name] = [rounded(question.get(name)) for question in questions]
    for name in ("accuracy_change", "faithfulness_change"):
        columns[name] = [rounded(value_at(question, ("ablation", name))) for question in questions]
    return {
        "questions": columns,
        "metrics": [{"name": metric.name, "title": metric.title} for metric in ALL_METRICS],
        "faithfulness": [{"name": name, "title": title} for name, title in FAITHFULNESS.items()],
        "fits": fits(questions),
        "topology": topology(questions, value_at(document, ("topology", "origin"))),
        "ablation": line(value_at(document, ("ablation", "population", "regression"))),
    }


def fits(questions: Sequence[Question]) -> dict[str, dict[str, Any] | None]:
    """Fitted lines of each faithfulness on each metric, by ``metric|faithfulness``; None where undefined."""
    found = {}
    for metric in ALL_METRICS:
        for name in FAITHFULNESS:
            pairs = [
                (x, y)
                for question in questions
                if (x := value_at(question, ("metrics", metric.name))) is not None
                and (y := question.get(name)) is not None
            ]
            fit = linear_regression([x for x, _ in pairs], [y for _, y in pairs])
            found[f"{metric.name}|{name}"] = line(fit)
    return found


def line(fit: Regression | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A regression as numbers, None where there is no line."""
    if fit is None:
        return None
    names = ("slope", "intercept", "r", "p", "n")
    values = {name: fit.get(name) if isinstance(fit, Mapping) else getattr(fit, name) for name in names}
    return None if values["slope"] is None else values


def points_of(questions: Sequence[Question]) -> list[Point]:
    """Divergence and entropy of the questions that have both."""
    points = []
    for question in questions:
        x, y = (value_at(question, ("metrics", name)) for name in ("divergence", "entropy"))
        if x is not None and y is not None:
            points.append((float(x), float(y)))
    return points


def topology(questions: Sequence[Question], origin: Sequence[float] | None) -> dict[str, Any] | None:
    """The origin of the map and the density of its points on a grid of 40 by 40, row by row from below."""
    points = points_of(questions)
    if not points or origin is None:
        return None
    return {"origin": [rounded(value) for value in origin], "density": density_grid(points)}


def density_grid(points: Sequence[Point]) -> dict[str, Any] | None:
    """The density of points over their own range and a tenth more, None where it has no area."""
    (x_low, x_high), (y_low, y_high) = ((min(values), max(values)) for values in zip(*points, strict=True))
    x_edge, y_edge = 0.1 * (x_high - x_low), 0.1 * (y_high - y_low)
    xs = np.linspace(x_low - x_edge, x_high + x_edge, GRID)
    ys = np.linspace(y_low - y_edge, y_high + y_edge, GRID)
    grid = np.column_stack([np.tile(xs, GRID), np.repeat(ys, GRID)])
    values = density(points, grid)
    if values is None:
        return None
    peak = float(values.max()) or 1.0
    return {
        "x": [rounded(float(xs[0])), rounded(float(xs[-1]))],
        "y": [rounded(float(ys[0])), rounded(float(ys[-1]))],
        "width": GRID,
        "height": GRID,
        "values": [round(float(value) / peak, 3) for value in values],
    }


def compared(documents: Sequence[Mapping[str, Any]], reference: str) -> dict[str, Any] | None:
    """Place the questions of several studies around the mean of one; None where that one has no question.

    Returns
    -------
    dict
        `origin`, and for each study by slug `name`, `mean`, `n`, `counts` by quadrant, `points`.
    """
    points = {value_at(one, ("study", "slug")): points_of(one.get("questions") or []) for one in documents}
    if not points.get(reference):
        return None
    placed = topology_map(points, reference)
    return {
        "origin": [rounded(value) for value in placed.origin],
        "quadrants": list(QUADRANTS),
        "studies": [
            {
                "slug": slug,
                "name": value_at(one, ("study", "name")),
                "n": len(points[slug]),
                "mean": None if (mean := placed.models[slug].mean) is None else [rounded(v) for v in mean],
                "counts": [placed.models[slug].counts[name] for name in QUADRANTS],
                "points": [[rounded(x), rounded(y)] for x, y in points[slug]],
            }
            for one in documents
            for slug in [value_at(one, ("study", "slug"))]
        ],
    }


def rounded(value: float | None) -> float | None:
    """A number for a picture."""
    return None if value is None else round(float(value), PLACES)
