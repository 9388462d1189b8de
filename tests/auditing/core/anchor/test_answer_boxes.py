"""Boxes of an answer: read from its text without guessing, and put on the pictures of the clip."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.answer_boxes import (
    AnswerBox,
    AnswerSound,
    place_boxes,
    place_sounds,
    take_boxes,
)
from videos.core.document import empty_document, validate
from videos.core.timebase import PictureIndex
from videos.core.values import Limits

TEXT = """\
Visual Cue:
- Timeframe: 00:01 - 00:02
Final Answer: A whistle.

Boxes:
- dog @ 0:01.5: 10 20 30.5 40
- old man: left @ 00:02: 0, 0, 100, 100
"""
INDEX = PictureIndex.constant(100, Fraction(25))  # 4 s


def test_the_block_is_taken_off_and_read():
    read = take_boxes(TEXT)
    assert read.text == "Visual Cue:\n- Timeframe: 00:01 - 00:02\nFinal Answer: A whistle."
    assert read.boxes == (
        AnswerBox("dog", (10.0, 20.0, 30.5, 40.0), time_us=1_500_000),
        AnswerBox("old man: left", (0.0, 0.0, 100.0, 100.0), time_us=2_000_000),
    )
    assert read.unreadable == ()


@pytest.mark.parametrize(
    ("line", "box"),
    [
        ("- dog @ 0:01: 1 2 3 4", (1.0, 2.0, 3.0, 4.0)),
        ("* dog @ 1s: [1, 2, 3, 4]", (1.0, 2.0, 3.0, 4.0)),
        ("• **dog** @ 00:00:01.0: 1% 2% 3% 4%", (1.0, 2.0, 3.0, 4.0)),
        ("-dog @ (0:01): (1 2 3 4)", (1.0, 2.0, 3.0, 4.0)),
        # Rounded up to the edge of the picture: cut there.
        ("- dog @ 0:01: 90.5 60 10 40.4", (90.5, 60.0, 9.5, 40.0)),
    ],
)
def test_spellings_of_a_box(line, box):
    read = take_boxes(f"Boxes:\n{line}")
    assert read.unreadable == ()
    assert (read.boxes[0].label, read.boxes[0].time_us, read.boxes[0].box) == ("dog", 1_000_000, box)


@pytest.mark.parametrize(
    "line",
    [
        "dog: 1 2 3 4",
        "dog @ soon: 1 2 3 4",
        "dog @ 0:01 - 0:02: 1 2 3 4",
        "dog @ 0:01: 1 2 3",
        "dog @ 0:01: 1 2 3 4 5",
        "dog @ 0:01: 1 2 three 4",
        "dog @ 0:01: 1 2 0 4",
        "dog @ 0:01: -1 2 3 4",
        "dog @ 0:01: 60 2 50 4",
        "dog @ 0:01: 1 2 nan 4",
        "dog @ 0:01: 1e1 2 3 4",
        "@ 0:01: 1 2 3 4",
        "x" * 201 + " @ 0:01: 1 2 3 4",
    ],
)
def test_what_is_no_box_is_unreadable_and_not_guessed(line):
    read = take_boxes(f"Final Answer: B\nBoxes:\n- {line}\n- cat @ 0:02: 1 2 3 4")
    assert read.unreadable == (line,)
    assert [box.label for box in read.boxes] == ["cat"]
    assert read.text == "Final Answer: B"


@pytest.mark.parametrize("said", ["Boxes: none", "Boxes:\n- none", "Boxes:\n\n- N/A", "**Boxes:**"])
def test_no_boxes_is_no_fault(said):
    read = take_boxes(f"Final Answer: B\n{said}")
    assert (read.text, read.boxes, read.unreadable) == ("Final Answer: B", (), ())


def test_the_block_ends_where_other_text_goes_on():
    read = take_boxes("Boxes:\n- dog @ 0:01: 1 2 3 4\nFinal Answer: B\n- kept")
    assert read.text == "Final Answer: B\n- kept"
    assert len(read.boxes) == 1


@pytest.mark.parametrize(
    "block",
    [
        "1. dog @ 0:01: 1 2 3 4\n2) cat @ 0:02: 1 2 3 4",
        "dog @ 0:01: 1 2 3 4\ncat @ 0:02: 1 2 3 4",
        "```\n- dog @ 0:01: 1 2 3 4\n- cat @ 0:02: 1 2 3 4\n```",
    ],
)
def test_boxes_without_a_dash_do_not_end_up_in_the_final_answer(block):
    read = take_boxes(f"Final Answer: B\nBoxes:\n{block}")
    assert read.text == "Final Answer: B"
    assert [box.label for box in read.boxes] == ["dog", "cat"]
    assert read.unreadable == ()


def test_a_numbered_section_after_the_boxes_is_none_of_them():
    read = take_boxes("1. Visual Cue:\nBoxes:\n- dog @ 0:01: 1 2 3 4\n2. Audio Cue:\n- Description: A bark.")
    assert read.text == "1. Visual Cue:\n2. Audio Cue:\n- Description: A bark."
    assert read.unreadable == ()


@pytest.mark.parametrize("text", ["Boxes:" + "-" * 200_000 + "x", "Boxes:\n- " + "-" * 200_000 + "x"])
def test_long_lines_are_read_in_one_pass(text):
    # Patterns that try every split of such a line take hours.
    assert take_boxes(text).boxes == ()


def test_text_about_boxes_is_no_block():
    text = "Visual Cue:\n- Description: Boxes: two of them\nBoxes are stacked.\nFinal Answer: Boxes"
    assert take_boxes(text).text == text


@given(st.text())
def test_no_text_fails(text):
    take_boxes(text)


@given(st.text(alphabet="Boxes:- @0123456789.%dog\n"))
def test_whatever_is_read_lies_in_the_picture_and_makes_a_valid_document(text):
    read = take_boxes("Boxes:\n" + text)
    for box in read.boxes:
        x, y, w, h = box.box
        assert 0 <= x < x + w <= 100
        assert 0 <= y < y + h <= 100
    placed = place_boxes(read.boxes, INDEX, 640, 360)
    document = {**empty_document(), "tracks": placed.parts}
    validate(document, Limits(frames=100, width=640, height=360))


def test_boxes_go_on_the_nearest_picture_in_displayed_pixels():
    placed = place_boxes([AnswerBox("dog", (25, 50, 12.5, 25), time_us=1_025_000)], INDEX, 640, 360)
    (track,) = placed.parts.values()
    # Pictures start every 40 ms: 1.025 s lies between 25 (1.000 s) and 26 (1.040 s), nearer to the second.
    assert track["keyframes"] == {
        "26": {"box": [160.0, 180.0, 80.0, 90.0], "occluded": False, "source": "model", "run": None}
    }
    assert (track["label"], track["visible"], placed.beyond) == ("dog", [[26, 27]], 0)


def test_boxes_of_one_label_are_one_object_and_two_on_a_picture_are_two():
    boxes = [
        AnswerBox("Dog", (0, 0, 10, 10), frame=10),
        AnswerBox("dog", (5, 0, 10, 10), frame=20),
        AnswerBox("dog ", (50, 0, 10, 10), frame=20),
        AnswerBox("dog", (5, 0, 10, 10), frame=20),
        AnswerBox("cat", (0, 0, 10, 10), frame=20),
    ]
    placed = place_boxes(boxes, INDEX, 100, 100)
    found = sorted(
        (track["label"], sorted(track["keyframes"]), track["visible"]) for track in placed.parts.values()
    )
    assert found == [
        ("Dog", ["10", "20"], [[10, 21]]),
        ("Dog", ["20"], [[20, 21]]),
        ("cat", ["20"], [[20, 21]]),
    ]


def test_an_object_is_out_of_sight_where_its_boxes_are_far_apart():
    index = PictureIndex.constant(400, Fraction(25))
    boxes = [AnswerBox("dog", (0, 0, 10, 10), frame=frame) for frame in (0, 125, 251)]
    (track,) = place_boxes(boxes, index, 100, 100).parts.values()
    # 125 pictures are 5.00 s, 126 are 5.04 s.
    assert track["visible"] == [[0, 126], [251, 252]]


@pytest.mark.parametrize(
    ("box", "beyond"),
    [
        (AnswerBox("a", (0, 0, 1, 1), time_us=4_100_000), 0),
        (AnswerBox("a", (0, 0, 1, 1), time_us=4_100_001), 1),
        (AnswerBox("a", (0, 0, 1, 1), frame=99), 0),
        (AnswerBox("a", (0, 0, 1, 1), frame=100), 1),
        (AnswerBox("a", (0, 0, 1, 1), frame=-1), 1),
        (AnswerBox("a", (640, 0, 1, 1), frame=0, unit="px"), 1),
        (AnswerBox("a", (639, 359, 5, 5), frame=0, unit="px"), 0),
        (AnswerBox("a", (-5, 0, 5, 5), frame=0, unit="px"), 1),
        (AnswerBox("a", (0, 0, 0.00001, 1), frame=0, unit="px"), 1),
        (AnswerBox("a", (0, 0, 1e300, 1), frame=0, unit="px"), 1),
    ],
)
def test_what_lies_beyond_clip_or_picture_is_left_out_and_counted(box, beyond):
    placed = place_boxes([box], INDEX, 640, 360)
    assert (placed.beyond, len(placed.parts)) == (beyond, 1 - beyond)


def test_ids_follow_from_the_content():
    boxes = [AnswerBox("dog", (0, 0, 10, 10), frame=1)]
    first, again = (place_boxes(boxes, INDEX, 640, 360).parts for _ in range(2))
    other = place_boxes([AnswerBox("dog", (0, 0, 10, 11), frame=1)], INDEX, 640, 360).parts
    assert first == again
    assert set(first) != set(other)


def test_sounds_are_cut_at_the_end_of_the_clip_and_left_out_behind_it():
    sounds = [AnswerSound("bell", 1_000_000, 9_000_000), AnswerSound("bark", 4_000_000, 5_000_000)]
    placed = place_sounds(sounds, 4_000_000)
    (event,) = placed.parts.values()
    assert (event["start_us"], event["end_us"], placed.beyond) == (1_000_000, 4_000_000, 1)
    validate({**empty_document(), "events": placed.parts}, Limits(duration_us=4_000_000))
