"""The topology map: questions by how far apart and how varied their chains are.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", C.8 and Figure 9. Choices where the paper is open, in words:

- The origin is the mean point of a reference model that the user selects.
- A value equal to the origin's counts as low.
- The density is for display only: a Gaussian kernel with Scott's bandwidth. It is missing where the points lie
  on one line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from auditing.core.statistics import Floats

QUADRANTS = ("Confident", "Multi-Path", "Noisy", "Confused")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ModelTopology:
    """One model: mean point (None without points), quadrant of every question, and questions a quadrant."""

    mean: Point | None
    quadrants: tuple[str, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class TopologyMap:
    """The origin, and every model by name."""

    origin: Point
    models: dict[str, ModelTopology]


def quadrant(point: Point, origin: Point) -> str:
    """Return the name of a point's quadrant; (divergence, entropy) each low or high."""
    return QUADRANTS[2 * (point[0] > origin[0]) + (point[1] > origin[1])]


def topology_map(points: Mapping[str, Sequence[Point]], reference: str) -> TopologyMap:
    """Place the questions of several models around the mean of one.

    Parameters
    ----------
    points : mapping of str to sequence of (float, float)
        Divergence and entropy of every question, by model.
    reference : str
        The model whose mean is the origin.

    Raises
    ------
    ValueError
        If the reference model has no question.
    """
    origin = _mean(points.get(reference, ()))
    if origin is None:
        raise ValueError(f"The reference model {reference!r} has no question; select another one.")
    models = {}
    for model, places in points.items():
        names = tuple(quadrant(point, origin) for point in places)
        counts = {name: names.count(name) for name in QUADRANTS}
        models[model] = ModelTopology(_mean(places), names, counts)
    return TopologyMap(origin, models)


def density(points: Sequence[Point], grid: ArrayLike) -> Floats | None:
    """Return the estimated density at the places of a grid of shape (n, 2), or None if it has no area.

    At least three points are needed, and they must not lie on one line.
    """
    places = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    if len(places) < 3 or np.linalg.matrix_rank(places - places.mean(axis=0)) < 2:
        return None
    values: Floats = stats.gaussian_kde(places.T, bw_method="scott")(np.asarray(grid, dtype=np.float64).T)
    return values


def _mean(points: Sequence[Point]) -> Point | None:
    if not len(points):
        return None
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
