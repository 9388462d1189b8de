"""Pairwise kappa against scikit-learn and by hand, what stands beside it, and its intervals."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from auditing.core.anchor.rating_agreement import matrix, pairwise

ROW = st.fixed_dictionaries({name: st.none() | st.integers(1, 5) for name in "abc"})


def rated(*rows: tuple[int | None, ...]) -> dict[str, dict[str, int | None]]:
    """Return ratings of the judges a, b, c, ... of items in a row."""
    return {f"q{i}": dict(zip("abcd", row, strict=False)) for i, row in enumerate(rows)}


def test_a_table_by_hand() -> None:
    # Ratings 1-1, 1-2, 3-3, 5-3: distances 0, 1, 0, 2, mean 3/4. Shares of a: 1/2, 0, 1/4, 0, 1/4; of b: 1/4, 1/4, 1/2.
    # By chance, from 1: (0 + 1/4 + 1) / 2 = 5/8; from 3: (1/2 + 1/4) / 4 = 3/16; from 5: (1 + 3/4 + 1) / 4 = 11/16.
    (pair,) = pairwise(rated((1, 1), (1, 2), (3, 3), (5, 3), (4, None), (None, 2), (None, None)))
    assert pair.kappa == pytest.approx(1 - (3 / 4) / (24 / 16))
    assert (pair.n, pair.only_a, pair.only_b, pair.neither) == (4, 1, 1, 1)
    assert (pair.agreement, pair.within_one) == (0.5, 0.75)
    # Equal by chance: 1/2 x 1/4 + 1/4 x 1/2.
    assert pair.expected == pytest.approx(1 / 4)
    # Of eight ratings three are a 1 and three a 3.
    assert pair.prevalence == pytest.approx(3 / 8)
    assert pair.difference == pytest.approx((1 + 2 + 3 + 3) / 4 - (1 + 1 + 3 + 5) / 4)
    assert pair.table[0] == (1, 1, 0, 0, 0)
    assert pair.table[4] == (0, 0, 1, 0, 0)


@given(st.lists(ROW, max_size=30))
def test_equals_scikit_learn_on_the_full_scale(rows: list[dict[str, int | None]]) -> None:
    ratings = {f"q{i}": row for i, row in enumerate(rows)}
    for pair in pairwise(ratings, ["a", "b", "c"]):
        both = [(row[pair.a], row[pair.b]) for row in rows if row[pair.a] and row[pair.b]]
        assert pair.n == len(both)
        assert pair.n + pair.only_a + pair.only_b + pair.neither == len(rows)
        if len({value for values in both for value in values}) > 1:
            expected = cohen_kappa_score(*zip(*both, strict=True), labels=[1, 2, 3, 4, 5], weights="linear")
            assert pair.kappa == pytest.approx(expected, abs=1e-9)
        else:
            assert pair.kappa is None
            assert pair.why_not


def test_three_judges_of_many_items_equal_scikit_learn() -> None:
    rng = random.Random(6)
    columns = [[min(5, max(1, round(rng.gauss(3.4, 1.2)))) for _ in range(3000)] for _ in range(3)]
    ratings = {str(i): dict(zip("abc", row, strict=True)) for i, row in enumerate(zip(*columns, strict=True))}
    found = pairwise(ratings)
    assert [(pair.a, pair.b) for pair in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in found:
        left, right = ("abc".index(name) for name in (pair.a, pair.b))
        expected = cohen_kappa_score(columns[left], columns[right], labels=[1, 2, 3, 4, 5], weights="linear")
        assert pair.kappa == pytest.approx(expected, abs=1e-9)


def test_where_there_is_no_kappa_there_is_a_reason() -> None:
    (nothing,) = pairwise(rated((1, None), (None, 2)))
    assert (nothing.kappa, nothing.agreement, nothing.prevalence, nothing.n) == (None, None, None, 0)
    assert "no item" in nothing.why_not
    (same,) = pairwise(rated((5, 5), (5, 5)))
    assert (same.kappa, same.agreement, same.prevalence) == (None, 1.0, 1.0)
    assert "same rating" in same.why_not


def test_high_agreement_with_low_kappa_is_said() -> None:
    # 9 of 10 pairs equal, all of them 5; kappa with linear weights is 0 where one rater never differs.
    (skewed,) = pairwise(rated(*[(5, 5)] * 9, (5, 4)))
    assert (skewed.agreement, skewed.kappa) == (0.9, pytest.approx(0))
    assert "90.0 % of the ratings are equal, yet kappa is" in skewed.warning
    assert "95.0 % of all ratings are the same" in skewed.warning
    (plain,) = pairwise(rated((1, 1), (5, 5), (3, 3), (2, 4)))
    assert plain.warning == ""


def test_a_matrix_is_symmetric() -> None:
    pairs = pairwise(rated((1, 1, 1), (5, 5, 1), (3, 4, 5)))
    found = matrix(pairs, "cab")
    assert [found[i][i] for i in range(3)] == [None, None, None]
    assert found[0][1] == found[1][0] == next(pair.kappa for pair in pairs if (pair.a, pair.b) == ("a", "c"))
    assert matrix(pairs, ["a", "x"]) == [[None, None], [None, None]]


def test_intervals_hold_the_value_and_whole_questions_widen_them() -> None:
    rng = random.Random(1)
    rows = []
    for _ in range(40):
        base = rng.randint(1, 5)
        rows.append((base, min(5, max(1, base + rng.choice((-1, 0, 0, 1))))))
    # Each question ten times over: drawn alone, the copies look like ten times as much data.
    copies = rated(*[row for row in rows for _ in range(10)])
    questions = {item: str(i // 10) for i, item in enumerate(copies)}
    (alone,) = pairwise(copies, resamples=1000)
    (together,) = pairwise(copies, resamples=1000, questions=questions)
    (once,) = pairwise(rated(*rows), resamples=1000)
    assert alone.low < alone.kappa < alone.high
    assert together.high - together.low > 2 * (alone.high - alone.low)
    # Ten copies of a question say as much as one.
    assert together.high - together.low == pytest.approx(once.high - once.low, rel=0.15)
    assert pairwise(copies)[0].low is None
    with pytest.raises(ValueError, match="has no question"):
        pairwise(copies, resamples=10, questions={})


def test_ratings_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="1 to 5"):
        pairwise(rated((1, 6)))
