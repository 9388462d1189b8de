"""The spectrogram under the waveform: 96 mel bands, 25 columns a second, WebP tiles of 60 seconds.

Column k of a file covers clip time k/25 .. (k+1)/25 s, whichever time the sound begins: sound before the
first picture is left out, a late start is black. Low tones are at the bottom.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videos.media.audio import RATE, read_sound
from videos.media.facts import Tiles

BANDS = 96
COLUMNS_PER_SECOND = 25
TILE_SECONDS = 60
HOP = RATE // COLUMNS_PER_SECOND
WINDOW = 1024  # samples, 64 ms
TRANSFORM = 2048  # zero-padded, so that the lowest bands hold at least one bin each
FLOOR_DB = -90.0  # black; a full-scale sine is 0 dB, white
QUALITY = 70

Report = Callable[[float, str], None]


def mel_filters() -> NDArray[np.float32]:
    """Return the triangles, shape (BANDS, TRANSFORM/2 + 1), equally spaced in mel from 0 Hz to half RATE.

    Mel after O'Shaughnessy: 2595 log10(1 + f/700). Each triangle's peak is 1.
    """
    top = 2595 * np.log10(1 + RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(TRANSFORM, 1 / RATE)
    low, peak, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rise, fall = (bins - low) / (peak - low), (high - bins) / (high - peak)
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


def columns(samples: NDArray[np.int16], filters: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return grey values, shape (BANDS, columns), top row highest.

    `samples` begin (WINDOW - HOP)/2 before the first column, so that each window's middle is its column's.
    """
    count = max(0, (len(samples) - WINDOW) // HOP + 1)
    if count == 0:
        return np.zeros((BANDS, 0), np.uint8)
    window = np.hanning(WINDOW + 1)[:-1].astype(np.float32)
    pieces = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP][:count]
    spectrum = np.fft.rfft(pieces.astype(np.float32) * window, TRANSFORM, axis=1)
    # A sine of amplitude A gives |X| = A * sum(window) / 2.
    power = (np.abs(spectrum) / (32768 * window.sum() / 2)) ** 2
    mel = filters @ power.T.astype(np.float32)
    db = 10 * np.log10(np.maximum(mel, 1e-12))
    grey = np.clip((db - FLOOR_DB) / -FLOOR_DB * 255, 0, 255)
    made: NDArray[np.uint8] = np.round(grey[::-1]).astype(np.uint8)
    return made


class TileWriter:
    """Takes samples from the start of the sound on and writes a tile whenever one is full."""

    def __init__(self, out: Path, offset_us: int) -> None:
        self.out = out
        self.count = 0
        self.bytes = 0
        self._filters = mel_filters()
        before = (WINDOW - HOP) // 2
        start = round(offset_us * RATE / 1_000_000)
        self._skip = max(0, -start - before)
        self._rest = np.zeros(max(0, start + before), np.int16)
        self._columns: list[NDArray[np.uint8]] = []
        self._have = 0

    def add(self, block: NDArray[np.int16]) -> None:
        """Take the next samples, shape (n, 1)."""
        mono = block[self._skip :, 0]
        self._skip = max(0, self._skip - len(block))
        self._rest = np.concatenate([self._rest, mono])
        made = columns(self._rest, self._filters)
        self._rest = self._rest[made.shape[1] * HOP :]
        self._take(made)

    def finish(self) -> None:
        """Write what is left; its tile is filled up with black."""
        tail = -(-max(0, len(self._rest) - (WINDOW - HOP) // 2) // HOP)
        self._rest = np.concatenate([self._rest, np.zeros(WINDOW, np.int16)])
        self._take(columns(self._rest, self._filters)[:, :tail])
        if self._have:
            self._take(np.zeros((BANDS, TILE_SECONDS * COLUMNS_PER_SECOND - self._have), np.uint8))

    def _take(self, made: NDArray[np.uint8]) -> None:
        full = TILE_SECONDS * COLUMNS_PER_SECOND
        while made.shape[1]:
            part = made[:, : full - self._have]
            made = made[:, part.shape[1] :]
            self._columns.append(part)
            self._have += part.shape[1]
            if self._have == full:
                name = self.out / f"{self.count:04d}.webp"
                Image.fromarray(np.concatenate(self._columns, axis=1)).save(name, quality=QUALITY, method=4)
                self.bytes += name.stat().st_size
                self.count += 1
                self._columns, self._have = [], 0


def make_spectrogram(
    path: str, out: str, offset_us: int, report: Report = lambda share, words: None
) -> Tiles:
    """Write the tiles of the first audio track into the folder `out`; none without usable sound."""
    read = read_sound(path, lambda: TileWriter(Path(out), offset_us), layout="mono", report=report)
    count = size = 0
    if read is not None:
        writer = read[0]
        writer.finish()
        count, size = writer.count, writer.bytes
    return Tiles(count, TILE_SECONDS, BANDS, COLUMNS_PER_SECOND, size)


def spectrogram_task(path: str, out: str, offset_us: int, report: Report) -> dict[str, Any]:
    """Task `spectrogram`."""
    return make_spectrogram(path, out, offset_us, report).to_json()
