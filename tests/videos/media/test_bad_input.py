"""Damaged, hostile and oversized files: refused with a sentence, through the sandbox where a crash may be."""

import socket
from fractions import Fraction

import av
import numpy as np
import pytest

from videos.media import client, index, opening, probe, sandbox
from videos.media.errors import MediaRefused
from videos.media.sandbox import Limits

BAD = "tests.videos.media.misbehaving"


def write_pictures(path, ticks, den, size=(64, 48), codec="mjpeg", container="mov", moved=None):
    options = {"video_track_timescale": str(den)} if container == "mov" else {}
    with av.open(path, "w", format=container, options=options) as target:
        video = target.add_stream(codec, rate=Fraction(25))
        video.width, video.height, video.pix_fmt = *size, "yuvj420p"
        video.codec_context.time_base = Fraction(1, den)
        for tick in ticks:
            frame = av.VideoFrame(*size, "yuvj420p")
            frame.pts, frame.time_base = tick, Fraction(1, den)
            for packet in video.encode(frame):
                packet.pts = packet.dts = (moved or {}).get(packet.pts, packet.pts)
                target.mux(packet)
        target.mux(video.encode(None))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "0 bytes"),
        (bytes(4096), "only zero bytes"),
        (b"Question: what is in the picture?\n" * 40, "text, not a video"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), "PNG picture"),
        (b"\xff\xd8\xff\xe0" + bytes(64), "JPEG picture"),
        (b"%PDF-1.7\n" + bytes(64), "PDF"),
        (b"PK\x03\x04" + bytes(64), "ZIP"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "text document"),
        (np.random.default_rng(1).bytes(5000), "not a video"),
    ],
)
def test_what_is_no_video_is_named(tmp_path, content, words):
    path = tmp_path / "upload.mp4"
    path.write_bytes(content)
    with pytest.raises(MediaRefused, match=words) as refusal:
        client.probe(path)
    assert str(tmp_path) not in str(refusal.value)


def test_files_that_name_other_files_open_no_connection(tmp_path, clip):
    good, _ = clip("cfr_12")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/part.ts"
        hostile = {
            "a.m3u8": f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{url}\n#EXT-X-ENDLIST\n",
            "b.mp4": f"#EXTM3U\n#EXTINF:1,\n{good}\n#EXT-X-ENDLIST\n",
            "c.ffconcat": f"ffconcat version 1.0\nfile '{url}'\n",
            "d.mp4": f"ffconcat version 1.0\nfile '{good.name}'\n",
            "e.mpd": f'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><BaseURL>{url}'
            "</BaseURL></Period></MPD>",
            "f.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\n",
        }
        for name, content in hostile.items():
            path = good.parent / name  # beside a real clip, so that a relative name would find it
            path.write_text(content)
            try:
                # In this process, where a connection would be possible: the lists alone must hold.
                with pytest.raises(MediaRefused):
                    probe.probe(str(path))
            finally:
                path.unlink()
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_name_that_looks_like_an_address_is_only_a_name(tmp_path, clip):
    good, truth = clip("cfr_12")
    for name in ("http:x.mp4", "concat:a|b.mp4", "-i.mp4", "%03d.mp4", "pipe:0", "ü\n.mp4"):
        path = tmp_path / name
        path.write_bytes(good.read_bytes())
        assert index.read_index(str(path)).index.n == len(truth.numbers)


def test_cut_and_flipped_copies_are_exact_or_refused_never_a_crash(tmp_path, clip):
    good, truth = clip("flash_beep")
    whole = good.read_bytes()
    random = np.random.default_rng(11)
    moov = whole.index(b"moov")
    for number in range(12):
        (tmp_path / f"cut-{number}.mp4").write_bytes(whole[: random.integers(1, len(whole))])
    for number in range(40):
        flipped = bytearray(whole)
        # Half of them in the table of contents, where a flip changes sizes, times and counts.
        low, high = (moov, len(whole)) if number % 2 else (0, len(whole))
        for place in random.integers(low, high, size=8):
            flipped[place] ^= 1 << int(random.integers(8))
        (tmp_path / f"flip-{number}.mp4").write_bytes(flipped)
    found = sandbox.run(
        f"{BAD}:read_all", limits=Limits(cpu_seconds=60, wall_seconds=120), folder=str(tmp_path)
    )
    assert len(found) == 52
    assert [text for text in found.values() if text.startswith("unexpected")] == []
    # MP4 has its table of contents at the end here: every cut copy has lost it.
    assert all(text.startswith("refused") for name, text in found.items() if name.startswith("cut"))
    assert {text for text in found.values() if not text.startswith("refused")} >= {str(len(truth.numbers))}


def test_pictures_over_64_megapixels_are_refused_with_their_size(tmp_path):
    path = tmp_path / "bomb.mov"
    write_pictures(path, [0], 1000, size=(8192, 8192))
    with pytest.raises(MediaRefused, match="8192 x 8192, over 64 million"):
        client.probe(path)


def test_more_than_six_hours_are_refused_with_the_length(tmp_path):
    path = tmp_path / "long.mov"
    write_pictures(path, [0, 7 * 3600 * 1000], 1000)
    with pytest.raises(MediaRefused, match=r"lasts 7\.0 hours; 6 are allowed"):
        index.read_index(str(path))


def test_too_many_pictures_are_refused(monkeypatch, clip):
    path, _ = clip("cfr_12")
    monkeypatch.setattr(index, "MAX_PICTURES", 40)
    with pytest.raises(MediaRefused, match="more than 40 pictures"):
        index.read_index(str(path))


def test_too_many_tracks_are_refused_with_their_number(tmp_path):
    path = tmp_path / "tracks.mkv"
    with av.open(path, "w") as target:
        tracks = [
            target.add_stream("pcm_s16le", rate=8000, layout="mono") for _ in range(opening.MAX_STREAMS + 1)
        ]
        for track in tracks:
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 80), np.int16), format="s16", layout="mono")
            frame.sample_rate, frame.pts = 8000, 0
            target.mux(track.encode(frame))
    with pytest.raises(MediaRefused, match="33 tracks; 32 are allowed"):
        probe.probe(str(path))


def test_two_pictures_at_one_time_are_refused_with_their_number(tmp_path):
    # Matroska stores milliseconds and lets two pictures have the same one.
    path = tmp_path / "same.mkv"
    write_pictures(path, [0, 40, 80, 81, 120], 1000, container="matroska", moved={81: 80})
    with pytest.raises(MediaRefused, match="1 of 5 pictures have the same time"):
        index.read_index(str(path))


def test_a_display_matrix_off_the_right_angles_is_refused():
    cos, sin = int(65536 * 0.8), int(65536 * 0.6)
    with pytest.raises(MediaRefused, match="37 degrees"):
        probe.turned(np.array([cos, sin, 0, -sin, cos, 0, 0, 0, 1 << 30]))
