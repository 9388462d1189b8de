"""Make tracks of proposed boxes: pictures where the object was found become visible intervals with few keyframes."""

from collections.abc import Iterable

from videos.core.geometry import Box
from videos.core.tracks import Track, from_dense
from videos.proposals.protocol import LARGE, LOST, Proposed

TOLERANCE = 1.0
"""Pixels by which an interpolated edge may be off the proposed one."""


def to_tracks(
    proposed: Iterable[Proposed],
    *,
    label: str,
    run: str,
    ids: dict[str, str],
    tolerance_px: float = TOLERANCE,
    keep_lost: bool = False,
    least_score: float = 0.0,
) -> list[Track]:
    """Return one track per object in the order of `ids` (object id -> track id); objects without a box give none.

    Pictures where the object was not found, or where the box fills nearly the whole picture, are gaps of the track:
    a wrong box costs a person more than a missing one. `keep_lost` keeps the boxes of lost objects that went on along
    their way; `least_score` drops boxes whose score is below it (those without a score stay).
    """
    boxes: dict[str, dict[int, Box]] = {}
    labels: dict[str, str] = {}
    for one in proposed:
        if one.box is None or LARGE in one.flags or (LOST in one.flags and not keep_lost):
            continue
        if one.score is not None and one.score < least_score:
            continue
        boxes.setdefault(one.object_id, {})[one.frame] = one.box
        labels.setdefault(one.object_id, one.label)
    return [
        from_dense(
            dict(sorted(boxes[name].items())),
            id=track_id,
            label=labels[name] or label,
            source="model",
            run=run,
            tolerance_px=tolerance_px,
        )
        for name, track_id in ids.items()
        if name in boxes
    ]
