"""Adversarial ablation of the medoid: question, population and targeted protocol by hand."""

import math

import pytest

from auditing.core.grapheval.ablation import (
    TargetedQuestion,
    population_ablation,
    question_ablation,
    targeted_ablation,
)


def test_one_question_by_hand() -> None:
    found = question_ablation(
        ["a", None, "b", "a"], [0.5, None, 0.25, None], [0.8, 0.6, 1.0, 0.4],
        gold="a", medoid_answer="a", medoid_faithfulness=0.75,
    )  # fmt: skip
    assert (found.accuracy, found.medoid_accuracy, found.accuracy_change) == (0.5, 1, -0.5)
    assert (found.faithfulness, found.faithfulness_change) == (0.375, -0.375)
    assert found.distance == pytest.approx(0.7)
    assert (found.n, found.n_faithful) == (4, 2)


def test_a_medoid_without_an_answer_is_wrong_but_a_missing_gold_answer_is_missing() -> None:
    wrong = question_ablation(["a"], [1.0], [0.5], gold="a", medoid_answer=None, medoid_faithfulness=1.0)
    assert (wrong.medoid_accuracy, wrong.accuracy_change) == (0, 1)
    no_gold = question_ablation([None], [None], [0.5], gold=None, medoid_answer=None, medoid_faithfulness=1.0)
    assert (no_gold.accuracy, no_gold.medoid_accuracy, no_gold.accuracy_change) == (None, None, None)
    assert no_gold.distance == 0.5


def test_no_alternative_has_no_mean() -> None:
    found = question_ablation([], [], [], gold="a", medoid_answer="a", medoid_faithfulness=0.5)
    assert (found.accuracy, found.accuracy_change, found.faithfulness, found.distance) == (None,) * 4
    assert (found.medoid_accuracy, found.n) == (1, 0)
    with pytest.raises(ValueError, match="one of each"):
        question_ablation(["a"], [], [], gold="a", medoid_answer="a", medoid_faithfulness=0.5)


def test_population_by_hand() -> None:
    found = population_ablation(
        [(0.0, -0.5), (1e-13, 0.5), (-1.0, -0.25), (None, 1.0), (0.5, None), (1.0, -0.75)]
    )
    assert found.n == 4
    assert found.mean_accuracy_change == pytest.approx(0)
    assert found.mean_faithfulness_change == pytest.approx(-0.25)
    assert (found.less_faithful, found.same_accuracy, found.same_accuracy_less_faithful) == (0.75, 0.5, 0.25)
    # Around the means (0, -1/4): sum of xy = -0.5, of xx = 2, of yy = 0.875.
    assert found.regression.slope == pytest.approx(-0.25)
    assert found.regression.r == pytest.approx(-0.5 / math.sqrt(2 * 0.875))


def test_an_empty_population() -> None:
    found = population_ablation([(None, None)])
    assert (found.n, found.mean_accuracy_change, found.less_faithful, found.regression.p) == (
        0,
        None,
        None,
        None,
    )


def test_targeted_takes_the_questions_that_only_the_medoid_answers() -> None:
    found = targeted_ablation(
        [
            TargetedQuestion(True, False, 0.5, None, 0.8, 0.6),
            TargetedQuestion(True, False, 0.0, 0.4, 0.6, 0.8),
            TargetedQuestion(True, True, 1.0, 1.0, 1.0, 1.0),
            TargetedQuestion(False, False, 1.0, 1.0, 1.0, 1.0),
        ]
    )
    assert (found.n, found.accuracy, found.faithfulness) == (2, 0.25, 0.4)
    assert (found.medoid_faithfulness, found.distance) == (pytest.approx(0.7), pytest.approx(0.7))
    assert targeted_ablation([]).accuracy is None
