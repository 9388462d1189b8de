"""The waveform of a clip as a pyramid of peaks: smallest and largest sample of every stretch of sound.

Level 0 has 100 points a second, every further level a quarter of the points of the one below.

Source: frontend design 2 (peaks computed once on the server, int8, drawn by the page), annotation design C16 (peaks
come from the decoded samples, within 10 ms of the sound). Choices, in words: point k covers the samples from
ceil(k * rate / 100) to before ceil((k + 1) * rate / 100), so that points never drift whatever the rate; channels
are not averaged, so that opposite ones do not cancel; values are rounded to the nearest of -127 to 127.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Levels = list[NDArray[np.int8]]

POINTS_PER_SECOND = 100
FACTOR = 4
# A level this short is drawn at once; coarser ones would not be asked for.
_SHORT = 1024
_FULL = 127


class PeakBuilder:
    """Build the pyramid from blocks of samples of any length, in order.

    Parameters
    ----------
    rate : int
        Samples a second, at least 100.
    """

    def __init__(self, rate: int) -> None:
        """Start before the first sample."""
        if rate < POINTS_PER_SECOND:
            raise ValueError(
                f"The sound has {rate} samples a second; at least {POINTS_PER_SECOND} are needed."
            )
        self.rate = rate
        self._low: list[NDArray[np.float32]] = []
        self._high: list[NDArray[np.float32]] = []
        self._rest = np.empty((0, 2), dtype=np.float32)
        self._points = 0
        self._seen = 0

    def add(self, block: NDArray[np.int16] | NDArray[np.float32] | NDArray[np.float64]) -> None:
        """Take the next samples.

        Parameters
        ----------
        block : array
            int16, or floats from -1 to 1 (what is no number counts as silence); one axis, or samples x channels.

        Raises
        ------
        ValueError
            If the block is of another kind.
        """
        samples = np.asarray(block)
        if samples.dtype == np.int16:
            samples = samples.astype(np.float32) / np.float32(32768)
        elif samples.dtype.kind == "f":
            samples = np.nan_to_num(samples.astype(np.float32), nan=0.0, posinf=1.0, neginf=-1.0)
        else:
            raise ValueError(f"Samples are int16 or floats, not {samples.dtype}.")
        if samples.ndim not in (1, 2):
            raise ValueError(f"Samples have one axis, or two with channels, not {samples.ndim}.")
        if samples.ndim == 1:
            samples = samples[:, None]
        pairs = (
            np.stack([samples.min(axis=1), samples.max(axis=1)], axis=1) if samples.size else self._rest[:0]
        )
        pairs = np.concatenate([self._rest, pairs])
        self._seen += len(samples)
        # Points whose last sample has been seen.
        ready = self._seen * POINTS_PER_SECOND // self.rate
        if ready > self._points:
            start = self._first_sample(self._points)
            edges = [self._first_sample(k) - start for k in range(self._points, ready + 1)]
            done = pairs[: edges[-1]]
            self._low.append(np.minimum.reduceat(done[:, 0], edges[:-1]))
            self._high.append(np.maximum.reduceat(done[:, 1], edges[:-1]))
            pairs = pairs[edges[-1] :]
            self._points = ready
        self._rest = pairs

    def finish(self) -> Levels:
        """Return the levels, finest first, each an int8 array of (smallest, largest); empty without samples."""
        low, high = list(self._low), list(self._high)
        if len(self._rest):
            low.append(self._rest[:, 0].min(keepdims=True))
            high.append(self._rest[:, 1].max(keepdims=True))
        if not low:
            return []
        pairs = np.stack([np.concatenate(low), np.concatenate(high)], axis=1)
        return pyramid(np.rint(np.clip(pairs, -1, 1) * _FULL).astype(np.int8))

    def _first_sample(self, point: int) -> int:
        return -(-point * self.rate // POINTS_PER_SECOND)


def pyramid(base: NDArray[np.int8]) -> Levels:
    """Add ever coarser levels to a base level of (smallest, largest), until one is short."""
    levels = [base]
    while len(levels[-1]) > _SHORT:
        below = levels[-1]
        edges = np.arange(0, len(below), FACTOR)
        low = np.minimum.reduceat(below[:, 0], edges)
        levels.append(np.stack([low, np.maximum.reduceat(below[:, 1], edges)], axis=1))
    return levels


def level_for(levels: Sequence[NDArray[np.int8]], points_per_second: float) -> int:
    """Coarsest level that still has as many points a second as asked for; 0 if none has."""
    place = 0
    while place + 1 < len(levels) and POINTS_PER_SECOND / FACTOR ** (place + 1) >= points_per_second:
        place += 1
    return place


def loudness(base: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Largest distance from silence in every 10 ms, 0 to 127, from level 0."""
    result: NDArray[np.uint8] = np.abs(base.astype(np.int16)).max(axis=1, initial=0).astype(np.uint8)
    return result
