"""Answers are read as far as they go, and every warning says what was missing."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.answer_reading import ClipFacts, read_chain, read_rollout, reasoning_of
from videos.core.document import validate
from videos.core.timebase import PictureIndex
from videos.core.values import Limits

CLIP = ClipFacts(
    PictureIndex.constant(100, Fraction(25)), Limits(frames=100, width=640, height=360, duration_us=4_000_000)
)
CHAIN = """\
Here is the reasoning.
1. Visual Cue:
- Timeframe: 00:01 - 00:02
- Description: A dog turns.
- Analysis: It heard something.
2. Audio Cue:
- Timeframe: 00:00.5
- Description: A whistle.
- Analysis: It comes first.
Final Answer: It hears a whistle.
Boxes:
- dog @ 0:01: 10 10 20 20
"""


def codes(text: str, clip: ClipFacts = CLIP) -> list[str]:
    return [warning["code"] for warning in read_chain(text, clip).warnings]


def test_a_whole_chain_is_read_without_a_warning():
    reading = read_chain(CHAIN, CLIP)
    assert reading.warnings == []
    assert reading.text == CHAIN
    assert reading.final_answer == "It hears a whistle."
    assert reading.document is not None
    cot = reading.document["cot"]
    assert cot["visual"]["timeframe"]["intervals"] == [[1_000_000, 2_000_000]]
    assert cot["audio"]["description"] == "A whistle."
    (track,) = reading.document["tracks"].values()
    assert track["keyframes"]["25"]["box"] == [64.0, 36.0, 128.0, 72.0]


@pytest.mark.parametrize(
    ("before", "after", "code", "said"),
    [
        ("Final Answer: It hears a whistle.\n", "", "no_final_answer", "no final answer"),
        ("- Analysis: It comes first.\n", "", "missing_fields", "Missing: audio analysis."),
        (
            "00:01 - 00:02",
            "03:00 - 04:00",
            "times_beyond_clip",
            "1 of 2 times go beyond the end of the clip, 00:04",
        ),
        (
            "dog @ 0:01",
            "dog @ now",
            "unreadable_boxes",
            "1 line of the boxes cannot be read, such as 'dog @ now",
        ),
        ("dog @ 0:01", "dog @ 9:01", "boxes_beyond_clip", "1 of 1 boxes lie beyond"),
        ("A dog turns.", "a" * 20_001, "field_does_not_fit", "left in the text alone: visual description."),
        ("A dog turns.", "a\0b", "not_storable", "cannot be stored"),
    ],
)
def test_each_warning_says_what_is_wrong(before, after, code, said):
    found = read_chain(CHAIN.replace(before, after), CLIP).warnings
    warning = next(one for one in found if one["code"] == code)
    assert said in warning["message"]


def test_one_cue_no_times_and_nothing_at_all():
    one = CHAIN[: CHAIN.index("2. Audio")] + "Final Answer: B"
    assert codes(one) == ["one_cue"]
    assert codes(one.replace("00:01 - 00:02", "early on")) == ["one_cue", "no_times"]
    assert codes(one.replace("00:01 - 00:02", "throughout")) == ["one_cue"]
    assert codes("It hears a whistle.") == ["no_cues", "no_final_answer", "no_times"]
    assert codes("") == ["no_cues", "no_final_answer", "no_times"]


def test_a_clip_that_is_not_prepared_has_no_end_and_no_pictures():
    assert codes(CHAIN.replace("00:01 - 00:02", "03:00"), ClipFacts()) == ["no_clip"]


def test_a_time_of_the_last_rounded_second_is_inside():
    assert codes(CHAIN.replace("00:01 - 00:02", "00:01 - 00:04.1")) == []
    assert codes(CHAIN.replace("00:01 - 00:02", "00:01 - 00:04.2")) == ["times_beyond_clip"]


def test_parts_that_came_beside_the_text_stand_with_those_in_it():
    reading = read_chain(CHAIN, CLIP, events={"e": {"id": "e"}}, tracks={"t": {"id": "t"}})
    assert reading.document is not None
    assert set(reading.document["events"]) == {"e"}
    assert len(reading.document["tracks"]) == 2


@given(st.text())
def test_whatever_comes_the_document_is_valid(text):
    reading = read_chain(text + "\nBoxes:\n- a @ 0:01: 1 1 1 1", CLIP)
    assert reading.document is not None
    validate(reading.document, CLIP.limits)
    read_rollout(text)
    reasoning_of(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a whistle", "a whistle"),
        ("\n\n  A whistle.  \nbecause", "A whistle."),
        ("Final Answer: B", "B"),
        ("**Answer:** B. the woman", "B. the woman"),
        ("The answer is 4", "4"),
        ("answers vary", "answers vary"),
        ("", ""),
        (" \n\t", ""),
    ],
)
def test_a_bare_answer_is_its_first_line(text, answer):
    reading = read_rollout(text)
    assert (reading.final_answer, reading.document) == (answer, None)
    assert [warning["code"] for warning in reading.warnings] == ([] if answer else ["no_final_answer"])


def test_judges_of_reasoning_see_neither_final_answer_nor_boxes():
    assert reasoning_of(CHAIN) == CHAIN[: CHAIN.index("Final Answer")].strip()


def test_the_final_answer_goes_with_its_further_lines_and_what_follows_a_section_stays():
    text = "Final Answer: B\nsince it is so\nVisual Cue:\n- Analysis: kept\n**Final Answer:** C"
    assert reasoning_of(text) == "Visual Cue:\n- Analysis: kept"
    assert reasoning_of("just prose") == "just prose"
