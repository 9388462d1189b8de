"""The playback file's size: the shorter displayed side counts, so that an upright clip is as sharp as a wide one."""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.videos.clips import make_clip
from videos.media import proxy
from videos.media.index import read_index
from videos.media.probe import Shape, probe


@pytest.mark.parametrize(
    ("stored", "sar", "rotation", "size"),
    [
        ((1920, 1080), Fraction(1), 0, (1280, 720)),
        ((1080, 1920), Fraction(1), 0, (720, 1280)),
        ((1920, 1080), Fraction(1), 90, (720, 1280)),  # a phone held upright
        ((1920, 1080), Fraction(1), 180, (1280, 720)),
        ((1440, 1080), Fraction(4, 3), 0, (1280, 720)),  # HDV: 1920 x 1080 as shown
        ((1440, 1080), Fraction(4, 3), 270, (720, 1280)),
        ((720, 576), Fraction(64, 45), 0, (1024, 576)),  # PAL wide: small enough
        ((720, 576), Fraction(64, 45), 90, (576, 1024)),
        ((640, 360), Fraction(1), 0, (640, 360)),
        ((360, 640), Fraction(1), 0, (360, 640)),
        ((4096, 500), Fraction(1), 0, (4096, 500)),
        ((2160, 2160), Fraction(1), 0, (720, 720)),
        ((1001, 2001), Fraction(1), 0, (720, 1440)),  # 2001 * 720 / 1001 = 1439.3
        ((641, 361), Fraction(1), 0, (640, 360)),  # even, and never larger
        ((643, 363), Fraction(1), 0, (642, 362)),
        ((1, 1), Fraction(1), 0, (2, 2)),
    ],
)
def test_the_shorter_displayed_side_is_bounded(
    stored: tuple[int, int], sar: Fraction, rotation: int, size: tuple[int, int]
) -> None:
    assert proxy.proxy_size(Shape(*stored, sar, rotation, False)) == size


@pytest.mark.parametrize(
    ("kind", "stored", "size"),
    [
        ("cfr_25", (180, 320), (60, 106)),  # 320 / 3 = 106.7
        ("rotated_90", (320, 180), (60, 106)),
        ("sar_4_3", (240, 180), (106, 60)),
    ],
)
def test_the_written_file_is_as_wide_and_high_as_said(
    kind: str, stored: tuple[int, int], size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "LINES", 60)
    source, out = tmp_path / "clip.mp4", tmp_path / "proxy.mp4"
    make_clip(source, kind, seconds=1, size=stored)
    index = read_index(str(source)).index
    made = proxy.make_proxy(str(source), str(out), index)
    facts = probe(str(out))
    assert (made.width, made.height) == (facts.width, facts.height) == size
    assert (facts.rotation, facts.sar_num, facts.sar_den) == (0, 1, 1)
