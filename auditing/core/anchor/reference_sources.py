"""Whether model scores depend on who wrote the reference.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.5 (the same responses scored
against human-refined and two generated references: correlations over models, mean and largest difference, and whether
a model is favoured by its own reference). Choices where the paper is open (spec D4, D-13), in words:

- Every pair of sources is compared facet by facet over the models that have a score under both.
- "max" is the largest single difference of a model's scores; the mean is over all single differences. The values of
  each pair and facet stand beside them.
- A model's gain by its own reference is its score there minus its mean under the other sources. The same difference of
  the other models says how strict that reference is; what is left is the favour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from auditing.core.statistics import correlations, mean_of

SourceScores = Mapping[str, Mapping[str, Mapping[str, float | None]]]
"""Score by source, facet and model; None where there is none."""


@dataclass(frozen=True, slots=True)
class SourceCell:
    """Two sources on one facet.

    Attributes
    ----------
    a, b, facet : str
        Which.
    n : int
        Models with a score under both; `left_out` is the number of those with one score only.
    pearson, spearman : float or None
        Over models.
    mad, max_abs : float or None
        Mean and largest absolute difference, in points of the scale.
    max_model : str or None
        The model of the largest difference; the first of several.
    mean_difference : float or None
        Mean of b minus a: above 0 where b is the milder reference.
    """

    a: str
    b: str
    facet: str
    n: int
    left_out: int
    pearson: float | None
    spearman: float | None
    mad: float | None
    max_abs: float | None
    max_model: str | None
    mean_difference: float | None


@dataclass(frozen=True, slots=True)
class Extent:
    """Smallest, mean and largest of the values that are defined, and how many are."""

    min: float | None
    mean: float | None
    max: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """All cells, the extent of both coefficients, and mean and largest of all single differences."""

    cells: tuple[SourceCell, ...]
    pearson: Extent
    spearman: Extent
    mad: float | None
    max_abs: float | None
    n_differences: int


@dataclass(frozen=True, slots=True)
class OwnReference:
    """A model under the reference that it wrote, on one facet.

    Attributes
    ----------
    source, model, facet : str
        Which.
    own : float or None
        Its score there.
    others : float or None
        Its mean under the other sources that have a score.
    gain : float or None
        The difference.
    gain_of_others : float or None
        Mean of the same difference over the other models; `n_others` of them have one.
    favour : float or None
        `gain` minus `gain_of_others`.
    best_source : str or None
        Where the model scores highest; the first of several.
    """

    source: str
    model: str
    facet: str
    own: float | None
    others: float | None
    gain: float | None
    gain_of_others: float | None
    n_others: int
    favour: float | None
    best_source: str | None


def compare_sources(scores: SourceScores) -> SourceComparison:
    """Compare every two sources on every facet (appendix A.5).

    Parameters
    ----------
    scores : mapping of source to mapping of facet to mapping of model to score
        Sources and facets are taken in their order; a facet that one source lacks has no models there.
    """
    facets = facets_of(scores)
    cells, differences = [], []
    for a, b in combinations(scores, 2):
        for facet in facets:
            cell, found = _cell(a, b, facet, scores)
            cells.append(cell)
            differences += found
    sizes = [abs(difference) for difference in differences]
    return SourceComparison(
        tuple(cells),
        _extent([cell.pearson for cell in cells]),
        _extent([cell.spearman for cell in cells]),
        mean_of(sizes),
        max(sizes, default=None),
        len(sizes),
    )


def own_references(scores: SourceScores, writers: Mapping[str, str]) -> list[OwnReference]:
    """Return what each reference does for the model that wrote it (appendix A.5).

    Parameters
    ----------
    scores : mapping of source to mapping of facet to mapping of model to score
        See `compare_sources`.
    writers : mapping of source to model
        Sources that a model wrote; people's are not named.
    """
    found = []
    for source, model in writers.items():
        if source not in scores:
            continue
        for facet in facets_of(scores):
            rows = {
                name: _gain(scores, source, facet, name)
                for name in dict.fromkeys(m for by in scores.values() for m in by.get(facet, {}))
            }
            own, others, gain = rows.get(model) or _gain(scores, source, facet, model)
            rest = [row[2] for name, row in rows.items() if name != model and row[2] is not None]
            usual = mean_of(rest)
            under = {
                name: score for name in scores if (score := _score(scores, name, facet, model)) is not None
            }
            found.append(
                OwnReference(
                    source,
                    model,
                    facet,
                    own,
                    others,
                    gain,
                    usual,
                    len(rest),
                    gain - usual if gain is not None and usual is not None else None,
                    max(under, key=lambda name: under[name], default=None),
                )
            )
    return found


def facets_of(scores: SourceScores) -> list[str]:
    """Return the facets in the order in which they first occur."""
    return list(dict.fromkeys(facet for by_facet in scores.values() for facet in by_facet))


def _cell(a: str, b: str, facet: str, scores: SourceScores) -> tuple[SourceCell, list[float]]:
    models = dict.fromkeys((*scores[a].get(facet, {}), *scores[b].get(facet, {})))
    pairs = {model: (_score(scores, a, facet, model), _score(scores, b, facet, model)) for model in models}
    both = {model: (x, y) for model, (x, y) in pairs.items() if x is not None and y is not None}
    one = sum((x is None) != (y is None) for x, y in pairs.values())
    found = correlations([x for x, _ in both.values()], [y for _, y in both.values()])
    differences = {model: y - x for model, (x, y) in both.items()}
    widest = max(differences, key=lambda model: abs(differences[model]), default=None)
    sizes = [abs(difference) for difference in differences.values()]
    cell = SourceCell(
        a,
        b,
        facet,
        len(both),
        one,
        found.pcc,
        found.src,
        mean_of(sizes),
        max(sizes, default=None),
        widest,
        mean_of(list(differences.values())),
    )
    return cell, list(differences.values())


def _gain(
    scores: SourceScores, source: str, facet: str, model: str
) -> tuple[float | None, float | None, float | None]:
    own = _score(scores, source, facet, model)
    rest = [_score(scores, name, facet, model) for name in scores if name != source]
    others = mean_of([score for score in rest if score is not None])
    return own, others, own - others if own is not None and others is not None else None


def _score(scores: SourceScores, source: str, facet: str, model: str) -> float | None:
    return scores[source].get(facet, {}).get(model)


def _extent(values: Sequence[float | None]) -> Extent:
    known = [value for value in values if value is not None]
    return Extent(min(known, default=None), mean_of(known), max(known, default=None), len(known))
