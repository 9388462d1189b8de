"""The same chains decomposed by several models: what changes, and what people say of it.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", C.4 (Table 6: facts per chain, edges per fact, correlation of the GRCS; human check of atomicity,
hallucination and validity of dependencies). Choices where the paper is open, in words:

- Two decomposers are compared on the questions that both have scored.
- A criterion's share is of the words given, and unsure counts as not met; people and judges stay apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from auditing.core.grapheval.agreement import CRITERIA
from auditing.core.grapheval.study import Decomposition
from auditing.core.statistics import Correlations, correlations


@dataclass(frozen=True, slots=True)
class CriterionShare:
    """How often a criterion is met: of `n` words `met` are yes; `share` is their ratio, None without words."""

    n: int
    met: int
    share: float | None


@dataclass(frozen=True, slots=True)
class Decomposer:
    """One decomposer's study.

    Attributes
    ----------
    name : str
        Of the decomposer, unique among those compared.
    decomposition : Decomposition
        Facts, edges and changed dependencies.
    grcs : mapping of question to (float or None)
        GRCS of its questions.
    words : mapping of str to sequence of mappings
        What people or a judge say of its chains: per rater, "yes", "no" or "unsure" by criterion.
    """

    name: str
    decomposition: Decomposition
    grcs: Mapping[str, float | None]
    words: Mapping[str, Sequence[Mapping[str, str]]]


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


def compare_pairs(decomposers: Sequence[Decomposer]) -> list[DecomposerPair]:
    """Correlate the GRCS of every pair of decomposers over the questions that both have scored.

    Raises
    ------
    ValueError
        If two decomposers have one name.
    """
    names = [decomposer.name for decomposer in decomposers]
    if len(set(names)) < len(names):
        raise ValueError("Two of the decomposers have the same name; give each its own.")
    found = []
    for place, a in enumerate(decomposers):
        for b in decomposers[place + 1 :]:
            pairs = [
                (first, second)
                for question, first in a.grcs.items()
                if first is not None and (second := b.grcs.get(question)) is not None
            ]
            left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            difference = sum(right) / len(pairs) - sum(left) / len(pairs) if pairs else None
            found.append(DecomposerPair(a.name, b.name, len(pairs), correlations(left, right), difference))
    return found
