"""Sound: every sample at its time, whatever the container leaves out or says twice; peaks of all channels."""

from fractions import Fraction

import av
import numpy as np
import pytest

from tests.videos.media.conftest import HARD
from videos.media.audio import RATE, read_peaks, read_sound


class Kept:
    def __init__(self):
        self.blocks = []

    def add(self, block):
        self.blocks.append(block)

    @property
    def samples(self):
        return np.concatenate(self.blocks)


def write_sound(path, pieces, layout="mono", rate=RATE, codec="pcm_s16le"):
    """Write (start in seconds, samples of shape (n, channels)) one after another with exactly those times."""
    with av.open(path, "w") as target:
        track = target.add_stream(codec, rate=rate, layout=layout)
        for start, samples in pieces:
            for begin in range(0, len(samples), 800):
                part = np.ascontiguousarray(samples[begin : begin + 800]).reshape(1, -1)
                frame = av.AudioFrame.from_ndarray(part, format="s16", layout=layout)
                frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
                frame.pts = round(start * rate) + begin
                for packet in track.encode(frame):
                    packet.pts = packet.dts = frame.pts
                    target.mux(packet)
        target.mux(track.encode(None))


def tone(seconds, level=0.5, rate=RATE, hz=440):
    time = np.arange(round(seconds * rate)) / rate
    return np.round(level * 32767 * np.sin(2 * np.pi * hz * time)).astype(np.int16)[:, None]


def test_a_hole_is_filled_so_that_later_sound_keeps_its_time(tmp_path):
    path = tmp_path / "hole.mkv"
    write_sound(path, [(0, tone(1)), (2.5, tone(1))])
    sink, sound = read_sound(str(path), Kept)
    assert sound.believed
    assert sound.filled == pytest.approx(1.5 * RATE, abs=20)
    assert len(sink.samples) == pytest.approx(3.5 * RATE, abs=20)
    loud = np.abs(sink.samples[:, 0]) > 1000
    assert not loud[RATE + 40 : round(2.5 * RATE) - 40].any()
    assert loud[round(2.5 * RATE) : round(2.5 * RATE) + 100].any()
    peaks = read_peaks(str(path), 0)
    assert "1.50 s are missing" in peaks.warnings[0]


def test_a_small_overlap_is_dropped_so_that_later_sound_keeps_its_time(tmp_path):
    path = tmp_path / "overlap.mkv"
    write_sound(path, [(0, tone(2)), (1.95, np.concatenate([tone(0.05), np.zeros((RATE * 2, 1), np.int16)]))])
    sink, sound = read_sound(str(path), Kept)
    assert sound.believed
    assert sound.dropped == pytest.approx(0.05 * RATE, abs=20)
    assert len(sink.samples) == pytest.approx(4 * RATE, abs=20)


@pytest.mark.skipif(not HARD.is_dir(), reason="no ../shared/data/media/hard beside this checkout")
def test_times_that_make_no_sense_are_not_believed():
    # ffprobe counts 78 MP3 packets of 1,152 samples at 44,100 Hz in this file and times from 0 to 0.02 s.
    path = HARD / "real_avi_h264_no_pts.avi"
    sink, sound = read_sound(str(path), Kept)
    assert not sound.believed
    assert len(sink.samples) == pytest.approx(78 * 1152 / 44_100 * RATE, abs=20)
    assert "laid end to end" in read_peaks(str(path), 0).warnings[0]


def test_one_channel_keeps_its_level(tmp_path):
    path = tmp_path / "mono.wav"
    write_sound(path, [(0, tone(1, 0.8))])
    assert np.abs(read_peaks(str(path), 0).levels[0].astype(int)).max() == pytest.approx(102, abs=2)


def test_opposite_channels_do_not_cancel(tmp_path):
    path = tmp_path / "opposite.wav"
    left = tone(1, 0.8)
    write_sound(path, [(0, np.concatenate([left, -left], axis=1))], layout="stereo")
    peaks = read_peaks(str(path), 0)
    assert not peaks.silent
    # 0.8 of full scale is 102 of 127.
    assert np.abs(peaks.levels[0].astype(int)).max() == pytest.approx(102, abs=2)


def test_six_channels_are_heard_and_other_rates_keep_the_length(tmp_path):
    path = tmp_path / "surround.wav"
    samples = np.zeros((48_000 * 2, 6), np.int16)
    samples[48_000:, 4] = tone(1, 0.9, 48_000)[:, 0]  # only a rear channel, only the second half
    write_sound(path, [(0, samples)], layout="5.1", rate=48_000)
    peaks = read_peaks(str(path), 0)
    loud = np.abs(peaks.levels[0].astype(int)).max(axis=1)
    assert peaks.samples == pytest.approx(2 * RATE, abs=20)
    assert loud[:98].max() == 0
    assert loud[102:198].min() > 10


def test_silence_is_said_and_no_sound_is_none(tmp_path, clip):
    path = tmp_path / "silent.wav"
    write_sound(path, [(0, np.zeros((RATE, 1), np.int16))])
    assert read_peaks(str(path), 0).silent
    assert read_peaks(str(clip("cfr_12")[0]), 0) is None
