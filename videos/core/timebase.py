"""Pictures of a clip and their times, in whole numbers.

A picture is an ordinal of the stored pictures in presentation order; it is never computed from a frame rate.
Clip time is the time since the first picture. Every computation is exact: ticks are integers, seconds are
fractions, and a float that comes from outside (a browser's clock) is taken at its exact value.

Sources: annotation design C1 to C5 (pictures as integer ticks, seeks to the middle of a picture); frontend
design 1 (measured: times cut to microseconds show the picture before; the middle never does). Choices, in
words: a start in microseconds is rounded down, and `at_us` counts on that same grid, so that
``at_us(clip_us(i)) == i``; `nearest` prefers the earlier picture on a tie.
"""

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

MILLION = 1_000_000
_HEADER = struct.Struct("<4sIQIIqQ")
_MAGIC = b"RAPI"
_VERSION = 1
_U32 = 2**32
# Keeps every sum of ticks far from the end of int64.
_MOST_TICKS = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class PictureIndex:
    """The presentation times of all pictures of one clip.

    Attributes
    ----------
    ticks : NDArray[np.int64]
        Presentation ticks in the source's time base, strictly increasing, at least one; read-only.
    num, den : int
        A tick lasts num/den seconds.
    end_tick : int
        End of the last picture, exclusive.

    Raises
    ------
    ValueError
        If the ticks do not increase or a value is out of range.
    """

    ticks: NDArray[np.int64]
    num: int
    den: int
    end_tick: int

    def __post_init__(self) -> None:
        """Refuse times that cannot be those of a clip, and keep a copy that nobody can change."""
        ticks = np.array(self.ticks, dtype=np.int64)
        if ticks.ndim != 1 or not ticks.size:
            raise ValueError("A picture index needs at least one picture; the clip has none.")
        if not (0 < self.num < _U32 and 0 < self.den < _U32):
            raise ValueError(
                f"The time base is {self.num}/{self.den}; both numbers must be from 1 to 4294967295."
            )
        if min(ticks[0], ticks[-1]) < -_MOST_TICKS or max(int(ticks[-1]), self.end_tick) > _MOST_TICKS:
            raise ValueError("The presentation times are too large to be those of a clip.")
        falls = np.flatnonzero(np.diff(ticks) <= 0)
        if falls.size:
            i = int(falls[0])
            raise ValueError(
                f"Picture {i + 1} does not come after picture {i}: ticks {ticks[i]} and {ticks[i + 1]}."
            )
        if self.end_tick <= ticks[-1]:
            raise ValueError(
                f"The last picture ends at tick {self.end_tick}, not after its start, {ticks[-1]}."
            )
        ticks.setflags(write=False)
        object.__setattr__(self, "ticks", ticks)
        object.__setattr__(self, "end_tick", int(self.end_tick))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same pictures at the same ticks of the same time base."""
        if not isinstance(other, PictureIndex):
            return NotImplemented
        mine, theirs = (self.num, self.den, self.end_tick), (other.num, other.den, other.end_tick)
        return mine == theirs and np.array_equal(self.ticks, other.ticks)

    def __hash__(self) -> int:
        """Hash of what `__eq__` compares."""
        return hash((self.num, self.den, self.end_tick, self.ticks.tobytes()))

    @classmethod
    def constant(cls, n: int, rate: Fraction) -> "PictureIndex":
        """Return the index of n pictures at one rate (pictures per second), from tick 0."""
        return cls(np.arange(n, dtype=np.int64), rate.denominator, rate.numerator, n)

    @property
    def n(self) -> int:
        """Number of pictures."""
        return len(self.ticks)

    @property
    def duration(self) -> Fraction:
        """Seconds from the start of the first picture to the end of the last."""
        return Fraction((self.end_tick - int(self.ticks[0])) * self.num, self.den)

    @property
    def duration_us(self) -> int:
        """Duration in microseconds, rounded down."""
        return self._us(self.end_tick)

    @property
    def mean_rate(self) -> Fraction:
        """Pictures per second: their number by the duration, the last picture's included."""
        return self.n / self.duration

    @property
    def is_constant(self) -> bool:
        """Whether the pictures are evenly spaced, as far as the time base can say.

        Starts may be one tick off an even grid where a tick is at most a tenth of a picture: 29.97 pictures per
        second in milliseconds are 33, 33, 34. In a coarser time base one tick is a dropped picture.
        """
        if self.n < 3:
            return True
        gaps = np.diff(self.ticks)
        if (gaps == gaps[0]).all():
            return True
        mean = int(self.ticks[-1] - self.ticks[0]) / (self.n - 1)
        off = (self.ticks - self.ticks[0]) - np.arange(self.n) * mean
        return mean >= 10 and bool((np.abs(off) <= 1).all())

    def clip_seconds(self, frame: int) -> Fraction:
        """Clip time at which a picture starts, in seconds.

        Raises
        ------
        IndexError
            If there is no such picture.
        """
        return Fraction((self._tick(frame) - int(self.ticks[0])) * self.num, self.den)

    def end_seconds(self, frame: int) -> Fraction:
        """Clip time at which a picture ends, in seconds: the start of the next, or the end of the clip."""
        return Fraction((self._end(frame) - int(self.ticks[0])) * self.num, self.den)

    def clip_us(self, frame: int) -> int:
        """Clip time at which a picture starts, in microseconds, rounded down."""
        return self._us(self._tick(frame))

    def end_us(self, frame: int) -> int:
        """Clip time at which a picture ends, in microseconds, rounded down."""
        return self._us(self._end(frame))

    def middle(self, frame: int) -> Fraction:
        """Clip time in the middle of a picture, in seconds: where to seek in order to see it."""
        twice = self._tick(frame) + self._end(frame) - 2 * int(self.ticks[0])
        return Fraction(twice * self.num, 2 * self.den)

    def at(self, seconds: Fraction | float) -> int:
        """Picture on show at a clip time; the first before the clip, the last after it.

        Parameters
        ----------
        seconds : Fraction or float
            Clip time; a float is taken at its exact value.

        Raises
        ------
        ValueError
            If the time is not a number.
        """
        ticks = _exact(seconds) * self.den / self.num
        return self._at_tick(math.floor(ticks) + int(self.ticks[0]))

    def at_us(self, us: int) -> int:
        """Picture on show in a microsecond of clip time, counted from the rounded-down starts."""
        # floor(start) <= us is the same as start < us + 1.
        ticks = -((us + 1) * self.den // -(self.num * MILLION)) - 1
        return self._at_tick(ticks + int(self.ticks[0]))

    def nearest(self, seconds: Fraction | float) -> int:
        """Picture whose start is nearest to a clip time: what a browser's `mediaTime` names."""
        time = _exact(seconds)
        frame = self.at(time)
        if frame + 1 < self.n and self.clip_seconds(frame + 1) - time < time - self.clip_seconds(frame):
            return frame + 1
        return frame

    def span_us(self, frames: tuple[int, int]) -> tuple[int, int]:
        """Microseconds [start, end) of the pictures [start, end)."""
        return self.clip_us(frames[0]), self.end_us(frames[1] - 1)

    def frames_in(self, start_us: int, end_us: int) -> tuple[int, int]:
        """Pictures [first, last + 1) on show during [start_us, end_us); one where the span is a point."""
        return self.at_us(start_us), self.at_us(max(start_us, end_us - 1)) + 1

    def to_bytes(self) -> bytes:
        """Write the index as bytes: a 40-byte little-endian header, then n - 1 distances as uint32.

        The header is the letters RAPI, version, n, num, den, first tick and the length of the last picture in
        ticks (uint32, uint64, uint32, uint32, int64, uint64).

        Raises
        ------
        ValueError
            If two pictures are 2**32 ticks or more apart.
        """
        gaps = np.diff(self.ticks)
        if gaps.size and gaps.max() >= _U32:
            i = int(gaps.argmax())
            raise ValueError(
                f"Pictures {i} and {i + 1} are {gaps[i]} ticks apart, more than a file can hold."
            )
        first, last = int(self.ticks[0]), self.end_tick - int(self.ticks[-1])
        header = _HEADER.pack(_MAGIC, _VERSION, self.n, self.num, self.den, first, last)
        return header + gaps.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "PictureIndex":
        """Read what `to_bytes` wrote.

        Raises
        ------
        ValueError
            If the bytes are no picture index of this version.
        """
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise ValueError("This is no picture index: it does not start with RAPI.")
        _, version, n, num, den, first, last = _HEADER.unpack_from(data)
        if version != _VERSION:
            raise ValueError(
                f"The picture index has version {version}; this software reads version {_VERSION}."
            )
        if n < 1 or len(data) != _HEADER.size + 4 * (n - 1):
            raise ValueError(f"The picture index says {n} pictures, but holds {len(data)} bytes.")
        if not (abs(first) <= _MOST_TICKS and last <= _MOST_TICKS):
            raise ValueError("The presentation times are too large to be those of a clip.")
        ticks = np.full(n, first, dtype=np.int64)
        ticks[1:] += np.cumsum(np.frombuffer(data, dtype="<u4", offset=_HEADER.size), dtype=np.int64)
        return cls(ticks, num, den, int(ticks[-1]) + last)

    def _tick(self, frame: int) -> int:
        if not 0 <= frame < self.n:
            raise IndexError(f"There is no picture {frame}; the clip has pictures 0 to {self.n - 1}.")
        return int(self.ticks[frame])

    def _end(self, frame: int) -> int:
        self._tick(frame)
        return int(self.ticks[frame + 1]) if frame + 1 < self.n else self.end_tick

    def _us(self, tick: int) -> int:
        return (tick - int(self.ticks[0])) * self.num * MILLION // self.den

    def _at_tick(self, tick: int) -> int:
        within = min(max(tick, int(self.ticks[0])), int(self.ticks[-1]))
        return int(np.searchsorted(self.ticks, within, side="right")) - 1


def _exact(seconds: Fraction | float) -> Fraction:
    if isinstance(seconds, float) and not math.isfinite(seconds):
        raise ValueError(f"{seconds} is not a time; give seconds.")
    return Fraction(seconds)
