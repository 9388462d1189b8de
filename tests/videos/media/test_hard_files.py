"""Every file of the hard set works exactly or is refused with a sentence (annotation.md C1 to C5, C16, C20).

Truth: the .gt.json files, made with ffprobe and ffmpeg 5.1.9, another build than the one used here, and what
is written below about single files. Without ../shared these tests skip.
"""

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.videos.media.conftest import HARD
from videos.media import audio, index, probe, proxy
from videos.media.errors import MediaRefused
from videos.media.facts import Facts, Indexed
from videos.media.frames import Pictures, displayed
from videos.media.opening import opened, picture_stream
from videos.media.selfcheck import needs_proxy

MANIFEST = json.loads((HARD / "manifest.json").read_text()) if HARD.is_dir() else []
NAMES = [entry["file"] for entry in MANIFEST]
pytestmark = pytest.mark.skipif(not MANIFEST, reason="no ../shared/data/media/hard beside this checkout")

# Refused, and a part of the sentence that must say why.
REFUSED = {
    "made_4k_of_zero_bytes.mp4": "only zero bytes",
    "made_audio_only_5_1.opus": "no moving picture",
    "made_png_named.mp4": "PNG picture",
    "made_text_named.mp4": "text, not a video",
    "made_truncated_half_the_media.mp4": "98 pictures but 97 can be decoded",
    "made_truncated_moov_lost.mp4": "cut short",
    "made_zero_bytes.mp4": "empty (0 bytes)",
    "real_audio_only.mp4": "no moving picture",
    "real_avi_h264_no_pts.avi": "another time than the file lists",
    "real_malformed_moov_not_found.mp4": "moov",
    "real_mp3_with_cover_art.mp3": "no moving picture",
    "real_two_audio_tracks_5_1_and_stereo.mp4": "no moving picture",
    "real_undecodable_h264.mp4": "864 pictures cannot be decoded",
}
# ffprobe 5.1 has no decoder for it and so no list of decoded times; its packets' times stand in.
BY_PACKETS = {"real_vvc_unsupported_codec.mp4", "made_two_hours_1fps.mp4"}
WARNED = {
    "made_bitflips_120.mp4": "damaged",
    "made_interlaced_tff_30i.mp4": "interlaced",
    "made_two_audio_tracks.mkv": "2 audio tracks",
    "real_audio_track_missing_stsd.mp4": "cannot be decoded",
    "real_rotate_and_mirror_matrix.mp4": "mirror",
    "real_second_video_track_empty.mp4": "2 video tracks",
}
# Seconds by which the first sample lies after the header's start: in the first AAC packet of these there is no
# sound at all (23 bytes), so the sound begins with the second packet; Opus and Vorbis cut their run-in off.
LATER = {
    "real_rotate_and_mirror_matrix.mp4": Fraction(1024, 44100),
    "real_second_video_track_empty.mp4": Fraction(3226, 48000),
    "made_mediarecorder_no_duration.webm": Fraction(312, 48000),
    "made_start_at_5s.webm": Fraction(3, 1000),
    "real_webm_vorbis_5_1_60fps.webm": Fraction(3, 1000),
}
USABLE = [name for name in NAMES if name not in REFUSED]


def truth(name: str) -> tuple[dict, dict]:
    entry = next(entry for entry in MANIFEST if entry["file"] == name)
    return entry, json.loads((HARD / entry["ground_truth"]).read_text())


@cache
def read(name: str) -> tuple[Facts, Indexed]:
    return probe.probe(str(HARD / name)), index.read_index(str(HARD / name))


@pytest.mark.parametrize("name", [name for name in NAMES if name in REFUSED])
def test_a_file_that_cannot_be_exact_is_refused_with_the_reason(name):
    with pytest.raises(MediaRefused) as refusal:
        read(name)
    assert REFUSED[name] in str(refusal.value)
    assert str(HARD) not in str(refusal.value)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("name", USABLE)
def test_pictures_and_times_equal_the_ground_truth(name):
    _, gt = truth(name)
    track = next(track for track in gt["video_streams"] if track.get("packet_count"))
    _, found = read(name)
    seconds = [float(int(tick) * Fraction(found.index.num, found.index.den)) for tick in found.index.ticks]
    if name in BY_PACKETS:
        assert found.index.n == track["packet_count"] - track["discard_packets"]
        assert seconds[:10] == pytest.approx(track["pts_first10"], abs=1e-6)
        assert seconds[-5:] == pytest.approx(track["pts_last5"], abs=1e-6)
    else:
        assert found.index.n == len(track["decoded_pts_list"])
        # The truth is written with six decimals.
        assert seconds == pytest.approx(track["decoded_pts_list"], abs=1e-6)
    assert found.hidden == track["discard_packets"]
    assert found.verified == found.index.n


@pytest.mark.parametrize("name", USABLE)
def test_size_rotation_and_sound_equal_the_ground_truth(name):
    entry, gt = truth(name)
    facts, found = read(name)
    assert [facts.coded_width, facts.coded_height] == entry["coded_size"]
    assert [facts.width, facts.height] == entry["displayed_size"]
    assert facts.rotation == (entry["rotation_clockwise"] or 0)
    assert facts.mirrored == (name == "real_rotate_and_mirror_matrix.mp4")
    assert facts.codec == (entry["codec"] or "vvc")
    sounds = [track for track in gt["audio_streams"] if int(track["sample_rate"])]
    assert facts.has_audio == bool(sounds)
    assert (WARNED.get(name) is None) == (facts.warnings + found.warnings == ())
    assert WARNED.get(name, "") in " ".join(facts.warnings + found.warnings)
    if sounds:
        assert facts.audio_codec == sounds[0]["codec_name"]
        assert facts.audio_rate == int(sounds[0]["sample_rate"])
        assert facts.audio_channels == sounds[0]["channels"]
        track = next(track for track in gt["video_streams"] if track.get("packet_count"))
        first = (track.get("decoded_pts_list") or [track["pts_min"]])[0]
        start = float(sounds[0]["start_time"]) - first + float(LATER.get(name, 0))
        assert found.audio_offset_us == pytest.approx(start * 1e6, abs=1000)
    else:
        assert found.audio_offset_us is None


@pytest.mark.parametrize("name", [name for name in USABLE if "two_hours" not in name])
def test_the_playback_file_has_the_same_pictures_at_the_same_times(name, tmp_path):
    path, out = str(HARD / name), str(tmp_path / "proxy.mp4")
    facts, found = read(name)
    made = proxy.make_proxy(path, out, found.index)
    again, shown = index.read_index(out), probe.probe(out)
    times = [found.index.clip_seconds(frame) for frame in range(found.index.n)]
    assert [again.index.clip_seconds(frame) for frame in range(again.index.n)] == times
    assert int(again.index.ticks[0]) == 0
    assert again.index.duration == found.index.duration
    assert needs_proxy(shown, again) is None
    assert (made.width, made.height) == (shown.width, shown.height)
    assert min(made.width, made.height) <= 720
    assert made.width % 2 == made.height % 2 == 0
    assert made.width / made.height == pytest.approx(facts.width / facts.height, rel=0.01)
    assert made.has_audio == facts.has_audio
    assert again.audio_offset_us == (0 if facts.has_audio else None)
    # The same picture at the same ordinal, turned by FFmpeg's filters here and by numpy there.
    some = sorted({0, found.index.n // 2, found.index.n - 1})
    if name == "made_bitflips_120.mp4":
        some = [0]  # what a decoder shows for a damaged picture depends on where it began
    size = (made.width, made.height)
    with Pictures(path, found.index) as source, Pictures(out, again.index) as copy:
        for (_, left), (_, right) in zip(source.read(some, size), copy.read(some, size), strict=True):
            assert np.abs(left.astype(int) - right.astype(int)).mean() < 6


# Not the damaged file: what a decoder shows for a damaged picture depends on where it began.
@pytest.mark.parametrize(
    "name", [name for name in USABLE if name not in BY_PACKETS | {"made_bitflips_120.mp4"}]
)
def test_a_picture_asked_for_in_any_order_is_the_one_that_decoding_from_the_start_gives(name):
    path = str(HARD / name)
    clip = read(name)[1].index
    order = list(np.random.default_rng(5).permutation(clip.n)[:8])
    small, whole = (96, 64), {}
    with opened(path) as container:
        stream = picture_stream(container)
        for frame, picture in enumerate(container.decode(stream)):
            if frame in order:
                whole[frame] = displayed(picture, probe.shape_of(stream, picture), small)
    with Pictures(path, clip) as pictures:
        for frame, rgb in pictures.read(order, small):
            assert np.array_equal(rgb, whole[frame]), frame


@pytest.mark.parametrize("name", ["made_two_hours_1fps.mp4", "real_black_and_silent_10s.mp4"])
def test_peaks_of_known_sounds(name):
    peaks = audio.read_peaks(str(HARD / name), 0)
    loud = np.abs(peaks.levels[0].astype(int)).max(axis=1)
    if name.startswith("real_black"):
        assert peaks.silent
        assert loud.max() == 0
        return
    # One second of 440 Hz every 600 s, from the note in the manifest.
    assert not peaks.silent
    assert len(loud) == pytest.approx(7200 * 100, abs=3)
    starts = np.flatnonzero((loud > 20) & (np.roll(loud, 1) <= 20))
    starts = starts[np.insert(np.diff(starts) > 200, 0, True)]
    assert np.abs(starts / 100 - np.round(starts / 60_000) * 600).max() <= 0.01
