from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grounding import (
    BoxMatch,
    Grounding,
    TimeMatch,
    frame_iou,
    grounding,
    macro_mean,
    match_boxes,
    match_times,
    track_iou,
    visible_boxes,
)
from videos.core.geometry import iou
from videos.core.tracks import Keyframe, Track

SIDES = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 6), st.integers(1, 6)), max_size=4
)
FRAMES = st.dictionaries(st.integers(0, 6), SIDES, max_size=5)


def test_boxes_of_a_frame_are_paired_so_that_the_sum_is_largest() -> None:
    # All boxes are 10 wide and 10 high. In order, a with x has 1/3 and b with y nothing; crosswise both have 1/3.
    #
    #   y -5 |-----|        x  5 |-----|
    #        a  0 |-----|       b 10 |-----|
    a, b = (0, 0, 10, 10), (10, 0, 10, 10)
    x, y = (5, 0, 10, 10), (-5, 0, 10, 10)
    assert iou(a, x) == pytest.approx(1 / 3)
    assert frame_iou([a, b], [x, y]) == pytest.approx((1 / 3 + 1 / 3) / 2)
    assert frame_iou([a], [a, b]) == pytest.approx(0.5)
    assert frame_iou([], [a]) == 0


@given(SIDES, SIDES)
def test_equals_trying_every_pairing(a: Any, b: Any) -> None:
    short, long = sorted((a, b), key=len)
    best = max(
        sum(iou(left, right) for left, right in zip(short, order, strict=True))
        for order in permutations(long, len(short))
    )
    assert frame_iou(a, b) == pytest.approx(best / len(long) if short else 0.0, abs=1e-9)


def test_a_question_by_hand() -> None:
    # Predicted on 1, 2, 3; reference on 2, 3, 4, 5. Common: 2 (IoU 1) and 3 (IoU 1/3); 5 frames in all.
    whole, half = (0, 0, 10, 10), (5, 0, 10, 10)
    found = grounding({1: [whole], 2: [whole], 3: [half], 9: []}, {n: [whole] for n in (2, 3, 4, 5)})
    assert found.matched_frames == 2
    assert found.mean_iou == pytest.approx(2 / 3)
    assert found.union_iou == pytest.approx((4 / 3) / 5)
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(1 / 2)
    assert found.f1 == pytest.approx(4 / 7)


def test_empty_sides() -> None:
    some = {1: [(0, 0, 1, 1)]}
    assert grounding({}, {1: []}) == Grounding(0, None, None, None, None, None)
    assert grounding(some, {}) == grounding({}, some) == Grounding(0, None, 0.0, 0.0, 0.0, 0.0)
    assert grounding(some, {2: [(0, 0, 1, 1)]}) == Grounding(0, None, 0.0, 0.0, 0.0, 0.0)


@given(FRAMES, FRAMES)
def test_swapping_the_sides_swaps_precision_and_recall(a: Any, b: Any) -> None:
    one, other = grounding(a, b), grounding(b, a)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    for name in ("f1", "mean_iou", "union_iou"):
        left, right = getattr(one, name), getattr(other, name)
        assert left == right or left == pytest.approx(right, abs=1e-9)


@given(FRAMES)
def test_against_itself(a: Any) -> None:
    found = grounding(a, a)
    if found.f1 is not None:
        assert found.f1 == found.precision == found.recall == 1
        assert found.mean_iou == found.union_iou == pytest.approx(1)


def test_tracks_are_compared_with_their_interpolated_boxes() -> None:
    # The prediction moves from 0 to 10 on frames 0 to 10; the reference stands at 0 on frames 0 to 4.
    moving = Track(
        "a", keyframes=(Keyframe(0, (0, 0, 10, 10)), Keyframe(10, (10, 0, 10, 10))), visible=((0, 11),)
    )
    still = Track("b", keyframes=(Keyframe(0, (0, 0, 10, 10)),), visible=((0, 5),))
    found = track_iou(moving, still)
    expected = sum((10 - d) / (10 + d) for d in range(5))
    assert found.matched_frames == 5
    assert found.mean_iou == pytest.approx(expected / 5)
    assert found.union_iou == pytest.approx(expected / 11)
    assert found.precision == pytest.approx(5 / 11)
    assert len(visible_boxes([moving, still])[3]) == 2


def test_data_set_mean_counts_each_question_once_where_it_is_defined() -> None:
    questions = [
        Grounding(5, 0.8, 0.4, 1.0, 0.5, 2 / 3),
        Grounding(0, None, 0.0, 0.0, 0.0, 0.0),
        Grounding(0, None, None, None, None, None),
    ]
    found = macro_mean(questions)
    assert found.mean_iou == pytest.approx(0.8)
    assert found.union_iou == pytest.approx(0.2)
    assert found.f1 == pytest.approx(1 / 3)
    assert found.defined == {"mean_iou": 1, "union_iou": 2, "precision": 2, "recall": 2, "f1": 2}
    assert found.n == 3
    assert macro_mean([]).mean_iou is None


def test_boxes_are_matched_one_to_one_from_an_overlap_on() -> None:
    # Frame 1: a with itself (1) and b with c (1/3); frame 2: nothing predicted; frame 3: nothing to find.
    a, b, c = (0, 0, 10, 10), (50, 0, 10, 10), (55, 0, 10, 10)
    predicted, reference = {1: [a, b], 3: [a]}, {1: [c, a], 2: [a]}
    assert match_boxes(predicted, reference) == BoxMatch(
        1, 3, 3, 1.0, pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3)
    )
    loose = match_boxes(predicted, reference, 0.3)
    assert (loose.matches, loose.mean_iou) == (2, pytest.approx(2 / 3))
    # Two predictions on one object: one of them is left over.
    twice = match_boxes({1: [a, a]}, {1: [a]})
    assert (twice.matches, twice.precision, twice.recall) == (1, 0.5, 1.0)
    assert match_boxes({}, {1: []}) == BoxMatch(0, 0, 0, None, None, None, None)
    assert match_boxes({1: [a]}, {}) == BoxMatch(0, 1, 0, None, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="above 0"):
        match_boxes({}, {}, 0)


def mot_rows(path: Path) -> dict[int, list[Any]]:
    """Return the boxes of a MOT file as they are written, by frame."""
    found: dict[int, list[Any]] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        frame, _, *box = line.split(",")[:6]
        found.setdefault(int(frame), []).append(tuple(map(float, box)))
    return found


@pytest.mark.parametrize(
    ("name", "matches", "iou", "precision", "recall", "f1"),
    [("TUD-Campus", 209, 0.7296, 0.941, 0.582, 0.719), ("TUD-Stadtmitte", 704, 0.6566, 0.940, 0.609, 0.739)],
)
def test_a_tracker_against_gold_tracks(
    shared_data: Path, name: str, matches: int, iou: float, precision: float, recall: float, f1: float
) -> None:
    folder = shared_data / "reasoning" / "mot_tud"
    if not folder.is_dir():
        pytest.skip("the TUD tracks are not there")
    # Not through the import, which keeps the keyframes that give every box to one pixel.
    predicted, reference = (mot_rows(folder / f"{name}_{kind}.txt") for kind in ("test", "gt"))
    found = match_boxes(predicted, reference)
    assert found.matches == matches
    assert found.mean_iou == pytest.approx(iou, abs=5e-5)
    assert found.precision == pytest.approx(precision, abs=5e-4)
    assert found.recall == pytest.approx(recall, abs=5e-4)
    assert found.f1 == pytest.approx(f1, abs=5e-4)


def test_times_by_hand() -> None:
    # Cited 0-4 and 6-8, points at 9 and 20; refined 2-7 and 9-10. Common 2-4 and 6-7: 3 of 6, of 6, of 9 in all.
    found = match_times([(0, 4), (6, 8), (9, 9), (20, 20)], [(2, 7), (9, 10)])
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    assert found.tiou == pytest.approx(3 / 9)
    assert (found.points, found.points_inside, found.beyond) == (2, 1, 0)


def test_times_beyond_the_clip_are_cut_off_and_counted() -> None:
    cited = [(0, 4), (8, 12), (10, 15), (11, 11), (10, 10)]
    found = match_times(cited, [(0, 10)], duration=10)
    # What stays is 0-4 and 8-10, and the point at the end.
    assert (found.beyond, found.points, found.points_inside) == (3, 1, 1)
    assert (found.precision, found.recall) == (1.0, 0.6)


def test_times_without_length_have_no_overlap() -> None:
    assert match_times([], []) == TimeMatch(None, None, None, None, 0, 0, 0)
    assert match_times([], [(0, 5)]) == match_times([(0, 5)], []) == TimeMatch(0.0, 0.0, 0.0, 0.0, 0, 0, 0)
    assert match_times([(3, 3)], [(0, 5)]) == TimeMatch(None, None, None, None, 1, 1, 0)
    assert match_times([(0, 5)], [(3, 3)]) == TimeMatch(None, None, None, None, 0, 0, 0)
