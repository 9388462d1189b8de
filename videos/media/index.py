"""The time of every stored picture, exact, or a refusal with the numbers.

Packets are read once without decoding; those that an edit list hides (flag `discard`) are dropped and the
rest sorted by presentation time. Containers lie, so the list is compared with what a decoder really gives:
all of it up to a budget, else a stretch at the beginning, several inside and the end. Measured on the design's
clips: packets and decode agree wherever a file is sound (frontend.md, 1f).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from videos.core.timebase import PictureIndex
from videos.media.audio import sound_start
from videos.media.errors import MediaRefused
from videos.media.facts import Indexed
from videos.media.opening import MAX_PICTURES, MAX_SECONDS, opened, picture_stream, time_base

Report = Callable[[float, str], None]

FULL_DECODE_PIXELS = 40_000_000_000  # about 10 minutes of 1080p at 30 pictures a second
WINDOWS = 6  # stretches compared in longer files
WINDOW_PICTURES = 120
MOST_DAMAGED = 0.5  # share of faulty pictures above which a file is refused


@dataclass(slots=True)
class Packets:
    """What the container says about its pictures, in the order of storage."""

    ticks: list[int] = field(default_factory=list)
    keyframe_ticks: list[int] = field(default_factory=list)
    durations: dict[int, int] = field(default_factory=dict)
    hidden: int = 0
    untimed: int = 0
    corrupt: int = 0


def read_index(path: str, report: Report = lambda share, words: None) -> Indexed:
    """Return the pictures of `path`; MediaRefused when their number or times are not certain."""
    with opened(path) as container:
        stream = picture_stream(container)
        packets = _demux(container, stream, report)
        promised = stream.frames
    ticks = _sorted(packets)
    with opened(path) as container:
        stream = picture_stream(container)
        base = time_base(stream)
        size = stream.codec_context.width * stream.codec_context.height
        decoded, damaged = _verify(container, stream, ticks, size, report)
    if promised and promised > len(ticks) + packets.hidden and packets.corrupt:
        raise MediaRefused(
            f"The file is cut short: its header promises {promised} pictures, {len(ticks)} are there and "
            f"{decoded} of those can be decoded. Upload the whole file again."
        )
    if damaged > MOST_DAMAGED * decoded:
        raise MediaRefused(
            f"{damaged} of {decoded} pictures cannot be decoded without errors. The file is damaged."
        )
    index = _index(ticks, packets, base.numerator, base.denominator)
    with opened(path) as container:
        start = sound_start(container)
    first = int(ticks[0]) * base
    warnings = []
    if damaged:
        warnings.append(f"{damaged} of {decoded} decoded pictures are damaged; they may show faults.")
    if decoded < len(ticks):
        warnings.append(f"{decoded} of {len(ticks)} pictures were decoded to check their times.")
    keyframes = np.searchsorted(ticks, np.unique(np.asarray(packets.keyframe_ticks, np.int64)))
    return Indexed(
        index=index,
        audio_offset_us=None if start is None else round((start - first) * 1_000_000),
        keyframes=keyframes.astype(np.int64),
        longest_gop=_longest(keyframes, len(ticks)),
        reordered=packets.ticks != sorted(packets.ticks),
        hidden=packets.hidden,
        damaged=damaged,
        verified=decoded,
        warnings=tuple(warnings),
    )


def packet_ticks(path: str) -> tuple[NDArray[np.int64], int, int]:
    """Return (sorted ticks, num, den) of a file as its packets say, without the comparison with a decode."""
    with opened(path) as container:
        stream = picture_stream(container)
        packets = _demux(container, stream, lambda share, words: None)
        base = time_base(stream)
        return _sorted(packets), base.numerator, base.denominator


def index_task(path: str, report: Report) -> dict[str, Any]:
    """Task `index`."""
    return read_index(path, report).to_json()


def _demux(container: InputContainer, stream: VideoStream, report: Report) -> Packets:
    found = Packets()
    size = max(container.size, 1)
    try:
        for packet in container.demux(stream):
            if packet.size == 0:
                continue  # the flush at the end
            if packet.is_discard:
                found.hidden += 1
                continue
            found.corrupt += packet.is_corrupt
            if packet.pts is None:
                found.untimed += 1
                continue
            found.ticks.append(packet.pts)
            if packet.duration:
                found.durations[packet.pts] = packet.duration
            if packet.is_keyframe:
                found.keyframe_ticks.append(packet.pts)
            if len(found.ticks) > MAX_PICTURES:
                raise MediaRefused(f"The clip has more than {MAX_PICTURES:,} pictures. Cut it into parts.")
            if packet.pos is not None and len(found.ticks) % 500 == 0:
                report(0.4 * packet.pos / size, "Reading the times of the pictures")
    except av.error.FFmpegError as reason:
        if isinstance(reason, MemoryError):
            raise
        raise MediaRefused(
            f"Reading stopped after {len(found.ticks)} pictures: the file is damaged there."
        ) from reason
    return found


def _sorted(packets: Packets) -> NDArray[np.int64]:
    total = len(packets.ticks) + packets.untimed
    if total == 0:
        raise MediaRefused("The file has a video track but no picture in it.")
    if packets.untimed:
        raise MediaRefused(
            f"{packets.untimed} of {total} pictures carry no time, so they cannot be placed exactly. "
            "Save the clip as MP4 and upload that."
        )
    ticks = np.sort(np.asarray(packets.ticks, np.int64))
    same = int(np.count_nonzero(np.diff(ticks) == 0))
    if same:
        raise MediaRefused(
            f"{same} of {total} pictures have the same time as another one, so they cannot be told apart. "
            "Save the clip as MP4 and upload that."
        )
    return ticks


def _index(ticks: NDArray[np.int64], packets: Packets, num: int, den: int) -> PictureIndex:
    """Build the index; the last picture lasts as long as its packet says, else as the median one."""
    steps = np.diff(ticks)
    usual = int(np.median(steps)) if len(steps) else max(1, round(Fraction(den, 25 * num)))
    last = packets.durations.get(int(ticks[-1]), 0)
    # A broken header can give the last picture hours (fragmented files): ten usual steps or a second at most.
    most = max(10 * usual, -(-den // num))
    end = int(ticks[-1]) + (last if 0 < last <= most else usual)
    seconds = Fraction((end - int(ticks[0])) * num, den)
    if seconds > MAX_SECONDS:
        raise MediaRefused(
            f"The clip lasts {float(seconds) / 3600:.1f} hours; {MAX_SECONDS // 3600} are allowed. Cut it into parts."
        )
    try:
        index = PictureIndex(ticks, num, den, end)
        index.to_bytes()
    except ValueError as reason:
        longest = float(Fraction(int(steps.max()) * num, den)) if len(steps) else 0.0
        raise MediaRefused(
            f"The times of the pictures cannot be stored exactly: unit {num}/{den} s, longest pause {longest:.3f} s. "
            "Save the clip as MP4 and upload that."
        ) from reason
    return index


def _verify(
    container: InputContainer, stream: VideoStream, ticks: NDArray[np.int64], size: int, report: Report
) -> tuple[int, int]:
    """Compare with a decode. Return (pictures decoded, of those damaged); MediaRefused on a difference."""
    if len(ticks) * size <= FULL_DECODE_PIXELS:
        return _verify_all(container, stream, ticks, report)
    seen = np.zeros(len(ticks), bool)
    faulty = np.zeros(len(ticks), bool)
    starts = np.linspace(0, len(ticks) - WINDOW_PICTURES, WINDOWS).astype(int)
    for number, start in enumerate(starts):
        report(0.4 + 0.6 * number / WINDOWS, "Comparing with decoded pictures")
        _verify_window(container, stream, ticks, int(start), seen, faulty)
    return int(seen.sum()), int(faulty.sum())


def _verify_all(
    container: InputContainer, stream: VideoStream, ticks: NDArray[np.int64], report: Report
) -> tuple[int, int]:
    seen = damaged = wrong = 0
    for picture in decoded_pictures(container, stream):
        if seen >= len(ticks) or picture.pts != ticks[seen]:
            wrong += 1
        damaged += bool(picture.is_corrupt)
        seen += 1
        if seen % 50 == 0:
            report(0.4 + 0.6 * seen / len(ticks), "Comparing with decoded pictures")
    if seen != len(ticks):
        raise MediaRefused(
            f"The file lists {len(ticks)} pictures but {seen} can be decoded. "
            "It is cut short or damaged. Upload the whole file again."
        )
    if wrong:
        raise MediaRefused(
            f"{wrong} of {seen} decoded pictures have another time than the file lists, so they cannot be placed "
            "exactly. Save the clip as MP4 and upload that."
        )
    return seen, damaged


def _verify_window(
    container: InputContainer,
    stream: VideoStream,
    ticks: NDArray[np.int64],
    start: int,
    seen: NDArray[np.bool_],
    faulty: NDArray[np.bool_],
) -> None:
    """Compare WINDOW_PICTURES from ordinal `start`, or from where decoding can begin before it; mark them."""
    container.seek(int(ticks[start]), stream=stream, backward=True)
    place = -1
    for picture in decoded_pictures(container, stream):
        if place < 0 and not picture.key_frame:
            continue  # leading pictures of an open group: they refer to pictures before the seek
        if place < 0:
            place = int(np.searchsorted(ticks, picture.pts)) if picture.pts is not None else len(ticks)
        if place >= len(ticks) or picture.pts != ticks[place]:
            raise MediaRefused(
                f"Near picture {min(place, len(ticks) - 1)} of {len(ticks)} the decoded times differ from those the "
                "file lists. Save the clip as MP4 and upload that."
            )
        seen[place], faulty[place] = True, bool(picture.is_corrupt)
        place += 1
        if place >= min(start + WINDOW_PICTURES, len(ticks)):
            break
    if place < min(start + WINDOW_PICTURES, len(ticks)):
        raise MediaRefused(
            f"The file lists {len(ticks)} pictures but decoding ends after picture {place}. "
            "It is cut short or damaged. Upload the whole file again."
        )


def decoded_pictures(container: InputContainer, stream: VideoStream) -> Any:
    """Yield what the decoder gives, in its order; packets that it rejects are passed over."""
    for packet in container.demux(stream):
        try:
            pictures = packet.decode()
        except av.error.FFmpegError as reason:
            if isinstance(reason, MemoryError):
                raise
            continue
        for picture in pictures:
            if isinstance(picture, VideoFrame):
                yield picture


def _longest(keyframes: NDArray[np.intp], total: int) -> int:
    """Return the most pictures from one keyframe up to the next."""
    if not len(keyframes):
        return total
    return int(np.diff(np.append(keyframes, total)).max(initial=1))
