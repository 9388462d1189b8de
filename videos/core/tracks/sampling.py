"""Tracks and boxes picture by picture: from the one to the other, and down to the keyframes that matter.

Sources: spec D5 (`outside` keyframes), annotation design C10 (error-bounded reduction of dense boxes). Choices, in
words: see the package.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from videos.core.geometry import Box, iou_rows
from videos.core.intervals import Interval, union
from videos.core.tracks.model import IMPORT, Keyframe, Track

Dense = tuple[NDArray[np.int64], NDArray[np.float64]]


def dense_arrays(track: Track) -> Dense:
    """All visible pictures of a track and its boxes there, as arrays of n and n x 4."""
    keys = np.array([keyframe.frame for keyframe in track.keyframes], dtype=np.int64)
    boxes = np.array([keyframe.box for keyframe in track.keyframes], dtype=np.float64).reshape(-1, 4)
    all_frames, all_boxes = [np.empty(0, np.int64)], [np.empty((0, 4))]
    for start, end in track.visible:
        low, high = np.searchsorted(keys, (start, end))
        if low == high:
            continue
        frames = np.arange(start, end)
        at = np.searchsorted(keys[low:high], frames, side="right") + low
        before, after = np.maximum(at - 1, low), np.minimum(at, high - 1)
        distance = keys[after] - keys[before]
        # The same operations in the same order as `lerp`, so that both give the same bits.
        t = np.where(distance > 0, (frames - keys[before]) / np.maximum(distance, 1), 0.0)
        all_frames.append(frames)
        all_boxes.append(boxes[before] + (boxes[after] - boxes[before]) * t[:, None])
    return np.concatenate(all_frames), np.concatenate(all_boxes)


def dense(track: Track) -> list[tuple[int, Box]]:
    """Every visible picture of a track with its box, ascending."""
    frames, boxes = dense_arrays(track)
    return [
        (frame, (x, y, w, h)) for frame, (x, y, w, h) in zip(frames.tolist(), boxes.tolist(), strict=True)
    ]


def dense_overlap(a: Dense, b: Dense) -> float:
    """Mean IoU of two tracks (`dense_arrays`) over the pictures on which either is visible, 0 where only one is."""
    if not len(a[0]) or not len(b[0]):
        return 0.0
    shared, in_a, in_b = _common(a[0], b[0])
    return float(iou_rows(a[1][in_a], b[1][in_b]).sum()) / (len(a[0]) + len(b[0]) - shared)


def _common(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[int, Any, Any]:
    """How many pictures two ascending lists share, and where these stand in each."""
    start, end = max(a[0], b[0]), min(a[-1], b[-1]) + 1
    part_a = slice(*np.searchsorted(a, (start, end)).tolist())
    part_b = slice(*np.searchsorted(b, (start, end)).tolist())
    if len(a[part_a]) == len(b[part_b]) == max(end - start, 0):
        return len(a[part_a]), part_a, part_b
    shared, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    return len(shared), in_a, in_b


def reduce_keyframes(boxes: Sequence[tuple[int, Box]], tolerance_px: float = 1.0) -> list[int]:
    """Pictures that must stay keyframes so that interpolation keeps every edge within a tolerance.

    Parameters
    ----------
    boxes : sequence of (frame, box)
        Ascending pictures. Each run of consecutive pictures keeps its first and its last.
    tolerance_px : float
        Largest distance in pixels of a left, top, right or bottom edge from where it was.

    Returns
    -------
    list of int
        Ascending. Between two kept pictures, the one farthest off is kept until none is off by more
        (Ramer, Douglas and Peucker); the earliest where several are.
    """
    if not boxes:
        return []
    frames = np.array([frame for frame, _ in boxes], dtype=np.int64)
    edges = np.array([box for _, box in boxes], dtype=np.float64)
    edges[:, 2:] += edges[:, :2]
    starts = np.flatnonzero(np.diff(frames, prepend=frames[0] - 2) != 1).tolist()
    kept: set[int] = set()
    for first, last in zip(starts, [*(start - 1 for start in starts[1:]), len(boxes) - 1], strict=True):
        kept |= {first, last}
        open_spans = [(first, last)]
        while open_spans:
            low, high = open_spans.pop()
            if high - low < 2:
                continue
            inner = slice(low + 1, high)
            t = ((frames[inner] - frames[low]) / (frames[high] - frames[low]))[:, None]
            off = np.abs(edges[low] + (edges[high] - edges[low]) * t - edges[inner]).max(axis=1)
            worst = int(off.argmax())
            if off[worst] > tolerance_px:
                kept.add(low + 1 + worst)
                open_spans += [(low, low + 1 + worst), (low + 1 + worst, high)]
    return [int(frames[place]) for place in sorted(kept)]


def from_dense(
    boxes: Mapping[int, Box],
    *,
    id: str = "",
    label: str = "",
    source: str = IMPORT,
    run: str | None = None,
    tolerance_px: float | None = None,
) -> Track:
    """Make a track of boxes that are given picture by picture.

    Parameters
    ----------
    boxes : mapping of frame to Box
        Each run of consecutive pictures becomes a visible interval.
    tolerance_px : float, optional
        Without it every picture is a keyframe; with it only those that `reduce_keyframes` keeps.
    """
    rows = sorted(boxes.items())
    kept = [frame for frame, _ in rows] if tolerance_px is None else reduce_keyframes(rows, tolerance_px)
    return Track(
        id,
        label,
        source=source,
        run=run,
        keyframes=tuple(Keyframe(frame, boxes[frame], False, source, run) for frame in kept),
        visible=tuple(union((frame, frame + 1) for frame, _ in rows)),
    )


def from_outside(track: Track, keyframes: Iterable[tuple[Keyframe, bool]], until: int | None = None) -> Track:
    """Give a track keyframes of the kind that may say "outside" (spec D5; CVAT, VATIC).

    The object is visible from a keyframe to the next that is outside, exclusive, with the last box before it
    held; without one, to the last keyframe, inclusive.

    Parameters
    ----------
    track : Track
        Where everything but keyframes and intervals comes from.
    keyframes : iterable of (Keyframe, outside)
        In any order; of several on a picture the last counts.
    until : int, optional
        Where the object is visible after the last keyframe too: the first picture where it no longer is.
    """
    last_given = {keyframe.frame: (keyframe, outside) for keyframe, outside in keyframes}
    kept: list[Keyframe] = []
    visible: list[Interval] = []
    start: int | None = None
    for frame, (keyframe, outside) in sorted(last_given.items()):
        if outside:
            if start is not None:
                visible.append((start, frame))
            start = None
        else:
            start = frame if start is None else start
            kept.append(keyframe)
    if start is not None:
        visible.append((start, max(kept[-1].frame + 1, until or 0)))
    return replace(track, keyframes=tuple(kept), visible=tuple(visible))
