"""Audacity's labels: points, frequencies, decimal commas, and lines that are none."""

from __future__ import annotations

import pytest

from tests.videos.formats.scenes import (
    ANNOTATIONS,
    DEMO,
    EXAMPLES,
    common,
    id_of,
    needs_annotations,
    needs_examples,
)
from videos.formats import audacity
from videos.formats.scene import Event, FormatError, Scene


def found(data: bytes) -> list[tuple[str, int, int, str]]:
    return [(e.label, e.start_us, e.end_us, e.note) for e in audacity.read(data).scene.events]


@needs_examples
def test_points_and_frequencies_of_the_example() -> None:
    assert found((EXAMPLES / "audacity_labels.txt").read_bytes()) == [
        ("clink", 840_000, 1_100_000, ""),
        ("speech", 1_200_000, 1_800_000, ""),
        ("point label", 1_500_000, 1_500_001, "300 Hz to 3400 Hz"),
    ]


@needs_annotations
def test_full_precision_and_overlap_of_the_real_file() -> None:
    events = found((ANNOTATIONS / "audacity_soundscape_scaper.txt").read_bytes())
    assert events[1] == ("car_horn", 5_000_000, 5_687_506, "")
    assert [label for label, *_ in events] == ["siren", "car_horn", "human_voice"]


def test_old_and_foreign_lines() -> None:
    assert found(b"0,5\t1,25\ta\tb\r\n2.5\tpoint\r\n3\t3.5\r\n") == [
        ("a b", 500_000, 1_250_000, ""),
        ("point", 2_500_000, 2_500_001, ""),
        ("", 3_000_000, 3_500_000, ""),
    ]


def test_odd_lines_are_named() -> None:
    data = b"\\\t1\t2\n1\t2\tok\nx\ty\tz\n-3\t-2\tbefore\n-1\t1\tcut\n5\t4\tback\nnan\t1\tn\n1e308\t2\tfar\n\\\t5\n"
    loaded = audacity.read(data)
    assert [(e.label, e.start_us, e.end_us) for e in loaded.scene.events] == [
        ("cut", 0, 1_000_000),
        ("ok", 1_000_000, 2_000_000),
        ("back", 4_000_000, 5_000_000),
    ]
    text = "\n".join(loaded.report.warnings)
    for words in ("line 1", "line 3", "line 4", "line 5", "line 6", "line 9"):
        assert words in text
    assert loaded.report.counts_in["lines"] == 9


def test_the_written_file() -> None:
    events = [
        Event(id_of(1), "clink\there", 840_000, 1_100_000, "300 Hz to 3400.5 Hz"),
        Event(id_of(2), "point", 1_500_000, 1_500_001, "free text"),
    ]
    written = audacity.write(Scene(DEMO, [], events))
    assert written.data == (
        b"0.840000\t1.100000\tclink here\n\\\t300.000000\t3400.500000\n1.500000\t1.500000\tpoint\n"
    )
    assert "1 notes of events: a label track holds labels only." in written.report.dropped


def test_boxes_alone_are_refused() -> None:
    with pytest.raises(FormatError, match="holds events"):
        audacity.write(Scene(DEMO, common().tracks))
