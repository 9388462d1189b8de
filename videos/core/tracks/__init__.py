"""Box tracks: keyframes, linear interpolation, half-open visible intervals.

A track is a few keyframes and the intervals of pictures in which the object is visible. Inside one interval
the box is exact at a keyframe, linear in the picture number between two keyframes, and held constant before the
first and after the last of the interval. Outside every interval there is no box.

Sources: spec D5 (interpolation, `outside` keyframes), annotation design C6 to C10 (exact ends, half-open
visibility, error-bounded reduction). Choices, in words: intervals that touch stay apart, because the box is
held, not interpolated, across their border; before the first keyframe of an interval `occluded` is that of this
keyframe; a keyframe that a cut needs carries the source of its neighbours, and is a person's only where both
are.
"""

from videos.core.tracks.editing import OverlapError, hide_from, merge, normalise, pin, restrict, split
from videos.core.tracks.model import (
    HUMAN,
    IMPORT,
    MODEL,
    SOURCES,
    Keyframe,
    Status,
    Track,
    box_at,
    interpolate,
    interval_at,
    status_at,
)
from videos.core.tracks.sampling import (
    dense,
    dense_arrays,
    dense_overlap,
    from_dense,
    from_outside,
    reduce_keyframes,
)

__all__ = [
    "HUMAN",
    "IMPORT",
    "MODEL",
    "SOURCES",
    "Keyframe",
    "OverlapError",
    "Status",
    "Track",
    "box_at",
    "dense",
    "dense_arrays",
    "dense_overlap",
    "from_dense",
    "from_outside",
    "hide_from",
    "interpolate",
    "interval_at",
    "merge",
    "normalise",
    "pin",
    "reduce_keyframes",
    "restrict",
    "split",
    "status_at",
]
