"""What a request for boxes means as work, and what its boxes mean as tracks."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid5

from videos.core.tracks import HUMAN, Keyframe, Track
from videos.models import ProposalRun
from videos.proposals.protocol import FLAGS, LARGE, LOST, Proposed
from videos.proposals.reduce import to_tracks

OBJECT = "1"
"""The object of a drawn box. Those of a text get their names from the proposer."""
COLUMNS = ("frames", "boxes", "scores", "flags")
GAP = "gap"


class CannotRead(ValueError):
    """Boxes that are none."""


def passes_of(prompt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the stretches ``{"start", "end", "direction"}`` that are gone through one after the other.

    A drawn box is followed away from its picture, so both ways are two stretches that begin with it. Words name no
    picture to begin with: both ways are then one stretch through all.
    """
    start, end, direction = prompt["start"], prompt["end"], prompt["direction"]
    if direction == GAP:
        return [{"start": start, "end": end + 1, "direction": GAP}]
    if prompt["box"] is None:
        only = "forward" if direction == "both" else direction
        return [{"start": start, "end": end, "direction": only}]
    ways = ("forward", "backward") if direction == "both" else (direction,)
    frame = prompt["frame"]
    stretches = [
        {"start": frame, "end": end, "direction": way}
        if way == "forward"
        else {"start": start, "end": frame + 1, "direction": way}
        for way in ways
    ]
    # At the clip's first or last picture one of both ways holds nothing but the drawn box.
    return [one for one in stretches if one["end"] - one["start"] > 1] or stretches[:1]


def drawn_of(prompt: Mapping[str, Any]) -> list[tuple[int, list[float]]]:
    """Return (picture, box) for what was drawn."""
    if prompt["box"] is None:
        return []
    if prompt["direction"] == GAP:
        return [(prompt["start"], prompt["box"]), (prompt["end"], prompt["box_end"])]
    return [(prompt["frame"], prompt["box"])]


def prompts_of(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request as the child takes it."""
    return {
        "text": prompt["text"].strip() if prompt["box"] is None else "",
        "boxes": [[frame, OBJECT, box] for frame, box in drawn_of(prompt)],
    }


def merged(before: Mapping[str, Any], window: Mapping[str, Any]) -> dict[str, Any]:
    """Return boxes with those of one more window; raises `CannotRead` for what the child should not have written."""
    boxes = dict(before)
    for name, columns in window.items():
        lengths = {len(columns[column]) for column in COLUMNS}
        if len(lengths) != 1 or len(name) > 40:
            raise CannotRead("columns of different lengths")
        for frame, box, score, flags in zip(*(columns[column] for column in COLUMNS), strict=True):
            if not (_whole(frame) and (score is None or _number(score)) and set(flags) <= set(FLAGS)):
                raise CannotRead("a box with fields that are none")
            if box is not None and not (len(box) == 4 and all(map(_number, box))):
                raise CannotRead("a box that is none")
        old = boxes.get(name) or {column: [] for column in COLUMNS}
        boxes[name] = {column: [*old[column], *columns[column]] for column in COLUMNS}
    return boxes


def result_of(run: ProposalRun) -> dict[str, Any]:
    """Return tracks and flags of what a run has found so far; no track where nothing was found.

    The drawn boxes are part of the tracks, so that these have no hole where they begin. A keyframe of one is a
    person's if the box was drawn for it; in a track that was there before, the page knows whose it is. In a gap the
    boxes of pictures where the object was lost stay: they lie on the line between two boxes of a person.
    """
    found = list(_proposed(run.boxes))
    flags: dict[int, set[str]] = {}
    for one in found:
        if one.flags:
            flags.setdefault(one.frame, set()).update(one.flags)
    tracks: list[Track] = []
    if any(_is_usable(one, run) for one in found):
        drawn = drawn_of(run.prompt)
        tracks = to_tracks(
            [*found, *(Proposed(frame, OBJECT, (x, y, w, h), None) for frame, (x, y, w, h) in drawn)],
            label=run.prompt["label"] or run.prompt["text"],
            run=str(run.public_id),
            ids={name: str(uuid5(run.public_id, name)) for name in run.boxes},
            keep_lost=run.direction == GAP,
        )
        if run.prompt["track"] is None:
            tracks = [_with_drawn(track, drawn) for track in tracks]
    return {
        "tracks": [track.to_json() for track in tracks],
        "flags": {str(frame): sorted(names) for frame, names in sorted(flags.items())},
    }


def _proposed(boxes: Mapping[str, Any]) -> Iterator[Proposed]:
    for name, columns in boxes.items():
        for frame, box, score, flags in zip(*(columns[column] for column in COLUMNS), strict=True):
            yield Proposed(frame, name, None if box is None else tuple(box), score, tuple(flags))


def _is_usable(one: Proposed, run: ProposalRun) -> bool:
    return one.box is not None and LARGE not in one.flags and (run.direction == GAP or LOST not in one.flags)


def _with_drawn(track: Track, drawn: list[tuple[int, list[float]]]) -> Track:
    keyframes = {one.frame: one for one in track.keyframes}
    for frame, (x, y, w, h) in drawn:
        keyframes[frame] = Keyframe(frame, (x, y, w, h), False, HUMAN, None)
    return dataclasses.replace(track, keyframes=tuple(keyframes[frame] for frame in sorted(keyframes)))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
