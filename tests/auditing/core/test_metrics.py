"""Binary metrics and failure modes: hand calculations, scikit-learn, empty and constant input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.metrics import binary_gold, binary_metrics, failure_modes

BITS = st.integers(0, 1)


@pytest.mark.parametrize(
    ("annotation", "y"),
    [
        ("correct", 1),
        (" Correct\n", 1),
        ("incorrect", 0),
        ("Uncertain", 0),
        ("hedging/inconclusive", 0),
        ("Partially  True", 0),
    ],
)
def test_gold(annotation: str, y: int) -> None:
    assert binary_gold(annotation) == y


@pytest.mark.parametrize("annotation", ["", "true", "not correct"])
def test_unknown_gold_is_named(annotation: str) -> None:
    with pytest.raises(ValueError, match="Unknown gold annotation"):
        binary_gold(annotation)


def test_metrics_by_hand() -> None:
    """3 positives, 2 found; 2 negatives, 1 found: TPR 2/3, TNR 1/2, F1 of class 0 = 2/(2+1+1)."""
    metrics = binary_metrics([1, 1, 1, 0, 0], [1, 1, 0, 0, 1])
    assert (metrics.tp, metrics.fn, metrics.tn, metrics.fp) == (2, 1, 1, 1)
    assert metrics.tpr == pytest.approx(2 / 3)
    assert metrics.f1_0 == pytest.approx(0.5)
    assert metrics.balanced_f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))


@given(st.lists(st.tuples(BITS, BITS), max_size=30))
def test_metrics_agree_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    scores = pytest.importorskip("sklearn.metrics")
    gold, predicted = [a for a, _ in pairs], [b for _, b in pairs]
    metrics = binary_metrics(gold, predicted)
    assert metrics.n == len(pairs)
    if 1 in gold:
        assert metrics.tpr == pytest.approx(scores.recall_score(gold, predicted))
    else:
        assert metrics.tpr is None
    if 0 in gold:
        assert metrics.tnr == pytest.approx(scores.recall_score(gold, predicted, pos_label=0))
        assert metrics.f1_0 == pytest.approx(scores.f1_score(gold, predicted, pos_label=0))
    else:
        assert metrics.tnr is None
    assert (metrics.balanced_f1 is None) == (metrics.tpr is None or metrics.tnr is None)


def test_both_rates_zero_give_zero_not_none() -> None:
    assert binary_metrics([1, 0], [0, 1]).balanced_f1 == 0.0


@pytest.mark.parametrize(("gold", "predicted"), [([1], []), ([2], [1]), ([1], [None])])
def test_bad_binary_labels(gold: list[int], predicted: list[int]) -> None:
    with pytest.raises(ValueError, match=r"predictions|Binary labels"):
        binary_metrics(gold, predicted)


def test_failure_modes_by_hand() -> None:
    modes = failure_modes(["Orphan", "Orphan", "Unsupported", "Supported"])
    assert modes.percent == {"Supported": 25.0, "Unsupported": 25.0, "Orphan": 50.0, "Contradicted": 0.0}
    assert modes.orphan_unsupported_ratio == 2.0


def test_failure_modes_of_nothing_are_undefined() -> None:
    modes = failure_modes([])
    assert set(modes.percent.values()) == {None}
    assert modes.orphan_unsupported_ratio is None


def test_ratio_without_unsupported_is_undefined() -> None:
    assert failure_modes(["Orphan"]).orphan_unsupported_ratio is None


def test_unknown_audit_label_is_named() -> None:
    with pytest.raises(ValueError, match="orphan"):
        failure_modes(["orphan"])
