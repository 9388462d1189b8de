"""The decoding audit and the audit of wins, by hand."""

import pytest

from auditing.core.grapheval.decoding import Disagreement, compare_cells, decoding_audit, faithful_wins


def test_accuracies_and_disagreements_by_hand() -> None:
    found = decoding_audit([True, True, False, False, True], [True, False, True, True, False])
    assert (found.n, found.sc_acc, found.gsc_acc) == (5, 0.6, 0.6)
    assert (found.delta_pp, found.sc_only, found.gsc_only) == (0, 2, 2)
    # Exact binomial test of 2 against 2.
    assert (found.test.method, found.test.p) == ("exact", 1.0)


def test_a_change_is_in_percentage_points_and_tested() -> None:
    found = decoding_audit([False] * 8 + [True] * 2, [True] * 8 + [True] * 2)
    assert found.delta_pp == pytest.approx(80)
    assert found.test.p == pytest.approx(2 / 2**8)


def test_no_question_has_no_accuracy() -> None:
    found = decoding_audit([], [])
    assert (found.n, found.sc_acc, found.gsc_acc, found.delta_pp) == (0, None, None, None)
    with pytest.raises(ValueError, match="both"):
        decoding_audit([True], [])


def test_a_win_of_the_vote_needs_more_than_half_of_its_paths() -> None:
    found = faithful_wins(
        [
            Disagreement("sc_only", [True, False], True),
            Disagreement("sc_only", [True, True, False], False),
            Disagreement("sc_only", [], True),
            Disagreement("gsc_only", [False], True),
            Disagreement("gsc_only", [True, True], False),
        ]
    )
    assert (found.sc_only.wins, found.sc_only.faithful) == (3, 1)
    assert found.sc_only.share == pytest.approx(1 / 3)
    assert found.sc_only.path_share == pytest.approx(3 / 5)
    assert (found.gsc_only.share, found.gsc_only.path_share) == (0.5, 0.5)
    assert found.difference == pytest.approx(1 / 6)


def test_cells_without_both_kinds_of_wins_are_not_compared() -> None:
    one = faithful_wins([Disagreement("sc_only", [True], False)])
    both = faithful_wins([Disagreement("sc_only", [False], False), Disagreement("gsc_only", [], True)])
    assert (one.difference, one.gsc_only.share, both.difference) == (None, None, 1)
    found = compare_cells([one, both, both, both])
    # Three equal positive differences: 2 of the 8 sign vectors are as extreme.
    assert (found.n, found.statistic, found.p) == (3, 0, 0.25)


def test_an_unknown_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown cell"):
        faithful_wins([Disagreement("both", [], True)])  # type: ignore[arg-type]
