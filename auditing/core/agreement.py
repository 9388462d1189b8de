"""How far people agree: every coefficient with its interval, or the reason why it is undefined.

Sources: the coefficients are those of `agreement_formulas.py`, named there; Feinstein and Cicchetti, J. Clin.
Epidemiol. 43 (1990), for high agreement with low kappa; Wongpakaran et al., BMC Med. Res. Methodol. 13:61
(2013), for showing AC1 beside it. Intervals draw whole cases; see `estimates.py`. Choices, in words:

- Where all compared labels are equal no chance-corrected coefficient has a value, Gwet's and
  Brennan-Prediger's included: such data cannot tell agreement from a scale that was not used. In resamples,
  where a formula still gives a number, that number counts.
- The scale is always given in full, because categories that nobody used change weighted coefficients,
  Brennan-Prediger and Gwet's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditing.core import agreement_formulas as formulas
from auditing.core.estimates import RESAMPLES, Estimate, case_weights, estimate
from auditing.core.statistics import Floats

SCALE = ("incorrect", "uncertain", "correct")
NOT_ASSIGNED, SKIPPED, CANNOT_JUDGE = -1, -2, -3

# A skew warning: agreement at least this high, kappa at most this high, and AC1 above kappa by this much.
HIGH_AGREEMENT, LOW_KAPPA, WIDE_GAP = 0.8, 0.4, 0.3

Label = str | int | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """Labels of the same segments by several people, case by case.

    Attributes
    ----------
    categories : tuple of str
        The full scale in its order.
    cases : tuple of int arrays of shape (segments, raters)
        Positions on the scale; NOT_ASSIGNED, SKIPPED or CANNOT_JUDGE where there is no label.
    """

    categories: tuple[str, ...]
    cases: tuple[NDArray[np.int64], ...]

    def __post_init__(self) -> None:
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise ValueError("A scale needs at least one category, each named once.")
        if len({case.shape[1] if case.ndim == 2 else -1 for case in self.cases} | {self.raters}) != 1:
            raise ValueError("Every case needs a matrix of segments by raters, with the same raters.")
        for case in self.cases:
            if case.size and not CANNOT_JUDGE <= case.min() <= case.max() < len(self.categories):
                raise ValueError(f"A code lies outside {CANNOT_JUDGE} to {len(self.categories) - 1}.")

    @property
    def raters(self) -> int:
        """Number of raters; 0 without cases."""
        return self.cases[0].shape[1] if self.cases and self.cases[0].ndim == 2 else 0

    @staticmethod
    def from_labels(
        cases: Sequence[Sequence[Sequence[Label]]], categories: Sequence[str] = SCALE
    ) -> "Ratings":
        """Read labels by name.

        Parameters
        ----------
        cases : sequence of cases
            A case is a sequence of segments, a segment a sequence with one entry per rater: a category, or
            None (as NOT_ASSIGNED), NOT_ASSIGNED, SKIPPED or CANNOT_JUDGE. A case without segments is left out.
        categories : sequence of str
            The full scale in its order.

        Raises
        ------
        ValueError
            If a label is unknown or segments have unequal numbers of raters.
        """
        codes: dict[Label, int] = {category: place for place, category in enumerate(categories)}
        codes |= {
            None: NOT_ASSIGNED,
            NOT_ASSIGNED: NOT_ASSIGNED,
            SKIPPED: SKIPPED,
            CANNOT_JUDGE: CANNOT_JUDGE,
        }
        unknown = {label for case in cases for row in case for label in row if label not in codes}
        if unknown:
            named = ", ".join(sorted(map(repr, unknown)))
            raise ValueError(f"Not on the scale {', '.join(categories)}: {named}.")
        if len({len(row) for case in cases for row in case}) > 1:
            raise ValueError("Every segment needs one entry for each rater.")
        matrices = [
            np.array([[codes[label] for label in row] for row in case], dtype=np.int64)
            for case in cases
            if len(case)
        ]
        return Ratings(tuple(categories), tuple(matrices))

    def pair(self, first: int, second: int) -> "Ratings":
        """Keep two raters, by their 0-based places."""
        return Ratings(self.categories, tuple(case[:, [first, second]] for case in self.cases))

    def collapsed(self, positive: str = "correct") -> "Ratings":
        """Join all other categories into "not ..."; the two stand in ascending order."""
        place = self.categories.index(positive)
        cases = tuple(np.where(case < 0, case, (case == place).astype(np.int64)) for case in self.cases)
        return Ratings((f"not {positive}", positive), cases)


@dataclass(frozen=True, slots=True)
class RaterCoverage:
    """What one rater left on all segments."""

    rated: int
    cannot_judge: int
    skipped: int
    not_assigned: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """All segments, those with at least two labels, and the four states of each rater."""

    segments: int
    compared: int
    raters: tuple[RaterCoverage, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a page says about a coefficient.

    Attributes
    ----------
    title, explanation : str
        Name, and one sentence.
    raters : int
        2 if it compares exactly two raters, else 0.
    weights : str
        none, linear or quadratic; alpha has its level of measurement here.
    binary : bool
        Whether it needs a scale of two categories.
    corrected : bool
        Whether chance is taken out, so that it is undefined where all labels are equal.
    """

    title: str
    explanation: str
    raters: int
    weights: Literal["none", "linear", "quadratic", "nominal", "ordinal", "interval"] = "none"
    binary: bool = False
    corrected: bool = True


_NEAR = "Labels that stand closer on the scale count as closer"
MEASURES: dict[str, Measure] = {
    "raw": Measure("Raw agreement", "Share of pairs of labels that are equal.", 0, corrected=False),
    "cohen": Measure("Cohen's kappa", "Agreement of two raters beyond chance.", 2),
    "cohen_linear": Measure("Weighted kappa, linear", f"{_NEAR}, by their distance.", 2, "linear"),
    "cohen_quadratic": Measure("Weighted kappa, quadratic", f"{_NEAR}, by its square.", 2, "quadratic"),
    "fleiss": Measure("Fleiss' kappa", "Any number of raters who share one habit of labelling.", 0),
    "conger": Measure("Conger's kappa", "Any number of raters, each with an own habit of labelling.", 0),
    "alpha_nominal": Measure(
        "Krippendorff's alpha", "Any raters and gaps; categories without order.", 0, "nominal"
    ),
    "alpha_ordinal": Measure(
        "Krippendorff's alpha, ordinal", "Any raters and gaps; categories in order.", 0, "ordinal"
    ),
    "alpha_interval": Measure(
        "Krippendorff's alpha, interval", "Any raters and gaps; categories at equal steps.", 0, "interval"
    ),
    "ac1": Measure("Gwet's AC1", "Steady where nearly all labels are the same.", 0),
    "ac2_linear": Measure("Gwet's AC2, linear", f"AC1 on an ordered scale. {_NEAR}.", 0, "linear"),
    "ac2_quadratic": Measure("Gwet's AC2, quadratic", f"AC1 on an ordered scale. {_NEAR}.", 0, "quadratic"),
    "brennan_prediger": Measure("Brennan-Prediger", "By chance every category is equally likely.", 0),
    "brennan_prediger_linear": Measure(
        "Brennan-Prediger, linear", f"{_NEAR}, by their distance.", 0, "linear"
    ),
    "brennan_prediger_quadratic": Measure(
        "Brennan-Prediger, quadratic", f"{_NEAR}, by its square.", 0, "quadratic"
    ),
    "pabak": Measure("PABAK", "Kappa adjusted for prevalence and bias; two categories.", 2, binary=True),
    "prevalence_index": Measure(
        "Prevalence index", "Near 1 where nearly all labels are the same.", 2, binary=True, corrected=False
    ),
    "bias_index": Measure(
        "Bias index", "0 where both raters use the categories equally often.", 2, binary=True, corrected=False
    ),
}


def agreement(
    ratings: Ratings, keys: Iterable[str] | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return coefficients of agreement, all from the same resamples of cases.

    Parameters
    ----------
    ratings : Ratings
        Labels; whoever calls decides which (blind first submissions, say).
    keys : iterable of str
        Which of MEASURES; all by default.
    seed, resamples : int
        Of the case bootstrap; no resamples, no intervals.

    Raises
    ------
    ValueError
        If a key is unknown.
    """
    chosen = list(MEASURES) if keys is None else list(keys)
    if unknown := [key for key in chosen if key not in MEASURES]:
        raise ValueError(f"Unknown measure {unknown[0]!r}; use one of {', '.join(MEASURES)}.")
    layout = formulas.Layout(len(ratings.categories), ratings.raters)
    rows = formulas.count_cases(ratings.cases, layout)
    counts = layout.split(rows)
    rows = rows[counts.rated > 0]
    total = layout.split(rows.sum(axis=0, keepdims=True))
    n, cases = int(total.compared[0]), int((counts.compared > 0).sum())
    weights = case_weights(len(rows), seed=seed, resamples=resamples)
    found = {}
    for key in chosen:
        formula = partial(_apply, formula=_formula(key, layout.q), layout=layout)
        because = _undefined(MEASURES[key], ratings, total)
        found[key] = estimate(rows, formula, weights, n=n, cases=cases, undefined_because=because)
    return found


def coverage(ratings: Ratings) -> Coverage:
    """Count what there is and, apart from each other, the three kinds of what there is not (trust list, AG-06)."""
    codes = np.concatenate(ratings.cases) if ratings.cases else np.empty((0, 0), dtype=np.int64)
    raters = tuple(
        RaterCoverage(
            rated=int((column >= 0).sum()),
            cannot_judge=int((column == CANNOT_JUDGE).sum()),
            skipped=int((column == SKIPPED).sum()),
            not_assigned=int((column == NOT_ASSIGNED).sum()),
        )
        for column in codes.T
    )
    return Coverage(len(codes), int(((codes >= 0).sum(axis=1) >= 2).sum()), raters)


def skew_warning(found: dict[str, Estimate]) -> str:
    """Return a sentence where high raw agreement stands beside a kappa near 0, else an empty one.

    Reads "raw", "ac1" and "cohen" (else "fleiss", else "alpha_nominal") of what `agreement` returned.
    """
    raw, ac1 = _value(found, "raw"), _value(found, "ac1")
    kappa_key = next(
        (key for key in ("cohen", "fleiss", "alpha_nominal") if _value(found, key) is not None), ""
    )
    kappa = _value(found, kappa_key)
    if raw is None or ac1 is None or kappa is None:
        return ""
    if raw < HIGH_AGREEMENT or kappa > LOW_KAPPA or ac1 - kappa < WIDE_GAP:
        return ""
    return (
        f"{100 * raw:.1f} % of the pairs of labels are equal, yet {MEASURES[kappa_key].title} is {kappa:.2f}: nearly "
        f"all labels are the same, so that chance alone would make them agree. Read it beside Gwet's AC1, {ac1:.2f}."
    )


def _value(found: dict[str, Estimate], key: str) -> float | None:
    return found[key].value if key in found else None


def _apply(rows: Floats, *, formula: formulas.Formula, layout: formulas.Layout) -> Floats:
    return formula(layout.split(rows))


def _formula(key: str, q: int) -> formulas.Formula:
    plain: dict[str, formulas.Formula] = {
        "pabak": formulas.pabak,
        "prevalence_index": formulas.prevalence_index,
        "bias_index": formulas.bias_index,
    }
    if key in plain:
        return plain[key]
    kind = MEASURES[key].weights
    if kind == "nominal" or kind == "ordinal" or kind == "interval":
        return partial(formulas.alpha, level=kind)
    family = key.removesuffix(f"_{kind}")
    weighted = {
        "raw": formulas.observed,
        "cohen": formulas.cohen,
        "fleiss": formulas.fleiss,
        "conger": formulas.conger,
        "ac1": formulas.gwet,
        "ac2": formulas.gwet,
        "brennan_prediger": formulas.brennan_prediger,
    }
    return partial(weighted[family], weights=formulas.agreement_weights(q, kind))


def _undefined(measure: Measure, ratings: Ratings, total: formulas.Counts) -> str:
    """Return why a measure has no value on these data; empty if it has one."""
    if not total.rated[0]:
        return "there are no labels"
    if not total.compared[0]:
        return "no segment has two labels"
    if measure.raters and ratings.raters != measure.raters:
        return f"it compares exactly two raters; there are {ratings.raters}"
    if measure.binary and len(ratings.categories) != 2:
        return f"it needs two categories; the scale has {len(ratings.categories)}"
    if measure.corrected and len(ratings.categories) == 1:
        return "the scale has only one category"
    if measure.corrected and np.count_nonzero(total.coincidences[0].sum(axis=1)) == 1:
        return "all labels are equal"
    return ""
