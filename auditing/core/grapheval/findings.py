"""The metrics of one question with a sentence for each that is missing, and what is worth a look.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 3 and 4; the metrics are those of `uncertainty` and `baselines`. Flags are ours: each names
something that makes a number of the question missing, degenerate or less telling than it looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditing.core.grapheval import baselines
from auditing.core.grapheval.collapse import Flag, question_flags
from auditing.core.grapheval.uncertainty import DECIMALS, MAX_BINS, Uncertainty, pairwise
from auditing.core.statistics import Floats

METRIC_NAMES = (
    "divergence", "grcs", "dispersion", "entropy", "n_bins", "topo_uq", "cota", "degree", "eigenvalues",
    "eccentricity", "semantic_entropy",
)  # fmt: skip
NO_LABELLER = "No relation labeller was asked which steps entail one another."


@dataclass(frozen=True, slots=True)
class Pool:
    """What the metrics and flags of a question of N chains are made of.

    Attributes
    ----------
    answers : sequence of N (str or None)
        Normal forms.
    texts : sequence of N str
        What the chains say.
    excluded : int
        Chains that are not in the pool.
    distances, nged : array of shape (N, N) or None
        Distances and normalised edit distances; None where the graphs are too large to compare.
    uncertainty : Uncertainty or None
        Summaries of the distances.
    agreements : array of shape (N, N) or None
        Agreements of pairs of chains, NaN where there is none; None if no labeller was asked.
    zero_vectors : int
        Texts whose embedding is zero.
    distinct_graphs : int
        Graphs with different facts, edges or terminals.
    too_large : str
        Why the graphs cannot be compared, "" where they can.
    """

    answers: Sequence[str | None]
    texts: Sequence[str]
    excluded: int
    distances: Floats | None
    nged: Floats | None
    uncertainty: Uncertainty | None
    agreements: Floats | None
    zero_vectors: int
    distinct_graphs: int
    too_large: str = ""


def metrics_of(pool: Pool, log_base: float) -> tuple[dict[str, Any], dict[str, str]]:
    """Return every metric by name, and a sentence for each that is None.

    Parameters
    ----------
    pool : Pool
        The question.
    log_base : float
        Base of the logarithm of the semantic entropy.
    """
    metrics: dict[str, Any] = dict.fromkeys(METRIC_NAMES)
    metrics["semantic_entropy"] = baselines.semantic_entropy(pool.answers, log_base=log_base)
    if pool.uncertainty is not None:
        for name in ("divergence", "grcs", "dispersion", "entropy"):
            metrics[name] = getattr(pool.uncertainty, name)
        metrics["n_bins"] = pool.uncertainty.n_bins or None
    if pool.nged is not None:
        metrics["topo_uq"] = baselines.topo_uq(pairwise(pool.nged))
    if pool.distances is not None:
        similar = baselines.similarities(pool.distances)
        metrics["degree"] = baselines.degree(similar)
        metrics["eigenvalues"] = baselines.eigenvalues(similar)
        metrics["eccentricity"] = baselines.eccentricity(similar)
    if pool.agreements is not None:
        values = pairwise(pool.agreements).tolist()
        metrics["cota"] = baselines.cota(None if np.isnan(value) else value for value in values)
    return metrics, {name: _why(name, pool) for name in METRIC_NAMES if metrics[name] is None}


def _why(name: str, pool: Pool) -> str:
    if len(pool.answers) < 2:
        there = "one chain is" if pool.answers else "no chain is"
        return f"Two chains are needed, and {there} in the pool."
    if name == "semantic_entropy":
        return "Fewer than two chains have an answer that can be read."
    if name == "cota":
        return NO_LABELLER if pool.agreements is None else "No pair of chains has an agreement."
    return pool.too_large or "A sample's standard deviation (ddof 1) needs two pairs of chains."


def flags_of(pool: Pool, gold: str | None) -> list[Flag]:
    """Return what is worth a look.

    Parameters
    ----------
    pool : Pool
        The question.
    gold : str or None
        Normal form of the gold answer.
    """
    n = len(pool.answers)
    flags = []
    if not n:
        flags.append(Flag("no_chains", "No chain is in the pool, so there is nothing to compare."))
    if n == 1:
        flags.append(Flag("one_chain", "One chain is in the pool, so there is nothing to compare it with."))
    if pool.excluded:
        flags.append(_counted("excluded_chains", pool.excluded, "chain is", "chains are", "not in the pool"))
    if n > 1 and pool.distinct_graphs == 1:
        flags.append(Flag("all_identical", f"All {n:,} chains have the same facts and dependencies.", n))
    flags += question_flags(pool.texts, None if pool.uncertainty is None else pool.uncertainty.divergence)
    if pool.zero_vectors:
        said = "an embedding of zeros, which is like no other"
        flags.append(_counted("zero_vectors", pool.zero_vectors, "text has", "texts have", said))
    if gold is None:
        flags.append(Flag("no_gold", "No gold answer can be read, so no answer counts as right or wrong."))
    unread = sum(answer is None for answer in pool.answers)
    if n and unread == n:
        flags.append(Flag("no_answer_readable", "No chain in the pool has an answer that can be read.", n))
    elif unread:
        said = "no answer that can be read"
        flags.append(_counted("answers_unreadable", unread, "chain has", "chains have", said))
    if pool.too_large:
        flags.append(Flag("large_graph", pool.too_large))
    if why := _degenerate(pool):
        flags.append(Flag("degenerate_entropy", why))
    return flags


def _counted(code: str, count: int, one: str, several: str, rest: str) -> Flag:
    return Flag(code, f"{count:,} {one if count == 1 else several} {rest}.", count)


def _degenerate(pool: Pool) -> str:
    """Return why the histogram of the distances says little, "" where it does not."""
    if pool.distances is None or pool.uncertainty is None or len(pool.distances) < 2:
        return ""
    rounded = np.round(pairwise(pool.distances), DECIMALS)
    if rounded.min() == rounded.max():
        return "All distances are equal, so their entropy is 0 in one bin."
    low, high = np.percentile(rounded, [25, 75])
    bins = pool.uncertainty.n_bins
    if low == high:
        taken = "one bin is" if bins == 1 else f"{bins} bins are"
        return f"The middle half of the distances is equal, so bins would have no width; {taken} taken."
    return f"The entropy is capped at {MAX_BINS:,} bins." if bins == MAX_BINS else ""
