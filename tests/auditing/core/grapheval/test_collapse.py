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
        (["One thing.", "ONE  thing."] * 2 + ["Two."], 0.4, True),  # 2 distinct of 5
        (["a", "b", "c"] * 2, 0.4, True),  # 3 of 6: half
        (["a", "b", "c"] * 2 + ["d"], 0.4, False),  # 4 of 7: more than half
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
    (flag,) = question_flags(["a"] * 6, 0.0)
    assert (flag.code, flag.count) == ("mode_collapse", 1)
    assert "the 6 chains have 1 different text" in flag.message
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


def test_no_question_has_a_text() -> None:
    found = repeated_across_questions({"q1": [""], "q2": []})
    assert (found.questions, found.repeated, found.share, found.most) == (0, 0, None, 0)


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
