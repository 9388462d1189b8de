"""Tokens and conciseness by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.conciseness import conciseness, count_tokens, summarise_conciseness


def test_tokens_by_hand() -> None:
    # It | ' | s | 0 | : | 05 | , | naïve | ( | ok | ) | . | .
    assert count_tokens("It's 0:05, naïve\n (ok)..") == 13
    assert count_tokens("snake_case \t\n") == 1
    assert count_tokens("") == 0


def test_scores_by_hand() -> None:
    longer = conciseness("a b c d", "a b c")
    assert (longer.output_tokens, longer.reference_tokens) == (4, 3)
    assert (longer.ratio, longer.score) == (pytest.approx(4 / 3), 0.75)
    shorter = conciseness("a b", "a b c")
    assert (shorter.ratio, shorter.score) == (pytest.approx(2 / 3), 1.0)
    assert conciseness("a b", "a b c", cap=False).score == 1.5


def test_what_is_empty_has_no_score() -> None:
    assert conciseness("", "a").score is conciseness("a", " ").score is None
    assert (conciseness("", "a").ratio, conciseness("a", "").ratio) == (0.0, None)
    assert "rationale is empty" in conciseness("", "a").why_not
    assert "reference is empty" in conciseness("a", "").why_not


def test_a_summary_counts_what_it_leaves_out() -> None:
    found = summarise_conciseness(
        [conciseness("a b", "a"), conciseness("a", "a"), conciseness("", "a"), conciseness("a", "")]
    )
    assert (found.mean_score, found.n) == (0.75, 2)
    assert (found.mean_ratio, found.n_ratio) == (1.0, 3)
    assert (found.median_output, found.median_reference) == (1.0, 1.0)
    assert found.without == {"The rationale is empty.": 1, "The reference is empty.": 1}
    assert summarise_conciseness([]).mean_score is None


@given(st.text(), st.text())
def test_a_score_is_above_0_and_at_most_1(output: str, reference: str) -> None:
    found = conciseness(output, reference)
    if found.score is None:
        assert 0 in (found.output_tokens, found.reference_tokens)
    else:
        assert 0 < found.score <= 1
