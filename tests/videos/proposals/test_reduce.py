"""Proposals become tracks with few keyframes."""

from videos.core.tracks import box_at
from videos.proposals.protocol import Proposed
from videos.proposals.reduce import to_tracks


def straight(frames, name="1", flags=(), score=0.9):
    return [Proposed(frame, name, (2.0 * frame, 5.0, 10.0, 10.0), score, flags) for frame in frames]


def test_a_straight_way_needs_two_keyframes_and_a_loss_makes_a_gap():
    """Ten pictures, the object not found in 4 and 5: two intervals of a straight line, so four keyframes."""
    lost = [Proposed(4, "1", None, 0.0, ("lost",)), *straight([5], flags=("lost",))]
    proposed = [*straight(range(4)), *lost, *straight(range(6, 10))]
    (track,) = to_tracks(proposed, label="dog", run="r1", ids={"1": "t1"})
    assert [keyframe.frame for keyframe in track.keyframes] == [0, 3, 6, 9]
    assert list(track.visible) == [(0, 4), (6, 10)]
    assert (track.id, track.label, track.source, track.run) == ("t1", "dog", "model", "r1")
    assert all(box_at(track, frame) == (2.0 * frame, 5.0, 10.0, 10.0) for frame in (0, 1, 2, 3, 6, 7, 8, 9))


def test_the_way_of_a_lost_object_is_kept_on_request():
    proposed = [*straight(range(4)), *straight([4, 5], flags=("lost",)), *straight(range(6, 10))]
    (track,) = to_tracks(proposed, label="dog", run="r", ids={"1": "t"}, keep_lost=True)
    assert list(track.visible) == [(0, 10)]


def test_boxes_of_the_whole_picture_and_of_low_score_are_left_out():
    proposed = [
        *straight([0, 1]),
        *straight([2], flags=("large",)),
        *straight([3], score=0.2),
        *straight([4], score=None),
    ]
    (track,) = to_tracks(proposed, label="dog", run="r", ids={"1": "t"}, least_score=0.5)
    assert list(track.visible) == [(0, 2), (4, 5)]


def test_objects_without_an_id_or_without_a_box_give_no_track():
    proposed = [*straight([0]), *straight([0], name="2"), Proposed(0, "3", None, 0.0, ("lost",))]
    assert [track.id for track in to_tracks(proposed, label="", run="r", ids={"3": "c", "1": "a"})] == ["a"]
