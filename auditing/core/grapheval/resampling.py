"""Correlations of uncertainty with faithfulness, with intervals from questions and chains drawn anew.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 5.1 and B.6 (1,000 resamples of 20 questions with 10 responses each). `core.bootstrap` does the same
with a loop for one metric; here all metrics of all drawn sub-matrices are computed at once. Choices where the paper is
open, in words:

- D-11: questions are drawn with replacement, the chains of a question without: a chain drawn twice would add
  distances of zero.
- A metric that follows from the distances, the edit distances or the answers is computed again on what was
  drawn. Others (CoTA) keep the value of the whole question, and say so.
- Faithfulness is the mean of the drawn chains where every chain was asked, else the one of the question's
  medoid.
- With fewer questions than are to be drawn, as many are drawn as there are; of a question with fewer chains,
  all of them. Fewer than two chains have no distance: such a question is left out.
- A resample without a value (a constant metric, too few points) is dropped, and the valid ones are counted.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from auditing.core.bootstrap import Draw, Interval, bootstrap_draws, percentile_interval
from auditing.core.grapheval.baselines import EIGENVALUE_LIMIT, similarities
from auditing.core.grapheval.parameters import UncertaintyParameters
from auditing.core.grapheval.row_correlations import row_correlations
from auditing.core.grapheval.uncertainty import DECIMALS, MAX_BINS
from auditing.core.statistics import Floats, correlations, mean_of

RECOMPUTED = (
    "grcs",
    "divergence",
    "dispersion",
    "entropy",
    "topo_uq",
    "degree",
    "eigenvalues",
    "eccentricity",
    "semantic_entropy",
)
SHORT = {"pearson": "pcc", "spearman": "src", "kendall": "krc"}
RESAMPLES, QUESTIONS, CHAINS = 1000, 20, 10
BLOCK_ENTRIES = 4_000_000

Integers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Sampled:
    """One question, as its resamples need it.

    Attributes
    ----------
    distances, nged : array of shape (N, N)
        Distances and normalised edit distances of its chains.
    answers : sequence of N (str or None)
        Normal form of every chain's answer.
    metrics : mapping of str to (float or None)
        Metrics of the whole question, by name.
    faithfulness : mapping of str to (float or None)
        The question's (its medoid's), by kind.
    chain_faithfulness : mapping of str to sequence of N (float or None)
        Every chain's, by kind, where all chains were asked.
    """

    distances: Floats
    nged: Floats
    answers: Sequence[str | None]
    metrics: Mapping[str, float | None]
    faithfulness: Mapping[str, float | None]
    chain_faithfulness: Mapping[str, Sequence[float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.answers)
        if self.distances.shape != (n, n) or self.nged.shape != (n, n):
            raise ValueError(
                f"{n} answers need distances of shape {(n, n)}, not {self.distances.shape} and {self.nged.shape}."
            )

    def value(self, kind: str) -> float | None:
        """Return the question's faithfulness: the mean of its chains where all were asked, else its medoid's."""
        chains = self.chain_faithfulness.get(kind)
        if chains is None:
            return self.faithfulness.get(kind)
        return mean_of(chains)


@dataclass(frozen=True, slots=True)
class Correlation:
    """One metric against one kind of faithfulness.

    Attributes
    ----------
    faithfulness, metric : str
        Names.
    n : int
        Questions with both values.
    recomputed : bool
        Whether the metric was computed again on the drawn chains.
    values : dict of str to (float or None)
        "pearson", "spearman" and "kendall" over the questions, -1 to 1.
    intervals : dict of str to Interval
        The same over the resamples.
    """

    faithfulness: str
    metric: str
    n: int
    recomputed: bool
    values: dict[str, float | None]
    intervals: dict[str, Interval]


def draws(sizes: Sequence[int], *, seed: int = 0, resamples: int = RESAMPLES) -> list[Draw]:
    """Draw `QUESTIONS` questions with replacement and `CHAINS` chains of each without, or what there is.

    Parameters
    ----------
    sizes : sequence of int
        Chains of every question, each at least 2.
    seed, resamples : int
        Of the generator, and how many.

    Returns
    -------
    list of resamples
        Each a list of (question, chains), 0-based.
    """
    if not sizes:
        return []
    rng = np.random.default_rng(seed)
    return list(
        bootstrap_draws(rng, sizes, resamples=resamples, questions=QUESTIONS, responses=CHAINS, clip=True)
    )


def resampled_correlations(
    questions: Sequence[Sampled],
    drawn: Sequence[Draw],
    *,
    faithfulness: Iterable[str],
    metrics: Iterable[str],
    uncertainty: UncertaintyParameters | None = None,
) -> list[Correlation]:
    """Correlate every metric with every kind of faithfulness, over the questions and over resamples.

    Parameters
    ----------
    questions : sequence of Sampled
        With at least two chains each.
    drawn : sequence of draws
        Per resample, the questions and chains drawn, as many questions in each; see `draws`.
    faithfulness, metrics : iterables of str
        Names of what to correlate.
    uncertainty : UncertaintyParameters, optional
        How distances are summarised.
    """
    kinds, names = list(faithfulness), list(metrics)
    places = _Places.of(drawn)
    u = _drawn_metrics(questions, places, names, uncertainty or UncertaintyParameters())
    f = _drawn_faithfulness(questions, places, kinds)
    found = []
    for kind in kinds:
        known = [question.value(kind) for question in questions]
        for name in names:
            pairs = [
                (value, faithful)
                for question, faithful in zip(questions, known, strict=True)
                if (value := question.metrics.get(name)) is not None and faithful is not None
            ]
            whole = correlations([pair[0] for pair in pairs], [pair[1] for pair in pairs])
            per_resample = row_correlations(u[name], f[kind])
            found.append(
                Correlation(
                    kind,
                    name,
                    len(pairs),
                    name in RECOMPUTED,
                    {key: getattr(whole, short) for key, short in SHORT.items()},
                    {
                        key: percentile_interval(values[np.isfinite(values)].tolist())
                        for key, values in per_resample.items()
                    },
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class _Places:
    """Where each drawn sub-matrix belongs: question and chains by place in an array of shape (resamples, drawn)."""

    shape: tuple[int, int]
    of_question: dict[int, tuple[Integers, Integers]]

    @classmethod
    def of(cls, drawn: Sequence[Draw]) -> "_Places":
        width = len(drawn[0]) if drawn else 0
        found: dict[int, tuple[list[int], list[Sequence[int]]]] = {}
        for row, draw in enumerate(drawn):
            if len(draw) != width:
                raise ValueError("Every resample needs as many questions.")
            for column, (question, chains) in enumerate(draw):
                places, chosen = found.setdefault(question, ([], []))
                places.append(row * width + column)
                chosen.append(chains)
        return cls(
            (len(drawn), width),
            {
                # Sorted, so that the same chains give the same value to the last bit, and tie where it is ranked.
                question: (np.array(places, dtype=np.intp), np.sort(np.array(chosen, dtype=np.intp), axis=1))
                for question, (places, chosen) in found.items()
            },
        )

    def filled(self, values: Mapping[int, Floats | float]) -> Floats:
        """Return the values of every question's draws in their places, NaN where there are none."""
        flat = np.full(self.shape[0] * self.shape[1], np.nan)
        for question, value in values.items():
            flat[self.of_question[question][0]] = value
        return flat.reshape(self.shape)


def _drawn_metrics(
    questions: Sequence[Sampled], places: _Places, names: Sequence[str], parameters: UncertaintyParameters
) -> dict[str, Floats]:
    found: dict[str, dict[int, Floats | float]] = {name: {} for name in names}
    again = [name for name in names if name in RECOMPUTED]
    for number, (_, chosen) in places.of_question.items():
        question = questions[number]
        for name in names:
            value = question.metrics.get(name)
            if name not in RECOMPUTED and value is not None:
                found[name][number] = value
        step = max(1, BLOCK_ENTRIES // max(1, chosen.shape[1] ** 2))
        parts = [
            drawn_metrics(question, chosen[begin : begin + step], again, parameters)
            for begin in range(0, len(chosen), step)
        ]
        for name in again:
            found[name][number] = np.concatenate([part[name] for part in parts])
    return {name: places.filled(values) for name, values in found.items()}


def drawn_metrics(
    question: Sampled, chosen: Integers, names: Iterable[str], parameters: UncertaintyParameters
) -> dict[str, Floats]:
    """Return metrics of some of a question's chains, for many choices at once.

    Parameters
    ----------
    question : Sampled
        The question.
    chosen : int array of shape (m, k)
        Chains of each choice, k at least 2.
    names : iterable of str
        Of `RECOMPUTED`.
    parameters : UncertaintyParameters
        How distances are summarised.

    Returns
    -------
    dict of str to array of shape (m,)
        NaN where a metric is undefined.
    """
    wanted = set(names)
    k = chosen.shape[1]
    rows, columns = np.triu_indices(k, k=1)
    pairs = chosen[:, rows], chosen[:, columns]
    values = question.distances[pairs]
    mean = values.mean(axis=1)
    found = {"divergence": mean, "grcs": 1 / (1 + mean)}
    if "dispersion" in wanted:
        enough = values.shape[1] > parameters.ddof
        found["dispersion"] = (
            values.std(axis=1, ddof=parameters.ddof) if enough else np.full(len(values), np.nan)
        )
    if "entropy" in wanted:
        found["entropy"] = _entropies(values, parameters)
    if "topo_uq" in wanted:
        found["topo_uq"] = question.nged[pairs].var(axis=1)
    if wanted & {"degree", "eigenvalues", "eccentricity"}:
        similar = similarities(question.distances[chosen[:, :, None], chosen[:, None, :]])
        similar[:, range(k), range(k)] = 1.0
        found["degree"] = np.maximum(0.0, 1 - similar.mean(axis=(1, 2)))
        if wanted & {"eigenvalues", "eccentricity"}:
            found |= _spectral(similar)
    if "semantic_entropy" in wanted:
        codes: dict[str | None, int] = {None: -1}
        coded = np.array([codes.setdefault(answer, len(codes) - 1) for answer in question.answers], np.intp)
        found["semantic_entropy"] = _row_entropies(coded[chosen], parameters.log_base, least=2)
    return {name: found[name] for name in wanted}


def _entropies(values: Floats, parameters: UncertaintyParameters) -> Floats:
    """Return `uncertainty.entropy` of every row."""
    rounded = np.round(values, DECIMALS)
    n = rounded.shape[1]
    low, high = rounded.min(axis=1), rounded.max(axis=1)
    spread = high - low
    quarter, three_quarters = np.percentile(rounded, [25, 75], axis=1)
    width = 2 * (three_quarters - quarter) * n ** (-1 / 3)
    flat = 1 if parameters.iqr0 == "single_bin" else math.ceil(math.log2(n)) + 1
    bins = np.full(len(rounded), flat, dtype=np.intp)
    wide = width > 0
    bins[wide] = np.maximum(1, np.ceil(np.minimum(spread[wide] / width[wide], MAX_BINS))).astype(np.intp)
    bins[spread == 0] = 1
    # Edges as numpy.linspace makes them; rounding may put a value one bin off, which the two comparisons mend.
    step = (spread / bins)[:, None]
    floor, last = low[:, None], (bins - 1)[:, None]
    places = np.divide(rounded - floor, step, out=np.zeros_like(rounded), where=step > 0).astype(np.intp)
    places = np.minimum(places, last)
    places -= rounded < places * step + floor
    places += (rounded >= (places + 1) * step + floor) & (places < last)
    return _row_entropies(np.clip(places, 0, last), parameters.log_base)


def _row_entropies(codes: Integers, log_base: float, *, least: int = 1) -> Floats:
    """Return the Shannon entropy of the codes in every row; negative codes do not count."""
    shifted = codes + np.arange(len(codes))[:, None] * (codes.max(initial=0) + 1)
    distinct, counts = np.unique(shifted[codes >= 0], return_counts=True)
    row = distinct // (codes.max(initial=0) + 1)
    total = np.bincount(row, weights=counts, minlength=len(codes))
    shares = counts / total[row]
    found = np.bincount(row, weights=-shares * np.log(shares), minlength=len(codes)) / math.log(log_base)
    return np.where(total >= least, found + 0.0, np.nan)


def _spectral(similar: Floats) -> dict[str, Floats]:
    scale = 1 / np.sqrt(similar.sum(axis=2))
    laplacian = np.eye(similar.shape[1]) - scale[:, :, None] * similar * scale[:, None, :]
    values, vectors = np.linalg.eigh(laplacian)
    small = vectors * (values <= EIGENVALUE_LIMIT)[:, None, :]
    centred = small - small.mean(axis=1, keepdims=True)
    return {
        "eigenvalues": np.maximum(0.0, 1 - values).sum(axis=1),
        "eccentricity": np.sqrt((centred**2).sum(axis=(1, 2))),
    }


def _drawn_faithfulness(
    questions: Sequence[Sampled], places: _Places, kinds: Sequence[str]
) -> dict[str, Floats]:
    found: dict[str, dict[int, Floats | float]] = {kind: {} for kind in kinds}
    for number, (_, chosen) in places.of_question.items():
        for kind in kinds:
            chains = questions[number].chain_faithfulness.get(kind)
            if chains is None:
                value = questions[number].faithfulness.get(kind)
                found[kind][number] = np.nan if value is None else value
                continue
            values = np.array([np.nan if value is None else value for value in chains])[chosen]
            defined = np.isfinite(values)
            counts = defined.sum(axis=1)
            total = np.where(defined, values, 0.0).sum(axis=1)
            found[kind][number] = np.divide(total, counts, out=np.full(len(values), np.nan), where=counts > 0)
    return {kind: places.filled(values) for kind, values in found.items()}
