"""Graph Self-Consistency: the chain that is most central and best supported in its sample.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 3 and B.5. Choices where the paper is open, in words:

- If no centrality is positive, the centrality term is 0 for all: dividing by a negative number would reverse
  the order.
- Scores are compared to 9 decimals, and the chain sampled first wins a tie.
- The answer is the medoid's. If it has none, the answer is missing and counts as wrong; with
  `require_answer` only chains with an answer can be chosen, unless none has one.
- A fact with a zero vector is like no other. A graph without facts has consensus 0.
- The printed example (score 0.9527 with alpha 0.8) cannot be reached by the printed formula and is no test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from auditing.core.grapheval.distance import unit_rows
from auditing.core.statistics import Floats

THRESHOLD_SLACK = 1e-9
SCORE_DECIMALS = 9
# Similarities held at a time; 4 million of them are 32 MB.
BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class Medoid:
    """The chosen chain, and the parts of every chain's score.

    Attributes
    ----------
    medoid : int or None
        0-based index of the chosen chain; None without chains.
    answer : str or None
        Its answer.
    score : tuple of float
        alpha * centrality term + (1 - alpha) * consensus term of every chain.
    centrality : tuple of float
        Sum of the similarities to the other chains.
    centrality_term : tuple of float
        Centrality divided by the largest one, or 0.
    consensus : tuple of float
        Weighted mean support of a chain's facts, 0 to 1.
    support : tuple of tuples of float
        Share of the other chains with a fact like this one, of every fact of every chain.
    """

    medoid: int | None
    answer: str | None
    score: tuple[float, ...]
    centrality: tuple[float, ...]
    centrality_term: tuple[float, ...]
    consensus: tuple[float, ...]
    support: tuple[tuple[float, ...], ...]


def select_medoid(
    distances: ArrayLike,
    embeddings: Sequence[ArrayLike],
    terminals: Sequence[Sequence[int]],
    answers: Sequence[str | None],
    *,
    tau: float = 0.9,
    alpha: float = 0.8,
    w_terminal: float = 2.0,
    w_other: float = 1.0,
    require_answer: bool = False,
    normalize_consensus: bool = False,
) -> Medoid:
    """Choose the medoid of N chains.

    Parameters
    ----------
    distances : array of shape (N, N)
        Distances between the chains' graphs, symmetric.
    embeddings : sequence of N arrays of shape (m, dim)
        One row for every fact of the chain, of any length; (0, dim) or empty for a chain without facts.
    terminals : sequence of N sequences of int
        Terminal facts of every chain.
    answers : sequence of N (str or None)
        Normal form of every chain's answer.
    tau : float
        Cosine from which two facts are alike.
    alpha : float
        Weight of the centrality, 0 to 1; the rest is the weight of the consensus.
    w_terminal, w_other : float
        Weights of terminal and other facts in the consensus.
    require_answer : bool
        Whether a chain without an answer cannot be chosen.
    normalize_consensus : bool
        Whether the consensus is divided by the largest one in the score.

    Raises
    ------
    ValueError
        If the numbers of chains differ.
    """
    return choose_medoid(
        distances,
        support(embeddings, tau=tau),
        terminals,
        answers,
        alpha=alpha,
        w_terminal=w_terminal,
        w_other=w_other,
        require_answer=require_answer,
        normalize_consensus=normalize_consensus,
    )


def choose_medoid(
    distances: ArrayLike,
    shares: Sequence[ArrayLike],
    terminals: Sequence[Sequence[int]],
    answers: Sequence[str | None],
    *,
    alpha: float = 0.8,
    w_terminal: float = 2.0,
    w_other: float = 1.0,
    require_answer: bool = False,
    normalize_consensus: bool = False,
) -> Medoid:
    """Choose the medoid where the support of every fact is known; see `select_medoid`.

    Parameters
    ----------
    shares : sequence of N arrays of shape (m,)
        What `support` gives.

    Raises
    ------
    ValueError
        If the numbers of chains differ.
    """
    matrix, n = np.asarray(distances, dtype=np.float64), len(answers)
    if not (len(shares) == len(terminals) == n) or matrix.size != n * n:
        raise ValueError(
            f"{len(shares)} chains with facts, {len(terminals)} lists of terminals, {n} answers and distances of "
            f"shape {matrix.shape} do not belong to one sample of chains."
        )
    if n == 0:
        return Medoid(None, None, (), (), (), (), ())
    similarity = 1 - matrix
    np.fill_diagonal(similarity, 0.0)
    centrality = similarity.sum(axis=1)
    found = [np.asarray(share, dtype=np.float64) for share in shares]
    consensus = np.array(
        [_weighted(share, ends, w_terminal, w_other) for share, ends in zip(found, terminals, strict=True)]
    )
    central, agreed = _of_largest(centrality), consensus
    if normalize_consensus:
        agreed = _of_largest(consensus)
    score = alpha * central + (1 - alpha) * agreed
    best = _first_best(score, answers, require_answer)
    return Medoid(
        medoid=best,
        answer=answers[best],
        score=tuple(score.tolist()),
        centrality=tuple(centrality.tolist()),
        centrality_term=tuple(central.tolist()),
        consensus=tuple(consensus.tolist()),
        support=tuple(tuple(share.tolist()) for share in found),
    )


def support(embeddings: Sequence[ArrayLike], *, tau: float = 0.9) -> list[Floats]:
    """Return for every fact of every chain the share of the other chains with a fact like it.

    Parameters
    ----------
    embeddings : sequence of N arrays of shape (m, dim)
        See `select_medoid`.
    tau : float
        Cosine from which two facts are alike.

    Returns
    -------
    list of N arrays of shape (m,)
        0 to 1; 0 if there is no other chain.
    """
    units = [_unit(rows) for rows in embeddings]
    known: dict[bytes, int] = {}
    of = [np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], np.intp) for rows in units]
    member = np.zeros((len(known), len(units)), dtype=np.float32)
    for chain, places in enumerate(of):
        member[places, chain] = 1.0
    filled = [rows for rows in units if len(rows)]
    rows = np.concatenate(filled)[_first_places(of)] if filled else np.zeros((0, 0))
    # Which chains hold a fact like this one, for every distinct fact.
    found = np.zeros(member.shape, dtype=np.bool_)
    step = max(1, BLOCK // max(1, len(rows)))
    for begin in range(0, len(rows), step):
        block, rest = slice(begin, begin + step), slice(begin, None)
        # Cosines are symmetric: a block meets only itself and the rows after it.
        # Few facts are alike, so their pairs are kept, not the whole block.
        alike = sparse.csr_array(rows[block] @ rows[rest].T >= tau - THRESHOLD_SLACK, dtype=np.float32)
        found[block] |= alike @ member[rest] > 0
        found[rest] |= alike.T @ member[block] > 0
    totals, others = found.sum(axis=1), max(1, len(units) - 1)
    return [(totals[places] - found[places, chain]) / others for chain, places in enumerate(of)]


def _first_places(of: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    places: NDArray[np.intp] = np.unique(np.concatenate(of), return_index=True)[1]
    return places


def _unit(rows: ArrayLike) -> Floats:
    array = np.asarray(rows, dtype=np.float64)
    if array.size == 0:
        return np.zeros((0, 0))
    return unit_rows(array)


def _weighted(share: Floats, terminals: Sequence[int], w_terminal: float, w_other: float) -> float:
    weights = np.full(len(share), w_other, dtype=np.float64)
    weights[np.asarray(terminals, dtype=np.intp)] = w_terminal
    total = float(weights.sum())
    return float(weights @ share) / total if total > 0 else 0.0


def _of_largest(values: Floats) -> Floats:
    largest = float(values.max())
    return values / largest if largest > 0 else np.zeros_like(values)


def _first_best(score: Floats, answers: Sequence[str | None], require_answer: bool) -> int:
    eligible: NDArray[np.bool_] = np.array([answer is not None for answer in answers])
    rounded = np.round(score, SCORE_DECIMALS)
    if require_answer and eligible.any():
        rounded = np.where(eligible, rounded, -np.inf)
    return int(rounded.argmax())
