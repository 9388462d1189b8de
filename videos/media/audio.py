"""The first audio track as PCM without gaps, and its peaks.

Every sample is put where the container says it is heard: where the file leaves a hole, silence is put in;
where pieces overlap, the overlap is dropped. So a peak is at the time of the sound even in a file with lost
packets or with padding of its encoder (annotation.md C16, C17). A container whose times make no sense for its
sound is laid end to end instead, with a warning.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from videos.core.waveform import POINTS_PER_SECOND, PeakBuilder
from videos.media.errors import MediaRefused
from videos.media.facts import Peaks
from videos.media.opening import MAX_SECONDS, opened
from videos.media.probe import sound_stream

Report = Callable[[float, str], None]

RATE = 16_000  # samples a second for peaks and spectrogram
TOLERANCE = Fraction(1, 100)  # containers round times to 1 ms or so; less than this is no gap
MOST_OVERLAP = 0.05  # share of dropped samples above which the container's times are not believed
SILENCE = 33  # -60 dB of full scale
_MAX_BLOCK = 4 * RATE


class Disbelieved(Exception):
    """The container's times make pieces of sound overlap too much."""


class Sink(Protocol):
    """Something that takes blocks of samples, int16, shape (n, channels)."""

    def add(self, block: NDArray[np.int16]) -> None:
        """Take the next block."""
        ...


_S = TypeVar("_S", bound=Sink)


@dataclass(slots=True)
class Sound:
    """How a track was read: Hz, channels, and what had to be put right (in samples of the output)."""

    rate: int
    channels: int
    believed: bool = True
    filled: int = 0
    dropped: int = 0
    produced: int = 0
    broken: int = 0
    warnings: list[str] = field(default_factory=list)


def sound_start(container: InputContainer) -> Fraction | None:
    """Return the time of the first sample in seconds of the container's clock, None without usable sound.

    Taken from the decoder, which has removed the encoder's padding, not from the header.
    """
    stream = sound_stream(container)
    if stream is None:
        return None
    for frame in _decoded(container, stream, None):
        return _time(frame, stream) or Fraction(0)
    return None


def read_sound(
    path: str,
    make_sink: Callable[[], _S],
    *,
    rate: int = RATE,
    layout: str | None = None,
    report: Report = lambda share, words: None,
) -> tuple[_S, Sound] | None:
    """Feed the first audio track to a new sink; None without usable sound.

    `layout`: mono or stereo; without one, one channel stays one and more become two.
    """
    for believed in (True, False):
        sink = make_sink()
        try:
            with opened(path) as container:
                blocks = PcmReader(container, rate, layout, believed)
                if blocks.stream is None:
                    return None
                size = Fraction(container.duration or 0, 1_000_000) or Fraction(1)
                for block in _gathered(blocks):
                    sink.add(block)
                    report(min(1.0, float(Fraction(blocks.sound.produced, rate) / size)), "Reading the sound")
        except Disbelieved:
            continue
        return (sink, blocks.sound) if blocks.sound.produced else None
    raise AssertionError("sound laid end to end cannot overlap")


class PcmReader:
    """Iterate over the blocks of the first audio track; `sound` says afterwards what had to be put right."""

    def __init__(
        self, container: InputContainer, rate: int, layout: str | None = None, believed: bool = True
    ) -> None:
        self.container = container
        self.stream = sound_stream(container)
        if layout is None:
            # Mono is not spread to two channels: that would take 3 dB off it.
            mono = self.stream is not None and self.stream.codec_context.layout.nb_channels == 1
            layout = "mono" if mono else "stereo"
        self.layout = layout
        self.sound = Sound(rate, av.AudioLayout(layout).nb_channels, believed)
        self._skip = 0

    def __iter__(self) -> Iterator[NDArray[np.int16]]:
        """Yield int16 blocks of shape (n, channels), without a hole from the first sample to the last."""
        stream, sound = self.stream, self.sound
        if stream is None:
            return
        start: Fraction | None = None
        heard = Fraction(0)  # seconds from the start that the frames so far have filled
        resampler = self._resampler()
        for frame in _decoded(self.container, stream, sound):
            time = _time(frame, stream)
            if start is None:
                start = time or Fraction(0)
            elif sound.believed and time is not None and abs(time - start - heard) > TOLERANCE:
                yield from self._out(self._flush(resampler))
                resampler = self._resampler()
                yield from self._move(round((time - start) * sound.rate))
                heard = time - start
            heard += Fraction(frame.samples, frame.sample_rate)
            if heard > MAX_SECONDS:
                raise MediaRefused(
                    f"The sound lasts more than {MAX_SECONDS // 3600} hours. Cut the clip into parts."
                )
            frame.pts = None  # positions are counted here, not by the resampler
            try:
                yield from self._out(resampler.resample(frame))
            except ValueError:  # the track changes its rate or channels in mid-stream
                yield from self._out(self._flush(resampler))
                resampler = self._resampler()
                yield from self._out(resampler.resample(frame))
        yield from self._out(self._flush(resampler))

    def _resampler(self) -> av.AudioResampler:
        return av.AudioResampler(format="s16", layout=self.layout, rate=self.sound.rate)

    @staticmethod
    def _flush(resampler: av.AudioResampler) -> list[AudioFrame]:
        try:
            return resampler.resample(None)
        except (av.error.FFmpegError, ValueError):
            return []

    def _move(self, position: int) -> Iterator[NDArray[np.int16]]:
        """Go to an output position: fill with silence up to it, or drop what comes until it is reached."""
        sound = self.sound
        missing = position - sound.produced
        self._skip = max(0, -missing)
        while missing > 0:
            block = np.zeros((min(missing, _MAX_BLOCK), sound.channels), np.int16)
            missing -= len(block)
            sound.filled += len(block)
            sound.produced += len(block)
            yield block

    def _out(self, frames: list[AudioFrame]) -> Iterator[NDArray[np.int16]]:
        sound = self.sound
        for frame in frames:
            block = frame.to_ndarray().reshape(-1, sound.channels).astype(np.int16, copy=False)
            dropped = min(self._skip, len(block))
            self._skip -= dropped
            sound.dropped += dropped
            if sound.dropped > max(MOST_OVERLAP * sound.produced, sound.rate // 10):
                raise Disbelieved
            sound.produced += len(block) - dropped
            if dropped < len(block):
                yield block[dropped:]


class _Peaks:
    def __init__(self) -> None:
        self.builder = PeakBuilder(RATE)
        self.loudest = 0

    def add(self, block: NDArray[np.int16]) -> None:
        self.loudest = max(self.loudest, int(block.max()), -int(block.min()))
        # Column by column in memory: the builder compares channels, which is ten times faster that way.
        self.builder.add(np.asfortranarray(block))


def read_peaks(path: str, offset_us: int, report: Report = lambda share, words: None) -> Peaks | None:
    """Return the peaks of the first audio track over all channels; None without usable sound.

    `offset_us`: clip time of the first sample, from the index. More than two channels are mixed to two, and
    those are not mixed further: opposite channels would cancel and a loud sound look silent.
    """
    read = read_sound(path, _Peaks, report=report)
    if read is None:
        return None
    sink, sound = read
    return Peaks(
        levels=tuple(sink.builder.finish()),
        per_second=POINTS_PER_SECOND,
        offset_us=offset_us,
        rate=RATE,
        samples=sound.produced,
        silent=sink.loudest < SILENCE,
        warnings=tuple(sentences(sound)),
    )


def peaks_task(path: str, offset_us: int, report: Report) -> dict[str, Any]:
    """Task `peaks`; {} without usable sound."""
    peaks = read_peaks(path, offset_us, report)
    return {} if peaks is None else peaks.to_json()


def sentences(sound: Sound) -> list[str]:
    """Return what a person should know about how the sound was read."""
    said = []
    if not sound.believed:
        said.append("The file's times for its sound overlap; the sound was laid end to end and may drift.")
    if sound.broken:
        said.append(f"{sound.broken} pieces of the sound are damaged and were left out.")
    if sound.filled >= sound.rate // 20:
        said.append(
            f"{sound.filled / sound.rate:.2f} s are missing in the sound and were filled with silence."
        )
    return said


def _decoded(container: InputContainer, stream: AudioStream, sound: Sound | None) -> Iterator[AudioFrame]:
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except av.error.FFmpegError as reason:
            if isinstance(reason, MemoryError):
                raise
            if sound is not None:
                sound.broken += 1
            continue
        for frame in frames:
            if isinstance(frame, AudioFrame) and frame.samples and frame.sample_rate:
                yield frame


def _time(frame: AudioFrame, stream: AudioStream) -> Fraction | None:
    base = frame.time_base or stream.time_base
    return None if frame.pts is None or base is None else frame.pts * base


def _gathered(blocks: PcmReader) -> Iterator[NDArray[np.int16]]:
    """Join blocks up to a second or so: codecs give 20 ms at a time, and arrays like it longer."""
    waiting: list[NDArray[np.int16]] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block)
        if count >= blocks.sound.rate:
            yield np.concatenate(waiting)
            waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)
