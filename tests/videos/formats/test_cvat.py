"""CVAT: which frame is meant, when an object leaves, and what its interpolated copies are worth."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree as ET

import pytest

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, common, id_of, needs_annotations
from videos.core.tracks import HUMAN, IMPORT, MODEL, Keyframe, Track, box_at
from videos.formats import cvat
from videos.formats.scene import FormatError, Media, Scene


def box(frame: int, x: float, *, key: int = 1, out: int = 0, occ: int = 0, inner: str = "") -> str:
    flags = f'keyframe="{key}" outside="{out}" occluded="{occ}"'
    return (
        f'<box frame="{frame}" {flags} xtl="{x}" ytl="10" xbr="{x + 20}" ybr="40" z_order="0">{inner}</box>'
    )


def document(*tracks: str, meta: str = "") -> bytes:
    body = "".join(tracks)
    return f"<annotations><version>1.1</version><meta><task>{meta}</task></meta>{body}</annotations>".encode()


def track(*rows: str, more: str = 'source="manual"') -> str:
    return f'<track id="7" label="spoon" {more}>{"".join(rows)}</track>'


def test_outside_is_the_first_frame_where_it_is_not_visible() -> None:
    rows = track(box(3, 0), box(6, 0, out=1), box(9, 50), box(10, 50, out=1), box(12, 0))
    (found,) = cvat.read(document(rows), DEMO).scene.tracks
    # The last interval runs to the end of the video, as CVAT shows it.
    assert found.visible == ((3, 6), (9, 10), (12, 50))
    assert [key.frame for key in found.keyframes] == [3, 9, 12]


def test_boxes_between_keyframes_are_computed_and_bad_copies_named() -> None:
    # C6: the copies hold the coordinates of the last keyframe.
    rows = track(box(0, 0), box(1, 0, key=0), box(2, 0, key=0), box(3, 30), box(4, 30, out=1))
    loaded = cvat.read(document(rows), DEMO)
    assert [box_at(loaded.scene.tracks[0], frame)[0] for frame in range(4)] == [0, 10, 20, 30]
    assert any("another box than its keyframes give" in sentence for sentence in loaded.report.warnings)


def test_the_box_of_an_outside_row_is_not_shown_unless_the_copies_go_there() -> None:
    quiet = cvat.read(document(track(box(0, 0), box(3, 30, out=1))), DEMO).scene.tracks[0]
    assert [box_at(quiet, frame)[0] for frame in range(3)] == [0, 0, 0]
    moving = track(box(0, 0), box(1, 10, key=0), box(2, 20, key=0), box(3, 30, out=1))
    loaded = cvat.read(document(moving), DEMO)
    assert [box_at(loaded.scene.tracks[0], frame)[0] for frame in range(3)] == [0, 10, 20]
    assert any("move on" in sentence for sentence in loaded.report.warnings)


@needs_annotations
def test_frames_of_a_task_with_a_step_are_pictures_of_the_source() -> None:
    media = Media("t.mp4", 25, 20, None, None, 20)
    (found,) = cvat.read((ANNOTATIONS / "cvat_video_1.1_datumaro.xml").read_bytes(), media).scene.tracks
    assert found.label == "II"
    assert found.keyframes == (Keyframe(10, (3, 4, 7, 1), True, HUMAN),)
    assert found.visible == ((10, 13),)


def test_frames_before_the_start_of_the_task_count_within_it() -> None:
    meta = "<start_frame>10</start_frame><stop_frame>19</stop_frame><frame_filter>step=3</frame_filter>"
    loaded = cvat.read(document(track(box(0, 0), box(2, 0, out=1)), meta=meta), DEMO)
    assert loaded.scene.tracks[0].visible == ((10, 16),)
    assert any("before start_frame 10" in sentence for sentence in loaded.report.warnings)


def test_attributes_sources_and_colours() -> None:
    inner = '<attribute name="instance">1</attribute><attribute name="state">{}</attribute>'
    meta = "<labels><label><name>spoon</name><color>#FF0000</color></label></labels>"
    rows = track(
        box(0, 0, inner=inner.format("new")), box(5, 9, inner=inner.format("old")), more='source="auto"'
    )
    loaded = cvat.read(document(rows, meta=meta), DEMO)
    (found,) = loaded.scene.tracks
    assert found.attributes == {"instance": "1", "state": "new"}
    assert found.source == MODEL
    assert {key.source for key in found.keyframes} == {MODEL}
    assert found.color == "#ff0000"
    assert found.external == {"cvat": "7"}
    assert loaded.report.dropped == ["1 attributes that change within a track: the first value is kept."]


def test_every_other_shape_is_counted() -> None:
    rows = track('<polygon frame="0" points="0,0;1,1"/>') + track(
        '<skeleton frame="0"/>', track('<points frame="0"/>')
    )
    report = cvat.read(document(rows, "<image id='0'/>"), DEMO).report
    assert report.counts_in["tracks"] == 2
    assert report.counts_out["tracks"] == 0
    assert len(report.dropped) == 4


def test_two_tracks_with_one_id_are_two_tracks() -> None:
    loaded = cvat.read(document(track(box(0, 0)), track(box(0, 50))), DEMO)
    assert len({found.id for found in loaded.scene.tracks}) == 2


def test_frames_after_the_end_and_other_videos_are_named() -> None:
    meta = "<stop_frame>99</stop_frame><original_size><width>320</width><height>180</height></original_size>"
    loaded = cvat.read(document(track(box(0, 1), box(70, 5)), meta=meta), DEMO)
    assert loaded.scene.tracks[0].keyframes == (Keyframe(0, (2, 20, 40, 60), False, HUMAN),)
    assert len(loaded.report.warnings) == 3


def test_the_zip_of_an_export_is_read() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("annotations.xml", document(track(box(0, 0))))
        archive.writestr("images/frame_000000.PNG", b"x")
    assert len(cvat.read(stream.getvalue(), DEMO).scene.tracks) == 1
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("other.xml", b"x")
    with pytest.raises(FormatError, match=r"no annotations\.xml"):
        cvat.read(empty.getvalue())


@pytest.mark.parametrize("dense", [False, True])
def test_the_written_file_is_what_cvat_expects(dense: bool) -> None:
    written = cvat.write(common(MODEL), dense=dense)
    assert isinstance(written.data, bytes)
    root = ET.fromstring(written.data)
    assert root.findtext("version") == "1.1"
    assert root.findtext("meta/task/size") == "50"
    assert root.findtext("meta/task/stop_frame") == "49"
    assert root.findtext("meta/task/labels/label/color") == "#ff0000"
    assert root.findtext("meta/task/labels/label/attributes/attribute/name") == "instance"
    (node,) = root.findall("track")
    assert node.attrib == {"id": "0", "label": "spoon", "source": "auto"}
    rows = node.findall("box")
    frames = [int(row.get("frame", "")) for row in rows]
    assert frames == (list(range(5, 22)) if dense else [5, 15, 21])
    assert [row.get("outside") for row in rows] == ["0"] * (len(rows) - 1) + ["1"]
    assert [row.get("frame") for row in rows if row.get("keyframe") == "1"] == ["5", "15", "21"]
    assert all(row.findtext("attribute") == "1" for row in rows)
    if dense:
        tenth = rows[5].attrib
        assert (tenth["xtl"], tenth["ytl"], tenth["xbr"], tenth["ybr"]) == (
            "150.00",
            "100.00",
            "210.00",
            "150.00",
        )
        assert tenth["occluded"] == "0"


def test_an_object_that_stays_has_no_outside_row() -> None:
    stays = Track(id_of(1), "cup", None, {}, IMPORT, None, (Keyframe(40, (1, 2, 3, 4)),), ((40, 50),))
    written = cvat.write(Scene(DEMO, [stays]))
    assert isinstance(written.data, bytes)
    assert b'outside="1"' not in written.data
    assert b'source="file"' in written.data


def test_a_keyframe_is_added_where_an_object_appears_held() -> None:
    held = Track(id_of(1), "cup", None, {}, IMPORT, None, (Keyframe(8, (1, 2, 3, 4)),), ((5, 10),))
    written = cvat.write(Scene(DEMO, [held]))
    assert any("keyframe was added" in sentence for sentence in written.report.warnings)
    assert isinstance(written.data, bytes)
    (back,) = cvat.read(written.data, DEMO).scene.tracks
    assert back.visible == ((5, 10),)
    assert box_at(back, 5) == (1, 2, 3, 4)
