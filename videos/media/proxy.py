"""The playback file: the same pictures at the same clip times in a form that browsers step through exactly.

H.264 main, no B-frames, a keyframe at least every 15 pictures, square pixels in display orientation, AAC from
clip time 0, index at the front (frontend.md, 1b and 1d). The time scale is the source's own, so clip times are
equal, not rounded. After writing, the file is read back; any difference refuses the clip with the numbers.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.filter
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from videos.core.timebase import PictureIndex
from videos.media.audio import Disbelieved, PcmReader, sentences, sound_start
from videos.media.errors import MediaRefused
from videos.media.facts import Proxy
from videos.media.frames import check_base
from videos.media.index import decoded_pictures, packet_ticks
from videos.media.opening import opened, picture_stream
from videos.media.probe import Shape, shape_of
from videos.media.sandbox import unpacked

Report = Callable[[float, str], None]

LINES = 720
GOP = 15
SOUND_RATE = 48_000
_SOUND_FRAME = 1024
_LEAST_SCALE = 10_000
_MOST_SCALE = 2**31 - 1


def proxy_size(shape: Shape) -> tuple[int, int]:
    """Return the even width and height: the displayed size, the shorter side at most LINES, never larger."""
    short = min(shape.size)
    share = Fraction(LINES, short) if short > LINES else Fraction(1)
    width, height = (max(2, min(2 * round(side * share / 2), side // 2 * 2)) for side in shape.size)
    return width, height


def clip_ticks(index: PictureIndex) -> tuple[NDArray[np.int64], int, int]:
    """Return (ticks from 0, end tick, ticks a second) in a whole number of ticks a second, exactly."""
    scale = index.den
    factor = index.num
    if scale < _LEAST_SCALE:
        more = -(-_LEAST_SCALE // scale)
        scale, factor = scale * more, factor * more
    ticks = (index.ticks - index.ticks[0]) * factor
    longest = int(np.diff(ticks).max(initial=0))
    if scale > _MOST_SCALE or longest > _MOST_SCALE:
        raise MediaRefused(
            f"A playback file cannot keep the clip's times: {index.den} ticks a second, longest pause "
            f"{longest / scale:.3f} s. Save the clip as MP4 and upload that."
        )
    return ticks, (index.end_tick - int(index.ticks[0])) * factor, scale


def make_proxy(path: str, out: str, index: PictureIndex, report: Report = lambda share, words: None) -> Proxy:
    """Write the playback file of `path` to `out` and check it; MediaRefused on any difference."""
    try:
        return _make(path, out, index, True, report)
    except Disbelieved:
        return _make(path, out, index, False, report)


def _make(path: str, out: str, index: PictureIndex, believed: bool, report: Report) -> Proxy:
    ticks, end, scale = clip_ticks(index)
    with ExitStack() as stack:
        source = stack.enter_context(opened(path))
        stream = picture_stream(source)
        check_base(stream, index)
        pictures = decoded_pictures(source, stream)
        first = next(pictures, None)
        if first is None:
            raise MediaRefused("No picture of the file could be decoded.")
        shape = shape_of(stream, first)
        size = proxy_size(shape)
        target = stack.enter_context(
            av.open(
                out,
                "w",
                format="mp4",
                options={"movflags": "+faststart", "video_track_timescale": str(scale)},
            )
        )
        video = _video_track(target, size, index, first)
        sound = _Sound(path, target, stack, index, believed)
        target.start_encoding()
        painter = _Painter(shape, size)
        count = 0
        for count, packet in enumerate(_packets(video, _checked(_with(first, pictures), index), painter), 1):
            place = packet.pts
            if place is None or place != count - 1:
                raise MediaRefused(f"The encoder changed the order of picture {count - 1}.")
            packet.pts = packet.dts = int(ticks[place])
            packet.duration = int(ticks[place + 1] if place + 1 < index.n else end) - int(ticks[place])
            packet.time_base = Fraction(1, scale)
            sound.write_until(Fraction(int(ticks[place]), scale))
            target.mux(packet)
            if count % 25 == 0:
                report(0.95 * count / index.n, "Making the playback file")
        if count != index.n:
            raise MediaRefused(f"The clip has {index.n} pictures but its playback file would have {count}.")
        sound.write_until(None)
    report(0.95, "Checking the playback file")
    _check(out, index)
    return Proxy(
        width=size[0],
        height=size[1],
        pictures=count,
        duration_us=round(Fraction(end, scale) * 1_000_000),
        has_audio=sound.track is not None,
        bytes=Path(out).stat().st_size,
        warnings=tuple(sound.warnings),
    )


def proxy_task(path: str, out: str, index: str, report: Report) -> dict[str, Any]:
    """Task `proxy`."""
    return make_proxy(path, out, unpacked(index), report).to_json()


class _Painter:
    """Turns decoded pictures into displayed ones: scale, turn, mirror, 8-bit 4:2:0, limited range."""

    def __init__(self, shape: Shape, size: tuple[int, int]) -> None:
        turned = shape.rotation in (90, 270)
        self._size = (size[1], size[0]) if turned else size
        self._plain = shape.rotation == 0 and not shape.mirrored and shape.sar == 1
        self._steps = [
            ("scale", f"{self._size[0]}:{self._size[1]}:flags=bicubic:out_range=tv"),
            *{
                90: [("transpose", "clock")],
                180: [("hflip", ""), ("vflip", "")],
                270: [("transpose", "cclock")],
            }.get(shape.rotation, []),
            *([("hflip", "")] if shape.mirrored else []),
            ("setsar", "1"),
            ("format", "yuv420p"),
        ]
        self._graph: av.filter.Graph | None = None
        self._made_for: tuple[int, int, str] | None = None

    def paint(self, picture: VideoFrame) -> VideoFrame:
        kind = (picture.width, picture.height, picture.format.name)
        if self._plain and kind == (*self._size, "yuv420p"):
            return picture
        if kind != self._made_for:
            # A new graph when pictures change their size in mid-stream: all are shown in the first one's.
            self._graph, self._made_for = self._build(*kind), kind
        assert self._graph is not None
        self._graph.push(picture)
        painted = self._graph.pull()
        assert isinstance(painted, VideoFrame)
        return painted

    def _build(self, width: int, height: int, pixel_format: str) -> av.filter.Graph:
        graph = av.filter.Graph()
        last = graph.add_buffer(
            width=width,
            height=height,
            format=av.VideoFormat(pixel_format, width, height),
            time_base=Fraction(1, 1000),
        )
        for name, arguments in [*self._steps, ("buffersink", "")]:
            step = graph.add(name, arguments) if arguments else graph.add(name)
            last.link_to(step)
            last = step
        graph.configure()
        return graph


class _Sound:
    """The first audio track, written as AAC beside the pictures, in step with them, from clip time 0."""

    def __init__(
        self, path: str, target: OutputContainer, stack: ExitStack, index: PictureIndex, believed: bool
    ) -> None:
        self.track: AudioStream | None = None
        self.warnings: list[str] = []
        self._target = target
        self._written = 0
        with opened(path) as container:
            start = sound_start(container)
        if start is None:
            return
        source = stack.enter_context(opened(path))
        self._reader = PcmReader(source, SOUND_RATE, None, believed)
        assert self._reader.stream is not None
        offset = start - Fraction(int(index.ticks[0]) * index.num, index.den)
        self._blocks = _from_zero(self._reader, round(offset * SOUND_RATE))
        self.track = target.add_stream("aac", rate=SOUND_RATE, layout=self._reader.layout)
        self.track.bit_rate = 128_000
        self._rest = np.zeros((0, self._reader.sound.channels), np.int16)

    def write_until(self, time: Fraction | None) -> None:
        """Write sound up to clip time `time` in seconds, so that the file holds both in step; None: all."""
        if self.track is None:
            return
        while time is None or Fraction(self._written, SOUND_RATE) <= time:
            block = next(self._blocks, None)
            if block is None:
                if time is None:
                    self._encode(self._rest)
                    self._target.mux(self.track.encode(None))
                    self.warnings = sentences(self._reader.sound)
                return
            self._rest = np.concatenate([self._rest, block])
            whole = len(self._rest) // _SOUND_FRAME * _SOUND_FRAME
            self._encode(self._rest[:whole])
            self._rest = self._rest[whole:]

    def _encode(self, samples: NDArray[np.int16]) -> None:
        assert self.track is not None
        for start in range(0, len(samples), _SOUND_FRAME):
            piece = samples[start : start + _SOUND_FRAME]
            planar = np.ascontiguousarray((piece / np.float32(32768)).T.astype(np.float32))
            frame = AudioFrame.from_ndarray(planar, format="fltp", layout=self._reader.layout)
            frame.sample_rate = SOUND_RATE
            frame.time_base = Fraction(1, SOUND_RATE)
            frame.pts = self._written
            self._written += len(piece)
            self._target.mux(self.track.encode(frame))


def _from_zero(blocks: PcmReader, offset: int) -> Iterator[NDArray[np.int16]]:
    """Yield the sound from clip time 0: silence before a late start, an early start cut off."""
    while offset > 0:
        part = min(offset, SOUND_RATE)
        yield np.zeros((part, blocks.sound.channels), np.int16)
        offset -= part
    for block in blocks:
        cut = min(-offset, len(block))
        offset += cut
        if cut < len(block):
            yield block[cut:]


def _video_track(
    target: OutputContainer, size: tuple[int, int], index: PictureIndex, first: VideoFrame
) -> VideoStream:
    """Add the H.264 track. The encoder counts pictures; true times are written on its packets afterwards."""
    rate = index.mean_rate.limit_denominator(1001)
    rate = min(max(rate, Fraction(1)), Fraction(240))
    video = target.add_stream("libx264", rate=rate)
    assert isinstance(video, VideoStream)
    video.width, video.height = size
    video.pix_fmt = "yuv420p"
    video.options = {"preset": "veryfast", "crf": "23", "profile": "main", "bf": "0"}
    context = video.codec_context
    context.time_base = 1 / rate
    context.gop_size = GOP
    context.max_b_frames = 0
    context.thread_count = 2
    context.colorspace, context.color_primaries, context.color_trc = (
        first.colorspace,
        first.color_primaries,
        first.color_trc,
    )
    return video


def _packets(video: VideoStream, pictures: Iterator[VideoFrame], painter: _Painter) -> Iterator[Any]:
    base = video.codec_context.time_base
    for number, picture in enumerate(pictures):
        painted = painter.paint(picture)
        painted.pts, painted.time_base = number, base
        painted.pict_type = 0  # the encoder chooses, not the source
        yield from video.encode(painted)
    yield from video.encode(None)


def _checked(pictures: Iterator[VideoFrame], index: PictureIndex) -> Iterator[VideoFrame]:
    """Compare each decoded picture's time with the index before it is written."""
    for ordinal, picture in enumerate(pictures):
        if ordinal >= index.n or picture.pts != index.ticks[ordinal]:
            raise MediaRefused(
                f"Decoded picture {ordinal} of {index.n} has another time than the index says. "
                "Save the clip as MP4 and upload that."
            )
        yield picture


def _check(out: str, index: PictureIndex) -> None:
    """Read the written file back: as many pictures, each at the same clip time as a fraction, from 0."""
    ticks, num, den = packet_ticks(out)
    if len(ticks) != index.n:
        raise MediaRefused(f"The clip has {index.n} pictures but its playback file has {len(ticks)}.")
    wanted = (index.ticks - index.ticks[0]).astype(object) * index.num * den
    got = ticks.astype(object) * num * index.den
    different = np.flatnonzero(wanted != got)
    if len(different):
        place = int(different[0])
        raise MediaRefused(
            f"{len(different)} of {index.n} pictures of the playback file have another time, the first is {place}: "
            f"{float(Fraction(int(wanted[place]), index.den * den)):.6f} s became "
            f"{float(Fraction(int(got[place]), index.den * den)):.6f} s."
        )


def _with(first: VideoFrame, rest: Iterator[VideoFrame]) -> Iterator[VideoFrame]:
    yield first
    yield from rest
