"""What the reveal did to labels."""

import pytest

from auditing.core.influence import influence

C, U, I = "correct", "uncertain", "incorrect"  # noqa: E741


def test_directions_by_hand() -> None:
    """Two cross to the audit's side, one crosses away, one stays on its side, one has no audit, one is not revised."""
    before = [C, U, I, U, C, C, None]
    after = [I, C, C, I, U, C, C]
    audit = [0, 1, 0, 0, None, 1, 1]
    found = influence(before, after, audit)
    assert (found.towards, found.away, found.same_side, found.audit_missing) == (2, 1, 1, 1)
    assert (found.changed.hits, found.changed.n) == (5, 6)
    assert (found.towards_share.hits, found.towards_share.n) == (2, 3)
    assert (found.to_correct, found.from_correct) == (2, 2)
    assert found.mcnemar.p == 1.0
    # Rows and columns incorrect, uncertain, correct.
    assert found.moves.counts == ((0, 0, 1), (1, 0, 1), (1, 1, 1))
    assert found.moves.row_missing == 1


def test_strong_influence_is_seen() -> None:
    """30 labels leave correct, 2 come to it; 32 discordant pairs are enough for the chi-squared tests."""
    found = influence([C] * 60 + [I] * 20, [I] * 30 + [C] * 30 + [C] * 2 + [I] * 18, [0] * 80)
    assert (found.towards, found.away) == (30, 2)
    assert found.mcnemar.statistic == pytest.approx((28 - 1) ** 2 / 32)
    assert found.homogeneity.statistic == pytest.approx(28**2 / 32)
    assert found.changed.value == pytest.approx(0.4)


def test_ag_02_nothing_revised_is_undefined_and_not_zero() -> None:
    same = influence([C, I], [C, I], [1, 0])
    assert same.changed.value == 0.0
    assert same.towards_share.undefined_because == "no label crossed sides"
    assert same.homogeneity.undefined_because == "no pair of labels differs"
    nothing = influence([None], [C], [1])
    assert nothing.changed.value is None
    assert nothing.changed.undefined_because == "no segment has a label before and after"


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="per segment"):
        influence([C], [C], [])
    with pytest.raises(ValueError, match="per segment"):
        influence([C], [C], [2])
