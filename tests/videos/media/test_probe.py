"""Display matrices, and when a stored file may be played as it is."""

from dataclasses import replace

import numpy as np
import pytest

from videos.core.timebase import PictureIndex
from videos.media.facts import Facts, Indexed
from videos.media.probe import turned
from videos.media.selfcheck import needs_proxy


def applied(matrix, point, size):
    """Where a display matrix sends a stored point, moved so that the picture begins at 0 (ISO 14496-12)."""
    a, b, _, c, d = matrix[:5]
    corners = [(a * x + c * y, b * x + d * y) for x in (0, size[0]) for y in (0, size[1])]
    x, y = a * point[0] + c * point[1], b * point[0] + d * point[1]
    return x - min(corner[0] for corner in corners), y - min(corner[1] for corner in corners)


@pytest.mark.parametrize(
    "matrix",
    [
        (1, 0, 0, 0, 1),
        (0, 1, 0, -1, 0),
        (-1, 0, 0, 0, -1),
        (0, -1, 0, 1, 0),
        (-1, 0, 0, 0, 1),
        (0, 1, 0, 1, 0),
        (1, 0, 0, 0, -1),
        (0, -1, 0, -1, 0),
    ],
)
def test_turn_and_mirror_put_every_point_where_the_matrix_does(matrix):
    rotation, mirrored = turned(np.array([*(65536 * value for value in matrix), 0, 0, 0, 1 << 30]))
    width, height, point = 40, 30, (7.0, 11.0)
    x, y = point
    for _ in range(rotation // 90):  # a quarter clockwise: (x, y) -> (height - y, x)
        x, y, width, height = height - y, x, height, width
    if mirrored:
        x = width - x
    assert (x, y) == applied(matrix, point, (40, 30))


PLAIN = Facts(
    container="mov,mp4,m4a,3gp,3g2,mj2",
    codec="h264",
    profile="Main",
    pixel_format="yuv420p",
    coded_width=640,
    coded_height=360,
    width=640,
    height=360,
    rotation=0,
    mirrored=False,
    sar_num=1,
    sar_den=1,
    interlaced=False,
    streams=1,
    has_audio=False,
    audio_codec=None,
    audio_rate=None,
    audio_channels=None,
    audio_layout=None,
    audio_tracks=0,
)
EXACT = Indexed(
    index=PictureIndex(np.arange(0, 90), 1, 30, 90),
    audio_offset_us=None,
    keyframes=np.arange(0, 90, 30),
    longest_gop=30,
    reordered=True,
    hidden=0,
    damaged=0,
    verified=90,
)


@pytest.mark.parametrize(
    ("facts", "indexed", "words"),
    [
        ({}, {}, None),
        ({"audio_codec": "aac"}, {"audio_offset_us": 40_000}, None),
        ({"codec": "hevc"}, {}, "hevc"),
        ({"pixel_format": "yuv420p10le"}, {}, "yuv420p10le"),
        ({"container": "matroska,webm"}, {}, "matroska"),
        ({"rotation": 90}, {}, "turned"),
        ({"mirrored": True}, {}, "mirrored"),
        ({"sar_num": 4, "sar_den": 3}, {}, "not square"),
        ({"audio_codec": "ac3"}, {}, "ac3"),
        ({}, {"longest_gop": 31}, "31 pictures"),
        ({}, {"hidden": 3}, "hides 3"),
        ({}, {"damaged": 2}, "2 pictures are damaged"),
        ({}, {"audio_offset_us": -1}, "before the first picture"),
        ({}, {"index": PictureIndex(np.arange(2, 92), 1, 30, 92)}, "not at 0"),
    ],
)
def test_a_playback_file_is_made_for_a_reason(facts, indexed, words):
    reason = needs_proxy(replace(PLAIN, **facts), replace(EXACT, **indexed))
    assert reason is None if words is None else words in reason


def test_facts_cross_as_json():
    assert Facts.from_json(PLAIN.to_json()) == PLAIN
    again = Indexed.from_json(EXACT.to_json())
    assert again.index == EXACT.index
    assert again.keyframes.tolist() == [0, 30, 60]
    with pytest.raises(ValueError, match="'rotation'"):
        Facts.from_json({key: value for key, value in PLAIN.to_json().items() if key != "rotation"})
