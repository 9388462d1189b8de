"""Which completions count: cut off, refused, silent."""

import pytest

from auditing.core.grapheval.chains import parse_chain
from auditing.elicitation.llm import read_reply
from auditing.llm.completion import Completion
from tests.auditing.elicitation.cases import ALL, CHAIN, REPLIES, VIDEO_ANSWER


def completion(text: str, finish: str = "length", refusal: str = "", reasoning: str = "") -> Completion:
    return Completion(text, refusal, reasoning, finish, "", "", None, None, None)


@pytest.mark.parametrize(
    ("task", "text", "status"),
    [
        ("chain", "Step 1: A. [depends_on: none]\nStep 2: half of", "valid"),
        ("forbidden_chain", "Step 1: A.", "valid"),
        ("chain", "Let me think about", "invalid:truncated"),
        ("chain", "<think>Step 1: A.\nStep 2: hm", "invalid:truncated"),
        ("chain", "", "invalid:truncated"),
        ("facts", REPLIES["facts"], "invalid:truncated"),
        ("early_answer", "The final answer is: 1", "invalid:truncated"),
        ("video_answer", VIDEO_ANSWER, "invalid:truncated"),
        ("brief_answer", "a whist", "invalid:truncated"),
        ("answer_rating", '{"rating": 4}\nIt is', "invalid:truncated"),
    ],
)
def test_a_reply_that_was_cut_off_counts_only_as_a_chain_with_a_step(
    task: str, text: str, status: str
) -> None:
    reading = read_reply(ALL[task], completion(text))
    assert reading.status == status
    assert reading.value == (text if status == "valid" else None)


def test_an_answer_that_may_be_cut_in_half_is_left_out_of_a_chain() -> None:
    reading = read_reply(ALL["chain"], completion("Step 1: A. [depends_on: none]\nThe final answer is: 12"))
    chain = parse_chain(reading.value or "")
    assert ([step.text for step in chain.steps], chain.answer) == (["A."], None)
    done = "Step 1: A.\nThe final answer is: 12\nAnd so on and"
    assert parse_chain(read_reply(ALL["chain"], completion(done)).value or "").answer == "12"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (completion("", "stop", refusal="I cannot."), "invalid:refusal"),
        (completion(CHAIN, "content_filter"), "invalid:refusal"),
        (completion("", "stop", reasoning="Hm."), "invalid:reasoning_only"),
        (completion("", "stop"), "invalid:empty"),
    ],
)
def test_refusals_and_silence_do_not_count(reply: Completion, status: str) -> None:
    reading = read_reply(ALL["chain"], reply)
    assert (reading.status, reading.value) == (status, None)
    assert reading.message
