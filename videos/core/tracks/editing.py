"""Changes of whole tracks: normal form, parts, split, merge, leaving the picture. No box changes by a cut.

Source: annotation design F1 (split, merge, hide, pin), C7, C9. Choices, in words: see the package.
"""

import uuid
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from videos.core.intervals import Interval, intersect, subtract, union
from videos.core.tracks.model import (
    HUMAN,
    Keyframe,
    Track,
    box_at,
    frame_of,
    interval_at,
    neighbours,
    status_at,
)

# Names the second part of a track that was split without an id given.
_SPLITS = uuid.UUID("6f1d9c1e-6a0f-5a55-9a4a-5d0e4c1d7b10")


class OverlapError(ValueError):
    """Two tracks are visible on the same pictures and nobody said which of them counts.

    Attributes
    ----------
    overlap : list of (int, int)
        The pictures [start, end) on which both are visible.
    """

    def __init__(self, overlap: list[Interval]) -> None:
        """Say on which pictures both tracks are visible."""
        self.overlap = overlap
        where = ", ".join(f"{start} to {end - 1}" for start, end in overlap[:3])
        more = " and more" if len(overlap) > 3 else ""
        super().__init__(
            f"Both tracks are visible on pictures {where}{more}; choose whose boxes count there."
        )


def normalise(track: Track) -> Track:
    """Bring keyframes and intervals into the form every other function expects.

    Keyframes are sorted, and of several on a picture the last counts. Intervals are sorted, empty ones dropped and
    overlapping ones joined; those that touch stay apart. Keyframes outside every interval are dropped, then
    intervals without a keyframe, which have no box to show.
    """
    joined: list[Interval] = []
    for start, end in sorted(track.visible):
        if start >= end:
            continue
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    by_frame = {keyframe.frame: keyframe for keyframe in track.keyframes}
    frames = sorted(by_frame)
    visible, kept = [], []
    for start, end in joined:
        inside = frames[bisect_left(frames, start) : bisect_left(frames, end)]
        if inside:
            visible.append((start, end))
            kept += [by_frame[frame] for frame in inside]
    return replace(track, keyframes=tuple(kept), visible=tuple(visible))


def pin(track: Track, frame: int, source: str = HUMAN, run: str | None = None) -> Track:
    """Make the box that a picture shows a keyframe of its own; no box changes.

    Raises
    ------
    ValueError
        If the track is not visible there.
    """
    box = box_at(track, frame)
    if box is None:
        raise ValueError(
            f"The object is not visible on picture {frame}, so that there is no box to keep there."
        )
    keyframe = Keyframe(frame, box, status_at(track, frame).occluded, source, run)
    others = tuple(other for other in track.keyframes if other.frame != frame)
    place = bisect_left(others, frame, key=frame_of)
    return replace(track, keyframes=(*others[:place], keyframe, *others[place:]))


def restrict(track: Track, keep: Iterable[Interval]) -> Track:
    """Part of a track on the pictures of some intervals, with the boxes it had there.

    Keyframes are added at a cut where interpolation or holding would otherwise change a box.
    """
    wanted = union(keep)
    kept: list[Keyframe] = []
    visible: list[Interval] = []
    for interval in track.visible:
        for start, end in intersect([interval], wanted):
            visible.append((start, end))
            kept += _piece(track, interval, start, end)
    return replace(track, keyframes=tuple(kept), visible=tuple(visible))


def _piece(track: Track, interval: Interval, start: int, end: int) -> list[Keyframe]:
    low, high = (bisect_left(track.keyframes, edge, key=frame_of) for edge in (start, end))
    inside = list(track.keyframes[low:high])
    before = low > 0 and track.keyframes[low - 1].frame >= interval[0]
    after = high < len(track.keyframes) and track.keyframes[high].frame < interval[1]
    if not inside or (before and inside[0].frame > start):
        inside.insert(0, _seam(track, interval, start))
    # Held before the first keyframe of the interval, the box at the start says everything.
    if after and (before or low < high) and inside[-1].frame < end - 1:
        inside.append(_seam(track, interval, end - 1))
    return inside


def _seam(track: Track, interval: Interval, frame: int) -> Keyframe:
    before, after = neighbours(track, frame, interval)
    origin = before or after
    if before and after and before.source == HUMAN:
        origin = after
    box, status = box_at(track, frame), status_at(track, frame)
    if origin is None or box is None:
        raise ValueError(f"Track {track.id!r} has an interval without a keyframe at picture {frame}.")
    return Keyframe(frame, box, status.occluded, origin.source, origin.run)


def split(track: Track, frame: int, new_id: str | None = None) -> tuple[Track, Track]:
    """Cut a track in two before a picture.

    The first part keeps the id and the ids of other programs.

    Parameters
    ----------
    track : Track
        A normalised track.
    frame : int
        First picture of the second part.
    new_id : str, optional
        Id of the second part; by default one that follows from the track's id and the picture.

    Raises
    ------
    ValueError
        If one of the parts would be visible nowhere.
    """
    if not track.visible or not track.visible[0][0] < frame < track.visible[-1][1]:
        raise ValueError(f"Nothing to split at picture {frame}: one part would have no picture.")
    first = restrict(track, [(track.visible[0][0], frame)])
    second = restrict(track, [(frame, track.visible[-1][1])])
    second_id = new_id or str(uuid.uuid5(_SPLITS, f"{track.id} {frame}"))
    return first, replace(second, id=second_id, external={})


def merge(a: Track, b: Track, prefer: Literal["a", "b"] | None = None) -> Track:
    """Join two tracks of one object; id, label, colour and attributes are those of `a` where it has them.

    Intervals of the two that touch become one where that changes no box.

    Parameters
    ----------
    a, b : Track
        Normalised tracks.
    prefer : "a" or "b", optional
        Whose boxes count on pictures where both are visible.

    Raises
    ------
    OverlapError
        If both are visible on a picture and `prefer` is None.
    """
    overlap = intersect(a.visible, b.visible)
    if overlap and prefer is None:
        raise OverlapError(overlap)
    if overlap and prefer == "a":
        b = restrict(b, subtract(b.visible, a.visible))
    elif overlap:
        a_kept = restrict(a, subtract(a.visible, b.visible))
        a = replace(a, keyframes=a_kept.keyframes, visible=a_kept.visible)
    keyframes = tuple(sorted((*a.keyframes, *b.keyframes), key=frame_of))
    owner = {pair: name for name, track in (("a", a), ("b", b)) for pair in track.visible}
    visible: list[Interval] = []
    last_owner = ""
    for start, end in sorted(owner):
        # Only across the border of the two tracks: a border inside one of them is meant.
        border = bool(visible) and visible[-1][1] == start and owner[start, end] != last_owner
        if border and _seamless(keyframes, start):
            visible[-1] = (visible[-1][0], end)
        else:
            visible.append((start, end))
        last_owner = owner[start, end]
    return replace(
        a,
        color=a.color or b.color,
        attributes={**b.attributes, **a.attributes},
        keyframes=keyframes,
        visible=tuple(visible),
        external={**b.external, **a.external},
    )


def _seamless(keyframes: Sequence[Keyframe], border: int) -> bool:
    """Whether one interval across a border shows the same boxes as two that touch there."""
    place = bisect_left(keyframes, border, key=frame_of)
    left, right = keyframes[place - 1], keyframes[place]
    if right.frame == border and left.frame == border - 1:
        return True
    return left.box == right.box and (right.frame == border or left.occluded == right.occluded)


def hide_from(track: Track, frame: int) -> Track:
    """Let the object leave before a picture: its visible interval ends there; later ones stay.

    Raises
    ------
    ValueError
        If it is not visible there, or would be visible nowhere.
    """
    interval = interval_at(track, frame)
    if interval is None:
        raise ValueError(f"The object is not visible on picture {frame}, so that it cannot be hidden there.")
    hidden = restrict(track, subtract(track.visible, [(frame, interval[1])]))
    if not hidden.visible:
        raise ValueError("The object would be visible nowhere; remove the track instead.")
    return hidden
