"""All results of one question: its graphs, distances, scores, votes and medoid, as one document.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 3 to 5 and appendix B; the parts are those of `graph`, `distance`, `uncertainty`,
`baselines`, `consensus` and `answers`. Choices where the paper is open, in words:

- Chains without steps or facts, and chains that could not be decomposed, are not in the pool: N shrinks, and
  they are listed with the reason.
- What cannot be computed is null, with a sentence in `missing`; a question without chains, or with graphs too
  large to compare, still has a document.
- Without a gold answer nothing is correct or wrong. With one, an answer that cannot be read is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auditing.core.grapheval.answers import majority
from auditing.core.grapheval.collapse import plain_text
from auditing.core.grapheval.consensus import SCORE_DECIMALS, Medoid, choose_medoid, support
from auditing.core.grapheval.distance import ZERO_NORM, DistanceParts, GraphsTooLarge, distance_parts
from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.findings import Pool, flags_of, metrics_of
from auditing.core.grapheval.graph import ReasoningGraph, build_graph
from auditing.core.grapheval.ordering import answer_groups
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.uncertainty import Uncertainty, pairwise, summarise
from auditing.core.statistics import Floats

SCHEMA = "reasonaudit.grapheval-question/1"
NO_FACTS = "no_facts"


@dataclass(frozen=True, slots=True)
class ChainInput:
    """One chain of a question.

    Attributes
    ----------
    number : int
        What the document calls it; unique within the question.
    answer : str or None
        Normal form of its answer.
    facts : tuple of Fact
        In the decomposer's order.
    text : str
        What it says, for signs of collapse.
    excluded : str
        Why it is not in the pool, "" where it is. A chain without facts never is.
    """

    number: int
    answer: str | None
    facts: tuple[Fact, ...]
    text: str
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The pool of a question before its texts are embedded.

    Attributes
    ----------
    chains : tuple of ChainInput
        Those in the pool, in the order given.
    graphs : tuple of ReasoningGraph
        Their graphs.
    excluded : tuple of (int, str)
        Number and reason of the others.
    texts : tuple of str
        What is to be embedded: distinct facts, and distinct edges where these are embedded as texts, in the order
        in which they are first seen.
    edge_texts : tuple of tuple of str, or None
        Text of every edge of every graph where edges are embedded as texts.
    """

    chains: tuple[ChainInput, ...]
    graphs: tuple[ReasoningGraph, ...]
    excluded: tuple[tuple[int, str], ...]
    texts: tuple[str, ...]
    edge_texts: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What came out for a question.

    Attributes
    ----------
    parts : DistanceParts or None
        What the distances are made of; None where the graphs are too large to compare.
    support : tuple of tuple of float
        Support of every fact of every chain in the pool; empty where `parts` is None.
    document : dict
        JSON; see the format's description.
    """

    parts: DistanceParts | None
    support: tuple[tuple[float, ...], ...]
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rescored:
    """Distances, summaries and medoid of a question under other weights."""

    distances: Floats
    uncertainty: Uncertainty
    medoid: Medoid


def edge_text(source: str, target: str) -> str:
    """Return the text that an edge is embedded as."""
    return f"{source} \u2192 {target}"


def prepare(chains: Sequence[ChainInput], parameters: StudyParameters) -> Prepared:
    """Choose the pool, build its graphs and collect the texts to embed.

    Raises
    ------
    ValueError
        If two chains have the same number.
    """
    if len({chain.number for chain in chains}) < len(chains):
        raise ValueError("Every chain of a question needs a number of its own.")
    pool, excluded = [], []
    for chain in chains:
        if chain.excluded or not chain.facts:
            excluded.append((chain.number, chain.excluded or NO_FACTS))
        else:
            pool.append(chain)
    options = parameters.graph
    graphs = tuple(
        build_graph(chain.facts, fact_edges=options.fact_edges, terminal_basis=options.terminal_basis)
        for chain in pool
    )
    texts = dict.fromkeys(fact for graph in graphs for fact in graph.facts)
    edge_texts = None
    if parameters.distance.edge_embedding == "text":
        edge_texts = tuple(
            tuple(edge_text(graph.facts[start], graph.facts[end]) for start, end in graph.edges)
            for graph in graphs
        )
        texts |= dict.fromkeys(text for graph in edge_texts for text in graph)
    return Prepared(tuple(pool), graphs, tuple(excluded), tuple(texts), edge_texts)


def rescore(
    parts: DistanceParts,
    shares: Sequence[ArrayLike],
    terminals: Sequence[Sequence[int]],
    answers: Sequence[str | None],
    parameters: StudyParameters,
) -> Rescored:
    """Score N chains by the weights of `parameters`; nothing is matched or embedded again.

    Alpha, beta, gamma, the weights of facts and the options of the summaries are free; tau, the cost of indels and
    how edges are embedded or graphs built are not, for `parts` and `shares` depend on them.

    Parameters
    ----------
    parts : DistanceParts
        Of the N chains.
    shares : sequence of N arrays of shape (m,)
        Support of every fact of every chain.
    terminals : sequence of N sequences of int
        Terminal facts of every chain.
    answers : sequence of N (str or None)
        Normal forms.

    Raises
    ------
    ValueError
        If the numbers of chains differ.
    """
    distances = parts.distances(parameters.distance.beta, parameters.distance.gamma)
    options = parameters.consensus
    medoid = choose_medoid(
        distances,
        shares,
        terminals,
        answers,
        alpha=options.alpha,
        w_terminal=options.w_terminal,
        w_other=options.w_other,
        require_answer=options.require_answer,
        normalize_consensus=options.normalize_consensus,
    )
    summary = parameters.uncertainty
    found = summarise(pairwise(distances), ddof=summary.ddof, iqr0=summary.iqr0, log_base=summary.log_base)
    return Rescored(distances, found, medoid)


def score(
    prepared: Prepared,
    vectors: Mapping[str, ArrayLike],
    parameters: StudyParameters,
    *,
    gold: str | None,
    agreements: ArrayLike | None = None,
    after_pair: Callable[[], object] | None = None,
) -> QuestionResult:
    """Compare the chains of a question and score them.

    Parameters
    ----------
    prepared : Prepared
        From `prepare`, with the same parameters.
    vectors : mapping of str to array of shape (dim,)
        Embedding of each of `prepared.texts`, of any length.
    gold : str or None
        Normal form of the gold answer.
    agreements : array of shape (N, N) or None
        `baselines.chain_agreement` of each pair of chains in the pool, NaN where there is none; None if no labeller
        was asked.
    after_pair : callable, optional
        See `distance_parts`.

    Raises
    ------
    ValueError
        If a text has no vector, vectors differ in length or are not finite, or the agreements do not fit.
    """
    stacked, rows_of = _stacked(prepared.texts, vectors)
    embeddings = [rows_of(graph.facts) for graph in prepared.graphs]
    edges = None if prepared.edge_texts is None else [rows_of(texts) for texts in prepared.edge_texts]
    answers = [chain.answer for chain in prepared.chains]
    parts, rescored, too_large = None, None, ""
    try:
        parts = distance_parts(
            prepared.graphs, embeddings, parameters.distance, edge_embeddings=edges, after_pair=after_pair
        )
    except GraphsTooLarge as error:
        too_large = str(error)
    else:
        shares = support(embeddings, tau=parameters.consensus.tau)
        terminals = [graph.terminals for graph in prepared.graphs]
        rescored = rescore(parts, shares, terminals, answers, parameters)
    pool = Pool(
        answers=answers,
        texts=[chain.text for chain in prepared.chains],
        excluded=len(prepared.excluded),
        distances=None if rescored is None else rescored.distances,
        nged=None if parts is None else parts.nged,
        uncertainty=None if rescored is None else rescored.uncertainty,
        agreements=_square(agreements, len(answers)),
        zero_vectors=int((np.linalg.norm(stacked, axis=1) <= ZERO_NORM).sum()) if len(stacked) else 0,
        distinct_graphs=len({(graph.facts, graph.edges, graph.terminals) for graph in prepared.graphs}),
        too_large=too_large,
    )
    document = _document(prepared, parameters, gold, rescored)
    document["metrics"], document["missing"] = metrics_of(pool, parameters.uncertainty.log_base)
    document["flags"] = [flag.to_dict() for flag in flags_of(pool, gold)]
    document["distinct"] = {
        "facts": len({fact for graph in prepared.graphs for fact in graph.facts}),
        "of": sum(len(graph.facts) for graph in prepared.graphs),
        "graphs": pool.distinct_graphs,
        "texts": len(set(map(plain_text, pool.texts))),
    }
    return QuestionResult(parts, () if rescored is None else rescored.medoid.support, document)


def _stacked(
    texts: Sequence[str], vectors: Mapping[str, ArrayLike]
) -> tuple[Floats, Callable[[Sequence[str]], Floats]]:
    """Return the vectors of the texts as rows, and a function that gives the rows of some of them."""
    if lacking := [text for text in texts if text not in vectors]:
        raise ValueError(f"{len(lacking):,} of {len(texts):,} texts have no embedding.")
    rows = [np.asarray(vectors[text], dtype=np.float64) for text in texts]
    if len({row.shape for row in rows}) > 1 or any(row.ndim != 1 for row in rows):
        raise ValueError("All embeddings of a question must be rows of the same length.")
    stacked = np.stack(rows) if rows else np.zeros((0, 0))
    if not np.isfinite(stacked).all():
        raise ValueError("An embedding holds a value that is not finite.")
    places = {text: place for place, text in enumerate(texts)}
    return stacked, lambda some: stacked[[places[text] for text in some]]


def _square(agreements: ArrayLike | None, n: int) -> Floats | None:
    if agreements is None:
        return None
    found = np.asarray(agreements, dtype=np.float64)
    if found.shape != (n, n):
        raise ValueError(f"Agreements of {n} chains have the shape ({n}, {n}), not {found.shape}.")
    return found


def _correct(answer: str | None, gold: str | None) -> bool | None:
    return None if gold is None else answer == gold


def _document(
    prepared: Prepared,
    parameters: StudyParameters,
    gold: str | None,
    rescored: Rescored | None,
) -> dict[str, Any]:
    """Return the document without metrics and flags, which belong to the whole pool."""
    chains = prepared.chains
    numbers = [chain.number for chain in chains]
    answers = [chain.answer for chain in chains]
    medoid = None if rescored is None else rescored.medoid
    ranked = _ranked(answers, medoid, parameters)
    best = None if medoid is None else medoid.medoid
    second, lead = None, None
    if medoid is not None and len(ranked) > 1:
        second, lead = ranked[1], medoid.score[ranked[0]] - medoid.score[ranked[1]]
    groups = answer_groups(answers, None if rescored is None else rescored.distances, ranked)
    return {
        "schema": SCHEMA,
        "n": len(chains),
        "excluded": [{"chain": number, "reason": reason} for number, reason in prepared.excluded],
        "chains": _chains(prepared, gold, medoid, ranked),
        "medoid": None if best is None else numbers[best],
        "runner_up": None if second is None else numbers[second],
        "lead": lead,
        "gsc": {
            "answer": None if best is None else answers[best],
            "correct": None if best is None else _correct(answers[best], gold),
        },
        "votes": _votes(answers, gold),
        "order": [numbers[position] for group in groups for position in group.members],
        "groups": [
            {
                "answer": group.answer,
                "chains": [numbers[position] for position in group.members],
                "mean_distance": group.mean_distance,
            }
            for group in groups
        ],
    }


def _chains(
    prepared: Prepared, gold: str | None, medoid: Medoid | None, ranked: Sequence[int]
) -> list[dict[str, Any]]:
    rank = {position: place for place, position in enumerate(ranked, 1)}
    rows = []
    for position, (chain, graph) in enumerate(zip(prepared.chains, prepared.graphs, strict=True)):
        rows.append(
            {
                "chain": chain.number,
                "answer": chain.answer,
                "correct": _correct(chain.answer, gold),
                "facts": len(graph.facts),
                "steps": list(graph.steps),
                "edges": [list(edge) for edge in graph.edges],
                "terminals": list(graph.terminals),
                "support": [] if medoid is None else list(medoid.support[position]),
                "centrality": None if medoid is None else medoid.centrality[position],
                "centrality_term": None if medoid is None else medoid.centrality_term[position],
                "consensus": None if medoid is None else medoid.consensus[position],
                "score": None if medoid is None else medoid.score[position],
                "rank": None if medoid is None else rank[position],
            }
        )
    return rows


def _votes(answers: Sequence[str | None], gold: str | None) -> dict[str, Any]:
    voted = majority(answers)
    return {
        "counts": [
            {"answer": answer, "count": count, "correct": _correct(answer, gold)}
            for answer, count in sorted(voted.votes.items(), key=lambda item: -item[1])
        ],
        "valid": voted.n_valid,
        "answer": voted.answer,
        "correct": _correct(voted.answer, gold) if answers else None,
        "tie": voted.tie,
    }


def _ranked(answers: Sequence[str | None], medoid: Medoid | None, parameters: StudyParameters) -> list[int]:
    """Return positions from best to worst; without scores, those with the most common answers first."""
    if medoid is None:
        votes = majority(answers).votes
        return sorted(range(len(answers)), key=lambda position: -votes.get(answers[position] or "", 0))
    eligible = [answer is not None or not parameters.consensus.require_answer for answer in answers]
    rounded = np.round(medoid.score, SCORE_DECIMALS)
    return sorted(range(len(answers)), key=lambda position: (not eligible[position], -rounded[position]))
