"""Flags of texts that repeat themselves, by hand."""

import json
from collections import Counter
from pathlib import Path

import pytest

from auditing.core.grapheval.collapse import (
    Flag,
    is_looping,
    question_flags,
    repeated_across_questions,
    repeated_characters,
)

CHAIN = "First we add 4 and 6 to get 10. Then 24 is 10 plus 14, so the answer is 24."


def codes(flags: list[Flag]) -> list[str]:
    return [flag.code for flag in flags]


@pytest.mark.parametrize(
    ("texts", "divergence", "expected"),
    [
        (["One thing.", "ONE  thing."] * 2 + ["Two."], 0.4, True),  # 6 of 10 pairs
        (["a", "b"] * 10, 0.4, True),  # 90 of 190 pairs: two texts take turns
        (["a", "b"] * 50, 0.4, True),  # 2,450 of 4,950 pairs, the same with more chains
        (["a", "b", "c"] * 2, 0.4, False),  # 3 of 15 pairs
        (["a"] * 4 + ["b", "c"], 0.4, True),  # 6 of 15 pairs
        (["a"] * 6 + [*"bcdef"], 0.4, False),  # 15 of 55 pairs
        # A quarter of the texts are different, yet 300 of 4,950 pairs are equal: short texts, not a collapse.
        ([str(place % 25) for place in range(100)], 0.4, False),
        (["a", "a", "a", "a"], 0.4, False),  # four chains are too few
        (["a", "b", "c", "d", "e"], 0.049, True),
        (["a", "b", "c", "d", "e"], 0.05, False),
        (["a", "b", "c", "d", "e"], None, False),
        ([], None, False),
    ],
)
def test_collapse_of_a_question(texts: list[str], divergence: float | None, expected: bool) -> None:
    assert ("mode_collapse" in codes(question_flags(texts, divergence))) is expected


def test_flags_count_and_say_what_they_saw() -> None:
    (flag,) = question_flags(["a"] * 4 + ["b", "c"], 0.0)
    assert flag.code == "mode_collapse"
    assert "40 % of all pairs of the 6 chains have the same text (3 different texts)" in flag.message
    (flag,) = question_flags([*"abcde"], 0.031)
    assert "nearly equal (divergence 0.031, below 0.05) in 5 different texts" in flag.message
    assert "or the embedder cannot tell them apart" in flag.message
    (flag,) = question_flags([CHAIN, "$}}%" * 20], None)
    assert flag.to_dict() == {
        "code": "looping_text",
        "count": 1,
        "message": "1 chain repeats the same piece of text over and over.",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (CHAIN, 0),
        ("x" * 30, 30),
        ("abc " + "x" * 30 + " def", 30),
        ("$}}%" * 50, 200),
        ("x" * 20, 0),  # one window has nothing to repeat
        ("The same sentence again. " * 2, 0),  # twice is no loop
        ("The same sentence again. " * 3, 75),
        (("y" * 40 + CHAIN) * 2, 80),
    ],
)
def test_repeated_characters(text: str, expected: int) -> None:
    assert repeated_characters(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHAIN, False),
        (CHAIN + " " + CHAIN, False),
        (CHAIN + "$}}%" * 15, False),  # 60 of 135 characters
        (CHAIN + "$}}%" * 30, True),  # 120 of 195 characters
        ("\n".join(["4 + 4 = 8"] * 5), True),
        (
            "\n".join(["4 + 4 = 8", "Hence 8 is what we have.", "Now for something else.", "4 + 4 = 8"] * 2),
            False,
        ),
        ("A\n\n\n\n\n\n\nB", False),
        ("\n---\n".join(["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight."]), False),
    ],
)
def test_looping_texts(text: str, expected: bool) -> None:
    assert is_looping(text) is expected


def test_a_long_loop_is_read_in_one_pass() -> None:
    # Comparing every pair of places would be 10^11 steps.
    assert is_looping("ab" * 150_000)
    assert not is_looping("".join(f"{number} " for number in range(50_000)))


def test_texts_that_answer_several_questions() -> None:
    found = repeated_across_questions(
        {
            "q1": ["Same text.", "own 1"],
            "q2": ["same  TEXT.", "same text."],
            "q3": ["own 3", "Same text."],
            "q4": ["own 4"],
            "q5": [" "],
        }
    )
    assert (found.questions, found.repeated, found.share, found.texts, found.most) == (4, 3, 0.75, 1, 3)
    assert found.where == {"q1", "q2", "q3"}


@pytest.mark.parametrize(
    ("same", "other", "expected"), [(3, 3, True), (2, 3, False), (4, 0, False), (5, 0, True)]
)
def test_a_study_looks_collapsed_from_half_of_five_questions_on(
    same: int, other: int, expected: bool
) -> None:
    texts = {place: ["Same."] for place in range(same)} | {-place - 1: [f"{place}"] for place in range(other)}
    assert repeated_across_questions(texts).collapsed is expected


def test_no_question_has_a_text() -> None:
    found = repeated_across_questions({"q1": [""], "q2": []})
    assert (found.questions, found.repeated, found.share, found.most) == (0, 0, None, 0)


def test_short_formulas_of_many_kinds_are_no_collapse(shared_data: Path) -> None:
    path = shared_data / "reasoning" / "tot_game24" / "gpt-4_0.7_naive_cot_sample_100_start900_end1000.json"
    if not path.is_file():
        pytest.skip("the stored game-24 log is not there")
    # The steps of a reply are its formulas.
    pools = [
        ["\n".join(line for line in reply.splitlines() if "(left:" in line) for reply in row["ys"]]
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    assert {len(pool) for pool in pools} == {100}
    flagged = ["mode_collapse" in codes(question_flags(pool, 0.4)) for pool in pools]
    # Nearly every puzzle has fewer than 50 different texts, but few have one or two that crowd out the others.
    assert sum(len(set(pool)) <= 50 for pool in pools) > 80
    assert 1 <= sum(flagged) <= 10


@pytest.mark.parametrize(("model", "collapsed"), [("Llama-2-13b-hf", True), ("Llama-2-70b-hf", False)])
def test_a_model_that_fell_apart_is_told_from_one_that_did_not(
    shared_data: Path, model: str, collapsed: bool
) -> None:
    path = (
        shared_data / "reasoning" / "logic_llm" / "cot_outputs" / f"CoT_ProntoQA_dev_meta-llama-{model}.json"
    )
    if not path.is_file():
        pytest.skip("the stored outputs of logic_llm are not there")
    texts = {row["id"]: [row["predicted_reasoning"]] for row in json.loads(path.read_text(encoding="utf-8"))}
    found = repeated_across_questions(texts)
    counts = Counter(text for (text,) in texts.values())
    # Spaces and case do not matter in this file.
    assert found.repeated == sum(count for count in counts.values() if count > 1)
    assert found.share is not None
    assert (found.share > 0.5) is collapsed
