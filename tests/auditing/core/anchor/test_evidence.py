"""Sentences of evidence and of a rationale: expected values written out by hand from what was put in."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.evidence import (
    ClipFacts,
    Leaf,
    cited_times,
    clock,
    cue_times,
    evidence,
    rationale_steps,
)
from tests.videos.factories import keyframe, track
from videos.core.cot import cot_json
from videos.core.document import empty_document
from videos.core.timebase import PictureIndex

INDEX = PictureIndex.constant(250, Fraction(25))
"""Ten seconds, 25 pictures a second: picture 25 starts at 1 s."""


def clip(width: int = 900, height: int = 600) -> ClipFacts:
    def start_of(frame: int) -> int:
        return INDEX.duration_us if frame >= INDEX.n else INDEX.clip_us(frame)

    return ClipFacts(INDEX.duration_us, width, height, start_of, INDEX.n)


def document(*tracks, events=(), links=(), cot="", target="woman"):
    made = empty_document(target)
    made["tracks"] = {row["id"]: row for row in tracks}
    made["events"] = {row["id"]: row for row in events}
    made["links"] = {row["id"]: row for row in links}
    made["cot"] = cot_json(cot)
    return made


def seen(label, boxes, visible, **fields):
    keyframes = {str(frame): keyframe(list(map(float, box))) for frame, box in boxes.items()}
    return track(label, keyframes=keyframes, visible=visible, **fields)


def heard(key, label, start, end):
    return {
        "id": f"00000000-0000-4000-8000-{key:012d}",
        "label": label,
        "start_us": start,
        "end_us": end,
        "note": "",
        "source": "human",
        "run": None,
    }


def link(key, kind, target):
    one = f"10000000-0000-4000-8000-{key:012d}"
    return {
        "id": one,
        "step": "visual",
        "kind": kind,
        "target": target,
        "frames": None,
        "relation": "supports",
    }


def texts(found) -> list[str]:
    return [leaf.text for leaf in found.leaves]


def test_question_comes_first_with_its_options_on_one_line():
    found = evidence(document(), [], clip(), question="Who\nspeaks?", options=["A. he", "B. she"])

    assert found.leaves == (Leaf("question", "", "Question: Who speaks? Options: A. he; B. she"),)


def test_an_object_is_a_sentence_with_its_times_and_place():
    # Pictures 0 to 24 and 50 to 74: from 0 s to 1 s and from 2 s to 3 s. The centre is at (150, 300): left third.
    woman = seen("woman", {0: [100, 250, 100, 100], 60: [100, 250, 100, 100]}, [[0, 25], [50, 75]])

    found = evidence(document(woman), [], clip(), question="?")

    assert found.leaves[1] == Leaf(
        "track",
        woman["id"],
        "A woman is seen from 0:00.0 to 0:01.0 and from 0:02.0 to 0:03.0, at the left of the picture.",
        "woman",
        ((0, 1_000_000), (2_000_000, 3_000_000)),
    )


def test_an_object_that_ends_elsewhere_is_said_to_move():
    # Centre (150, 100) first, top left; (750, 500) last, bottom right.
    ball = seen("orange ball", {0: [100, 50, 100, 100], 24: [700, 450, 100, 100]}, [[0, 25]])

    found = evidence(document(ball), [], clip(), question="?")

    assert texts(found)[1] == (
        "An orange ball is seen from 0:00.0 to 0:01.0, and moves from the top left to the bottom right of the picture."
    )


@pytest.mark.parametrize(
    ("label", "begins"),
    [
        ("the dog", "The dog is seen"),
        ("two men", "Two men are seen"),
        ("", "A woman is seen"),
        ("Apple", "An Apple is seen"),
    ],
)
def test_labels_get_an_article_where_they_have_none(label, begins):
    found = evidence(document(seen(label, {0: [400, 250, 100, 100]}, [[0, 25]])), [], clip(), question="?")

    assert texts(found)[1].startswith(begins)


def test_without_the_size_of_the_picture_no_place_is_said():
    cat = seen("cat", {0: [1, 1, 2, 2]}, [[0, 25]])

    assert (
        texts(evidence(document(cat), [], clip(0, 0), question="?"))[1]
        == "A cat is seen from 0:00.0 to 0:01.0."
    )


def test_linked_objects_push_the_others_aside_and_sounds_stay():
    cat, dog = seen("cat", {0: [1, 1, 2, 2]}, [[0, 25]]), seen("dog", {0: [1, 1, 2, 2]}, [[0, 25]])
    clink = heard(1, "clink", 500_000, 700_000)

    found = evidence(
        document(cat, dog, events=[clink], links=[link(1, "track", dog["id"])]), [], clip(), question="?"
    )

    assert [(leaf.kind, leaf.id) for leaf in found.leaves[1:]] == [
        ("track", dog["id"]),
        ("sound", clink["id"]),
    ]
    assert found.leaves[2].text == "A clink is heard from 0:00.5 to 0:00.7."
    assert found.left_out == {"unlinked": 1}


def test_speech_counts_within_a_second_of_a_cited_or_a_refined_time():
    said = [
        (0, 900_000, "early"),
        (3_100_000, 3_500_000, "near"),
        (5_000_000, 6_000_000, "mine"),
        (9_000_000, 9_900_000, "late"),
    ]
    refined = "Visual Cue:\n- Timeframe: 00:02 - 00:02.5\n- Description: x"

    found = evidence(document(cot=refined), said, clip(), question="?", cited=[(5_200_000, 5_200_000)])

    assert [leaf.label for leaf in found.leaves[1:]] == ["near", "mine"]
    assert texts(found)[1:] == [
        'At 0:03.1 to 0:03.5 it is said: "near"',
        'At 0:05.0 to 0:06.0 it is said: "mine"',
    ]


def test_without_any_time_all_speech_counts():
    found = evidence(document(), [(0, 1, "a"), (9_000_000, 9_500_000, "b")], clip(), question="?")

    assert [leaf.kind for leaf in found.leaves] == ["question", "speech", "speech"]


def test_beyond_the_bound_kinds_take_turns_and_the_rest_is_counted():
    tracks = [seen(f"cat {number}", {0: [1, 1, 2, 2]}, [[number, 25]]) for number in range(4)]
    events = [heard(number, f"clink {number}", number * 1000, 500_000) for number in range(2)]

    found = evidence(document(*tracks, events=events), [(0, 1000, "hello")], clip(), question="?", most=4)

    assert [leaf.kind for leaf in found.leaves] == ["question", "track", "track", "sound", "speech"]
    assert found.left_out == {"track": 2, "sound": 1}


def test_an_object_that_is_never_in_the_clip_is_no_leaf_and_is_counted():
    ghost = seen("ghost", {400: [1, 1, 2, 2]}, [[400, 410]])

    found = evidence(document(ghost), [], clip(), question="?")

    assert len(found.leaves) == 1
    assert found.left_out == {"unseen": 1}


def test_a_clip_that_is_not_there_has_no_pictures_but_sounds_and_speech():
    gone = ClipFacts(0, 0, 0, lambda frame: 0, 0)
    cat = seen("cat", {0: [1, 1, 2, 2]}, [[0, 25]])
    throughout = "Audio Cue:\n- Timeframe: throughout\n- Description: x"

    found = evidence(
        document(cat, events=[heard(1, "clink", 500_000, 700_000)], cot=throughout),
        [(8_000_000, 9_000_000, "Late words.")],
        gone,
        question="?",
    )

    assert [leaf.kind for leaf in found.leaves] == ["question", "sound", "speech"]
    assert found.left_out == {"unseen": 1}


def test_where_the_length_of_the_clip_is_not_known_no_time_is_cut():
    timeframe = {"whole": False, "intervals": [[8_000_000, 12_000_000]], "raw": ""}

    assert cue_times(timeframe, 0) == ((8_000_000, 12_000_000),)
    assert cue_times({"whole": True, "intervals": [], "raw": "throughout"}, 0) == ()


def test_a_cut_sentence_shows_that_it_is_cut():
    cot = cot_json(f"Visual Cue:\n- Description: {'word ' * 400}end.")

    (step,) = rationale_steps(cot, 1).steps

    assert len(step.text) == 1_500
    assert step.text.endswith("…")
    assert step.asked == step.text


def test_a_blank_label_is_the_target_of_the_question():
    cat = seen("   ", {0: [1, 1, 2, 2]}, [[0, 25]])

    assert evidence(document(cat), [], clip(), question="?").leaves[1].label == "woman"


def test_steps_are_sentences_with_their_field_and_the_times_of_their_cue():
    cot = cot_json(
        "Visual Cue:\n- Timeframe: 00:01 - 00:02\n- Description: A dog runs. It barks.\n- Analysis: It hunts.\n"
        "Audio Cue:\n- Timeframe: throughout\n- Description: Music.\nFinal Answer: the dog"
    )

    found = rationale_steps(cot, 10_000_000)

    assert [(step.field, step.text, step.times_us) for step in found.steps] == [
        ("visual.description", "A dog runs.", ((1_000_000, 2_000_000),)),
        ("visual.description", "It barks.", ((1_000_000, 2_000_000),)),
        ("visual.analysis", "It hunts.", ((1_000_000, 2_000_000),)),
        ("audio.description", "Music.", ((0, 10_000_000),)),
        ("final_answer", "the dog", ()),
    ]
    assert found.steps[-1].asked == "The answer is: the dog."
    assert found.left_out == 0


def test_times_beyond_the_clip_are_cut_and_those_wholly_beyond_it_are_left_out():
    timeframe = {"whole": False, "intervals": [[8_000_000, 12_000_000], [11_000_000, 12_000_000]], "raw": ""}

    assert cue_times(timeframe, 10_000_000) == ((8_000_000, 10_000_000),)


def test_the_answer_stays_when_sentences_are_left_out():
    cot = cot_json("Visual Cue:\n- Description: One. Two. Three.\nFinal Answer: yes")

    found = rationale_steps(cot, 1, most=2)

    assert [step.text for step in found.steps] == ["One.", "yes"]
    assert found.left_out == 2


def test_an_empty_rationale_has_no_steps():
    assert rationale_steps(empty_document()["cot"], 1).steps == ()


def test_cited_points_are_times_too():
    assert cited_times(cot_json("Audio Cue:\n- Timeframe: 00:03"), 10_000_000) == [(3_000_000, 3_000_001)]


@pytest.mark.parametrize(
    ("us", "words"),
    [
        (0, "0:00.0"),
        (49_999, "0:00.0"),
        (50_000, "0:00.1"),
        (59_950_000, "1:00.0"),
        (3_661_000_000, "61:01.0"),
    ],
)
def test_clock(us, words):
    assert clock(us) == words


@given(st.text(max_size=200), st.text(max_size=200), st.integers(0, 5))
def test_any_text_gives_sentences_without_line_breaks(description, answer, most):
    cot = empty_document()["cot"]
    cot["visual"]["description"], cot["final_answer"] = description, answer

    found = rationale_steps(cot, 1_000_000, most=most)

    assert len(found.steps) <= max(most, 1)
    assert all(step.asked.strip() and "\n" not in step.asked for step in found.steps)
