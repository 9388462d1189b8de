"""Difficulty by the paper's thresholds, judges joined by hand, replies of judges, reviews."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.difficulty import (
    PAPER,
    DifficultyRule,
    Judgement,
    assess,
    level,
    level_shares,
    read_judgement,
    review,
)

SMALL = DifficultyRule(rollouts=4, hard_mismatches=3, medium_mismatches=2)


def judge(matches: str, similarity: int) -> Judgement:
    """Return a judgement of answers written as + and -."""
    return Judgement(tuple(sign == "+" for sign in matches), similarity)


def test_thresholds_of_the_paper() -> None:
    by_mismatches = [level(m, 1) for m in range(17)]
    assert by_mismatches == ["easy"] * 5 + ["medium"] * 5 + ["hard"] * 7
    assert [level(0, s) for s in range(1, 6)] == ["easy", "easy", "medium", "medium", "hard"]
    assert level(10, 1) == level(0, 5) == "hard"


@pytest.mark.parametrize(("mismatches", "similarity"), [(-1, 1), (17, 1), (0, 0), (0, 6)])
def test_values_out_of_range(mismatches: int, similarity: int) -> None:
    with pytest.raises(ValueError, match=r"not possible|not between"):
        level(mismatches, similarity)


@given(st.integers(0, 16), st.integers(1, 5))
def test_the_level_is_the_harder_of_two_signals(mismatches: int, similarity: int) -> None:
    order = ["easy", "medium", "hard"]
    alone = level(mismatches, 1), level(0, similarity)
    assert order.index(level(mismatches, similarity)) == max(map(order.index, alone))


def test_judges_are_joined_by_hand() -> None:
    # Answer 1: two of four say no; answer 2: one; answers 3 and 4: nobody. Similarities 1, 2, 3, 5: median 2.5.
    judges = [judge("-+++", 1), judge("-+++", 2), judge("+-++", 3), judge("++++", 5)]
    found = assess(judges, SMALL)
    assert found.votes == (2, 1, 0, 0)
    assert (found.mismatches, found.similarity) == (1, 3)
    assert (found.by_mismatches, found.by_similarity, found.difficulty) == ("easy", "medium", "medium")
    assert (found.judges, found.invalid, found.unanswered) == (4, 0, 0)
    milder = replace(SMALL, vote="majority", median="down")
    other = assess(judges, milder)
    assert (other.mismatches, other.similarity, other.difficulty) == (0, 2, "easy")


def test_a_rollout_without_an_answer_is_a_mismatch() -> None:
    found = assess([judge("++++", 1)], SMALL, answered=[True, False, False, True])
    assert (found.mismatches, found.unanswered, found.difficulty) == (2, 2, "medium")


def test_judges_that_cannot_be_read_are_counted_and_left_out() -> None:
    # Of two valid judges one is half.
    found = assess([None, judge("-+++", 1), judge("++++", 1), None], SMALL)
    assert (found.mismatches, found.judges, found.invalid) == (1, 2, 2)
    nobody = assess([None, None], SMALL, answered=[True, True, True, False])
    assert nobody.difficulty is nobody.mismatches is nobody.similarity is None
    assert (nobody.invalid, nobody.unanswered) == (2, 1)
    assert "can be read" in nobody.why_not
    assert "was asked" in assess([], SMALL).why_not


def test_judgements_about_other_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="the same 4 answers"):
        assess([judge("+++", 1)], SMALL)
    with pytest.raises(ValueError, match="the same 4 answers"):
        assess([judge("++++", 1)], SMALL, answered=[True])


@pytest.mark.parametrize(
    "changes",
    [{"rollouts": 8}, {"medium_mismatches": 0}, {"medium_similarity": 6}, {"vote": "all"}, {"median": "up "}],
)
def test_rules_that_cannot_be(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"thresholds|vote"):
        replace(PAPER, **changes)


GOOD = {"matches": [True] * 16, "similarity_rating": 2, "explanation": "Same words."}


def test_a_judgement_is_read_with_fence_and_text_after_it() -> None:
    plain = json.dumps(GOOD)
    expected = Judgement((True,) * 16, 2, "Same words.")
    for text in (plain, f"```json\n{plain}\n```", f"\ufeff {plain}\nThat is all."):
        assert read_judgement(text).judgement == expected
    assert read_judgement(json.dumps(GOOD | {"explanation": 5})).judgement == Judgement((True,) * 16, 2)
    assert read_judgement('{"matches": [false, true], "similarity_rating": 5}', 2).judgement == judge("-+", 5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"matches": [True] * 15}, "15 entries for 16"),
        ({"matches": [True] * 15 + [None]}, "true and false"),
        ({"matches": [True] * 15 + [1]}, "true and false"),
        ({"matches": "true"}, "true and false"),
        ({"similarity_rating": 6}, "whole number"),
        ({"similarity_rating": 2.0}, "whole number"),
        ({"similarity_rating": True}, "whole number"),
        ({"similarity_rating": None}, "whole number"),
    ],
)
def test_a_judgement_counts_as_a_whole_or_not_at_all(changes: dict[str, object], words: str) -> None:
    found = read_judgement(json.dumps(GOOD | changes))
    assert found.judgement is None
    assert words in found.why_not


@pytest.mark.parametrize(
    "text", ["", "Result: {}", "[true]", "{" * 100_000, '{"matches": [], "matches": [true]}', "```json\n```"]
)
def test_replies_that_are_no_judgement(text: str) -> None:
    found = read_judgement(text)
    assert found.judgement is None
    assert found.why_not.endswith(".")


@given(st.text(max_size=60))
def test_reading_never_raises(text: str) -> None:
    assert read_judgement(text).judgement is None


def test_shares_of_levels_leave_out_what_has_none() -> None:
    found = level_shares(["hard", "easy", None, "hard", "hard"])
    assert found.counts == {"easy": 1, "medium": 0, "hard": 3}
    assert found.shares == {"easy": 0.25, "medium": 0.0, "hard": 0.75}
    assert (found.n, found.without) == (4, 1)
    assert level_shares([None]).shares["hard"] is None
    with pytest.raises(ValueError, match="no level"):
        level_shares(["harder"])


def test_a_review_stands_beside_the_rule() -> None:
    # Wilson's interval of 8 of 10, by his formula: 0.490162 to 0.943318.
    found = review(["confirmed"] * 8 + ["corrected", "rejected", None, None])
    assert found.counts == {"confirmed": 8, "corrected": 1, "rejected": 1}
    assert (found.confirmed.value, found.pending) == (0.8, 2)
    assert found.confirmed.low == pytest.approx(0.490162, abs=1e-6)
    assert found.confirmed.high == pytest.approx(0.943318, abs=1e-6)
    assert review([None]).confirmed.value is None
    with pytest.raises(ValueError, match="no decision"):
        review(["maybe"])
