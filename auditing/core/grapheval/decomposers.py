"""The same chains decomposed by several models: what changes, and what people say of it.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", C.4 (Table 6: facts per chain, edges per fact, correlation of the GRCS; human check of atomicity,
hallucination and validity of dependencies). Choices where the paper is open, in words:

- Two decomposers are compared on the questions that both have scored.
- A criterion's share is of the words given, and unsure counts as not met; people and judges stay apart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from auditing.core.grapheval.agreement import CRITERIA
from auditing.core.statistics import Correlations, correlations, mean_of


@dataclass(frozen=True, slots=True)
class CriterionShare:
    """How often a criterion is met: of `n` words `met` are yes; `share` is their ratio, None without words."""

    n: int
    met: int
    share: float | None


@dataclass(frozen=True, slots=True)
class DecomposerPair:
    """GRCS of two decomposers on `n` common questions: three correlations, and the mean of second minus first."""

    a: str
    b: str
    n: int
    correlations: Correlations
    mean_difference: float | None


def criterion_shares(words: Iterable[Mapping[str, str]]) -> dict[str, CriterionShare]:
    """Count how often each criterion of a decomposition is met."""
    rows = list(words)
    found = {}
    for criterion in CRITERIA["decomposition"]:
        given = [row[criterion] for row in rows if row.get(criterion)]
        met = given.count("yes")
        found[criterion] = CriterionShare(len(given), met, met / len(given) if given else None)
    return found


def compare_pairs(grcs: Mapping[str, Mapping[str, float | None]]) -> list[DecomposerPair]:
    """Correlate the GRCS of every pair of decomposers over the questions that both have scored.

    Parameters
    ----------
    grcs : mapping of decomposer to mapping of question to (float or None)
        The GRCS of the same questions by each.
    """
    found = []
    for (a, of_a), (b, of_b) in combinations(grcs.items(), 2):
        pairs = [
            (first, second)
            for question, first in of_a.items()
            if first is not None and (second := of_b.get(question)) is not None
        ]
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        difference = mean_of(second - first for first, second in pairs)
        found.append(DecomposerPair(a, b, len(pairs), correlations(left, right), difference))
    return found
