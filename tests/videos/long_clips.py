"""A long clip whose truth is known, made in a minute: a part is encoded once and its packets are written many times.

Each part is `PART` pictures at `RATE` a second that carry their number in the part (`clips.draw`), with one white
picture, `FLASH`, and a beep that begins with it. A part is a whole number of AAC frames, so sound and pictures stay in
step however often it is written.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.videos.clips import BEEP_HZ, BEEP_SECONDS, SOUND_RATE, draw

RATE = 25
PART = 3000
FLASH = 1500
SIZE = (1280, 720)
_FRAME = 1024  # samples of an AAC frame
_TICKS = 12_800  # of the pictures, a second


def make(path: Path, pictures: int) -> None:
    """Write an MP4 of so many pictures; it plays exactly as it is."""
    part = path.with_name(f"part-{path.name}")
    _encode(part, min(pictures, PART))
    with av.open(str(part)) as source:
        seen = [packet for packet in source.demux(source.streams.video[0]) if packet.pts is not None]
    with av.open(str(part)) as source:
        heard = [packet for packet in source.demux(source.streams.audio[0]) if packet.pts is not None]
    draft = path.with_name(f"draft-{path.name}")
    options = {"movflags": "faststart", "video_track_timescale": str(_TICKS)}
    with av.open(str(part)) as source, av.open(str(draft), "w", format="mp4", options=options) as target:
        tracks: list[Any] = [
            target.add_stream_from_template(stream)
            for stream in (source.streams.video[0], source.streams.audio[0])
        ]
        for begin in range(0, pictures, PART):
            shift = Fraction(begin, RATE)
            # The encoder's first packet only fills the decoder: within the clip the part before does that.
            sound = heard if begin == 0 else [packet for packet in heard if packet.pts >= 0]
            until = Fraction(min(PART, pictures - begin), RATE)
            for track, packets in zip(tracks, (seen, sound), strict=True):
                for packet in packets:
                    if packet.pts * packet.time_base < until:
                        target.mux(_moved(packet, shift, track))
    part.unlink()
    draft.rename(path)


def _moved(packet: Any, shift: Fraction, track: Any) -> Any:
    """Return a copy of a packet, later by so many seconds."""
    copy = av.Packet(bytes(packet))
    by = round(shift / packet.time_base)
    copy.pts, copy.dts, copy.time_base = packet.pts + by, packet.dts + by, packet.time_base
    copy.duration, copy.is_keyframe, copy.stream = packet.duration, packet.is_keyframe, track
    return copy


def _encode(path: Path, pictures: int) -> None:
    with av.open(str(path), "w", format="mp4", options={"video_track_timescale": str(_TICKS)}) as target:
        video: Any = target.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = *SIZE, "yuv420p"
        video.options = {"preset": "veryfast", "crf": "30", "bf": "0", "g": "15"}
        audio: Any = target.add_stream("aac", rate=SOUND_RATE, layout="mono")
        for number in range(pictures):
            frame = av.VideoFrame.from_ndarray(draw(number, SIZE, number == FLASH), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            target.mux(video.encode(frame))
        target.mux(video.encode(None))
        for begin, samples in enumerate(_samples(pictures)):
            frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = (
                SOUND_RATE,
                begin * _FRAME,
                Fraction(1, SOUND_RATE),
            )
            target.mux(audio.encode(frame))
        target.mux(audio.encode(None))


def _samples(pictures: int) -> list[Any]:
    """Return AAC frames of a hum with the beep."""
    time = np.arange(pictures * SOUND_RATE // RATE // _FRAME * _FRAME) / SOUND_RATE
    wave = 0.01 * np.sin(2 * np.pi * 100 * time)
    begin, length = FLASH * SOUND_RATE // RATE, round(BEEP_SECONDS * SOUND_RATE)
    beep = time[begin : begin + length]
    wave[begin : begin + length] = 0.8 * np.sin(2 * np.pi * BEEP_HZ * beep)
    return list(np.round(wave * 32767).astype(np.int16).reshape(-1, _FRAME))
