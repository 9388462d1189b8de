"""The project's own JSON: its schema, receipts, and what happens to entries that are not valid."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tests.videos.formats.scenes import DEMO, common, id_of
from videos.core import document
from videos.core.timebase import PictureIndex
from videos.formats import native
from videos.formats.scene import FormatError, Media, Scene, empty_cot

SCHEMA = json.loads(Path(native.__file__).with_name("native.schema.json").read_text("utf-8"))
LINK = {
    "id": id_of(9),
    "step": "visual",
    "kind": "track",
    "target": id_of(1),
    "frames": [5, 9],
    "relation": "supports",
}


def full(media: Media = DEMO) -> Scene:
    cot = empty_cot()
    cot["visual"]["timeframe"] = {"whole": False, "intervals": [[200_000, 800_000]], "raw": "00:00 - 00:01"}
    cot["final_answer"] = "yes"
    scene = common()
    return Scene(media, scene.tracks, scene.events, cot, [LINK], "spoon", ["by hand"])


def top_of(scene: Scene, *, dense: bool = False) -> dict[str, Any]:
    data = native.write(scene, dense=dense).data
    assert isinstance(data, bytes)
    top: dict[str, Any] = json.loads(data)
    return top


@pytest.mark.parametrize("dense", [False, True])
def test_the_written_file_follows_the_schema(dense: bool) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    for scene in (full(), Scene(), Scene(Media("x"), common().tracks)):
        assert list(validator.iter_errors(top_of(scene, dense=dense))) == []
    broken = top_of(full())
    broken["document"]["tracks"][id_of(1)]["keyframes"]["5"]["box"][2] = 0
    assert list(validator.iter_errors(broken)) != []


def test_the_document_is_one_that_the_core_accepts() -> None:
    document.validate(native.to_document(full()))


def test_receipts_name_tick_and_time_of_every_mentioned_picture() -> None:
    # A late start and uneven steps, by hand: ticks of 1/1000 s.
    ticks = np.array([500 + 40 * i + (7 if i > 10 else 0) for i in range(50)])
    media = Media("demo.mp4", 640, 360, PictureIndex(ticks, 1, 1000, int(ticks[-1]) + 40), None, 50)
    top = top_of(full(media))
    assert top["receipts"] == [
        {"frame": 5, "tick": 700, "us": 200_000},
        {"frame": 8, "tick": 820, "us": 320_000},
        {"frame": 15, "tick": 1107, "us": 607_000},
        {"frame": 20, "tick": 1307, "us": 807_000},
    ]
    assert top["media"]["pictures"]["steps"] == [[40, 10], [47, 1], [40, 38]]
    assert native.read(json.dumps(top).encode()).scene == full(media)


def test_a_receipt_of_another_video_is_noticed() -> None:
    data = native.write(full()).data
    assert isinstance(data, bytes)
    other = Media("demo.mp4", 640, 360, PictureIndex.constant(50, Fraction(30)), None, None)
    warnings = native.read(data, other).report.warnings
    assert "receipts: picture 5 was at 200000 µs; in this video it is at 166666 µs." in warnings
    assert any("not the video" in sentence for sentence in warnings)
    assert native.read(data, DEMO).report.warnings == []
    short = Media("demo.mp4", 640, 360, PictureIndex.constant(18, Fraction(25)), None, None)
    assert any(
        "picture 20 was at" in s and "does not exist" in s for s in native.read(data, short).report.warnings
    )


def test_every_picture_in_dense_files() -> None:
    boxes = top_of(full(), dense=True)["boxes"][id_of(1)]
    assert list(boxes) == [str(frame) for frame in range(5, 21)]
    assert boxes["10"] == [150, 100, 60, 50]
    assert "boxes" not in top_of(full())


def test_entries_that_are_not_valid_are_left_out_one_by_one() -> None:
    top = top_of(full())
    tracks, events = top["document"]["tracks"], top["document"]["events"]
    tracks[id_of(7)] = {**tracks[id_of(1)], "id": id_of(7), "visible": [[9, 5]]}
    tracks[id_of(8)] = "no track"
    events[id_of(2)]["end_us"] = 0
    top["document"]["links"][id_of(10)] = {**LINK, "id": id_of(10), "target": id_of(77)}
    top["extra"] = 1
    loaded = native.read(json.dumps(top).encode())
    assert [track.id for track in loaded.scene.tracks] == [id_of(1)]
    assert [event.id for event in loaded.scene.events] == [id_of(3)]
    assert loaded.scene.links == [LINK]
    assert loaded.report.counts_in == {"tracks": 3, "events": 2, "links": 2}
    assert len(loaded.report.warnings) == 5
    assert any("visible" in sentence and "[9, 5)" in sentence for sentence in loaded.report.warnings)


def test_texts_of_the_reasoning_are_checked() -> None:
    top = top_of(full())
    top["document"]["cot"]["visual"] = {"description": 5, "timeframe": {"whole": 1}}
    loaded = native.read(json.dumps(top).encode())
    assert loaded.scene.cot is not None
    assert loaded.scene.cot["visual"] == empty_cot()["visual"]
    assert len(loaded.report.warnings) == 2


def test_other_versions_and_files_are_refused() -> None:
    with pytest.raises(FormatError, match="newer version"):
        native.read(b'{"schema": "reasonaudit-video/2"}')
    with pytest.raises(FormatError, match="Choose the format"):
        native.read(b"{}")


@pytest.mark.parametrize(
    "pictures",
    [
        {"time_base": [1, 25], "first_tick": 0, "end_tick": 5, "steps": [[1, 10**12]]},
        {"time_base": [1, 25], "first_tick": 0, "end_tick": 5, "steps": [[0, 4]]},
        {"time_base": [0, 25], "first_tick": 0, "end_tick": 5, "steps": []},
        {"time_base": [1], "first_tick": "a", "end_tick": None, "steps": [[1]]},
        {"time_base": [1, 25], "first_tick": 0, "end_tick": 5, "steps": [[1, -3]]},
        [],
    ],
)
def test_impossible_picture_times_are_left_out(pictures: object) -> None:
    top = top_of(full())
    top["media"]["pictures"] = pictures
    loaded = native.read(json.dumps(top).encode())
    assert loaded.scene.media.index is None
    assert any("times of the pictures" in sentence for sentence in loaded.report.warnings)


def test_two_of_one_id_are_not_written() -> None:
    track = common().tracks[0]
    with pytest.raises(FormatError, match="same id"):
        native.write(Scene(DEMO, [track, track]))
