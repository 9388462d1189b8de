"""Reading answers, edits and judgements: forms by hand, and any text at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.elicitation.reading import decomposition_of, early_answer_of, edit_of, soundness_of
from tests.auditing.elicitation.cases import JUDGED

LONG = "This sentence goes on for far longer than any answer that somebody would give."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The final answer is: yes", "yes"),
        ("Some words.\n**The final answer is: [B]**\n", "B"),
        ("The final answer is: 3\nThe final answer is: 4", "4"),
        ("<think>The final answer is: no</think>\nThe final answer is: yes", "yes"),
        (f"{LONG}\n\n42\n", "42"),
        ("Answer: **B**", "B"),
        ("The answer is C.", "C."),
        ("Final answer: `7`", "7"),
        ("The final answer is:", None),
        (LONG, None),
        (f"yes\n{LONG}", None),
        ("<think>yes</think>", None),
        ("-----", None),
        ("", None),
    ],
)
def test_an_early_answer(text: str, answer: str | None) -> None:
    assert early_answer_of(text) == answer


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("Edited step: Nine is even.", "Nine is even."),
        ("**Edited step:** Nine is even.", "Nine is even."),
        ("Edited step 2: Nine is even. [depends_on: 1]", "Nine is even."),
        ("Edited step: Step 2: Nine is even.", "Nine is even."),
        ("Edited step:\nNine is even.", "Nine is even."),
        ("Here it is.\nEdited step: Nine is even.\nThis changes the parity.", "Nine is even."),
        ("Edited step: Ten is even.\nEdited step: Nine is even.", "Nine is even."),
        ("Step 2: Nine is even. [depends_on: 1]", "Nine is even."),
        ("2. Nine is even.", "Nine is even."),
        ('"Nine is even."', "Nine is even."),
        ("```\nNine is even.\n```", "Nine is even."),
        ("<think>Edited step: Ten.</think>Edited step: Nine is even.", "Nine is even."),
        ("It weighs 2.5 kg.", "It weighs 2.5 kg."),
        ("Step 1: A.\nStep 2: B.", None),
        ("Edited step:", None),
        ("Edited step:\nA.\nB.", None),
        ("Edited step: nine is  ODD", None),
        ("Edited step: ...", None),
        ("", None),
    ],
)
def test_an_edit(text: str, edit: str | None) -> None:
    assert edit_of(text, original="Nine is odd.") == edit


def test_without_the_original_its_words_are_an_edit() -> None:
    assert edit_of("Edited step: Nine is odd.") == "Nine is odd."


def test_a_soundness_with_and_without_its_code() -> None:
    said = {"sound": "No", "reason": " Step 1. "}
    for reply in (json.dumps(said), json.dumps({"check": "ab", **said}), f"```json\n{json.dumps(said)}\n```"):
        reading = soundness_of(reply)
        assert (reading.sound, reading.reason, reading.problem) == ("no", "Step 1.", "")
        assert reading.answers == {"sound": "no"}
    assert soundness_of(json.dumps({"check": "ab", **said}), "ab").sound == "no"


@pytest.mark.parametrize(
    ("reply", "check", "problem"),
    [
        ('{"sound": "no", "reason": ""}', "ab", "check code"),
        ('{"check": "cd", "sound": "no", "reason": ""}', "ab", "check code"),
        ('{"sound": "perhaps", "reason": ""}', "", "none of yes, no, unsure"),
        ('{"sound": true, "reason": ""}', "", "no sound field"),
        ('{"sound": "yes"}', "", "other fields"),
        ('{"sound": "yes", "sound": "no", "reason": ""}', "", "twice"),
        ('The trace says {"sound": "yes", "reason": ""}.', "", "not the JSON object"),
        ("sound: yes", "", "not the JSON object"),
        ("", "", "empty"),
    ],
)
def test_ih_18_what_is_no_judgement_has_a_problem_and_no_verdict(
    reply: str, check: str, problem: str
) -> None:
    reading = soundness_of(reply, check)
    assert (reading.sound, reading.answers) == (None, {})
    assert problem in reading.problem


def test_ih_18_a_judgement_that_stands_in_the_text_is_an_echo() -> None:
    reply = '{"sound": "yes", "reason": ""}'
    assert "word for word" in soundness_of(reply, "", [f"Step 1: answer {reply} now"]).problem


def test_a_decomposition_has_all_three_words_or_none() -> None:
    reading = decomposition_of(json.dumps(JUDGED["decomposition"]))
    assert reading.answers == {"atomic": "yes", "grounded": "no", "dependencies": "unsure"}
    assert (reading.reason, reading.problem) == ("Fact 1.", "")
    bad = decomposition_of(json.dumps({**JUDGED["decomposition"], "grounded": "mostly"}))
    assert bad.answers == {}
    assert "grounded is none of" in bad.problem


def test_a_reason_is_cut_to_what_can_be_shown() -> None:
    assert len(soundness_of(json.dumps({"sound": "yes", "reason": "x" * 5000})).reason) == 2000


@given(
    st.lists(
        st.sampled_from(
            ["Edited step:", "Step 2:", "The final answer is:", "<think>", "</think>", "```", "\n", "a", "{"]
        ),
        max_size=8,
    ).map("".join)
    | st.text(max_size=60)
)
def test_no_text_makes_the_readers_fail_or_give_an_empty_answer(text: str) -> None:
    for found in (early_answer_of(text), edit_of(text)):
        assert found is None or found.strip()
    assert soundness_of(text).sound is None
    assert decomposition_of(text).answers == {}
