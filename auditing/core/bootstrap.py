"""Bootstrap intervals: of correlations over questions and responses, and of any statistic over whole traces.

Sources: the companion paper on graph-based uncertainty (1000 resamples of 20 questions with 10 responses
each); the evaluation of "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et
al.), section 4, pools segments, whose intervals here come from drawing whole traces. Choices where the
sources are open, in words:

- D-11: questions are drawn with replacement, the responses of a question without, because duplicates would
  add zero distances between responses and inflate consensus.
- A resample whose statistic is undefined is dropped, and the number of valid ones is reported.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditing.core.statistics import Floats, correlations

Metric = Callable[[Floats], float | None]


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean and 2.5 and 97.5 percentiles of the resamples in which the statistic was defined."""

    mean: float | None
    lo: float | None
    hi: float | None
    n_valid: int


@dataclass(frozen=True, slots=True)
class BootstrapQuestion:
    """One question of the bootstrap.

    Attributes
    ----------
    distances : array of shape (N, N)
        Symmetric distances between the N responses.
    faithfulness : float or array of shape (N,)
        Of each response, or one value for the question.
    """

    distances: Floats
    faithfulness: float | Floats


Draw = Sequence[tuple[int, Sequence[int]]]


def distance_metric(name: str) -> Metric:
    """Return a summary of the distances between all pairs of responses.

    Parameters
    ----------
    name : str
        "divergence" (mean distance), "grcs" (1 / (1 + mean), high for consensus) or "dispersion" (population
        standard deviation).

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name not in _METRICS:
        raise ValueError(f"Unknown metric {name!r}; use one of {', '.join(_METRICS)}.")
    return _METRICS[name]


_METRICS: dict[str, Metric] = {
    "divergence": lambda distances: float(distances.mean()) if len(distances) else None,
    "grcs": lambda distances: float(1 / (1 + distances.mean())) if len(distances) else None,
    "dispersion": lambda distances: float(distances.std()) if len(distances) else None,
}


def bootstrap_draws(
    rng: np.random.Generator,
    sizes: Sequence[int],
    *,
    resamples: int = 1000,
    questions: int = 20,
    responses: int = 10,
    replace_responses: bool = False,
    clip: bool = False,
) -> Iterator[list[tuple[int, list[int]]]]:
    """Draw questions with replacement, and responses of each drawn question.

    Parameters
    ----------
    rng : numpy Generator
        Source of randomness; the same seed gives the same draws.
    sizes : sequence of int
        Number of responses of every question.
    resamples, questions, responses : int
        Number of resamples, questions in each, responses of each question.
    replace_responses : bool
        Whether a response may be drawn twice.
    clip : bool
        Whether as many questions, and as many responses of one, are drawn as there are where there are fewer.

    Yields
    ------
    list of (question, responses)
        0-based indices.

    Raises
    ------
    ValueError
        If there is no question, or a question has fewer responses than are drawn without replacement.
    """
    if not sizes:
        raise ValueError("There is no question to draw from.")
    if not replace_responses and not clip and min(sizes) < responses:
        raise ValueError(
            f"A question has {min(sizes)} responses; {responses} cannot be drawn without replacement."
        )
    count = min(questions, len(sizes)) if clip else questions
    of_each = [min(responses, size) if clip else responses for size in sizes]
    for _ in range(resamples):
        drawn = rng.integers(0, len(sizes), count).tolist()
        yield [(q, rng.choice(sizes[q], of_each[q], replace=replace_responses).tolist()) for q in drawn]


def bootstrap_correlations(
    questions: Sequence[BootstrapQuestion], draws: Iterable[Draw], metric: Metric
) -> dict[str, Interval]:
    """Correlate a distance metric with faithfulness over resamples.

    Parameters
    ----------
    questions : sequence of BootstrapQuestion
        Distances and faithfulness.
    draws : iterable of draws
        Per resample, the questions and responses drawn; see `bootstrap_draws`.
    metric : callable
        From the distances of all pairs of drawn responses to a number; see `distance_metric`.

    Returns
    -------
    dict of str to Interval
        "pcc", "src" and "krc".
    """
    values: dict[str, list[float]] = {"pcc": [], "src": [], "krc": []}
    for draw in draws:
        points = [_point(questions[question], responses, metric) for question, responses in draw]
        defined = [point for point in points if point is not None]
        found = correlations([u for u, _ in defined], [f for _, f in defined])
        for name, collected in values.items():
            value = getattr(found, name)
            if value is not None:
                collected.append(value)
    return {name: percentile_interval(collected) for name, collected in values.items()}


def percentile_interval(values: Sequence[float]) -> Interval:
    """Return the mean and the 2.5 and 97.5 percentiles (linear interpolation) of the valid resamples."""
    if not len(values):
        return Interval(None, None, None, 0)
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(np.mean(values)), float(low), float(high), len(values))


def cluster_bootstrap(
    clusters: Sequence[Any],
    statistic: Callable[[list[Any]], float | None],
    *,
    rng: np.random.Generator,
    resamples: int = 1000,
) -> Interval:
    """Bootstrap a statistic by whole clusters, such as all segments of a trace.

    Segments of one trace are not independent, so traces are drawn with replacement, never single segments.

    Parameters
    ----------
    clusters : sequence
        One item per cluster.
    statistic : callable
        From a list of drawn clusters to a number, or None where it is undefined.
    rng : numpy Generator
        Source of randomness.
    resamples : int
        Number of resamples.
    """
    values = []
    for _ in range(resamples if len(clusters) else 0):
        value = statistic([clusters[i] for i in rng.integers(0, len(clusters), len(clusters)).tolist()])
        if value is not None:
            values.append(value)
    return percentile_interval(values)


def _point(
    question: BootstrapQuestion, responses: Sequence[int], metric: Metric
) -> tuple[float, float] | None:
    chosen = np.asarray(responses, dtype=np.intp)
    upper = np.triu_indices(len(chosen), k=1)
    value = metric(question.distances[np.ix_(chosen, chosen)][upper])
    faithfulness = question.faithfulness
    mean = faithfulness if isinstance(faithfulness, int | float) else float(faithfulness[chosen].mean())
    return None if value is None else (value, mean)
