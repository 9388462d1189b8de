"""MOT: rows from 1, classes, visibility, detections without a track."""

from __future__ import annotations

import pytest

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, common, needs_annotations
from videos.core.tracks import status_at
from videos.formats import mot
from videos.formats.scene import FormatError, Media


def test_frames_count_from_one_and_gaps_are_absence() -> None:
    data = b"1,3,10,20,30,40,1,2,1\n2,3,10,20,30,40,1,2,0.5\n4,3,10,20,30,40,1,2,0\n"
    (track,) = mot.read(data, DEMO, labels=b"cup\nspoon\n").scene.tracks
    assert track.label == "spoon"
    assert track.visible == ((0, 2), (3, 4))
    assert [status_at(track, frame).occluded for frame in (0, 1, 3)] == [False, True, True]
    assert track.external == {"mot": "3"}


@needs_annotations
def test_a_row_without_a_track_is_an_object_of_one_picture() -> None:
    loaded = mot.read((ANNOTATIONS / "mot_gt_datumaro.txt").read_bytes())
    (track,) = loaded.scene.tracks
    assert track.label == "class 3"
    assert track.visible == ((0, 1),)
    assert track.keyframes[0].box == (0, 4, 4, 8)
    assert any("id -1" in sentence for sentence in loaded.report.warnings)


def test_a_frame_0_moves_the_whole_file() -> None:
    loaded = mot.read(b"0,1,1,1,5,5\n1,1,1,1,5,5\n", DEMO)
    assert loaded.scene.tracks[0].visible == ((0, 2),)
    assert any("counts from 0" in sentence for sentence in loaded.report.warnings)


def test_odd_rows_are_named_with_their_line() -> None:
    data = (
        b"1,1,0,0,5,5,1,1,1\nhello\n2,1,0,0,nan,5,1,1,1\n3,1,0,0,-5,5,1,1,1\n4,1,0,0,1e308,5\n99,1,0,0,5,5\n"
        b"5,1,0,0,5,5,0,1,0.3\n5,1,0,0,6,6,1,1,1\n"
    )
    loaded = mot.read(data, DEMO)
    text = "\n".join(loaded.report.warnings)
    for words in (
        "line 2: a row needs", "line 3: a box with a missing", "line 4: a box of negative size", "line 5: a box beyond",
        "line 6: a frame after the end", "line 7: flag 0", "line 8: two rows",
    ):  # fmt: skip
        assert words in text
    assert loaded.report.counts_in["rows"] == 8
    assert loaded.report.counts_out["boxes"] == 4
    assert loaded.report.dropped == ["1 visible shares: only whether half or less is visible is kept."]


def test_seqinfo_tells_the_facts() -> None:
    info = b"[Sequence]\nname=demo\nframeRate=29.97\nseqLength=50\nimWidth=640\nimHeight=360\n"
    media = mot.read(b"1,1,0,0,5,5\n", seqinfo=info).scene.media
    assert (media.width, media.height, media.n) == (640, 360, 50)
    assert media.fps == pytest.approx(30000 / 1001)
    assert mot.read(b"1,1,0,0,5,5\n", Media("a", 1280, 720), seqinfo=info).scene.tracks[0].keyframes[0].box == (
        0, 0, 10, 10,
    )  # fmt: skip
    assert any("seqinfo.ini" in s for s in mot.read(b"1,1,0,0,5,5\n", seqinfo=b"junk").report.warnings)


def test_no_rows_is_no_mot_file() -> None:
    with pytest.raises(FormatError, match="not a MOT file"):
        mot.read(b"some text\nand more\n")


def test_the_written_files() -> None:
    written = mot.write(common())
    assert isinstance(written.data, dict)
    rows = written.data["gt/gt.txt"].decode().splitlines()
    assert len(rows) == 16
    assert rows[0] == "6,1,100,80,60,40,1,1,1"
    assert rows[5] == "11,1,150,100,60,50,1,1,1"
    assert rows[-1] == "21,1,200,120,60,60,1,1,0.5"
    assert written.data["gt/labels.txt"] == b"spoon\n"
    assert b"frameRate=25\nseqLength=50\nimWidth=640\nimHeight=360\n" in written.data["seqinfo.ini"]
