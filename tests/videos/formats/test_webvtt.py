"""WebVTT: times, voices, blocks that are no cues, and the odd files that programs write."""

from __future__ import annotations

import pytest

from tests.videos.formats.scenes import ANNOTATIONS, DEMO, id_of, needs_annotations
from videos.formats import webvtt
from videos.formats.scene import Event, FormatError, Scene


def cues(text: str) -> list[tuple[str, int, int, str]]:
    events = webvtt.read(text.encode()).scene.events
    return [(event.label, event.start_us, event.end_us, event.note) for event in events]


def test_voices_tags_and_references() -> None:
    text = "WEBVTT\n\n1\n00:01.000 --> 00:02.500 line:80%\n<v.loud Mary Ann>A &amp; <i>B</i> &lt;c&gt;\nsecond</v>\n"
    assert cues(text) == [("Mary Ann", 1_000_000, 2_500_000, "A & B <c>\nsecond")]
    report = webvtt.read(text.encode()).report
    assert report.dropped == [
        "1 positions of cues.",
        "1 cues with styled or timed words: the words are kept.",
    ]


def test_hours_are_optional_and_may_be_many() -> None:
    assert cues("WEBVTT\n\n99:59:59.999 --> 100:00:00.000\nx")[0][1] == 359_999_999_000


def test_line_ends_of_every_kind() -> None:
    assert (
        len(cues("\ufeffWEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\na\r\n\r\n00:02.000 --> 00:03.000\r\nb")) == 2
    )
    assert len(cues("WEBVTT\r\r00:01.000 --> 00:02.000\ra\r")) == 1


@needs_annotations
def test_times_without_leading_zeros() -> None:
    loaded = webvtt.read((ANNOTATIONS / "webvttpy_non_padded_timestamps.vtt").read_bytes())
    found = [(event.label, event.start_us, event.end_us) for event in loaded.scene.events]
    assert found == [
        ("Jane Doe", 0, 3_540_000),
        ("John Smith", 3_540_000, 7_230_000),
        ("Jane Doe", 65_200_000, 3_727_950_000),
    ]


@needs_annotations
def test_notes_styles_and_regions_are_counted() -> None:
    for file, words in (
        ("webvtt_sintel-en.vtt", "1 comments."),
        ("webvttpy_comments.vtt", "3 comments."),
        ("webvttpy_styles.vtt", "2 styles."),
        ("webvttpy_regions.vtt", "2 regions of the screen."),
    ):
        assert words in webvtt.read((ANNOTATIONS / file).read_bytes()).report.dropped, file
    regions = webvtt.read((ANNOTATIONS / "webvttpy_regions.vtt").read_bytes()).scene.events
    assert [event.label for event in regions] == ["Fred", "Bill"]


@needs_annotations
def test_cues_that_touch_without_a_blank_line() -> None:
    events = webvtt.read((ANNOTATIONS / "webvttpy_youtube_dl.vtt").read_bytes()).scene.events
    assert [event.start_us for event in events] == [286_070_000, 286_470_000, 304_080_000, 305_069_000]
    assert events[1].note == "yeah\nwhat"
    assert events[2].note == "this will happen is I'm telling"


@needs_annotations
def test_a_broken_time_loses_one_cue_and_names_its_line() -> None:
    loaded = webvtt.read((ANNOTATIONS / "webvttpy_invalid_timeframe.vtt").read_bytes())
    assert len(loaded.scene.events) == 6
    assert any(s.startswith("line 6: times that cannot be read") for s in loaded.report.warnings)


def test_subrip_is_read_with_a_remark() -> None:
    loaded = webvtt.read(b"1\n00:00:01,000 --> 00:00:02,000\nhello\n")
    assert loaded.scene.events[0].start_us == 1_000_000
    assert any("SubRip" in sentence for sentence in loaded.report.warnings)
    with pytest.raises(FormatError):
        webvtt.read(b"just some text\n")


def test_odd_spans() -> None:
    text = "WEBVTT\n\n00:02.000 --> 00:01.000\nback\n\n00:03.000 --> 00:03.000\npoint\n\nlonely\n\n"
    assert [(a, b) for _, a, b, _ in cues(text)] == [(1_000_000, 2_000_000), (3_000_000, 3_000_001)]
    warnings = webvtt.read(text.encode()).report.warnings
    assert any("turned round" in sentence for sentence in warnings)
    assert any("text outside of a cue" in sentence for sentence in warnings)


def test_the_written_file() -> None:
    events = [
        Event(id_of(2), "a <b> & c", 3_600_000_000, 3_600_001_500, "x --> y\n\nz"),
        Event(id_of(1), "", 1_000, 2_000),
    ]
    written = webvtt.write(Scene(DEMO, [], events))
    assert isinstance(written.data, bytes)
    assert written.data.decode() == (
        f"WEBVTT\n\n{id_of(1)}\n00:00:00.001 --> 00:00:00.002\n\n\n"
        f"{id_of(2)}\n01:00:00.000 --> 01:00:00.002\n<v a &lt;b&gt; &amp; c>x --&gt; y\n \nz\n"
    )
    assert len(written.report.warnings) == 2
    back = webvtt.read(written.data).scene.events
    assert [event.id for event in back] == [id_of(1), id_of(2)]
    assert back[1].note == "x --> y\n \nz"
