"""Boxes of a file as proposals."""

import pytest

from tests.videos.proposals.conftest import Drawn, scene
from videos.proposals.imported import ImportedBoxes
from videos.proposals.protocol import BoxPrompt, Prompt, Proposed

FRAMES = Drawn(scene([None] * 8))
BOXES = [Proposed(frame, "7", (10.0 + frame, 5.0, 20.0, 20.0), 0.5, label="Dog") for frame in range(2, 6)]
OTHER = Proposed(4, "8", (150.0, 100.0, 30.0, 40.0), None, label="cat")
OUT = Proposed(5, "8", (200.0, 0.0, 10.0, 10.0), None, label="cat")


def source(*boxes: Proposed) -> ImportedBoxes:
    return ImportedBoxes(boxes or [*BOXES, OTHER, OUT], {"file": "boxes.xml"})


def test_a_text_takes_objects_by_label_or_id():
    found = list(source().propose(FRAMES, Prompt(text="dog"), start=0, end=5))
    assert [(one.frame, one.box) for one in found] == [
        (2, (12.0, 5.0, 20.0, 20.0)),
        (3, (13.0, 5.0, 20.0, 20.0)),
        (4, (14.0, 5.0, 20.0, 20.0)),
    ]
    assert list(source().propose(FRAMES, Prompt(text="7"), start=0, end=5)) == found


def test_boxes_are_cut_to_the_picture_and_those_outside_are_not_found():
    found = list(source().propose(FRAMES, Prompt(text="cat"), start=0, end=8))
    assert [(one.frame, one.box, one.flags) for one in found] == [
        (4, (150.0, 100.0, 10.0, 20.0), ()),
        (5, None, ("lost",)),
    ]


def test_drawn_pictures_get_no_proposal_and_backward_goes_backward():
    prompt = Prompt(boxes=(BoxPrompt(4, "7", (0.0, 0.0, 5.0, 5.0)),))
    found = list(source().propose(FRAMES, prompt, start=0, end=8, direction="backward"))
    assert [one.frame for one in found] == [5, 3, 2]


def test_it_stops_and_goes_on():
    told = []
    whole = list(source().propose(FRAMES, Prompt(text="dog"), start=0, end=8, on_progress=told.append))
    assert (told[-1].done, told[-1].total) == (8, 8)
    assert list(source().propose(FRAMES, Prompt(text="dog"), start=0, end=8, carry={"done": 4})) == whole[2:]
    assert list(source().propose(FRAMES, Prompt(text="dog"), start=0, end=8, should_stop=lambda: True)) == []


def test_two_boxes_on_one_picture_are_refused():
    with pytest.raises(ValueError, match="'7' has two boxes on picture 2"):
        source(BOXES[0], BOXES[0])
