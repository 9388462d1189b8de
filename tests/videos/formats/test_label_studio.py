"""Label Studio: frames from 1, percent, the last visible frame, rotations, ranges, and whose annotation is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, EXAMPLES, common, needs_annotations, needs_examples
from videos.core.tracks import HUMAN, IMPORT, MODEL, box_at
from videos.formats import label_studio
from videos.formats.scene import FormatError, Media


def key(frame: int, enabled: object = True, **more: Any) -> dict[str, Any]:
    box = {"x": 10, "y": 20, "width": 30, "height": 40, "rotation": 0, "time": 99.0}
    return {"frame": frame, "enabled": enabled, **box, **more}


def region(*sequence: dict[str, Any], **more: Any) -> dict[str, Any]:
    value = {"framesCount": 50, "duration": 2.0, "sequence": list(sequence), "labels": ["spoon"]}
    return {"id": "r1", "type": "videorectangle", "origin": "manual", "value": value, **more}


def task(*result: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"id": 1, "data": {"video": "/data/upload/1/0a1b2c3d-demo.mp4"},
                       "annotations": [{"id": 5, "result": list(result)}], **more}).encode()  # fmt: skip


def test_disabled_is_the_last_visible_frame_and_frames_count_from_one() -> None:
    sequence = (key(1), key(4, False), key(10), key(12, False), key(20, False), key(30))
    (track,) = label_studio.read(task(region(*sequence)), DEMO).scene.tracks
    assert track.visible == ((0, 4), (9, 12), (19, 20), (29, 50))
    assert box_at(track, 0) == (64, 72, 192, 144)  # percent of 640 x 360


@needs_annotations
def test_the_gaps_and_negative_heights_of_the_real_excerpt() -> None:
    media = Media("cars.mp4", 1280, 720, None, None, 1009)
    data = (ANNOTATIONS / "label_studio_videorectangle_excerpt.json").read_bytes()
    car, plane = label_studio.read(data, media).scene.tracks
    assert (car.label, car.visible) == ("Car", ((0, 5),))
    assert (plane.label, plane.visible) == ("Airplane", ((32, 57), (75, 1009)))
    # y 92.0833 %, height -15.9722 % of 720: from 548 to 663.
    assert box_at(plane, 32) == pytest.approx((277, 548, 165, 115), abs=0.01)
    assert box_at(plane, 60) is None


def test_copies_are_left_out_and_the_keyframes_count() -> None:
    sequence = (key(1, x=0), key(2, x=50, auto=True), key(3, x=20))
    loaded = label_studio.read(task(region(*sequence)), DEMO)
    assert box_at(loaded.scene.tracks[0], 1) == (64, 72, 192, 144)
    assert "interpolated copies" in loaded.report.dropped[0]


def test_a_rotated_box_becomes_the_upright_box_around_it() -> None:
    # 192 x 144 pixels at (64, 72), turned by 90 degrees about its top-left corner: to the left of it.
    loaded = label_studio.read(task(region(key(1, rotation=90))), DEMO)
    assert box_at(loaded.scene.tracks[0], 0) == pytest.approx((64 - 144, 72, 144, 192))
    assert any("rotated" in sentence for sentence in loaded.report.warnings)


def test_timeline_and_audio_labels_become_events() -> None:
    ranges = [{"start": 22, "end": 28}, {"start": 50, "end": 50}]
    timeline = {"id": "t", "type": "timelinelabels", "origin": "manual",
                "value": {"ranges": ranges, "timelinelabels": ["clink"]}}  # fmt: skip
    sound = {"id": "a", "type": "labels", "meta": {"text": ["loud"]}, "origin": "prediction",
             "value": {"start": 0.84, "end": 1.1, "channel": 1, "labels": ["clink"]}}  # fmt: skip
    loaded = label_studio.read(task(timeline, sound), DEMO)
    # Frames 22 to 28 are pictures 21 to 27, 40 ms each; the last frame ends with the video.
    found = [(e.start_us, e.end_us, e.note, e.source) for e in loaded.scene.events]
    assert found == [
        (840_000, 1_100_000, "loud", MODEL),
        (840_000, 1_120_000, "", HUMAN),
        (1_960_000, 2_000_000, "", HUMAN),
    ]
    assert len({event.id for event in loaded.scene.events}) == 3
    assert loaded.report.dropped == ["1 audio channels: events have none."]


def test_ranges_need_times() -> None:
    timeline = {"id": "t", "type": "timelinelabels", "value": {"ranges": [{"start": 1, "end": 2}]}}
    loaded = label_studio.read(task(timeline), Media("demo.mp4", 640, 360))
    assert loaded.scene.events == []
    assert any("no times for its frames" in sentence for sentence in loaded.report.warnings)


@needs_examples
def test_a_prediction_is_not_mixed_with_the_annotation_beside_it() -> None:
    data = (EXAMPLES / "label_studio_video.json").read_bytes()
    plain = label_studio.read(data, DEMO)
    assert [track.external["label_studio"] for track in plain.scene.tracks] == ["trk1"]
    assert plain.scene.tracks[0].attributes == {"origin": "prediction-changed"}
    assert plain.scene.tracks[0].source == HUMAN
    assert "1 predictions: they are not mixed with what a person made." in plain.report.dropped
    both = label_studio.read(data, DEMO, predictions=True).scene.tracks
    assert [(track.source, track.run) for track in both] == [(HUMAN, None), (MODEL, "sam3")]
    assert both[1].visible == ((5, 16),)


def test_one_annotation_is_read_and_the_others_are_named() -> None:
    annotations = [
        {"id": 1, "was_cancelled": True, "result": [region(key(1))]},
        {"id": 2, "result": [region(key(2, False))]},
        {"id": 3, "result": [region(key(3, False))]},
    ]
    data = task(annotations=annotations)
    loaded = label_studio.read(data, DEMO)
    assert loaded.scene.tracks[0].visible == ((1, 2),)
    assert loaded.report.dropped[:2] == [
        "1 cancelled annotations.",
        "1 annotations of other people: one is read at a time.",
    ]
    assert label_studio.read(data, DEMO, annotation="3").scene.tracks[0].visible == ((2, 3),)
    with pytest.raises(FormatError, match="no annotation has the id"):
        label_studio.read(data, DEMO, annotation="9")


def test_the_task_of_the_video_is_chosen_by_its_name() -> None:
    other = json.loads(task(region(key(9, False))))
    other["data"]["video"] = "/data/other.mp4"
    data = json.dumps([other, json.loads(task(region(key(2, False))))]).encode()
    loaded = label_studio.read(data, DEMO)
    assert loaded.scene.tracks[0].visible == ((1, 2),)
    assert loaded.report.dropped[0].startswith("1 other tasks")


def test_without_a_size_percent_are_not_guessed() -> None:
    loaded = label_studio.read(task(region(key(1))))
    assert loaded.scene.tracks == []
    assert any("size of the picture is not known" in sentence for sentence in loaded.report.warnings)


def test_another_number_of_frames_is_said() -> None:
    loaded = label_studio.read(task(region(key(1), key(70))), Media("demo.mp4", 640, 360, None, None, 60))
    assert loaded.scene.tracks[0].visible == ((0, 60),)
    assert len(loaded.report.warnings) == 2


@pytest.mark.parametrize("dense", [False, True])
def test_the_written_file_is_what_label_studio_expects(dense: bool) -> None:
    written = label_studio.write(common(HUMAN), dense=dense)
    assert isinstance(written.data, bytes)
    ((one,),) = [json.loads(written.data)]
    rectangle, clink, _ = one["annotations"][0]["result"]
    assert rectangle["origin"] == "manual"
    assert rectangle["value"]["framesCount"] == 50
    sequence = rectangle["value"]["sequence"]
    assert [row["frame"] for row in sequence] == (list(range(6, 22)) if dense else [6, 16, 21])
    assert [row["enabled"] for row in sequence] == [True] * (len(sequence) - 1) + [False]
    assert sequence[0]["x"] == 15.625
    assert sequence[0]["time"] == 0.24  # frame 6 at 25 a second, as Label Studio writes it
    assert [row["frame"] for row in sequence if not row.get("auto")] == [6, 16, 21]
    assert clink["value"] == {"start": 0.84, "end": 1.1, "channel": 0, "labels": ["clink"]}
    assert clink["meta"] == {"text": ["metal spoon on glass"]}
    assert "origin" not in clink
    assert label_studio.read(written.data, DEMO).scene.events[0].source == IMPORT
