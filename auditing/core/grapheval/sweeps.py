"""A study under other weights: alpha, beta and gamma, from what is stored, without a new matching.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", C.5 (sensitivity to alpha, beta and gamma). The node and edge matchings do not depend on the three weights,
nor does the support of a fact. A chain's centrality is linear in beta once gamma is fixed, and its score linear in
alpha once beta is, so each gamma costs one exponential of the edit distances and every other value next to nothing.
Choices where the paper is open, in words:

- The faithfulness of a question stays what it is under the study's own weights, also where another chain
  becomes the medoid.
- The accuracy is over the questions with a gold answer, the GRCS over those with at least two chains.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditing.core.grapheval.consensus import SCORE_DECIMALS
from auditing.core.grapheval.parameters import ConsensusParameters
from auditing.core.statistics import Correlations, Floats, correlations

MOST_COMBINATIONS = 2_000


@dataclass(frozen=True, slots=True)
class SweptQuestion:
    """One question with its stored parts.

    Attributes
    ----------
    nged, terminal : array of shape (N, N)
        Normalised edit distances and agreement of the conclusions; see `distance.DistanceParts`.
    consensus : sequence of N float
        Weighted mean support of every chain's facts.
    answers : sequence of N (str or None)
        Normal form of every chain's answer.
    correct : sequence of N (bool or None)
        Whether every chain's answer is right; None without a gold answer.
    faithfulness : mapping of str to (float or None)
        By kind.
    """

    nged: Floats
    terminal: Floats
    consensus: Sequence[float]
    answers: Sequence[str | None]
    correct: Sequence[bool | None]
    faithfulness: Mapping[str, float | None]

    def __post_init__(self) -> None:
        n = len(self.answers)
        if (
            {len(self.consensus), len(self.correct)} != {n}
            or self.nged.shape != (n, n)
            or self.terminal.shape != (n, n)
        ):
            raise ValueError(
                f"{n} answers, consensus of {len(self.consensus)} and arrays of shape {self.nged.shape} and "
                f"{self.terminal.shape} do not belong to one sample of chains."
            )


@dataclass(frozen=True, slots=True)
class SweepRow:
    """A study under one combination of weights; None where undefined.

    Attributes
    ----------
    alpha, beta, gamma : float
        The weights.
    grcs : float or None
        Mean over `n` questions with at least two chains.
    correlations : dict of str to Correlations
        Of the GRCS with every kind of faithfulness.
    n_faithful : dict of str to int
        Questions behind each correlation.
    gsc_acc : float or None
        Share of the `n_gold` questions with a gold answer whose medoid gives it, 0 to 1.
    medoids_unchanged : float or None
        Share of the questions with the medoid of the study's own weights, 0 to 1.
    """

    alpha: float
    beta: float
    gamma: float
    n: int
    grcs: float | None
    correlations: dict[str, Correlations]
    n_faithful: dict[str, int]
    n_gold: int
    gsc_acc: float | None
    medoids_unchanged: float | None


def sweep(
    questions: Sequence[SweptQuestion],
    *,
    alphas: Sequence[float],
    betas: Sequence[float],
    gammas: Sequence[float],
    own: tuple[float, float, float],
    consensus: ConsensusParameters | None = None,
) -> list[SweepRow]:
    """Score a study under every combination of weights.

    Parameters
    ----------
    questions : sequence of SweptQuestion
        With at least one chain each.
    alphas, betas, gammas : sequences of float
        Values of each; alpha and beta from 0 to 1, gamma at least 0.
    own : (float, float, float)
        The study's alpha, beta and gamma, whose medoids the others are compared with.
    consensus : ConsensusParameters, optional
        Its other choices; alpha and tau are not read.

    Returns
    -------
    list of SweepRow
        By alpha, then beta, then gamma, as given.

    Raises
    ------
    ValueError
        If a value is outside its range, or there are more than `MOST_COMBINATIONS` of the weights.
    """
    _check(alphas, betas, gammas)
    chosen = consensus or ConsensusParameters()
    shape = len(alphas), len(betas), len(gammas)
    grcs = np.full((len(questions), *shape[1:]), np.nan)
    right = np.full((len(questions), *shape), np.nan)
    unchanged = np.zeros((len(questions), *shape), dtype=np.bool_)
    for number, question in enumerate(questions):
        means, medoids = _question(question, alphas, betas, gammas, chosen)
        usual = _question(question, [own[0]], [own[1]], [own[2]], chosen)[1].item()
        unchanged[number] = medoids == usual
        if len(question.answers) >= 2:
            grcs[number] = 1 / (1 + means)
        if None not in question.correct:
            right[number] = np.array(question.correct, dtype=np.float64)[medoids]
    against = {
        (b, g): _against(questions, grcs[:, b, g]) for b in range(len(betas)) for g in range(len(gammas))
    }
    found = []
    for a, b, g in np.ndindex(shape):
        correlated, counts = against[b, g]
        values, hits = _defined(grcs[:, b, g]), _defined(right[:, a, b, g])
        found.append(
            SweepRow(
                alpha=alphas[a],
                beta=betas[b],
                gamma=gammas[g],
                n=len(values),
                grcs=_mean(values),
                correlations=correlated,
                n_faithful=counts,
                n_gold=len(hits),
                gsc_acc=_mean(hits),
                medoids_unchanged=_mean(unchanged[:, a, b, g]),
            )
        )
    return found


def _check(alphas: Sequence[float], betas: Sequence[float], gammas: Sequence[float]) -> None:
    for name, values, high in (("alpha", alphas, 1.0), ("beta", betas, 1.0), ("gamma", gammas, math.inf)):
        if not values:
            raise ValueError(f"Give at least one value of {name}.")
        for value in values:
            if not (math.isfinite(value) and 0 <= value <= high):
                span = "at least 0" if high == math.inf else "from 0 to 1"
                raise ValueError(f"{name} must be {span}, not {value!r}.")
    if (count := len(alphas) * len(betas) * len(gammas)) > MOST_COMBINATIONS:
        raise ValueError(
            f"{count:,} combinations of alpha, beta and gamma are too many; give at most {MOST_COMBINATIONS:,}."
        )


def _defined(values: Floats) -> Floats:
    found: Floats = values[np.isfinite(values)]
    return found


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def _question(
    question: SweptQuestion,
    alphas: Sequence[float],
    betas: Sequence[float],
    gammas: Sequence[float],
    parameters: ConsensusParameters,
) -> tuple[Floats, NDArray[np.intp]]:
    """Return mean distances of shape (betas, gammas) and medoids of shape (alphas, betas, gammas)."""
    n = len(question.answers)
    squares = question.nged**2
    # Sums of similarities to the other chains: of the conclusions, shape (N,), and of the structure, (gammas, N).
    ends = question.terminal.sum(axis=1) - np.diagonal(question.terminal)
    shapes = np.stack([np.exp(-gamma * squares).sum(axis=1) - 1.0 for gamma in gammas])
    beta = np.asarray(betas, dtype=np.float64)[:, None, None]
    centrality = beta * ends + (1 - beta) * shapes
    pairs = n * (n - 1)
    means = (pairs - centrality.sum(axis=2)) / pairs if pairs else np.zeros(centrality.shape[:2])
    largest = centrality.max(axis=2, keepdims=True)
    central = np.divide(centrality, largest, out=np.zeros_like(centrality), where=largest > 0)
    agreed = np.asarray(question.consensus, dtype=np.float64)
    if parameters.normalize_consensus:
        agreed = agreed / agreed.max() if agreed.max() > 0 else np.zeros_like(agreed)
    alpha = np.asarray(alphas, dtype=np.float64)[:, None, None, None]
    score = np.round(alpha * central + (1 - alpha) * agreed, SCORE_DECIMALS)
    eligible = np.array([answer is not None for answer in question.answers])
    if parameters.require_answer and eligible.any():
        score = np.where(eligible, score, -np.inf)
    medoids: NDArray[np.intp] = score.argmax(axis=3)
    return means, medoids


def _against(
    questions: Sequence[SweptQuestion], grcs: Floats
) -> tuple[dict[str, Correlations], dict[str, int]]:
    found, counts = {}, {}
    for kind in dict.fromkeys(kind for question in questions for kind in question.faithfulness):
        pairs = [
            (float(value), faithful)
            for question, value in zip(questions, grcs, strict=True)
            if (faithful := question.faithfulness.get(kind)) is not None and np.isfinite(value)
        ]
        found[kind] = correlations([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        counts[kind] = len(pairs)
    return found, counts
