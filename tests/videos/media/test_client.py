"""The whole way through the sandbox, as services call it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.videos.clips import read_barcode
from videos.core.timebase import PictureIndex
from videos.media import client


def test_one_clip_from_upload_to_workspace(clip, tmp_path):
    path, truth = clip("flash_beep")
    facts = client.probe(path)
    said = []
    found = client.read_index(path, on_progress=lambda share, words: said.append(words))
    assert (facts.width, facts.height, found.index.n) == (truth.width, truth.height, len(truth.numbers))
    assert found.audio_offset_us == 0
    assert "keyframes" in client.needs_proxy(facts, found)

    proxy = client.make_proxy(path, tmp_path / "proxy.mp4", found.index)
    assert proxy.pictures == found.index.n
    assert proxy.bytes == (tmp_path / "proxy.mp4").stat().st_size

    peaks = client.read_peaks(path, found.audio_offset_us)
    assert np.abs(peaks.levels[0].astype(int)).max() > 90
    tiles = client.make_spectrogram(path, tmp_path, found.audio_offset_us)
    assert [name.name for name in tmp_path.glob("*.webp")] == ["0000.webp"] * tiles.count

    strip = client.make_strip(path, tmp_path / "strip.jpg", found.index, [5, 50], lines=120)
    assert strip.frames == (5, 50)
    crops = client.make_crops(
        path, tmp_path / "crops.jpg", found.index, [(5, (10.0, 20.0, 30.0, 40.0))], cell=64
    )
    assert (crops.cell_width, crops.rows) == (64, 1)

    (picture,) = client.save_pictures(path, tmp_path, found.index, [77], longest_side=300)
    assert picture.name == "00000077.jpg"
    with Image.open(picture) as image:
        assert max(image.size) == 300
        assert read_barcode(np.asarray(image)) == 77
    window = list(client.read_window(path, found.index, 28, 68))
    assert (
        [ordinal for ordinal, _ in window] == [read_barcode(rgb) for _, rgb in window] == list(range(28, 68))
    )


def test_a_relative_path_is_one_of_the_caller(clip, monkeypatch):
    path, truth = clip("cfr_12")
    monkeypatch.chdir(path.parent)
    assert client.read_index(Path(path.name)).index.n == len(truth.numbers)


def test_a_refused_playback_file_leaves_nothing(clip, tmp_path):
    path, truth = clip("vfr")
    found = client.read_index(path).index
    moved = found.ticks.copy()
    moved[60] += 1
    for ticks, words in ((found.ticks[:-1], "picture 111 of 111"), (moved, "picture 60 of 112")):
        wrong = PictureIndex(ticks, found.num, found.den, found.end_tick)
        with pytest.raises(client.MediaRefused, match=words):
            client.make_proxy(path, tmp_path / "proxy.mp4", wrong)
    assert len(truth.numbers) == 112
    assert list(tmp_path.iterdir()) == []
    assert client.read_peaks(path, 0) is None
