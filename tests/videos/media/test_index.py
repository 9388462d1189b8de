"""The index, single pictures and the playback file of clips made in code, against their burnt-in numbers."""

from fractions import Fraction

import numpy as np
import pytest

from tests.videos.clips import KINDS, read_barcode
from videos.media import index, probe
from videos.media.audio import read_peaks
from videos.media.errors import MediaRefused
from videos.media.frames import Pictures
from videos.media.proxy import make_proxy
from videos.media.selfcheck import needs_proxy

INDEXED: dict = {}


def indexed(path):
    if path not in INDEXED:
        INDEXED[path] = index.read_index(str(path))
    return INDEXED[path]


def times(found):
    return [found.index.clip_seconds(frame) for frame in range(found.index.n)]


@pytest.mark.parametrize("kind", KINDS)
def test_index_equals_the_truth(clip, kind):
    path, truth = clip(kind, seconds=2)
    found, facts = indexed(path), probe.probe(str(path))
    assert times(found) == truth.clip_times
    first = Fraction(int(found.index.ticks[0]) * found.index.num, found.index.den)
    if truth.start_known:
        assert first == Fraction(truth.ticks[0] * truth.num, truth.den)
    if kind != "vfr":  # MP4 does not store how long the last of reordered pictures lasts
        assert found.index.duration == Fraction((truth.end_tick - truth.ticks[0]) * truth.num, truth.den)
    assert (facts.width, facts.height) == (truth.width, truth.height)
    assert (facts.rotation, facts.mirrored) == (truth.rotation, False)
    assert Fraction(facts.sar_num, facts.sar_den) == truth.sar
    assert facts.has_audio == (truth.audio_offset is not None)
    if truth.audio_offset is not None:
        assert found.audio_offset_us == pytest.approx(float(truth.audio_offset) * 1e6, abs=1000)
    assert found.verified == found.index.n == len(truth.numbers)
    assert found.hidden == (20 if kind == "trimmed_copy" else 0)
    assert found.damaged == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_asked_for_is_the_picture_given(clip, kind):
    path, truth = clip(kind, seconds=2)
    clip_index = indexed(path).index
    order = [int(frame) for frame in np.random.default_rng(3).permutation(clip_index.n)[:15]]
    order += [0, clip_index.n - 1, clip_index.n - 2, 1, 1]
    with Pictures(str(path), clip_index) as pictures:
        shown = [(frame, read_barcode(rgb), rgb.shape) for frame, rgb in pictures.read(order)]
    assert shown == [(frame, truth.numbers[frame], (truth.height, truth.width, 3)) for frame in order]


@pytest.mark.parametrize("kind", KINDS)
def test_the_playback_file_shows_every_number_at_its_time(clip, kind, tmp_path):
    path, truth = clip(kind, seconds=2)
    out, said = tmp_path / "proxy.mp4", []
    made = make_proxy(str(path), str(out), indexed(path).index, lambda share, words: said.append(share))
    found = index.read_index(str(out))
    assert times(found) == truth.clip_times
    assert int(found.index.ticks[0]) == 0
    with Pictures(str(out), found.index) as pictures:
        numbers = [read_barcode(rgb) for _, rgb in pictures.window(0, found.index.n)]
    assert numbers == truth.numbers
    assert not found.reordered
    assert found.longest_gop <= 15
    assert needs_proxy(probe.probe(str(out)), found) is None
    assert (made.pictures, made.has_audio) == (len(numbers), truth.audio_offset is not None)
    assert said == sorted(said)
    # The index stands before the media, so that a browser can begin at once.
    head = out.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")


@pytest.mark.parametrize("place", ["source", "proxy"])
def test_flash_and_beep_meet_at_start_middle_and_end(clip, place, tmp_path):
    path, truth = clip("flash_beep")
    if place == "proxy":
        path, source = tmp_path / "proxy.mp4", path
        make_proxy(str(source), str(path), indexed(source).index)
    found = index.read_index(str(path))
    with Pictures(str(path), found.index) as pictures:
        bright = [float(rgb[-20:, -60:].mean()) for _, rgb in pictures.window(0, found.index.n)]
    assert [frame for frame, value in enumerate(bright) if value > 200] == truth.flashes
    peaks = read_peaks(str(path), found.audio_offset_us)
    loud = np.abs(peaks.levels[0].astype(int)).max(axis=1) > 40
    starts = np.flatnonzero(loud & ~np.roll(loud, 1))
    heard = [start / peaks.per_second + peaks.offset_us / 1e6 for start in starts]
    assert len(heard) == 3
    # A row of peaks covers 10 ms, so a beep in it may begin up to 10 ms after the row.
    assert heard == pytest.approx([float(beep) for beep in truth.beeps], abs=0.0101)
    assert not peaks.silent


def test_sound_that_begins_before_the_pictures_is_cut_in_the_playback_file(clip, tmp_path):
    path, _ = clip("late_start")
    out = tmp_path / "proxy.mp4"
    make_proxy(str(path), str(out), indexed(path).index)
    before = read_peaks(str(path), indexed(path).audio_offset_us)
    after = read_peaks(str(out), index.read_index(str(out)).audio_offset_us)
    assert before.offset_us == -500_000
    assert after.offset_us == 0
    assert before.samples - after.samples == pytest.approx(0.5 * before.rate, abs=0.03 * before.rate)


def test_long_clips_are_compared_in_stretches(clip, monkeypatch):
    path, truth = clip("cfr_60", seconds=12)
    monkeypatch.setattr(index, "FULL_DECODE_PIXELS", 1)
    monkeypatch.setattr(index, "WINDOW_PICTURES", 20)
    found = index.read_index(str(path))
    assert times(found) == truth.clip_times
    assert 60 <= found.verified < len(truth.numbers)
    assert f"of {len(truth.numbers)} pictures were decoded" in found.warnings[0]


def test_a_changed_file_is_noticed_when_a_picture_is_read(clip):
    path, _ = clip("cfr_25")
    other, _ = clip("cfr_24")
    with pytest.raises(MediaRefused, match="was changed"), Pictures(str(other), indexed(path).index):
        pass
    shifted, _ = clip("fragmented")
    with (
        Pictures(str(shifted), indexed(clip("rotated_90")[0]).index) as pictures,
        pytest.raises(MediaRefused, match="another time than when the clip was indexed"),
    ):
        next(pictures.read([50]))
    with (
        Pictures(str(path), indexed(path).index) as pictures,
        pytest.raises(ValueError, match=r"picture 100 of 0\.\.99"),
    ):
        next(pictures.read([100]))
