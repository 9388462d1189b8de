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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditing.core.grapheval.consensus import SCORE_DECIMALS
from auditing.core.grapheval.parameters import ConsensusParameters
from auditing.core.statistics import Correlations, Floats, correlations

MOST_VALUES = 50


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
        If a value is outside its range, or there are more than `MOST_VALUES` of one weight.
    """
    for name, values, high in (("alpha", alphas, 1.0), ("beta", betas, 1.0), ("gamma", gammas, np.inf)):
        if not 1 <= len(values) <= MOST_VALUES:
            raise ValueError(f"Give 1 to {MOST_VALUES} values of {name}, not {len(values)}.")
        for value in values:
            if not (np.isfinite(value) and 0 <= value <= high):
                span = "at least 0" if high == np.inf else "from 0 to 1"
                raise ValueError(f"{name} must be {span}, not {value!r}.")
    chosen = consensus or ConsensusParameters()
    grcs = np.full((len(questions), len(betas), len(gammas)), np.nan)
    medoids = np.zeros((len(questions), len(alphas), len(betas), len(gammas)), dtype=np.intp)
    usual = np.zeros(len(questions), dtype=np.intp)
    for number, question in enumerate(questions):
        means, medoids[number] = _question(question, alphas, betas, gammas, chosen)
        if len(question.answers) >= 2:
            grcs[number] = 1 / (1 + means)
        usual[number] = _question(question, [own[0]], [own[1]], [own[2]], chosen)[1].item()
    with_gold = [number for number, question in enumerate(questions) if None not in question.correct]
    by_weights = {
        (b, g): _against(questions, grcs[:, b, g]) for b in range(len(betas)) for g in range(len(gammas))
    }
    found = []
    for a, alpha in enumerate(alphas):
        for b, beta in enumerate(betas):
            for g, gamma in enumerate(gammas):
                defined = grcs[np.isfinite(grcs[:, b, g]), b, g]
                picked = medoids[:, a, b, g]
                right = [bool(questions[q].correct[picked[q]]) for q in with_gold]
                against, counts = by_weights[b, g]
                found.append(
                    SweepRow(
                        alpha=alpha,
                        beta=beta,
                        gamma=gamma,
                        n=len(defined),
                        grcs=float(defined.mean()) if len(defined) else None,
                        correlations=against,
                        n_faithful=counts,
                        n_gold=len(right),
                        gsc_acc=sum(right) / len(right) if right else None,
                        medoids_unchanged=float((picked == usual).mean()) if len(usual) else None,
                    )
                )
    return found


def _question(
    question: SweptQuestion,
    alphas: Sequence[float],
    betas: Sequence[float],
    gammas: Sequence[float],
    parameters: ConsensusParameters,
) -> tuple[Floats, np.ndarray]:
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
    return means, score.argmax(axis=3)


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
