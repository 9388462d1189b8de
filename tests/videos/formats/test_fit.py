"""What a scene loses when it is made to fit a video, and that the document then is valid."""

from __future__ import annotations

from tests.videos.formats.scenes import DEMO, common, id_of
from videos.core import document
from videos.core.tracks import IMPORT, Keyframe, Track, box_at
from videos.core.values import Limits
from videos.formats.fit import fit
from videos.formats.native import to_document
from videos.formats.scene import Event, Scene

LIMITS = Limits(18, 640, 360, 1_500_000)


def test_what_fits_stays() -> None:
    scene = common()
    made, report = fit(scene, Limits(50, 640, 360, 2_000_000))
    assert made == scene
    assert report.warnings == report.dropped == []


def test_everything_beyond_the_video_is_cut_and_said() -> None:
    outside = Track(id_of(5), "bird", None, {}, IMPORT, None, (Keyframe(1, (700, 5, 9, 9)),), ((1, 3),))
    partly = Track(id_of(6), "dog", None, {}, IMPORT, None, (Keyframe(1, (-5, 5, 9, 9)),), ((1, 3),))
    late = Track(id_of(7), "cat", None, {}, IMPORT, None, (Keyframe(30, (5, 5, 9, 9)),), ((30, 33),))
    half = Track(
        id_of(8), "fish", None, {}, IMPORT, None,
        (Keyframe(1, (700, 5, 9, 9)), Keyframe(2, (5, 5, 9, 9))), ((1, 3),),
    )  # fmt: skip
    link = {
        "id": id_of(9),
        "step": "visual",
        "kind": "track",
        "target": id_of(7),
        "frames": None,
        "relation": "supports",
    }
    events = [*common().events, Event(id_of(4), "late", 1_600_000, 1_700_000)]
    scene = Scene(DEMO, [*common().tracks, outside, partly, late, half], events, None, [link])
    made, report = fit(scene, LIMITS)
    document.validate(to_document(made), LIMITS)
    assert [track.label for track in made.tracks] == ["spoon", "dog", "fish"]
    assert made.tracks[0].visible == ((5, 18),)
    assert box_at(made.tracks[0], 10) == (150, 100, 60, 50)
    assert [event.end_us for event in made.events] == [1_100_000, 1_500_000]
    assert made.links == []
    assert report.counts_in == {"tracks": 5, "events": 3, "links": 1}
    assert report.counts_out == {"tracks": 3, "events": 2, "links": 0}
    assert len(report.dropped) == 4
    assert report.warnings == [
        "spoon, cat: an object is visible after the last picture; cut.",
        "bird, fish: keyframes wholly outside the picture were left out.",
        "speech: an event ends after the video; cut.",
    ]
