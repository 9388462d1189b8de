"""Spectrogram tiles: a tone is at its band and at its time, full scale is white, nothing is black."""

import numpy as np
import pytest
from PIL import Image

from tests.videos.media.test_audio import tone, write_sound
from videos.media.audio import RATE
from videos.media.spectrogram import BANDS, columns, make_spectrogram, mel_filters


def tiles(folder):
    names = sorted(folder.glob("*.webp"))
    return [np.asarray(Image.open(name).convert("L")).astype(int) for name in names]


def test_a_tone_lies_in_its_band():
    # mel(1000) = 2595 log10(1 + 1000/700) = 1000.0, mel(8000) = 2840.0, 97 steps of 29.28: band 33 from below
    # (its peak is at 34 steps = 995.5), so row 62 from the top.
    image = columns(tone(1, 1.0, hz=1000)[:, 0], mel_filters())
    assert image.shape == (BANDS, 24)
    assert set(image.argmax(axis=0)) == {BANDS - 1 - 33}
    assert image.max() >= 253
    assert image[:40].max() < 60  # far above the tone


def test_half_the_level_is_six_decibels_down():
    full, half = (columns(tone(1, level, hz=1000)[:, 0], mel_filters()).max() for level in (0.5, 0.25))
    # 6.02 dB of 90 dB on 255 steps are 17.06 steps.
    assert int(full) - int(half) == pytest.approx(17, abs=1)


def test_every_band_hears_something():
    assert (mel_filters().max(axis=1) > 0.3).all()


@pytest.mark.parametrize(("offset_us", "column"), [(0, 1550), (400_000, 1560), (-400_000, 1540)])
def test_tiles_are_in_clip_time(tmp_path, offset_us, column):
    path = tmp_path / "tone.wav"
    quiet = np.zeros((62 * RATE, 1), np.int16)
    write_sound(path, [(0, np.concatenate([quiet, tone(1, 0.9, hz=1000)]))])
    made = make_spectrogram(str(path), str(tmp_path), offset_us)
    pictures = tiles(tmp_path)
    assert made.count == len(pictures) == 2
    assert all(picture.shape == (BANDS, 1500) for picture in pictures)
    whole = np.concatenate(pictures, axis=1)
    bright = np.flatnonzero(whole[BANDS - 1 - 33] > 128)
    assert bright[0] == pytest.approx(column, abs=1)
    assert bright[-1] == pytest.approx(column + 24, abs=1)
    assert whole[:, : column - 4].max() < 40


def test_no_sound_no_tile(tmp_path, clip):
    assert make_spectrogram(str(clip("cfr_12")[0]), str(tmp_path), 0).count == 0
