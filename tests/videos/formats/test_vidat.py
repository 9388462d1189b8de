"""VidAT: the grid and its pictures, instances, actions as events and reasoning, and the reply to its submit button."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, common, id_of, needs_annotations
from videos.core.timebase import PictureIndex
from videos.core.tracks import IMPORT, Keyframe, Track, box_at, dense
from videos.formats import vidat
from videos.formats.scene import Event, FormatError, Media, Scene, empty_cot


def document(boxes: dict[str, Any], *, actions: list[dict[str, Any]] | None = None, **video: Any) -> bytes:
    facts = {
        "src": "video/demo.mp4",
        "fps": 25,
        "frames": 50,
        "duration": 2.0,
        "height": 360,
        "width": 640,
        **video,
    }
    labels = [
        {"id": 0, "name": "default", "color": "#00ff00"},
        {"id": 1, "name": "spoon", "color": "#FF0000"},
    ]
    actions_labels = [
        {"id": 0, "name": "default", "color": "#0000ff", "objects": [0]},
        {"id": 1, "name": "clink", "color": "#0000ff", "objects": [0]},
        {"id": 2, "name": "Visual Cue", "color": "#0000ff", "objects": [0]},
        {"id": 3, "name": "audio_cue", "color": "#0000ff", "objects": [0]},
        {"id": 4, "name": "Final answer", "color": "#0000ff", "objects": [0]},
    ]
    return json.dumps(
        {
            "version": "2.1.0",
            "annotation": {
                "video": facts,
                "keyframeList": [0],
                "objectAnnotationListMap": boxes,
                "regionAnnotationListMap": {},
                "skeletonAnnotationListMap": {},
                "actionAnnotationList": actions or [],
            },
            "config": {"objectLabelData": labels, "actionLabelData": actions_labels, "skeletonTypeData": []},
        }
    ).encode()


def row(x: float = 10, instance: object = "1", **more: Any) -> dict[str, Any]:
    made = {"instance": instance, "score": None, "labelId": 1, "color": "#ff0000"}
    return {**made, "x": x, "y": 20, "width": 30, "height": 40, **more}


def action(start: float, end: float, number: int, words: str = "") -> dict[str, Any]:
    return {
        "start": start,
        "end": end,
        "action": number,
        "object": 0,
        "color": "#0000ff",
        "description": words,
    }


def test_the_instance_1_is_the_instance_one_in_quotes() -> None:
    boxes = {"3": [row(instance=1)], "4": [row(instance="1")], "5": [row(instance=1.0)]}
    (track,) = vidat.read(document(boxes), DEMO).scene.tracks
    assert track.visible == ((3, 6),)
    assert track.attributes == {"instance": "1"}
    assert track.color == "#ff0000"


def test_boxes_without_an_instance_are_objects_of_one_frame_until_they_are_linked() -> None:
    boxes = {str(f): [row(10 + f, None), row(200 + f, "")] for f in (0, 10, 20)}
    loaded = vidat.read(document(boxes), DEMO)
    assert len(loaded.scene.tracks) == 6
    assert any("without an instance" in sentence for sentence in loaded.report.warnings)
    linked = vidat.read(document(boxes), DEMO, link_iou=0.3).scene.tracks
    # 30 wide and moved by 10: the overlap is 20/40.
    assert [track.visible for track in linked] == [((0, 21),), ((0, 21),)]
    assert box_at(linked[0], 15) == (25, 20, 30, 40)
    assert len(vidat.read(document(boxes), DEMO, link_iou=0.6).scene.tracks) == 6


def test_a_missing_box_is_an_absent_object() -> None:
    boxes = {"3": [row()], "4": [row()], "5": [], "6": [row()]}
    (track,) = vidat.read(document(boxes), DEMO).scene.tracks
    assert track.visible == ((3, 5), (6, 7))


def test_grid_frames_go_to_the_picture_nearest_in_time() -> None:
    # Pictures at 0, 40, 80, 200 and 240 ms; grid frames at 0, 100 and 200 ms.
    index = PictureIndex(np.array([0, 40, 80, 200, 240]), 1, 1000, 280)
    boxes = {str(f): [row(10 * f)] for f in range(3)}
    loaded = vidat.read(document(boxes, fps=10, frames=3, duration=0.28), Media("demo.mp4", 640, 360, index))
    (track,) = loaded.scene.tracks
    assert track.visible == ((0, 4),)
    assert [(key.frame, key.box[0]) for key in track.keyframes] == [(0, 0), (2, 10), (3, 20)]


def test_the_grid_of_a_faster_video_is_interpolated_between_its_frames() -> None:
    # 10 frames a second on 25 pictures a second: frames 4 and 5 are at 0.4 and 0.5 s, pictures 10 and 12 (12.5).
    boxes = {"4": [row(100)], "5": [row(120)]}
    (track,) = vidat.read(document(boxes, fps=10, frames=20), DEMO).scene.tracks
    assert track.visible == ((10, 13),)
    assert box_at(track, 11) == (110, 20, 30, 40)


def test_a_frame_after_the_end_is_left_out_and_said() -> None:
    loaded = vidat.read(document({"49": [row()], "60": [row()]}), DEMO)
    assert loaded.scene.tracks[0].visible == ((49, 50),)
    assert loaded.report.counts_in["boxes"] == 2
    assert any("after the end" in sentence for sentence in loaded.report.warnings)


@needs_annotations
def test_the_real_file_has_a_frame_130_of_130() -> None:
    # 130 frames at 10 a second, 13.036 s: a picture at 13.0 s exists in a 25 fps video of that length.
    index = PictureIndex.constant(326, Fraction(25))
    media = Media("example.mp4", 640, 480, index)
    loaded = vidat.read((ANNOTATIONS / "vidat_2.1.0_example.json").read_bytes(), media)
    assert max(track.visible[-1][1] for track in loaded.scene.tracks) == 326
    assert sum("frame 130" in sentence for sentence in loaded.report.warnings) == 1
    assert {track.label for track in loaded.scene.tracks} == {"person", "robot", "book"}


def test_a_size_of_the_same_shape_is_scaled_and_another_is_not() -> None:
    half = vidat.read(document({"0": [row()]}, width=320, height=180), DEMO)
    assert half.scene.tracks[0].keyframes[0].box == (20, 40, 60, 80)
    turned = vidat.read(document({"0": [row()]}, width=360, height=640), DEMO)
    assert turned.scene.tracks[0].keyframes[0].box == (10, 20, 30, 40)
    assert "another shape" in turned.report.warnings[0]


def test_the_duration_of_another_video_is_noticed() -> None:
    warnings = vidat.read(document({}, duration=7.5), DEMO).report.warnings
    assert any("7.5 s" in sentence for sentence in warnings)


def test_two_boxes_of_one_object_on_one_frame_are_two_objects() -> None:
    loaded = vidat.read(document({"0": [row(1), row(2)]}), DEMO)
    assert len(loaded.scene.tracks) == 2
    assert "two boxes of spoon 1" in loaded.report.warnings[0]


def test_noise_of_dense_boxes_is_reduced_within_a_pixel() -> None:
    boxes = {str(f): [row(100 + 2 * f + (0.4 if f % 2 else -0.4))] for f in range(40)}
    (track,) = vidat.read(document(boxes), DEMO).scene.tracks
    assert len(track.keyframes) < 6
    assert all(abs(box[0] - boxes[str(f)][0]["x"]) <= 1 for f, box in dense(track))


def test_actions_become_events_timeframes_and_the_answer() -> None:
    actions = [
        action(0.84, 1.1, 1, "metal on glass"),
        action(0.2, 0.6, 2, "Timeframe: 00:00 - 00:01\nDescription: a spoon\nfalls\nAnalysis: it is metal"),
        action(1.2, 1.4, 2),
        action(0.5, 0.25, 3, "a clink"),
        action(0, 2, 4, "yes"),
    ]
    loaded = vidat.read(document({}, actions=actions), DEMO)
    assert [(e.label, e.start_us, e.end_us, e.note) for e in loaded.scene.events] == [
        ("clink", 840_000, 1_100_000, "metal on glass")
    ]
    assert loaded.scene.cot == {
        "visual": {
            "timeframe": {
                "whole": False,
                "intervals": [[200_000, 600_000], [1_200_000, 1_400_000]],
                "raw": "00:00 - 00:01",
            },
            "description": "a spoon\nfalls",
            "analysis": "it is metal",
        },
        "audio": {
            "timeframe": {"whole": False, "intervals": [[250_000, 500_000]], "raw": ""},
            "description": "a clink",
            "analysis": "",
        },
        "final_answer": "yes",
    }
    assert any("turned round" in sentence for sentence in loaded.report.warnings)


def test_a_cue_over_the_whole_video_is_whole() -> None:
    cot = empty_cot()
    cot["visual"]["timeframe"]["whole"] = True
    written = vidat.write(Scene(DEMO, cot=cot))
    assert isinstance(written.data, bytes)
    assert json.loads(written.data)["annotation"]["actionAnnotationList"][0]["end"] == 2.0
    back = vidat.read(written.data, DEMO).scene.cot
    assert back is not None
    assert back["visual"]["timeframe"] == {"whole": True, "intervals": [], "raw": ""}


def test_the_written_file_is_what_vidat_expects() -> None:
    written = vidat.write(common())
    assert isinstance(written.data, bytes)
    top = json.loads(written.data)
    video = top["annotation"]["video"]
    assert video == {"src": "demo.mp4", "fps": 25, "frames": 50, "duration": 2.0, "height": 360, "width": 640}
    boxes = top["annotation"]["objectAnnotationListMap"]
    assert list(boxes) == [str(frame) for frame in range(5, 21)]
    assert boxes["10"] == [
        {
            "instance": 1,
            "score": None,
            "labelId": 1,
            "color": "#ff0000",
            "x": 150,
            "y": 100,
            "width": 60,
            "height": 50,
        }
    ]
    assert top["config"]["objectLabelData"][0]["name"] == "default"
    assert top["config"]["objectLabelData"][1] == {"id": 1, "name": "spoon", "color": "#ff0000"}
    assert top["annotation"]["keyframeList"] == [5, 15]
    first = top["annotation"]["actionAnnotationList"][0]
    assert (first["start"], first["end"], first["description"]) == (0.84, 1.1, "metal spoon on glass")
    assert top["config"]["actionLabelData"][first["action"]]["name"] == "clink"


def test_the_file_of_a_variable_rate_finds_every_picture_again() -> None:
    # Uneven by hand: 33, 33, 50, 17 and 100 ms.
    index = PictureIndex(np.array([0, 33, 66, 116, 133, 233]), 1, 1000, 266)
    media = Media("phone.mp4", 640, 360, index)
    keyframes = tuple(Keyframe(f, (100 + 50 * (f % 2), 10, 30, 30)) for f in range(1, 5))
    track = Track(id_of(1), "cup", None, {}, IMPORT, None, keyframes, ((1, 5),))
    written = vidat.write(Scene(media, [track]))
    assert any("no constant frame rate" in sentence for sentence in written.report.warnings)
    assert isinstance(written.data, bytes)
    (back,) = vidat.read(written.data, media).scene.tracks
    assert dense(back) == dense(track)


def test_a_coarse_grid_says_what_it_does_not_show() -> None:
    written = vidat.write(common(), grid=Fraction(10))
    assert isinstance(written.data, bytes)
    assert json.loads(written.data)["annotation"]["video"]["frames"] == 20
    # Pictures 5 to 20 are 0.2 to 0.8 s: grid frames 2 to 8, seven of sixteen pictures.
    assert any(sentence.startswith("9 boxes on pictures") for sentence in written.report.dropped)
    (back,) = vidat.read(written.data, DEMO).scene.tracks
    assert back.visible == ((5, 21),)
    assert box_at(back, 10) == pytest.approx((150, 100, 60, 50))


def test_without_a_rate_or_a_size_nothing_is_written() -> None:
    with pytest.raises(FormatError, match="frame rate"):
        vidat.write(Scene(Media("a.mp4", 640, 360), common().tracks))
    with pytest.raises(FormatError, match="size of the picture"):
        vidat.write(Scene(Media("a.mp4", fps=Fraction(25)), common().tracks))


def test_objects_of_one_label_get_numbers_of_their_own() -> None:
    first = common().tracks[0]
    tracks = [
        Track(id_of(place), "spoon", None, {}, IMPORT, None, first.keyframes, first.visible)
        for place in range(3)
    ]
    tracks.append(first)
    written = vidat.write(Scene(DEMO, tracks))
    assert isinstance(written.data, bytes)
    rows = json.loads(written.data)["annotation"]["objectAnnotationListMap"]["7"]
    assert sorted(row["instance"] for row in rows) == [1, 2, 3, 4]
    assert len(vidat.read(written.data, DEMO).scene.tracks) == 4


def test_the_reply_to_a_submission() -> None:
    loaded = vidat.read(document({"0": [row()]}), DEMO)
    reply = vidat.submit_reply(loaded.report, name="Question 4", clipboard="abc")
    assert set(reply) == {"message", "type", "clipboard"}
    assert reply["type"] == "warning"
    assert reply["message"].startswith("Stored for Question 4: 1 boxes, 1 tracks.")
    assert "bookmarks" in reply["message"]
    assert reply["clipboard"] == "abc"
    assert vidat.submit_reply(error="The question was submitted already.") == {
        "message": "The question was submitted already.",
        "type": "negative",
        "clipboard": "",
    }


def test_a_point_in_time_stays_one() -> None:
    scene = Scene(DEMO, [], [Event(id_of(1), "clink", 500_000, 500_001)])
    written = vidat.write(scene)
    assert isinstance(written.data, bytes)
    made = json.loads(written.data)["annotation"]["actionAnnotationList"][0]
    assert made["start"] == made["end"] == 0.5
    assert vidat.read(written.data, DEMO).scene.events[0].end_us == 500_001
