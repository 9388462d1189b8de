"""What a file holds: size and orientation of its pictures, pixel shape, codecs, sound.

The first picture is decoded, because only it tells the pixel format and the display matrix for certain.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from videos.core.geometry import display_size
from videos.media.errors import MediaRefused
from videos.media.facts import Facts
from videos.media.opening import opened, picture_stream

_TRIES = 300  # packets without a picture before the file counts as undecodable


@dataclass(frozen=True, slots=True)
class Shape:
    """How decoded pictures become displayed ones: widen by `sar`, turn clockwise, then swap left and right."""

    coded_width: int
    coded_height: int
    sar: Fraction
    rotation: int
    mirrored: bool

    @property
    def size(self) -> tuple[int, int]:
        """Displayed width and height in square pixels."""
        return display_size(self.coded_width, self.coded_height, self.rotation, self.sar)


def probe(path: str) -> Facts:
    """Return the facts of `path`; MediaRefused with a sentence."""
    with opened(path) as container:
        stream = picture_stream(container)
        picture = first_picture(container, stream)
        shape = shape_of(stream, picture)
        sound = sound_stream(container)
        warnings = (
            []
            if picture.interlaced_frame is False
            else ["The pictures are interlaced; they are shown as stored."]
        )
        tracks = len(container.streams.audio)
        if tracks and sound is None:
            warnings.append("The file has an audio track that cannot be decoded; it is treated as silent.")
        if sound is not None and tracks > 1:
            warnings.append(f"The file has {tracks} audio tracks; the first usable one is used.")
        moving = sum(1 for s in container.streams.video if int(s.disposition) & 0x400 == 0)
        if moving > 1:
            warnings.append(f"The file has {moving} video tracks; the first is used.")
        if shape.mirrored:
            warnings.append("The file asks players to mirror its pictures; boxes are stored as displayed.")
        width, height = shape.size
        context = stream.codec_context
        return Facts(
            container=container.format.name,
            codec=context.codec.canonical_name,
            profile=str(context.profile or ""),
            pixel_format=picture.format.name,
            coded_width=shape.coded_width,
            coded_height=shape.coded_height,
            width=width,
            height=height,
            rotation=shape.rotation,
            mirrored=shape.mirrored,
            sar_num=shape.sar.numerator,
            sar_den=shape.sar.denominator,
            interlaced=bool(picture.interlaced_frame),
            streams=len(container.streams),
            has_audio=sound is not None,
            audio_codec=None if sound is None else sound.codec_context.codec.canonical_name,
            audio_rate=None if sound is None else sound.codec_context.sample_rate,
            audio_channels=None if sound is None else sound.codec_context.layout.nb_channels,
            audio_layout=None if sound is None else sound.codec_context.layout.name,
            audio_tracks=tracks,
            warnings=tuple(warnings),
        )


def probe_task(path: str, report: Callable[[float, str], None]) -> dict[str, Any]:
    """Task `probe`."""
    return probe(path).to_json()


def first_picture(container: InputContainer, stream: VideoStream) -> VideoFrame:
    """Decode until a picture comes out; MediaRefused when none does."""
    for number, packet in enumerate(container.demux(stream)):
        if number > _TRIES:
            break
        try:
            for picture in packet.decode():
                if isinstance(picture, VideoFrame):
                    return picture
        except av.error.FFmpegError as reason:
            if isinstance(reason, MemoryError):
                raise
    name = stream.codec_context.codec.canonical_name
    raise MediaRefused(f"No picture of the file could be decoded ({name}). It is damaged or empty.")


def sound_stream(container: InputContainer) -> AudioStream | None:
    """Return the first audio track with a decoder and a sample rate."""
    for stream in container.streams.audio:
        context = stream.codec_context
        if context is not None and context.sample_rate and context.layout.nb_channels:
            return stream
    return None


def shape_of(stream: VideoStream, picture: VideoFrame) -> Shape:
    """Read pixel aspect and display matrix; MediaRefused for a matrix that is not made of right angles."""
    sar = Fraction(stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio or 1)
    if not Fraction(1, 16) <= sar <= 16:
        sar = Fraction(1)  # 0/1 is "unknown"; beyond 16:1 no camera goes, it is a broken header
    matrix: Any = picture.side_data.get("DISPLAYMATRIX")
    rotation, mirrored = (0, False) if matrix is None else turned(np.frombuffer(bytes(matrix), "<i4"))
    return Shape(picture.width, picture.height, sar, rotation, mirrored)


def turned(matrix: Any) -> tuple[int, bool]:
    """Return (clockwise degrees, mirrored) of a display matrix of nine fixed-point numbers.

    The matrix sends a stored point (x, y), y downwards, to (a x + c y, b x + d y) with a, b in its first row
    and c, d in its second (ISO/IEC 14496-12, 8.5.2). A clockwise turn by t has a = d = cos t, b = -c = sin t;
    swapping left and right afterwards negates a and c, which makes the determinant negative.
    """
    a, b, c, d = (int(matrix[place]) / 65536 for place in (0, 1, 3, 4))
    size = math.hypot(a, b)
    if size == 0 or a * d - b * c == 0:
        return 0, False
    mirrored = a * d - b * c < 0
    degrees = math.degrees(math.atan2(b, -a if mirrored else a)) % 360
    right = round(degrees / 90) * 90
    if abs(degrees - right) > 1:
        raise MediaRefused(
            f"The file asks players to turn its pictures by {degrees:.0f} degrees; only right angles can be shown."
        )
    return right % 360, mirrored
