"""Decomposers over the same chains: criteria and correlations by hand."""

import pytest

from auditing.core.grapheval.decomposers import compare_pairs, criterion_shares


def test_criteria_are_shares_of_the_words_given() -> None:
    found = criterion_shares(
        [{"atomic": "yes", "grounded": "no"}, {"atomic": "unsure"}, {"atomic": "yes", "grounded": "yes"}]
    )
    assert (found["atomic"].n, found["atomic"].met, found["atomic"].share) == (3, 2, pytest.approx(2 / 3))
    assert (found["grounded"].n, found["grounded"].share) == (2, 0.5)
    assert (found["dependencies"].n, found["dependencies"].share) == (0, None)


def test_pairs_are_compared_on_common_questions() -> None:
    first = {"q1": 0.5, "q2": 0.6, "q3": 0.9, "q4": None}
    second = {"q1": 0.6, "q2": 0.5, "q3": 0.7, "q4": 0.4, "q5": 0.1}
    (pair,) = compare_pairs({"first": first, "second": second})
    assert (pair.a, pair.b, pair.n) == ("first", "second", 3)
    assert pair.mean_difference == pytest.approx(0.6 - 2 / 3)
    # Of three pairs of questions two have the same order; ranks 1, 2, 3 and 2, 1, 3.
    assert pair.correlations.krc == pytest.approx(1 / 3)
    assert pair.correlations.src == pytest.approx(0.5)


def test_no_common_question_has_no_correlation() -> None:
    (pair,) = compare_pairs({"first": {"q1": 0.5}, "second": {"q2": 0.6}})
    assert (pair.n, pair.mean_difference, pair.correlations.pcc) == (0, None, None)
