"""Uncertainty by other papers' measures, for comparison.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", section 4 (baselines CoTA and Topo-UQ) and section 6 (semantic entropy, graph Laplacians). The
definitions are those of the papers it names, applied to the chains sampled here:

- Topo-UQ ("Understanding the Uncertainty of LLM Explanations: A Perspective Based on Reasoning Topology"):
  variance of the graph edit distances between explanations. Its authors elicit their own graphs by
  sub-questions; here the graphs are the decomposed chains and the distance is nGED.
- CoTA ("Quantifying Uncertainty in Natural Language Explanations of Large Language Models"): share of steps of
  two chains that have an entailing step, or entail one, in the other, averaged over pairs; the uncertainty is
  one minus it.
- Degree, eigenvalue and eccentricity scores ("Generating with Confidence"): of a matrix W of similarities
  between chains, 0 to 1 with 1 on the diagonal; negative similarities count as 0. Eigenvectors of the
  normalised Laplacian count for the eccentricity up to an eigenvalue of 0.9, as its authors choose.
- Semantic entropy (Kuhn et al., Farquhar et al.), in its discrete form over clusters of answers. Clusters here
  are equal normal forms; answers that cannot be read are left out.

Each needs at least two chains and is None otherwise; for all of them, high means uncertain.
"""

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from auditing.core.grapheval.uncertainty import Metric, shannon
from auditing.core.statistics import Floats

EIGENVALUE_LIMIT = 0.9

BASELINES: tuple[Metric, ...] = (
    Metric(
        "topo_uq",
        "Topo-UQ",
        "Variance of the normalised graph edit distances over all pairs of chains.",
        0.0,
        None,
        "High: the structure varies from pair to pair.",
    ),
    Metric(
        "cota",
        "CoTA",
        "One minus the chain-of-thought agreement: the share of steps without an entailing or entailed step in "
        "the other chain, over all pairs.",
        0.0,
        1.0,
        "High: the chains do not state the same.",
    ),
    Metric(
        "degree",
        "Degree",
        "One minus the mean similarity of all ordered pairs, a chain with itself included.",
        0.0,
        1.0,
        "High: the chains are unlike each other.",
    ),
    Metric(
        "eigenvalues",
        "Eigenvalues",
        "Sum of max(0, 1 - eigenvalue) of the normalised Laplacian: about the number of groups of alike chains.",
        1.0,
        None,
        "High: many groups; at most one for every chain.",
    ),
    Metric(
        "eccentricity",
        "Eccentricity",
        "Length of the chains' centred coordinates in the small eigenvectors of the normalised Laplacian.",
        0.0,
        None,
        "High: chains lie far from their centre.",
    ),
    Metric(
        "semantic_entropy",
        "Semantic entropy",
        "Shannon entropy of the answers, equal answers counted together.",
        0.0,
        None,
        "High: many different answers. It does not see the reasoning.",
    ),
)


def topo_uq(distances: ArrayLike) -> float | None:
    """Return the population variance of the edit distances of all pairs; shape (N (N - 1) / 2,)."""
    values = np.asarray(distances, dtype=np.float64)
    return float(values.var()) if len(values) else None


def chain_agreement(forward: ArrayLike, backward: ArrayLike) -> float | None:
    """Return the agreement of two chains, 0 to 1 (CoTA of a pair).

    Parameters
    ----------
    forward : bool array of shape (a, b)
        Whether step i of the first chain entails step j of the second.
    backward : bool array of shape (b, a)
        Whether step j of the second chain entails step i of the first.

    Returns
    -------
    float or None
        None if both chains are empty; 0 if one is.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    there, back = np.asarray(forward, dtype=bool), np.asarray(backward, dtype=bool)
    if there.ndim != 2 or there.shape != back.shape[::-1]:
        raise ValueError(f"Entailments of shapes {there.shape} and {back.shape} do not belong to one pair.")
    steps = sum(there.shape)
    if steps == 0:
        return None
    return float(there.any(axis=1).sum() + back.any(axis=1).sum()) / steps


def cota(agreements: Iterable[float | None]) -> float | None:
    """Return one minus the mean agreement of all pairs; pairs of empty chains are left out."""
    values = [agreement for agreement in agreements if agreement is not None]
    return 1 - sum(values) / len(values) if values else None


def similarities(distances: ArrayLike) -> Floats:
    """Return one minus the distances of shape (N, N), cut to 0 to 1: the W of the spectral scores."""
    cut: Floats = np.clip(1 - np.asarray(distances, dtype=np.float64), 0.0, 1.0)
    return cut


def degree(similarity: ArrayLike) -> float | None:
    """Return trace(N I - D) / N^2 of similarities of shape (N, N): 0 for equal chains, at most 1 - 1 / N.

    Raises
    ------
    ValueError
        If the matrix is not square and symmetric.
    """
    matrix = _similarity(similarity)
    return None if len(matrix) < 2 else max(0.0, 1 - float(matrix.mean()))


def eigenvalues(similarity: ArrayLike) -> float | None:
    """Return the sum of max(0, 1 - eigenvalue) of the normalised Laplacian, 1 to N.

    Raises
    ------
    ValueError
        If the matrix is not square and symmetric.
    """
    matrix = _similarity(similarity)
    if len(matrix) < 2:
        return None
    values, _ = _spectrum(matrix)
    return float(np.maximum(0.0, 1 - values).sum())


def eccentricity(similarity: ArrayLike, *, limit: float = EIGENVALUE_LIMIT) -> float | None:
    """Return the Euclidean length of the centred eigenvectors with an eigenvalue up to `limit`, 0 to sqrt(N).

    Raises
    ------
    ValueError
        If the matrix is not square and symmetric.
    """
    matrix = _similarity(similarity)
    if len(matrix) < 2:
        return None
    values, vectors = _spectrum(matrix)
    small = vectors[:, values <= limit]
    return float(np.linalg.norm(small - small.mean(axis=0)))


def semantic_entropy(answers: Sequence[Hashable | None], *, log_base: float = math.e) -> float | None:
    """Return the entropy of the answers that could be read, 0 to log N; None for fewer than two."""
    readable = [answer for answer in answers if answer is not None]
    if len(readable) < 2:
        return None
    return shannon([readable.count(answer) for answer in dict.fromkeys(readable)], log_base=log_base)


def _similarity(similarity: ArrayLike) -> Floats:
    matrix = np.asarray(similarity, dtype=np.float64)
    if matrix.ndim != 2 or not np.allclose(matrix, matrix.T if matrix.shape == matrix.T.shape else np.nan):
        raise ValueError(f"A square, symmetric matrix of similarities is needed; shape {matrix.shape}.")
    positive: Floats = np.maximum(matrix, 0.0)
    np.fill_diagonal(positive, 1.0)
    return positive


def _spectrum(matrix: Floats) -> tuple[Floats, Floats]:
    # A chain is like itself, so no degree is 0.
    scale = 1 / np.sqrt(matrix.sum(axis=1))
    laplacian = np.eye(len(matrix)) - scale[:, None] * matrix * scale[None, :]
    values, vectors = np.linalg.eigh(laplacian)
    return values, vectors
