"""The words of a rationale, and cues that say there is nothing; expectations are read off the sentences."""

import pytest

from auditing.core.anchor.cue_texts import cue_state, rationale_text
from videos.core.cot import cot_json


def cot(visual: str = "", audio: str = "") -> dict:
    return cot_json(
        f"Visual Cue:\n- Timeframe: 00:01\n- Description: {visual}\n- Analysis:\n"
        f"Audio Cue:\n- Timeframe:\n- Description: {audio}\n- Analysis:\nFinal Answer: B\n"
    )


def test_the_words_are_those_of_the_cues_without_names_of_fields_and_the_answer():
    assert rationale_text(cot("A dog runs.", "A whistle.")) == "00:01\nA dog runs.\nA whistle."


def test_a_text_without_cues_counts_as_written():
    empty = cot_json("I think it is B.")
    assert rationale_text(empty, " I think it is B. ") == "I think it is B."
    assert rationale_text(None, "B") == "B"
    assert rationale_text(None) == ""


@pytest.mark.parametrize(
    "said",
    [
        "None",
        "N/A.",
        "No usable audio is available.",
        "No audio cues were provided for this clip.",
        "There is no relevant or audible sound.",
        "The audio is not available, so only frames are used.",
        "The audio track is unavailable.",
        "I cannot hear the audio.",
        "I can\u2019t access the actual audio",
    ],
)
def test_a_claim_that_nothing_can_be_heard(said):
    assert cue_state(cot("A dog", said), "audio") == "none_claimed"


@pytest.mark.parametrize(
    "said",
    [
        "A whistle blows.",
        "No sound of an engine is heard, only steps.",
        "He says there is no video of the accident.",
        "Silence falls after the bell.",
        "None of the speakers laughs.",
        "The audio is loud.",
        "A man cannot hear the whistle.",
    ],
)
def test_what_is_no_such_claim(said):
    assert cue_state(cot("A dog", said), "audio") == "there"


def test_pictures_have_words_of_their_own():
    assert cue_state(cot("No frames are provided."), "visual") == "none_claimed"
    assert cue_state(cot("The video is missing"), "visual") == "none_claimed"
    assert cue_state(cot("No audio is available."), "visual") == "there"


def test_a_cue_without_words_is_missing():
    assert cue_state(cot("A dog"), "audio") == "missing"
    assert cue_state(None, "visual") == "missing"
    only_analysis = cot_json("Audio Cue:\n- Analysis: A whistle.\n")
    assert cue_state(only_analysis, "audio") == "there"
