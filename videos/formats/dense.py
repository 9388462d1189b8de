"""Between tracks of keyframes and the rows, one a picture, in which most formats keep boxes."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from videos.core.geometry import Box, lerp
from videos.core.tracks import (
    IMPORT,
    Keyframe,
    Track,
    box_at,
    dense_arrays,
    reduce_keyframes,
    status_at,
)
from videos.formats.log import MAX_BOXES, Log
from videos.formats.scene import FormatError, Scene

TOLERANCE_PX = 1.0
# The search for keyframes takes time with the square of a run in the worst case; half a minute of video is enough.
MOST_BETWEEN = 1000
SAME_PX = 0.05  # two decimals in a file, rounded twice

Row = tuple[Box, bool]  # box, occluded
Span = tuple[int, int]


class BoxRow(NamedTuple):
    """What a picture shows of a track."""

    frame: int
    box: Box
    occluded: bool
    is_key: bool


class Part(NamedTuple):
    """A visible interval with its keyframes as (frame, box, occluded)."""

    start: int
    end: int
    keys: list[tuple[int, Box, bool]]


def runs_of(frames: Sequence[int]) -> list[list[int]]:
    """Ascending frames cut where one is missing."""
    runs: list[list[int]] = []
    for frame in frames:
        if runs and frame == runs[-1][-1] + 1:
            runs[-1].append(frame)
        else:
            runs.append([frame])
    return runs


def from_rows(
    rows: Mapping[int, Row],
    *,
    id: str,
    label: str,
    color: str | None = None,
    attributes: Mapping[str, str] | None = None,
    source: str = IMPORT,
    run: str | None = None,
    external: Mapping[str, str] | None = None,
    runs: Sequence[Sequence[int]] | None = None,
    keyed: Sequence[int] | None = None,
    tolerance_px: float = TOLERANCE_PX,
) -> Track:
    """A track of the fewest keyframes that keep every edge of every row within `tolerance_px`.

    `runs` are the groups of frames that belong together; frames between two rows of a group are interpolated. By
    default a missing frame ends a group. `keyed` are the frames that the file calls keyframes; they are believed
    if interpolation between them gives the rows.
    """
    groups = [list(group) for group in runs] if runs is not None else runs_of(sorted(rows))
    visible = tuple((group[0], group[-1] + 1) for group in groups)
    trusted = _trusted(rows, groups, keyed) if keyed else None
    keyframes = []
    for group in groups:
        kept = [frame for frame in group if frame in trusted] if trusted else _kept(rows, group, tolerance_px)
        keyframes += [Keyframe(frame, rows[frame][0], rows[frame][1], source, run) for frame in kept]
    return Track(
        id=id,
        label=label,
        color=color,
        attributes=dict(attributes or {}),
        source=source,
        run=run,
        keyframes=tuple(keyframes),
        visible=visible,
        external=dict(external or {}),
    )


def _kept(rows: Mapping[int, Row], group: Sequence[int], tolerance_px: float) -> list[int]:
    """Keyframes of one group: its ends, changes of occlusion, and what the boxes need between them."""
    changes = [b for a, b in itertools.pairwise(group) if rows[a][1] != rows[b][1]]
    gaps = [frame for a, b in itertools.pairwise(group) if b - a > MOST_BETWEEN for frame in (a, b)]
    marks = sorted({group[0], group[-1], *changes, *gaps, *group[MOST_BETWEEN::MOST_BETWEEN]})
    kept = set(marks)
    place = {frame: i for i, frame in enumerate(group)}
    for start, end in itertools.pairwise(marks):
        inside = group[place[start] : place[end] + 1]
        if len(inside) < 3:
            continue
        # A row between two samples lies on the line of both, so the farthest one is always a sample.
        boxes = [(frame, box) for a, b in itertools.pairwise(inside) for frame, box in _line(rows, a, b)]
        boxes.append((end, rows[end][0]))
        kept.update(reduce_keyframes(boxes, tolerance_px))
    return sorted(kept & set(group))


def _line(rows: Mapping[int, Row], a: int, b: int) -> Iterator[tuple[int, Box]]:
    first, last = rows[a][0], rows[b][0]
    yield a, first
    for frame in range(a + 1, b):
        yield frame, lerp(first, last, (frame - a) / (b - a))


def _trusted(rows: Mapping[int, Row], groups: list[list[int]], keyed: Sequence[int]) -> set[int] | None:
    """The file's own keyframes if they reproduce every row, else None."""
    marked = set(keyed) & set(rows)
    visible = tuple((group[0], group[-1] + 1) for group in groups)
    ordered = sorted(marked)
    if not all(bisect_left(ordered, start) < bisect_left(ordered, end) for start, end in visible):
        return None
    keyframes = tuple(Keyframe(frame, *rows[frame]) for frame in ordered)
    trial = Track("", keyframes=keyframes, visible=visible)
    for frame, (box, occluded) in rows.items():
        shown = box_at(trial, frame)
        if shown is None or distance(shown, box) > SAME_PX or status_at(trial, frame).occluded != occluded:
            return None
    return marked


def distance(a: Box, b: Box) -> float:
    """Largest distance of two edges of the same name, in pixels."""
    return max(
        abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[0] + a[2] - b[0] - b[2]), abs(a[1] + a[3] - b[1] - b[3])
    )


def rows_of(track: Track) -> Iterator[BoxRow]:
    """Every visible picture with its box. FormatError where that would be more than a file can hold."""
    number = sum(end - start for start, end in track.visible)
    if number > MAX_BOXES:
        raise FormatError(
            f"{track.label or 'an object'} is visible on {number:,} pictures; at most {MAX_BOXES:,} boxes are written.",
            remedy="Write keyframes instead.",
        )
    frames, boxes = dense_arrays(track)
    keys = {key.frame: key for key in track.keyframes}
    for frame, box in zip(frames.tolist(), boxes.tolist(), strict=True):
        key = keys.get(frame)
        x, y, w, h = box
        occluded = key.occluded if key else status_at(track, frame).occluded
        yield BoxRow(frame, (x, y, w, h), occluded, key is not None)


def parts(track: Track, log: Log, *, pin_start: bool = False, pin_end: bool = False) -> list[Part]:
    """The visible intervals of a track, each with its keyframes.

    Formats in which an object appears at a keyframe or leaves after one need a keyframe there: `pin_start` and
    `pin_end` add it with the box that the picture shows anyway, and the log says how many.
    """
    found: list[Part] = []
    for start, end in track.visible:
        keys = [(key.frame, key.box, key.occluded) for key in track.keyframes if start <= key.frame < end]
        if not keys:
            log.warn("a visible interval without a keyframe has no box; left out.", f"{track.label}, {start}")
            continue
        if pin_start and keys[0][0] > start:
            keys.insert(0, (start, *keys[0][1:]))
            log.warn("a keyframe was added where an object appears: the format needs one there.")
        if pin_end and keys[-1][0] < end - 1:
            keys.append((end - 1, *keys[-1][1:]))
            log.warn("a keyframe was added where an object leaves: the format needs one there.")
        found.append(Part(start, end, keys))
    return found


def count_scene(scene: Scene, log: Log) -> None:
    """What a writer was given, as counts that every report shares."""
    log.counts_in.update(
        {
            "tracks": len(scene.tracks),
            "boxes": sum(end - start for track in scene.tracks for start, end in track.visible),
            "keyframes": sum(len(track.keyframes) for track in scene.tracks),
            "events": len(scene.events),
        }
    )
    if scene.cot is not None:
        log.counts_in["cues"] = sum(
            len(scene.cot[step]["timeframe"]["intervals"]) for step in ("visual", "audio")
        )
        log.counts_in["texts"] = sum(
            bool(scene.cot[step][name])
            for step in ("visual", "audio")
            for name in ("description", "analysis")
        ) + bool(scene.cot["final_answer"])
    if scene.links:
        log.counts_in["links"] = len(scene.links)


def drop_reasoning(scene: Scene, log: Log) -> None:
    """What formats without a chain of thought leave behind."""
    log.drop("cue timeframes: the format has no reasoning.", log.counts_in["cues"])
    log.drop("texts of the reasoning: the format has none.", log.counts_in["texts"])
    log.drop("links between reasoning and evidence.", len(scene.links))


def drop_events(scene: Scene, log: Log) -> None:
    """What formats without spans of time leave behind."""
    log.drop("events: the format holds boxes only.", len(scene.events))
    drop_reasoning(scene, log)


def drop_tracks(scene: Scene, log: Log) -> None:
    """What formats without boxes leave behind."""
    log.drop("tracks with their boxes: the format holds spans of time only.", len(scene.tracks))
