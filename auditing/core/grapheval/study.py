"""Data-set level statistics of a study that its questions' documents do not hold.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 5.2 to 5.4, C.4, C.8 and C.9. Correlations are in `resampling`, other weights in `sweeps`. Choices
where the paper is open, in words:

- The population ablation is there where questions were ablated whatever they answer, not where only those that
  the medoid alone answers were.
- Without a reference study the origin of the topology map is the study's own mean point.
- Edges per fact are all edges over all facts, not a mean over chains.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from auditing.core.grapheval.ablation import (
    PopulationAblation,
    QuestionAblation,
    TargetedAblation,
    TargetedQuestion,
    population_ablation,
    targeted_ablation,
)
from auditing.core.grapheval.topology import Point, TopologyMap, quadrant, topology_map

OWN, REFERENCE = "own", "reference"

Outcome = Literal["both", "sc_only", "gsc_only", "neither"]


def cell_of(sc_correct: bool | None, gsc_correct: bool | None) -> Outcome | None:
    """Return which rule is right: "both", "sc_only", "gsc_only", "neither"; None where that is not known."""
    if sc_correct is None or gsc_correct is None:
        return None
    if sc_correct:
        return "both" if gsc_correct else "sc_only"
    return "gsc_only" if gsc_correct else "neither"


@dataclass(frozen=True, slots=True)
class StudyAblation:
    """Both protocols; `population` is None where only questions that the medoid alone answers were ablated."""

    population: PopulationAblation | None
    targeted: TargetedAblation


def study_ablation(
    questions: Iterable[tuple[bool | None, bool | None, QuestionAblation]], *, scored: int
) -> StudyAblation | None:
    """Summarise ablated questions by both protocols; None without one.

    Parameters
    ----------
    questions : iterable of (vote correct, medoid correct, QuestionAblation)
        The questions with alternatives.
    scored : int
        All questions of the study that have a score.
    """
    rows = list(questions)
    if not rows:
        return None
    only_targeted = len(rows) < scored and all(cell_of(sc, gsc) == "gsc_only" for sc, gsc, _ in rows)
    population = population_ablation((row.accuracy_change, row.faithfulness_change) for _, _, row in rows)
    targeted = targeted_ablation(
        TargetedQuestion(
            gsc is True,
            # Without a gold answer nobody is right, so such a question is not among those that GSC alone answers.
            sc is not False,
            row.accuracy,
            row.faithfulness,
            row.medoid_faithfulness,
            row.distance,
        )
        for sc, gsc, row in rows
    )
    return StudyAblation(None if only_targeted else population, targeted)


def study_topology(points: Sequence[Point], reference: Sequence[Point] | None = None) -> TopologyMap | None:
    """Place questions around the mean of a reference study, or of their own; None without points.

    Parameters
    ----------
    points : sequence of (float, float)
        Divergence and entropy of the study's questions.
    reference : sequence of (float, float), optional
        Those of the reference study.

    Returns
    -------
    TopologyMap or None
        The study's model is named `OWN`, the reference `REFERENCE`.
    """
    models: dict[str, Sequence[Point]] = {OWN: points}
    if reference is not None:
        models[REFERENCE] = reference
    chosen = REFERENCE if reference is not None else OWN
    return topology_map(models, chosen) if models[chosen] else None


def quadrant_of(divergence: float | None, entropy: float | None, origin: Point | None) -> str | None:
    """Return the name of a question's quadrant, or None where a coordinate is undefined."""
    if divergence is None or entropy is None or origin is None:
        return None
    return quadrant((divergence, entropy), origin)


@dataclass(frozen=True, slots=True)
class DecomposedChain:
    """One chain of the pool: facts, edges, facts with other dependencies than their step and facts compared."""

    facts: int
    edges: int
    changed: int
    compared: int
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """How chains were decomposed; None where undefined.

    Attributes
    ----------
    chains, facts, edges : int
        Numbers.
    facts_per_chain, edges_per_fact : float or None
        Ratios of these.
    changed, compared : int
        Facts with other dependencies than their step, and facts whose step is known.
    changed_share : float or None
        Their ratio, 0 to 1.
    warnings : dict of str to int
        Warnings by code, most frequent first.
    """

    chains: int
    facts: int
    edges: int
    facts_per_chain: float | None
    edges_per_fact: float | None
    changed: int
    compared: int
    changed_share: float | None
    warnings: dict[str, int]


def decomposition(chains: Iterable[DecomposedChain]) -> Decomposition:
    """Summarise the decomposition of all chains of a study's pool (C.4, Table 6)."""
    rows = list(chains)
    facts, edges = sum(row.facts for row in rows), sum(row.edges for row in rows)
    changed, compared = sum(row.changed for row in rows), sum(row.compared for row in rows)
    codes = Counter(code for row in rows for code in row.warnings)
    return Decomposition(
        chains=len(rows),
        facts=facts,
        edges=edges,
        facts_per_chain=_ratio(facts, len(rows)),
        edges_per_fact=_ratio(edges, facts),
        changed=changed,
        compared=compared,
        changed_share=_ratio(changed, compared),
        warnings=dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
