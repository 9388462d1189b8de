"""What a proposer may be asked, windows, and flags."""

import pytest

from tests.videos.proposals.conftest import Drawn, scene
from videos.proposals.factory import make_proposer, why_not
from videos.proposals.flags import flags_of
from videos.proposals.opencv_tracker import OpenCVTracker
from videos.proposals.protocol import BoxPrompt, Prompt, Proposer, read_window, windows

BOX = (10.0, 10.0, 20.0, 20.0)


@pytest.mark.parametrize("words", [{}, {"text": " "}, {"text": "dog", "boxes": (BoxPrompt(0, "a", BOX),)}])
def test_a_prompt_is_a_text_or_boxes(words):
    with pytest.raises(ValueError, match="either a text or at least one box"):
        Prompt(**words)


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="box drawn on picture 7 is empty"):
        Prompt(boxes=(BoxPrompt(7, "a", (10.0, 10.0, 0.0, 20.0)),))


@pytest.mark.parametrize(
    ("prompt", "start", "end", "said"),
    [
        (Prompt(text="dog"), 0, 4, "opencv cannot look for a text"),
        (Prompt(boxes=(BoxPrompt(5, "a", BOX),)), 0, 4, "picture 5 is outside the pictures 0 to 3"),
        (Prompt(boxes=(BoxPrompt(0, "a", BOX),)), 0, 9, "not in a video of 6 pictures"),
        (Prompt(boxes=(BoxPrompt(0, "a", BOX),)), 3, 3, "not in a video"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(prompt, start, end, said):
    with pytest.raises(ValueError, match=said):
        OpenCVTracker().propose(Drawn(scene([BOX] * 6)), prompt, start=start, end=end)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_windows_cover_every_picture_once_in_the_order_of_the_run(direction):
    made = windows(3, 20, direction, 100, 100, longest=7)
    frames = Drawn(scene([None] * 20))
    seen = [frame for window in made for frame, _ in read_window(frames, window, direction)]
    assert seen == (list(range(3, 20)) if direction == "forward" else list(range(19, 2, -1)))
    assert all(b - a <= 7 for a, b in made)


def test_windows_of_large_pictures_are_shorter():
    """200 MiB hold 8 pictures of 3840 x 2160 (24.9 MB each)."""
    assert windows(0, 20, "forward", 3840, 2160) == [(0, 8), (8, 16), (16, 20)]


@pytest.mark.parametrize(
    ("box", "before", "flags"),
    [
        ((0.0, 0.0, 100.0, 91.0), None, ["large"]),  # 91 of 100 hundredths
        ((0.0, 0.0, 100.0, 90.0), None, []),
        ((50.0, 50.0, 10.0, 10.0), (55.0, 50.0, 10.0, 10.0), []),  # half a side
        ((50.0, 50.0, 10.0, 10.0), (61.0, 50.0, 10.0, 10.0), ["jump"]),
        ((50.0, 50.0, 15.0, 15.0), (52.0, 52.0, 10.0, 10.0), ["jump"]),  # 2.25 times the area
        ((0.0, 50.0, 25.0, 10.0), (0.0, 50.0, 10.0, 10.0), []),  # comes in at the edge
    ],
)
def test_flags(box, before, flags):
    assert flags_of(box, before, 100, 100) == flags


def test_proposers_by_name(tmp_path):
    assert isinstance(make_proposer("opencv"), Proposer)
    assert isinstance(make_proposer("sam3", sam3_weights=tmp_path), Proposer)
    with pytest.raises(ValueError, match="choose opencv or sam3"):
        make_proposer("yolo")
    assert why_not()["opencv"] == ""
    assert why_not()["sam3"]
