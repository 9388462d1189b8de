"""What a model is told of a clip's boxes, and which pictures it is shown."""

from fractions import Fraction

from auditing.services.clip_material import MOST_BOX_LINES, box_lines, sketched_frames
from videos.core.timebase import PictureIndex
from videos.core.tracks.model import Keyframe, Track

INDEX = PictureIndex.constant(100, Fraction(25))  # four seconds
SIZE = (640.0, 360.0)


def with_tracks(*tracks: Track) -> dict[str, object]:
    return {track.id: track.to_json() for track in tracks}


def track(number: int, label: str, *keyframes: tuple[int, tuple[float, ...]], visible=((0, 100),)) -> Track:
    made = tuple(Keyframe(frame, box) for frame, box in keyframes)
    return Track(f"00000000-0000-4000-8000-{number:012d}", label, keyframes=made, visible=visible)


def test_boxes_are_in_percent_at_the_pictures_that_are_shown_and_move_between_keyframes():
    dog = track(1, "dog", (0, (0, 0, 64, 36)), (50, (320, 180, 64, 36)))
    # Picture 25 is half way: 160 of 640 and 90 of 360 pixels.
    assert box_lines(with_tracks(dog), INDEX, SIZE, [25, 99]).splitlines() == [
        "- dog @ 00:01.0: 25.0 25.0 10.0 10.0",
        "- dog @ 00:04.0: 50.0 50.0 10.0 10.0",
    ]


def test_without_pictures_there_is_a_line_a_second_and_none_where_the_thing_is_out_of_sight():
    dog = track(1, "dog", (30, (0, 0, 64, 36)), visible=((30, 80),))
    said = box_lines(with_tracks(dog), INDEX, SIZE, [])
    assert [line.split()[3] for line in said.splitlines()] == ["00:02.0:", "00:03.0:"]


def test_nothing_drawn_is_nothing_said_and_a_thing_without_a_name_is_an_object():
    assert box_lines({}, INDEX, SIZE, [0]) == ""
    assert box_lines(with_tracks(track(1, "", (0, (0, 0, 64, 36)))), INDEX, SIZE, [0]).startswith(
        "- object @"
    )


def test_of_too_many_boxes_whole_moments_are_left_out():
    tracks = [track(number, f"thing {number}", (0, (0, 0, 64, 36))) for number in range(15)]
    lines = box_lines(with_tracks(*tracks), INDEX, SIZE, list(range(0, 100, 10))).splitlines()
    # Two moments of 15 fit into 40 lines: of ten, the middle ones of two halves, pictures 20 and 70.
    assert len(lines) == 30
    assert {line.split()[4] for line in lines} == {"00:00.8:", "00:02.8:"}
    crowd = [track(number, f"thing {number}", (0, (0, 0, 64, 36))) for number in range(60)]
    assert len(box_lines(with_tracks(*crowd), INDEX, SIZE, [0, 50]).splitlines()) == MOST_BOX_LINES


def test_of_a_long_clip_as_many_moments_as_fit_are_given_evenly():
    long = PictureIndex.constant(10_000, Fraction(5))  # 2,000 seconds
    dog = track(1, "dog", (0, (0, 0, 64, 36)), visible=((0, 10_000),))
    lines = box_lines(with_tracks(dog), long, SIZE, []).splitlines()
    assert len(lines) == MOST_BOX_LINES
    # The middle ones of 40 parts of 50 seconds.
    assert (lines[0].split()[3], lines[1].split()[3]) == ("00:25.0:", "01:15.0:")


def test_sketched_pictures_have_the_places_and_times_of_real_ones_and_no_bytes():
    found = sketched_frames(INDEX, 2)
    assert [(frame.ordinal, frame.time_us, frame.jpeg) for frame in found] == [
        (25, 1_000_000, b""),
        (75, 3_000_000, b""),
    ]
    assert sketched_frames(None, 2) == ()
