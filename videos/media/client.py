"""What the rest of the application calls: each function runs one task in its own child process.

Every function takes `on_progress(share, words)` (share 0..1) and `is_cancelled()`, asked about five times a
second, and raises MediaRefused, MediaFailed or MediaCancelled (`errors`) with a sentence. Paths are paths of
this server; they never appear in a sentence or in a result. Times of the limits are seconds.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from videos.core.geometry import Box
from videos.core.timebase import PictureIndex
from videos.media import sandbox
from videos.media.errors import MediaCancelled, MediaError, MediaFailed, MediaRefused
from videos.media.facts import Facts, Indexed, Peaks, Proxy, Sheet, Tiles
from videos.media.sandbox import FromJson, Limits
from videos.media.selfcheck import needs_proxy

OnProgress = Callable[[float, str], None]
IsCancelled = Callable[[], bool]

QUICK = Limits(cpu_seconds=120, wall_seconds=300)
LONG = Limits(cpu_seconds=4 * 3600, wall_seconds=6 * 3600)
WINDOW = 32  # pictures that `read_window` holds on disk at a time

__all__ = [
    "Facts",
    "Indexed",
    "Limits",
    "MediaCancelled",
    "MediaError",
    "MediaFailed",
    "MediaRefused",
    "Peaks",
    "Proxy",
    "Sheet",
    "Tiles",
    "make_crops",
    "make_proxy",
    "make_spectrogram",
    "make_strip",
    "needs_proxy",
    "probe",
    "read_index",
    "read_peaks",
    "read_window",
    "save_pictures",
]

_V = TypeVar("_V", covariant=True)


def probe(path: Path, *, is_cancelled: IsCancelled | None = None) -> Facts:
    """Return what the headers and the first picture say; refused when there is no picture to annotate."""
    return _run(Facts, "probe", QUICK, None, is_cancelled, path=str(path.absolute()))


def read_index(
    path: Path, *, on_progress: OnProgress | None = None, is_cancelled: IsCancelled | None = None
) -> Indexed:
    """Return every stored picture's time and where the sound begins; refused when they are not certain."""
    return _run(Indexed, "index", LONG, on_progress, is_cancelled, path=str(path.absolute()))


def make_proxy(
    path: Path,
    out: Path,
    index: PictureIndex,
    *,
    on_progress: OnProgress | None = None,
    is_cancelled: IsCancelled | None = None,
) -> Proxy:
    """Write the playback file to `out` (mp4) and check it against `index`; nothing is left on refusal."""
    return _made(
        Proxy,
        "proxy",
        LONG,
        on_progress,
        is_cancelled,
        out,
        path=str(path.absolute()),
        index=sandbox.packed(index),
    )


def read_peaks(
    path: Path,
    offset_us: int,
    *,
    on_progress: OnProgress | None = None,
    is_cancelled: IsCancelled | None = None,
) -> Peaks | None:
    """Return the peaks of the first audio track, or None when there is no usable sound.

    `offset_us` here and below is `Indexed.audio_offset_us`.
    """
    result = sandbox.run(
        "peaks",
        limits=LONG,
        on_progress=on_progress,
        is_cancelled=is_cancelled,
        path=str(path.absolute()),
        offset_us=offset_us,
    )
    return None if result == {} else sandbox.parsed(Peaks, result)


def make_spectrogram(
    path: Path,
    out: Path,
    offset_us: int,
    *,
    on_progress: OnProgress | None = None,
    is_cancelled: IsCancelled | None = None,
) -> Tiles:
    """Write the spectrogram's tiles into the existing folder `out`; no tile when there is no sound."""
    return _run(
        Tiles,
        "spectrogram",
        LONG,
        on_progress,
        is_cancelled,
        path=str(path.absolute()),
        out=str(out.absolute()),
        offset_us=offset_us,
    )


def make_strip(
    path: Path,
    out: Path,
    index: PictureIndex,
    frames: Sequence[int],
    *,
    lines: int = 72,
    is_cancelled: IsCancelled | None = None,
) -> Sheet:
    """Write a sheet of whole pictures, `lines` high, to `out` (.webp or .jpg)."""
    return _made(
        Sheet,
        "strip",
        LONG,
        None,
        is_cancelled,
        out,
        path=str(path.absolute()),
        index=sandbox.packed(index),
        frames=list(frames),
        lines=lines,
    )


def make_crops(
    path: Path,
    out: Path,
    index: PictureIndex,
    places: Sequence[tuple[int, Box]],
    *,
    cell: int = 128,
    is_cancelled: IsCancelled | None = None,
) -> Sheet:
    """Write a contact sheet of the boxes (display pixels) with some surroundings to `out`."""
    return _made(
        Sheet,
        "crops",
        LONG,
        None,
        is_cancelled,
        out,
        path=str(path.absolute()),
        index=sandbox.packed(index),
        places=[[frame, list(box)] for frame, box in places],
        cell=cell,
    )


def save_pictures(
    path: Path,
    out: Path,
    index: PictureIndex,
    frames: Sequence[int],
    *,
    longest_side: int | None = None,
    kind: str = "jpg",
    is_cancelled: IsCancelled | None = None,
) -> tuple[Path, ...]:
    """Write single pictures in display orientation into the folder `out`, for a model that takes images.

    Names are the ordinals: `00000012.jpg`; `kind` is jpg, png or npy. With `longest_side` they are made
    smaller, never larger.
    """
    result = sandbox.run(
        "pictures",
        limits=LONG,
        is_cancelled=is_cancelled,
        path=str(path.absolute()),
        out=str(out.absolute()),
        index=sandbox.packed(index),
        frames=list(frames),
        longest_side=longest_side,
        kind=kind,
    )
    return tuple(out / str(name) for name in result["names"])


def read_window(
    path: Path,
    index: PictureIndex,
    first: int,
    last: int,
    *,
    longest_side: int | None = None,
    is_cancelled: IsCancelled | None = None,
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield (ordinal, RGB array of (height, width, 3)) for first <= ordinal < last, for a tracker or a model.

    Pictures come from the child in groups, through files, so at most WINDOW of them exist at a time. A tracker
    that needs nothing of this process is better run in the child: `sandbox.run("module:function", ...)`.
    """
    for start in range(first, last, WINDOW):
        with tempfile.TemporaryDirectory(prefix="ra-pictures-") as folder:
            group = range(start, min(start + WINDOW, last))
            names = save_pictures(
                path,
                Path(folder),
                index,
                group,
                longest_side=longest_side,
                kind="npy",
                is_cancelled=is_cancelled,
            )
            for ordinal, name in zip(group, names, strict=True):
                picture: NDArray[np.uint8] = np.load(name, allow_pickle=False)
                name.unlink()
                yield ordinal, picture


def _run(
    kind: FromJson[_V],
    task: str,
    limits: Limits,
    on_progress: OnProgress | None,
    is_cancelled: IsCancelled | None,
    **arguments: Any,
) -> _V:
    result = sandbox.run(task, limits=limits, on_progress=on_progress, is_cancelled=is_cancelled, **arguments)
    return sandbox.parsed(kind, result)


def _made(
    kind: FromJson[_V],
    task: str,
    limits: Limits,
    on_progress: OnProgress | None,
    is_cancelled: IsCancelled | None,
    out: Path,
    **arguments: Any,
) -> _V:
    """Let the task write beside `out` and move the file there when it is whole, so that no half file stays."""
    partial = out.with_name(f".{out.stem}.partial{out.suffix}")
    try:
        made = _run(kind, task, limits, on_progress, is_cancelled, out=str(partial.absolute()), **arguments)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return made
