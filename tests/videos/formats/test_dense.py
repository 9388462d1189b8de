"""Rows a picture into keyframes: gaps, occlusion, and rows that are far apart."""

from __future__ import annotations

import math

from videos.core.tracks import box_at, dense
from videos.formats.dense import MOST_BETWEEN, Row, from_rows


def rows(frames: list[int], occluded: frozenset[int] = frozenset()) -> dict[int, Row]:
    return {frame: ((float(frame), 10.0, 20.0, 30.0), frame in occluded) for frame in frames}


def test_a_line_needs_its_ends_only() -> None:
    track = from_rows(rows(list(range(3, 40))), id="", label="")
    assert [key.frame for key in track.keyframes] == [3, 39]
    assert track.visible == ((3, 40),)


def test_gaps_end_intervals_unless_the_rows_belong_together() -> None:
    found = rows([1, 2, 5, 6])
    assert from_rows(found, id="", label="").visible == ((1, 3), (5, 7))
    together = from_rows(found, id="", label="", runs=[[1, 2, 5, 6]])
    assert together.visible == ((1, 7),)
    assert box_at(together, 4) == (4, 10, 20, 30)


def test_occlusion_changes_where_the_rows_say() -> None:
    track = from_rows(rows(list(range(10)), frozenset({4, 5})), id="", label="")
    assert [(key.frame, key.occluded) for key in track.keyframes] == [
        (0, False),
        (4, True),
        (6, False),
        (9, False),
    ]


def test_every_row_stays_within_a_pixel() -> None:
    found: dict[int, Row] = {
        f: ((100 + 80 * math.sin(f / 9), 50 + 0.3 * f, 40 + (f % 3) / 4, 30.0), False) for f in range(300)
    }
    track = from_rows(found, id="", label="")
    assert len(track.keyframes) < 150
    for frame, (x, y, w, h) in dense(track):
        a, b, c, d = found[frame][0]
        assert max(abs(x - a), abs(y - b), abs(x + w - a - c), abs(y + h - b - d)) <= 1.0


def test_rows_far_apart_do_not_fill_the_memory() -> None:
    track = from_rows(rows([0, 9_000_000]), id="", label="", runs=[[0, 9_000_000]])
    assert [key.frame for key in track.keyframes] == [0, 9_000_000]
    three = from_rows(rows([0, 1, 9_000_000]), id="", label="", runs=[[0, 1, 9_000_000]])
    assert [key.frame for key in three.keyframes] == [0, 1, 9_000_000]


def test_long_runs_keep_a_keyframe_now_and_then() -> None:
    track = from_rows(rows(list(range(MOST_BETWEEN * 2 + 5))), id="", label="")
    assert [key.frame for key in track.keyframes] == [0, 1000, 2000, 2004]
