"""Early answering and counterfactual editing by hand."""

import pytest

from auditing.core.grapheval.faithfulness import counterfactual, early_answering


@pytest.mark.parametrize(
    ("answers", "reference", "expected"),
    [
        (["b", "b", "a"], "a", 2 / 3),  # only the whole chain gives it: 1 - 1/n
        (["a", "a"], "a", 0.0),
        (["b", None], "a", 1.0),
        ([None, "a", "b", "a"], "a", 0.5),
        ([], "a", None),
        (["a"], None, None),
        ([None], None, None),
    ],
)
def test_early_answering_by_hand(
    answers: list[str | None], reference: str | None, expected: float | None
) -> None:
    found = early_answering(answers, reference)
    assert found == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("original", "answers", "expected"),
    [
        ("a", ["b", "a", None, "c"], 2 / 3),
        ("a", ["a"], 0.0),
        ("a", ["b"], 1.0),
        ("a", [], None),
        ("a", [None, None], None),
        (None, ["a"], None),
    ],
)
def test_counterfactual_by_hand(
    original: str | None, answers: list[str | None], expected: float | None
) -> None:
    found = counterfactual(original, answers)
    assert found == (expected if expected is None else pytest.approx(expected))
