"""Which tracks, or events, of several people are the same object.

Source: Kuhn, "The Hungarian method for the assignment problem" (1955), as `scipy.optimize.linear_sum_assignment`.
Choices, in words: everybody's tracks are matched one to one with the objects found so far, each of which is the track
of the first letter that has it, so that the sum of the overlaps is largest; an overlap below 0.1 is none. The overlap
of two tracks is the mean IoU over the pictures on which either is visible, 0 where only one is; of two events the
intersection of their spans by the union.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from videos.core.intervals import tiou
from videos.core.tracks import Track, dense_arrays, dense_overlap

# From here on two things belong together, and from here on nobody has to decide between them.
LEAST, AGREED = 0.1, 0.9

Member = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Dense:
    """A track picture by picture: n pictures, n x 4 boxes, and the edges (left, top, right, bottom) of all of them."""

    frames: NDArray[np.int64]
    boxes: NDArray[np.float64]
    edges: tuple[float, float, float, float]


@dataclass
class Groups:
    """The objects of one kind, in the order of the first letter that has each.

    Attributes
    ----------
    kind : str
        "track" or "event".
    parts : dict of str to (dict of str to track or event)
        By letter and id.
    members : list of dict of str to str
        For each object: letter to the id of that person's track or event.
    """

    kind: str
    parts: Mapping[str, Mapping[str, Any]]
    members: list[dict[str, str]] = field(default_factory=list)
    _shapes: dict[Member, Any] = field(default_factory=dict)

    def label(self, letter: str, key: str) -> str:
        """Label of somebody's track or event, without white space at its ends."""
        return str(self.parts[letter][key]["label"]).strip()

    def number(self, letter: str, key: str) -> int:
        """Which object somebody's track or event is."""
        return next(n for n, members in enumerate(self.members) if members.get(letter) == key)

    def overlap(self, a: Member, b: Member) -> float:
        """Overlap of two people's tracks or events, 0 to 1."""
        return _overlap(self.kind, self._shape(a), self._shape(b))

    def overlaps_with(self, parts: Mapping[str, Any]) -> dict[str, list[tuple[int, str, str, float]]]:
        """For each of other tracks or events: number of the object, letter, id and overlap of everything here.

        Letters are in order, and each person's in the order of their document.
        """
        numbers = {member: n for n, members in enumerate(self.members) for member in members.items()}
        found = {}
        for key, part in parts.items():
            shape = _shape(self.kind, part)
            found[key] = [
                (
                    numbers[letter, other],
                    letter,
                    other,
                    _overlap(self.kind, shape, self._shape((letter, other))),
                )
                for letter, theirs in self.parts.items()
                for other in theirs
            ]
        return found

    def join(self, letter: str) -> None:
        """Match a person's parts with the objects so far; what is left becomes objects of its own."""
        keys = list(self.parts[letter])
        objects = [next(iter(members.items())) for members in self.members]
        table = np.array([[self.overlap(known, (letter, key)) for key in keys] for known in objects])
        table = table.reshape(len(objects), len(keys))
        rows, columns = linear_sum_assignment(np.where(table >= LEAST, table, 0.0), maximize=True)
        matched = {
            keys[column]: row
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
            if table[row, column] >= LEAST
        }
        for key in keys:
            if key in matched:
                self.members[matched[key]][letter] = key
            else:
                self.members.append({letter: key})

    def _shape(self, member: Member) -> Any:
        if member not in self._shapes:
            letter, key = member
            self._shapes[member] = _shape(self.kind, self.parts[letter][key])
        return self._shapes[member]


def group(kind: str, parts: Mapping[str, Mapping[str, Any]]) -> Groups:
    """Find out which tracks, or events, are the same object.

    Parameters
    ----------
    kind
        "track" or "event".
    parts
        Letter to the tracks, or events, of that person by id; letters in order.
    """
    groups = Groups(kind, parts)
    for letter in parts:
        groups.join(letter)
    return groups


def _shape(kind: str, part: Mapping[str, Any]) -> Any:
    if kind == "event":
        return [(part["start_us"], part["end_us"])]
    frames, boxes = dense_arrays(Track.from_json(part))
    if not len(frames):
        return _Dense(frames, boxes, (0.0, 0.0, 0.0, 0.0))
    low, high = boxes[:, :2].min(axis=0), (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    return _Dense(frames, boxes, (float(low[0]), float(low[1]), float(high[0]), float(high[1])))


def _overlap(kind: str, a: Any, b: Any) -> float:
    # Rounded, so that nine tenths in different sums are the same nine tenths.
    return round(_track_overlap(a, b) if kind == "track" else tiou(a, b) or 0.0, 9)


def _track_overlap(a: _Dense, b: _Dense) -> float:
    if _apart(a.edges, b.edges):
        return 0.0
    return dense_overlap((a.frames, a.boxes), (b.frames, b.boxes))


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
