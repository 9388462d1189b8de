"""The panel against people: by hand, against SciPy and scikit-learn, and on real Likert ratings."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from auditing.core.anchor.people import POOLED, against_people, compare_scores, round_half_up

SCORES = st.integers(6, 30).map(lambda sixths: sixths / 6)


def test_halves_are_rounded_up() -> None:
    assert [round_half_up(score) for score in (1.0, 1.49, 1.5, 2.5, 3.4999, 4.5, 5.0)] == [
        1,
        1,
        2,
        3,
        3,
        5,
        5,
    ]
    # Seven judges: 3 + 3.5 sevenths cannot be, but a sum of tenths can fall short of its half.
    assert round_half_up(sum([0.1] * 35) - 1e-15) == 4


def test_two_facets_by_hand() -> None:
    panel = {
        "answer": {
            "q1": {"a": 1, "b": 2},
            "q2": {"a": 3, "b": 3},
            "q3": {"a": 5, "b": 4},
            "q4": {"a": None, "b": None},
        },
        "hallucination": {"q1": {"a": 2, "b": 2}, "q2": {"a": 4, "b": None}},
    }
    people = {
        "answer": {"q1": {"p": 2}, "q2": {"p": 3}, "q3": {"p": 4}, "q4": {"p": 5}, "q5": {"p": 1}},
        "hallucination": {"q1": {"p": 5, "r": 4}, "q2": {"p": 5, "r": None}, "q3": {"p": None}},
    }
    pooled, answer, hallucination = against_people(panel, people)
    assert [one.facet for one in (pooled, answer, hallucination)] == [POOLED, "answer", "hallucination"]
    # Answer: 1.5, 3, 4.5 against 2, 3, 4. Rounded, the panel gives 2, 3, 5: one pair of three is one apart.
    assert (answer.n, answer.only_panel, answer.only_people, answer.neither) == (3, 0, 2, 0)
    assert answer.pearson.value == answer.spearman.value == pytest.approx(1)
    assert (answer.panel_mean, answer.people_mean, answer.difference.value) == (3, 3, 0)
    assert answer.agreement.agreement == pytest.approx(2 / 3)
    # By chance: from 2: (0 + 1 + 2) / 9, from 3: (1 + 0 + 1) / 9, from 5: (3 + 2 + 1) / 9; observed 1/3.
    assert answer.agreement.kappa == pytest.approx(1 - (1 / 3) / (11 / 9))
    assert answer.points == ((1.5, 2, 1), (3, 3, 1), (4.5, 4, 1))
    assert [(point.level, point.n, point.people.value) for point in answer.calibration] == [
        (1, 0, None),
        (2, 1, 2),
        (3, 1, 3),
        (4, 0, None),
        (5, 1, 4),
    ]
    # Hallucination: 2 and 4 against 4.5 and 5; q3 has neither.
    assert (hallucination.n, hallucination.neither) == (2, 1)
    assert hallucination.difference.value == pytest.approx((2.5 + 1) / 2)
    assert (pooled.n, pooled.only_people, pooled.neither) == (5, 2, 1)
    assert pooled.difference.value == pytest.approx((0.5 + 0 - 0.5 + 2.5 + 1) / 5)
    x, y = [1.5, 3, 4.5, 2, 4], [2, 3, 4, 4.5, 5]
    assert pooled.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic)
    assert pooled.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    # Three questions, of which two have both facets.
    assert (pooled.pearson.n, pooled.pearson.cases) == (5, 3)


@given(st.lists(st.tuples(SCORES, SCORES), max_size=25))
def test_equals_scipy_and_scikit_learn(rows: list[tuple[float, float]]) -> None:
    panel = {str(i): left for i, (left, _) in enumerate(rows)}
    people = {str(i): right for i, (_, right) in enumerate(rows)}
    found = compare_scores("answer", panel, people, resamples=20)
    x, y = list(panel.values()), list(people.values())
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert found.pearson.value is found.spearman.value is None
        assert found.pearson.undefined_because
    else:
        assert found.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
        assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    rounded = [[int(np.floor(score + 0.5)) for score in side] for side in (x, y)]
    if len(set(rounded[0] + rounded[1])) > 1:
        expected = cohen_kappa_score(*rounded, labels=[1, 2, 3, 4, 5], weights="linear")
        assert found.agreement.kappa == pytest.approx(expected, abs=1e-9)
    assert (
        sum(point.n for point in found.calibration) == sum(count for *_, count in found.points) == len(rows)
    )


def test_intervals_equal_drawing_the_items_one_by_one() -> None:
    rng = random.Random(4)
    panel = {str(i): rng.randint(2, 10) / 2 for i in range(30)}
    people = {item: float(min(5, max(1, round(score + rng.gauss(0, 1))))) for item, score in panel.items()}
    found = compare_scores("answer", panel, people, seed=2, resamples=200)
    x, y = np.array(list(panel.values())), np.array(list(people.values()))
    drawn = np.random.default_rng(2).integers(0, 30, (200, 30))
    for name, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        values = [function(x[row], y[row]).statistic for row in drawn]
        low, high = np.percentile(values, [2.5, 97.5])
        assert getattr(found, name).low == pytest.approx(low)
        assert getattr(found, name).high == pytest.approx(high)


def test_what_cannot_be_compared_has_a_reason() -> None:
    nothing = compare_scores("answer", {"q1": 3.0, "q2": None}, {"q1": None})
    assert (nothing.n, nothing.only_panel, nothing.neither) == (0, 1, 1)
    assert nothing.pearson.value is nothing.panel_mean is nothing.difference.value is None
    assert "fewer than two" in nothing.pearson.undefined_because
    assert "no item" in nothing.agreement.why_not
    flat = compare_scores("answer", {"q1": 3.0, "q2": 3.0}, {"q1": 1.0, "q2": 5.0})
    assert flat.spearman.undefined_because == "all scores of one side are equal"
    with pytest.raises(ValueError, match="not between 1 and 5"):
        compare_scores("answer", {"q1": 0.0}, {"q1": 1.0})


def test_ratings_of_people_from_a_published_set(shared_data: Path) -> None:
    path = shared_data / "reasoning" / "roscoe_human" / "roscoe-gsm8k-overall.json"
    if not path.is_file():
        pytest.skip("the ROSCOE ratings are not there")
    rows = [entry["annotations"] for entry in json.loads(path.read_text(encoding="utf-8"))["instances"]]
    quality = [row["Overall Quality"]["majority_human"] for row in rows]
    coherency = [row["Coherency"]["majority_human"] for row in rows]
    # As its notes count them.
    assert [quality.count(value) for value in (1, 2, 3, 4, 5)] == [38, 51, 2, 5, 104]
    sides = [{str(i): float(value) for i, value in enumerate(column)} for column in (quality, coherency)]
    found = compare_scores("quality against coherency", *sides)
    assert found.n == 200
    assert found.pearson.value == pytest.approx(stats.pearsonr(quality, coherency).statistic, abs=1e-9)
    assert found.spearman.value == pytest.approx(stats.spearmanr(quality, coherency).statistic, abs=1e-9)
    expected = cohen_kappa_score(quality, coherency, labels=[1, 2, 3, 4, 5], weights="linear")
    assert found.agreement.kappa == pytest.approx(expected, abs=1e-9)
