from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.videos.core.tables import cases, close
from tests.videos.core.track_strategies import SECOND, boxes, tracks
from videos.core.intervals import subtract, union
from videos.core.tracks import (
    Keyframe,
    OverlapError,
    Track,
    box_at,
    dense,
    from_dense,
    from_outside,
    hide_from,
    interpolate,
    merge,
    normalise,
    pin,
    reduce_keyframes,
    restrict,
    split,
    status_at,
)

FUNCTIONS = {"restrict", "hide_from", "pin", "normalise", "split", "merge"}


def read(data: dict[str, Any]) -> Track:
    return Track.from_json(data)


def changed(data: dict[str, Any]) -> dict[str, Any]:
    """Run one of the functions that return tracks; what they refuse becomes a word."""
    function = data["function"]
    try:
        match function:
            case "split":
                first, second = split(read(data["track"]), data["frame"], data["new_id"])
                return {"first": first.to_json(), "second": second.to_json()}
            case "merge":
                return {"track": merge(read(data["a"]), read(data["b"]), data["prefer"]).to_json()}
            case "hide_from":
                return {"track": hide_from(read(data["track"]), data["frame"]).to_json()}
            case "pin":
                return {"track": pin(read(data["track"]), data["frame"]).to_json()}
            case "restrict":
                return {"track": restrict(read(data["track"]), map(tuple, data["keep"])).to_json()}
            case _:
                return {"track": normalise(read(data["track"])).to_json()}
    except OverlapError as error:
        return {"error": "overlap", "overlap": [list(pair) for pair in error.overlap]}
    except ValueError as error:
        return {"error": "absent" if "not visible" in str(error) else "nothing"}


def run(data: dict[str, Any], expected: dict[str, Any]) -> Any:
    match data["function"]:
        case "box_at":
            track = read(data["track"])
            return {"boxes": [[frame, box_at(track, frame)] for frame, _ in expected["boxes"]]}
        case "status_at":
            track = read(data["track"])
            return {"status": [[frame, *status_at(track, frame)] for frame, *_ in expected["status"]]}
        case "dense":
            return {"boxes": dense(read(data["track"]))}
        case "reduce_keyframes":
            rows = [(frame, tuple(box)) for frame, box in data["boxes"]]
            return {"frames": reduce_keyframes(rows, data["tolerance_px"])}
        case "from_dense":
            rows = {frame: tuple(box) for frame, box in data["boxes"]}
            track = from_dense(rows, tolerance_px=data["tolerance_px"])
        case "from_outside":
            given = [(Keyframe(row["frame"], tuple(row["box"])), row["outside"]) for row in data["keyframes"]]
            track = from_outside(Track("x"), given, data["until"])
    return {"keyframes": [keyframe.frame for keyframe in track.keyframes], "visible": list(track.visible)}


@pytest.mark.parametrize(("data", "expected"), cases("video_tracks"))
def test_table(data: dict[str, Any], expected: dict[str, Any]) -> None:
    if data["function"] not in FUNCTIONS:
        assert close(run(data, expected), expected)
        return
    found = changed(data)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        # Only the fields that a case names are compared; the others stay as they were.
        actual = {key: found[name][key] for key in value} if isinstance(value, dict) else found[name]
        assert close(actual, value)


def test_c7_interpolation_ends_and_middle() -> None:
    a, b = Keyframe(0, (0.0, 0.0, 10.0, 10.0)), Keyframe(10, (1.0, 2.0, 20.0, 30.0))
    assert interpolate(a, b, 5) == (0.5, 1.0, 15.0, 20.0)
    assert close(interpolate(a, b, 9), (0.9, 1.8, 19.0, 28.0))
    with pytest.raises(ValueError, match="not between"):
        interpolate(a, b, 11)


@given(boxes(), boxes(), st.integers(0, 1000), st.integers(0, 1000))
def test_c7_exact_at_both_ends(first: Any, last: Any, low: int, distance: int) -> None:
    a, b = Keyframe(low, first), Keyframe(low + distance, last if distance else first)
    assert interpolate(a, b, a.frame) == a.box
    assert interpolate(a, b, b.frame) == b.box


@given(tracks())
def test_dense_is_box_at_on_every_picture(track: Track) -> None:
    found = dict(dense(track))
    for frame in range(-1, 82):
        assert box_at(track, frame) == found.get(frame)
        status = status_at(track, frame)
        assert (status.kind == "absent") == (frame not in found)
        assert (status.kind == "keyframe") == any(key.frame == frame for key in track.keyframes)


@given(st.dictionaries(st.integers(0, 60), boxes(), min_size=1))
def test_dense_of_from_dense_is_what_was_given(given_boxes: dict[int, Any]) -> None:
    assert dict(dense(from_dense(given_boxes))) == given_boxes


@given(st.dictionaries(st.integers(0, 60), boxes(), min_size=1), st.sampled_from([0.0, 1.0, 50.0]))
def test_c10_reduced_keyframes_stay_within_the_tolerance(
    given_boxes: dict[int, Any], tolerance: float
) -> None:
    track = from_dense(given_boxes, tolerance_px=tolerance)
    found = dict(dense(track))
    assert found.keys() == given_boxes.keys()
    for frame, (x, y, w, h) in given_boxes.items():
        left, top, width, height = found[frame]
        assert close((left, top, left + width, top + height), (x, y, x + w, y + h), tolerance + 1e-9)


@given(tracks(), st.integers(0, 80))
def test_split_then_merge_is_the_same_track(track: Track, frame: int) -> None:
    """Every box, status and visible interval comes back; the cut's own keyframes stay, and change nothing."""
    assume(track.visible[0][0] < frame < track.visible[-1][1])
    first, second = split(track, frame)
    assert close(dense(first), [row for row in dense(track) if row[0] < frame], 1e-6)
    assert close(dense(second), [row for row in dense(track) if row[0] >= frame], 1e-6)
    again = merge(first, second)
    assert close(dense(again), dense(track), 1e-6)
    for picture in range(82):
        assert status_at(again, picture).occluded == status_at(track, picture).occluded
    assert set(track.keyframes) <= set(again.keyframes)
    # A border that the track had at this picture is one of the two that may go where no box changes.
    border = any(start == frame for start, _ in track.visible)
    assert union(again.visible) == union(track.visible)
    assert border or again.visible == track.visible
    assert again.id == track.id
    assert second.id != track.id
    assert normalise(again) == again


@given(tracks(), tracks(id=SECOND), st.sampled_from(["a", "b"]))
def test_merge_with_a_winner(a: Track, b: Track, prefer: Any) -> None:
    merged = merge(a, b, prefer)
    winner, loser = (a, b) if prefer == "a" else (b, a)
    expected = {**dict(dense(loser)), **dict(dense(winner))}
    assert close(dense(merged), sorted(expected.items()), 1e-6)
    assert normalise(merged) == merged


@given(tracks(), tracks(id=SECOND))
def test_merge_refuses_every_overlap(a: Track, b: Track) -> None:
    both = {frame for frame, _ in dense(a)} & {frame for frame, _ in dense(b)}
    if both:
        with pytest.raises(OverlapError) as caught:
            merge(a, b)
        assert {frame for start, end in caught.value.overlap for frame in range(start, end)} == both
    else:
        assert {frame for frame, _ in dense(merge(a, b))} == {frame for frame, _ in [*dense(a), *dense(b)]}


@given(tracks(), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=3))
def test_restriction_changes_no_box(track: Track, keep: list[tuple[int, int]]) -> None:
    part = restrict(track, keep)
    kept = {frame for start, end in keep for frame in range(start, end)}
    assert close(dense(part), [row for row in dense(track) if row[0] in kept], 1e-6)
    assert normalise(part) == part
    assert not subtract(part.visible, keep)


@given(tracks(), st.integers(0, 80))
def test_pin_changes_no_box(track: Track, frame: int) -> None:
    if box_at(track, frame) is None:
        with pytest.raises(ValueError, match="not visible"):
            pin(track, frame)
        return
    assert close(dense(pin(track, frame)), dense(track), 1e-6)
    assert status_at(pin(track, frame), frame) == ("keyframe", status_at(track, frame).occluded)


@given(tracks())
def test_json_and_back(track: Track) -> None:
    assert Track.from_json(track.to_json()) == track
    shuffled = replace(track, keyframes=track.keyframes[::-1], visible=track.visible[::-1])
    assert normalise(shuffled) == track


def test_box_at_looks_at_few_of_many_keyframes() -> None:
    """O(log n): the search reads some twenty pictures of 10,000 keyframes, not all of them."""
    reads = 0

    class Counted(Keyframe):
        def __getattribute__(self, name: str) -> Any:
            nonlocal reads
            reads += name == "frame"
            return super().__getattribute__(name)

    keyframes = tuple(Counted(2 * i, (float(i), 0.0, 1.0, 1.0)) for i in range(10_000))
    track = Track("x", keyframes=keyframes, visible=((0, 20_000),))
    reads = 0
    assert box_at(track, 12_345) == (6172.5, 0.0, 1.0, 1.0)
    assert reads < 40
