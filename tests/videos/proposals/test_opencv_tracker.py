"""The OpenCV tracker: scenes whose truth is known, losses, resuming, and a real clip."""

import json

import numpy as np
import pytest

from tests.videos.proposals.conftest import Drawn, scene
from videos.core.geometry import iou
from videos.proposals import opencv_tracker
from videos.proposals.gap import blend, propose_gap
from videos.proposals.moving import Moving, camera_motion
from videos.proposals.opencv_tracker import OpenCVTracker
from videos.proposals.protocol import BoxPrompt, Prompt, Proposed

WAY = [(10.0 + 3 * number, 40.0, 30.0, 24.0) for number in range(30)]


def follow(pictures, drawn, start=0, end=None, **words):
    prompt = Prompt(boxes=drawn)
    return list(
        OpenCVTracker().propose(Drawn(pictures), prompt, start=start, end=end or len(pictures), **words)
    )


def overlaps(found, way):
    return [iou(one.box, way[one.frame]) if one.box else 0.0 for one in found]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_moving_box_is_followed_both_ways(direction):
    first = 0 if direction == "forward" else 29
    found = follow(scene(WAY), (BoxPrompt(first, "a", WAY[first]),), direction=direction)
    assert [one.frame for one in found] == (
        list(range(1, 30)) if direction == "forward" else list(range(28, -1, -1))
    )
    assert min(overlaps(found, WAY)) > 0.8
    assert all(0 < one.score <= 1 and one.flags == () for one in found)


def test_a_box_that_grows_is_followed_in_size():
    """From 30 x 24 to 69 x 63: the box of the first size would overlap by 720 / 4347 = 0.17 at the end."""
    way = [(10.0 + 7 * number, 100.0 - 2 * number, 30.0 + number, 24.0 + number) for number in range(40)]
    found = follow(scene(way, 400, 160), (BoxPrompt(0, "a", way[0]),))
    assert min(overlaps(found, way)) > 0.8


def test_an_object_that_is_gone_is_flagged_and_then_has_no_box():
    way = [*WAY[:15], *[None] * 25]
    found = follow(scene(way), (BoxPrompt(0, "a", WAY[0]),))
    gone = [one for one in found if one.frame >= 16]
    assert all("lost" in one.flags and one.score == 0 for one in gone)
    assert [one.box for one in gone][-5:] == [None] * 5
    assert min(overlaps([one for one in found if one.frame < 15], WAY)) > 0.8


def test_an_object_that_comes_back_on_its_way_is_found_again():
    way = [WAY[number] if not 10 <= number < 15 else None for number in range(30)]
    found = {one.frame: one for one in follow(scene(way), (BoxPrompt(0, "a", WAY[0]),))}
    assert all("lost" in found[number].flags for number in range(11, 15))
    assert all(found[number].flags == () for number in range(17, 30))
    assert min(iou(found[number].box, WAY[number]) for number in range(17, 30)) > 0.8


def test_objects_drawn_on_later_pictures_start_there_and_a_second_box_corrects():
    """The second box of `a` is somewhere else on purpose: it is taken as right."""
    still = (110.0, 90.0, 20.0, 20.0)
    pictures = scene(WAY)
    rng = np.random.default_rng(2)
    cloth = np.kron(rng.integers(0, 255, (5, 5, 3), dtype=np.uint8), np.ones((4, 4, 1), dtype=np.uint8))
    for picture in pictures:
        picture[90:110, 110:130] = cloth
    drawn = (BoxPrompt(0, "a", WAY[0]), BoxPrompt(12, "b", still), BoxPrompt(20, "a", still))
    found = follow(pictures, drawn)
    a = {one.frame: one for one in found if one.object_id == "a"}
    b = [one for one in found if one.object_id == "b"]
    assert sorted(a) == [number for number in range(1, 30) if number != 20]
    assert [one.frame for one in b] == list(range(13, 30))
    assert min(iou(one.box, still) for one in b if one.frame < 20) > 0.8
    assert min(iou(a[number].box, WAY[number]) for number in range(1, 20)) > 0.8
    assert min(iou(a[number].box, still) for number in range(21, 30)) > 0.8


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_stopped_run_goes_on_as_if_it_was_never_stopped(monkeypatch, direction):
    monkeypatch.setattr(opencv_tracker, "WINDOW", 10)
    first = 2 if direction == "forward" else 27
    told = []
    drawn = (BoxPrompt(first, "a", WAY[first]),)
    whole = follow(scene(WAY), drawn, direction=direction, on_progress=told.append)
    assert [(one.done, one.total) for one in told] == [(10, 28), (20, 28), (28, 28)]
    carry = json.loads(json.dumps(told[1].carry))
    assert len(json.dumps(carry)) < 30_000
    assert follow(scene(WAY), drawn, direction=direction, carry=carry) == whole[19:]


def test_a_run_that_is_told_to_stop_ends_with_what_it_has(monkeypatch):
    monkeypatch.setattr(opencv_tracker, "WINDOW", 10)
    asked = iter([False] * 60 + [True] * 100)
    found = follow(scene(WAY), (BoxPrompt(0, "a", WAY[0]),), should_stop=lambda: next(asked))
    assert 0 < len(found) < 29


def test_memory_does_not_grow_with_the_video(monkeypatch):
    monkeypatch.setattr(opencv_tracker, "WINDOW", 10)
    monkeypatch.setattr(opencv_tracker, "MARGIN", 4)
    frames = Drawn(scene([*WAY, *WAY[:10]]))
    list(OpenCVTracker().propose(frames, Prompt(boxes=(BoxPrompt(0, "a", WAY[0]),)), start=0, end=40))
    assert frames.read_most <= 18


def test_large_pictures_are_worked_on_small_and_boxes_are_in_their_pixels():
    """1280 x 960 with everything eight times as large."""
    way = [tuple(8 * value for value in box) for box in WAY[:6]]
    found = follow(scene(way, 1280, 960), (BoxPrompt(0, "a", way[0]),))
    assert min(overlaps(found, way)) > 0.8


def test_the_camera_s_motion_is_found_and_a_large_object_is_not_taken_for_it():
    rng = np.random.default_rng(1)
    ground = np.kron(rng.integers(0, 255, (40, 50), dtype=np.uint8), np.ones((6, 6), dtype=np.uint8))
    motion = camera_motion(ground[20:200, 20:260], ground[23:203, 25:265])
    assert np.allclose(motion, [[1, 0, -5], [0, 1, -3], [0, 0, 1]], atol=0.1)
    still = np.full((180, 240), 100, dtype=np.uint8)
    before, after = still.copy(), still.copy()
    before[60:120, 60:130] = ground[:60, :70]
    after[60:120, 66:136] = ground[:60, :70]
    assert np.array_equal(camera_motion(before, after), np.eye(3))


def test_what_moves_is_what_differs_from_the_ground():
    moving = Moving(dict(enumerate(scene(WAY))))
    mask = moving.mask(12)
    x, y, w, h = (round(value) for value in WAY[12])
    inside = mask[y : y + h, x : x + w]
    assert inside.mean() > 0.95
    assert mask.sum() - inside.sum() < 0.02 * mask.size


# between two keyframes


def test_a_gap_meets_a_curve_better_than_the_line():
    """A half circle between two keyframes at the same height: the line misses it by 40 pixels in the middle."""
    angles = np.linspace(np.pi, 0, 31)
    way = [(65 + 50 * np.cos(angle), 70 - 40 * np.sin(angle), 24.0, 20.0) for angle in angles]
    first, last = BoxPrompt(0, "a", way[0]), BoxPrompt(30, "a", way[30])
    found = list(propose_gap(OpenCVTracker(), Drawn(scene(way)), first, last))
    assert [one.frame for one in found] == list(range(1, 30))
    assert min(overlaps(found, way)) > 0.7


def test_the_two_ends_are_weighted_by_their_distance():
    a = Proposed(5, "a", (10.0, 10.0, 20.0, 20.0), 0.8)
    b = Proposed(5, "a", (14.0, 10.0, 20.0, 24.0), 0.4)
    line = (0.0, 0.0, 5.0, 5.0)
    assert blend(a, b, line, 0.25) == ((11.0, 10.0, 20.0, 21.0), pytest.approx(0.7), False)
    far = Proposed(5, "a", (100.0, 10.0, 20.0, 20.0), 0.8)
    assert blend(a, far, line, 0.25) == (line, 0.0, True)  # they contradict each other
    gone = Proposed(5, "a", None, 0.0, ("lost",))
    assert blend(a, gone, line, 0.25) == (a.box, pytest.approx(0.6), False)
    assert blend(a, gone, line, 0.75) == (
        line,
        0.0,
        True,
    )  # too far from its own keyframe to be believed alone
    assert blend(None, None, line, 0.5) == (line, 0.0, True)


def test_a_gap_needs_two_keyframes_of_one_object_in_order():
    frames = Drawn(scene(WAY))
    with pytest.raises(ValueError, match="same object"):
        list(propose_gap(OpenCVTracker(), frames, BoxPrompt(0, "a", WAY[0]), BoxPrompt(9, "b", WAY[9])))
    with pytest.raises(ValueError, match="picture 0 does not come after picture 9"):
        list(propose_gap(OpenCVTracker(), frames, BoxPrompt(9, "a", WAY[9]), BoxPrompt(0, "a", WAY[0])))


def test_two_crossing_cars_that_look_the_same_keep_their_boxes(shared_data):
    """Real pictures: after both red cars passed each other behind a third, each still has its own box."""
    from tests.benchmarks import bench_tracking as bench

    clip = bench.Clip(shared_data / "media" / "tracks" / "synth_crossing_identical_cars.mp4")
    (_, one, _), (_, two, _), _ = bench.tracks("synth_crossing_identical_cars")
    drawn = (BoxPrompt(38, "1", one[38]), BoxPrompt(38, "2", two[38]))
    found = list(OpenCVTracker().propose(clip, Prompt(boxes=drawn), start=38, end=80))
    last = {box.object_id: box.box for box in found if box.frame == 79}
    assert iou(last["1"], one[79]) > 0.7
    assert iou(last["2"], two[79]) > 0.7
