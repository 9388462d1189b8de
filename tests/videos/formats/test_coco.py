"""COCO: which picture an image is, which boxes are one object, and the two ways of writing."""

from __future__ import annotations

import json
from typing import Any

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, common, needs_annotations
from videos.core.tracks import box_at
from videos.formats import coco


def document(rows: list[dict[str, Any]], images: list[dict[str, Any]] | None = None, **more: Any) -> bytes:
    listed = images or [
        {"id": f + 1, "file_name": f"frame_{f:06d}.PNG", "width": 640, "height": 360} for f in range(9)
    ]
    top = {"images": listed, "categories": [{"id": 1, "name": "spoon"}], "annotations": rows, **more}
    return json.dumps(top).encode()


def row(image: int, x: float = 10, **more: Any) -> dict[str, Any]:
    return {"id": image, "image_id": image, "category_id": 1, "bbox": [x, 20, 30, 40], "iscrowd": 0, **more}


def test_frames_come_from_frame_index_before_file_names() -> None:
    images = [
        {"id": 1, "file_name": "frame_000007.PNG", "frame_index": 3},
        {"id": 2, "file_name": "clip2_000004.jpg"},
        {"id": 3, "file_name": "last.jpg"},
    ]
    loaded = coco.read(document([row(1, track_id=1), row(2, track_id=1), row(3, track_id=2)], images), DEMO)
    assert [track.visible for track in loaded.scene.tracks] == [((3, 5),), ((2, 3),)]
    assert any("digits at the end of file names" in sentence for sentence in loaded.report.warnings)
    assert any("place in the list" in sentence for sentence in loaded.report.warnings)


def test_the_keyframes_of_a_file_are_believed_when_they_explain_the_boxes() -> None:
    extra = {"track_id": 4, "occluded": False}
    rows = [row(f + 1, 10 * f, attributes={**extra, "keyframe": f in (0, 2, 4)}) for f in range(5)]
    (track,) = coco.read(document(rows), DEMO).scene.tracks
    assert [key.frame for key in track.keyframes] == [0, 2, 4]
    rows[1]["bbox"] = [50, 20, 30, 40]
    (track,) = coco.read(document(rows), DEMO).scene.tracks
    assert box_at(track, 1) == (50, 20, 30, 40)


def test_occlusion_and_attributes() -> None:
    rows = [
        row(f + 1, attributes={"track_id": 1, "occluded": f == 2, "kind": "tea", "n": f}) for f in range(4)
    ]
    loaded = coco.read(document(rows), DEMO)
    (track,) = loaded.scene.tracks
    assert [(key.frame, key.occluded) for key in track.keyframes] == [(0, False), (2, True), (3, False)]
    assert track.attributes == {"kind": "tea", "n": "0"}
    assert loaded.report.dropped == ["1 attributes that change within a track: the first value is kept."]


@needs_annotations
def test_polygons_and_masks_leave_their_boxes() -> None:
    loaded = coco.read((ANNOTATIONS / "coco_instances_datumaro.json").read_bytes())
    assert [(t.label, t.keyframes[0].box) for t in loaded.scene.tracks] == [
        ("a", (0, 0, 1, 2)),
        ("b", (0, 0, 1, 9)),
    ]
    assert loaded.report.dropped == ["2 masks and polygons: the box is read."]


def test_only_the_named_video_of_several_is_read() -> None:
    videos = [{"id": 1, "file_name": "a.mp4"}, {"id": 2, "file_name": "demo.mp4"}]
    images = [{"id": f + 1, "frame_index": f % 2, "video_id": 1 + f // 2} for f in range(4)]
    rows = [row(number, track_id=number) for number in (1, 2, 3, 4)]
    loaded = coco.read(document(rows, images, videos=videos), DEMO)
    assert [track.external["coco"] for track in loaded.scene.tracks] == ["3", "4"]
    assert "2 annotations of images outside this video." in loaded.report.dropped


def test_odd_annotations_are_named() -> None:
    rows = [row(1, track_id=1), row(1, track_id=1), row(77, track_id=1), row(2, track_id=1, category_id=9),
            {**row(3), "bbox": [1, 2]}, row(4, x=float("nan"))]  # fmt: skip
    loaded = coco.read(document(rows), DEMO)
    assert loaded.report.counts_in["annotations"] == 6
    assert len(loaded.scene.tracks) == 2
    text = "\n".join(loaded.report.warnings)
    for words in ("two boxes of one track", "does not list", "unknown category", "category changes", "NaN"):
        assert words in text


def test_keyframes_only_or_every_picture() -> None:
    keyed, dense = coco.write(common()), coco.write(common(), dense=True)
    assert isinstance(keyed.data, bytes)
    assert isinstance(dense.data, bytes)
    short, long = json.loads(keyed.data), json.loads(dense.data)
    assert [image["frame_index"] for image in short["images"]] == [5, 15]
    assert [image["frame_index"] for image in long["images"]] == list(range(5, 21))
    assert long["annotations"][5]["bbox"] == [150, 100, 60, 50]
    assert long["annotations"][5]["area"] == 3000
    assert [a["attributes"]["keyframe"] for a in long["annotations"]].count(True) == 2
    assert long["tracks"][0]["visible"] == [[5, 21]]
    assert any("only keyframes were written" in sentence for sentence in keyed.report.warnings)
