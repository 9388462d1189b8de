"""How far two judges agree: weighted kappa of every pair, and what it must be read beside.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4 and Figures 5 and 6 (pairwise
Cohen's kappa with linear weights over the scale from 1 to 5). Choices where the paper is open (spec C4, D4), in words:

- A pair is compared on the items that both rated; the others are counted.
- The scale is 1 to 5 in full, whether a rating was used or not: leaving one out would change a weighted kappa.
- The table of both raters' ratings stands beside kappa, because kappa falls where nearly all ratings are equal, however
  often the two agree.
- An interval draws items with replacement. Answers of several models to one question are not independent; whoever
  pools them names the question of each item, and whole questions are drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from auditing.core.agreement import HIGH_AGREEMENT, LOW_KAPPA
from auditing.core.anchor.judge_reply import SCALE
from auditing.core.anchor.panel import Ratings, check_ratings, item_weights, judges_of
from auditing.core.estimates import Estimate, estimate
from auditing.core.statistics import Floats

SIZE = len(SCALE)
_DISTANCE: Floats = np.abs(np.subtract.outer(np.arange(SIZE), np.arange(SIZE))).astype(np.float64)
_NEAR: Floats = (_DISTANCE <= 1).astype(np.float64)
_EQUAL: Floats = np.eye(SIZE)

Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the items that both rated.

    Attributes
    ----------
    a, b : str
        The raters.
    kappa : float or None
        Cohen's kappa with linear weights, -1 to 1.
    why_not : str
        A sentence where kappa is None.
    low, high : float or None
        95 % interval of kappa; None if none was asked for or there is none to speak of.
    n : int
        Items that both rated.
    only_a, only_b, neither : int
        Items left out because one or both ratings are missing.
    agreement, within_one : float or None
        Shares of equal ratings, and of ratings at most one apart.
    expected : float or None
        Share of equal ratings that is expected by chance.
    prevalence : float or None
        Share of the most frequent rating among all ratings of both, 0.2 to 1.
    difference : float or None
        Mean of b minus mean of a.
    table : tuple of tuples of int
        Items by rating of a (rows, 1 to 5) and of b (columns).
    warning : str
        A sentence where many ratings are equal and kappa is low all the same.
    """

    a: str
    b: str
    kappa: float | None
    why_not: str
    low: float | None
    high: float | None
    n: int
    only_a: int
    only_b: int
    neither: int
    agreement: float | None
    within_one: float | None
    expected: float | None
    prevalence: float | None
    difference: float | None
    table: tuple[tuple[int, ...], ...]
    warning: str


def pairwise(
    ratings: Ratings,
    judges: Sequence[str] | None = None,
    *,
    seed: int = 0,
    resamples: int = 0,
    questions: Mapping[str, str] | None = None,
) -> list[PairAgreement]:
    """Compare every two judges on one facet (Figure 5).

    Parameters
    ----------
    ratings : mapping of item to mapping of judge to rating
        1 to 5, or None where a rating is missing.
    judges : sequence of str, optional
        Judges in their order; by default those that occur, in the order in which they do.
    seed, resamples : int
        Of the intervals; no resamples, no intervals.
    questions : mapping of item to question, optional
        Items of one question are drawn together; by default every item is a question of its own.

    Raises
    ------
    ValueError
        If a rating is not on the scale, or an item has no question.
    """
    check_ratings(ratings)
    names = list(judges) if judges is not None else judges_of(ratings)
    codes = np.array(
        [[(rated.get(name) or 0) - 1 for name in names] for rated in ratings.values()], dtype=np.int64
    ).reshape(len(ratings), len(names))
    groups = _groups(ratings, questions)
    found = []
    for left, right in combinations(range(len(names)), 2):
        first, second = codes[:, left], codes[:, right]
        both = (first >= 0) & (second >= 0)
        cells = first[both] * SIZE + second[both]
        table = np.bincount(cells, minlength=SIZE * SIZE).reshape(SIZE, SIZE)
        low, high = _interval(cells, table, None if groups is None else groups[both], seed, resamples)
        alone = int((first >= 0).sum()) - len(cells), int((second >= 0).sum()) - len(cells)
        missing = len(codes) - len(cells) - sum(alone)
        found.append(pair_agreement(names[left], names[right], table, (*alone, missing), (low, high)))
    return found


def pair_agreement(
    a: str,
    b: str,
    table: Table,
    left_out: tuple[int, int, int] = (0, 0, 0),
    interval: tuple[float | None, float | None] = (None, None),
) -> PairAgreement:
    """Describe a table of two raters' ratings.

    Parameters
    ----------
    a, b : str
        Names of the raters.
    table : int array of shape (5, 5)
        Items by rating of a (rows) and of b (columns).
    left_out : (int, int, int)
        Items with a rating of a only, of b only, and of neither.
    interval : (float or None, float or None)
        Of kappa, from whoever knows the items.
    """
    n = int(table.sum())
    counts = tuple(tuple(row) for row in table.tolist())
    if not n:
        why_not = "There is no item that both rated."
        return PairAgreement(
            a, b, None, why_not, None, None, 0, *left_out, None, None, None, None, None, counts, ""
        )
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    value = float(_kappa(table.reshape(1, -1).astype(np.float64))[0])
    kappa = value if np.isfinite(value) else None
    agreement = float((shares * _EQUAL).sum())
    prevalence = float(((rows + columns) / 2).max())
    low, high = interval if kappa is not None else (None, None)
    return PairAgreement(
        a=a,
        b=b,
        kappa=kappa,
        why_not="" if kappa is not None else "Both gave the same rating to every item that both rated.",
        low=low,
        high=high,
        n=n,
        only_a=left_out[0],
        only_b=left_out[1],
        neither=left_out[2],
        agreement=agreement,
        within_one=float((shares * _NEAR).sum()),
        expected=float(rows @ columns),
        prevalence=prevalence,
        difference=float((columns - rows) @ np.array(SCALE)),
        table=counts,
        warning=_warning(kappa, agreement, prevalence),
    )


def matrix(pairs: Sequence[PairAgreement], judges: Sequence[str]) -> list[list[float | None]]:
    """Return kappa as a symmetric matrix in the order of the judges; None on the diagonal and where undefined."""
    known = {frozenset((pair.a, pair.b)): pair.kappa for pair in pairs}
    return [[known.get(frozenset((row, column))) for column in judges] for row in judges]


def _warning(kappa: float | None, agreement: float, prevalence: float) -> str:
    if kappa is None or agreement < HIGH_AGREEMENT or kappa > LOW_KAPPA:
        return ""
    return (
        f"{100 * agreement:.1f} % of the ratings are equal, yet kappa is {kappa:.2f}: {100 * prevalence:.1f} % of all "
        "ratings are the same, so that chance alone would make the two agree."
    )


def _groups(ratings: Ratings, questions: Mapping[str, str] | None) -> NDArray[np.int64] | None:
    if questions is None:
        return None
    if missing := [item for item in ratings if item not in questions]:
        raise ValueError(f"The item {missing[0]!r} has no question; name the question of every item.")
    places = {name: place for place, name in enumerate(dict.fromkeys(questions[item] for item in ratings))}
    return np.array([places[questions[item]] for item in ratings], dtype=np.int64)


def _interval(
    cells: NDArray[np.int64], table: Table, groups: NDArray[np.int64] | None, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    if not resamples or len(cells) < 2:
        return None, None
    found: Estimate
    if groups is None:
        # Drawing single items with replacement is drawing the cells of their table.
        drawn = np.random.default_rng(seed).multinomial(len(cells), table.ravel() / len(cells), resamples)
        found = estimate(
            table.reshape(1, -1).astype(np.float64),
            _kappa,
            np.empty((resamples, 0)),
            n=len(cells),
            cases=len(cells),
            sums=drawn.astype(np.float64),
        )
    else:
        present, places = np.unique(groups, return_inverse=True)
        counted = np.bincount(places * SIZE * SIZE + cells, minlength=len(present) * SIZE * SIZE)
        found = estimate(
            counted.reshape(len(present), SIZE * SIZE).astype(np.float64),
            _kappa,
            item_weights(len(present), seed=seed, resamples=resamples),
            n=len(cells),
            cases=len(present),
        )
    return found.low, found.high


def _kappa(sums: Floats) -> Floats:
    """Return kappa with linear weights of tables in rows of 25; NaN where no disagreement is expected by chance."""
    tables = sums.reshape(-1, SIZE, SIZE)
    tables = tables / np.maximum(1.0, tables.sum(axis=(1, 2), keepdims=True))
    chance = np.einsum("mi,ij,mj->m", tables.sum(axis=2), _DISTANCE, tables.sum(axis=1))
    observed = np.einsum("mij,ij->m", tables, _DISTANCE)
    kappa: Floats = 1 - np.divide(observed, chance, out=np.full(len(tables), np.nan), where=chance > 0)
    return kappa
