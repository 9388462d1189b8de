"""A track: its keyframes, its visible intervals, and the box it has on a picture.

Sources: spec D5 (interpolation), annotation design C6 to C8. Choices, in words: see the package.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from videos.core.geometry import Box, lerp
from videos.core.intervals import Interval

HUMAN, MODEL, IMPORT = "human", "model", "import"
SOURCES = (HUMAN, MODEL, IMPORT)


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A box that somebody or something set on one picture.

    Attributes
    ----------
    frame : int
        Picture, from 0.
    box : Box
        x, y, w, h in displayed pixels.
    occluded : bool
        Whether the object is partly hidden, from here to the next keyframe.
    source : str
        "human", "model" or "import".
    run : str or None
        Id of the stored run that proposed it.
    """

    frame: int
    box: Box
    occluded: bool = False
    source: str = HUMAN
    run: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the value of a keyframe in a document; its picture is the key there."""
        return {"box": list(self.box), "occluded": self.occluded, "source": self.source, "run": self.run}

    @classmethod
    def from_json(cls, frame: int | str, data: Mapping[str, Any]) -> "Keyframe":
        """Read a keyframe of a document that is known to be valid."""
        x, y, w, h = map(float, data["box"])
        return cls(int(frame), (x, y, w, h), data["occluded"], data["source"], data["run"])


@dataclass(frozen=True, slots=True)
class Track:
    """One object over time.

    Attributes
    ----------
    id : str
        A UUID, made by whoever made the track.
    label : str
        What the object is.
    color : str or None
        Colour to draw it in, "#rrggbb".
    attributes : Mapping[str, str]
        Whatever else is said about it.
    source, run
        As in `Keyframe`.
    keyframes : tuple of Keyframe
        Ascending, one a picture, each inside a visible interval.
    visible : tuple of (int, int)
        Pictures [start, end): sorted, disjoint, none empty, each with at least one keyframe.
    external : Mapping[str, str]
        Ids that other programs gave it, by format.
    """

    id: str
    label: str = ""
    color: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    source: str = HUMAN
    run: str | None = None
    keyframes: tuple[Keyframe, ...] = ()
    visible: tuple[Interval, ...] = ()
    external: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the track as it stands in a document."""
        return {
            "id": self.id,
            "label": self.label,
            "color": self.color,
            "attributes": dict(self.attributes),
            "source": self.source,
            "run": self.run,
            "keyframes": {str(keyframe.frame): keyframe.to_json() for keyframe in self.keyframes},
            "visible": [list(pair) for pair in self.visible],
            "external": dict(self.external),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Track":
        """Read a track of a document that is known to be valid (`document.validate`)."""
        keyframes = sorted((int(frame), value) for frame, value in data["keyframes"].items())
        return cls(
            data["id"],
            data["label"],
            data["color"],
            dict(data["attributes"]),
            data["source"],
            data["run"],
            tuple(Keyframe.from_json(frame, value) for frame, value in keyframes),
            tuple((start, end) for start, end in data["visible"]),
            dict(data["external"]),
        )


class Status(NamedTuple):
    """What a picture shows of a track: kind is "keyframe", "interpolated", "held" or "absent"."""

    kind: Literal["keyframe", "interpolated", "held", "absent"]
    occluded: bool


def frame_of(keyframe: Keyframe) -> int:
    """Picture of a keyframe, as a key to search by."""
    return keyframe.frame


def interval_at(track: Track, frame: int) -> Interval | None:
    """Visible interval that holds a picture."""
    place = bisect_right(track.visible, frame, key=lambda pair: pair[0]) - 1
    if place < 0 or frame >= track.visible[place][1]:
        return None
    return track.visible[place]


def neighbours(track: Track, frame: int, interval: Interval) -> tuple[Keyframe | None, Keyframe | None]:
    """Keyframe at or before, and keyframe after a picture, as far as they lie in its interval."""
    place = bisect_right(track.keyframes, frame, key=frame_of)
    before = track.keyframes[place - 1] if place else None
    after = track.keyframes[place] if place < len(track.keyframes) else None
    if before and before.frame < interval[0]:
        before = None
    if after and after.frame >= interval[1]:
        after = None
    return before, after


def interpolate(a: Keyframe, b: Keyframe, frame: int) -> Box:
    """Box between two keyframes, linear in the picture number; exactly theirs at a and at b.

    Raises
    ------
    ValueError
        If the picture is not between them.
    """
    if not a.frame <= frame <= b.frame:
        raise ValueError(f"Picture {frame} is not between keyframes {a.frame} and {b.frame}.")
    if a.frame == b.frame:
        return a.box
    return lerp(a.box, b.box, (frame - a.frame) / (b.frame - a.frame))


def box_at(track: Track, frame: int) -> Box | None:
    """Box of a track on a picture, None where it is not visible. O(log n)."""
    interval = interval_at(track, frame)
    if interval is None:
        return None
    before, after = neighbours(track, frame, interval)
    if before and after:
        return interpolate(before, after, frame)
    held = before or after
    return held.box if held else None


def status_at(track: Track, frame: int) -> Status:
    """How the box of a picture came about, and whether the object is partly hidden. O(log n)."""
    interval = interval_at(track, frame)
    if interval is None:
        return Status("absent", False)
    before, after = neighbours(track, frame, interval)
    nearest = before or after
    if nearest is None:
        return Status("absent", False)
    if before and before.frame == frame:
        return Status("keyframe", before.occluded)
    return Status("interpolated" if before and after else "held", nearest.occluded)
