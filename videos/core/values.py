"""What each place of a question's document may hold.

Source: annotation design E1 and E8 (evidence links as data, a journal of operations), C8 (half-open visibility).
Choices, in words: ids are UUIDs in lower case; texts are counted in code points and hold nothing that a database
or another program cannot store (NUL, half of a surrogate pair); a value outside its limits is refused, never
cut. The TypeScript twin is `static/src/lib/video/document.ts`; both run `fixtures/cases/video_document.json`.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from videos.core.cot import STEPS
from videos.core.tracks import SOURCES

Path = tuple[str, ...]

LONGEST_TEXT = 20_000
LONGEST_LABEL = 200
LONGEST_RAW = 2_000
LONGEST_WORDS = 300
MOST_ENTRIES = 10_000
MOST_TRACKS = 2_000
MOST_ATTRIBUTES = 100
MOST_TIMEFRAMES = 200
MOST_KEYFRAMES = 300_000
# Nine digits of pictures are a year at 30 a second; this many microseconds are three.
MOST_US = 10**14
MOST_PX = 100_000

RELATIONS = ("supports", "contradicts")
KINDS = {"track": "tracks", "event": "events"}
TEXTS = ("description", "analysis")
TRACK_FIELDS = ("label", "color", "attributes", "visible", "source", "run", "external")

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FRAME = re.compile(r"0|[1-9][0-9]{0,8}")
_COLOR = re.compile(r"#[0-9a-f]{6}")


class InvalidChange(ValueError):
    """A change that would leave a document that nobody can use.

    Attributes
    ----------
    path : tuple of str
        Where; () for the operation itself.
    sentence : str
        What is wrong there, and what would be right.
    """

    def __init__(self, path: Sequence[str], sentence: str) -> None:
        """Say where and what."""
        self.path = tuple(path)
        self.sentence = sentence
        super().__init__(f"{'/'.join(self.path) or 'operation'}: {sentence}")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is known of the clip; None where it is not.

    Attributes
    ----------
    frames : int or None
        Number of pictures.
    width, height : float or None
        Displayed size.
    duration_us : int or None
        The longer of picture and sound.
    """

    frames: int | None = None
    width: float | None = None
    height: float | None = None
    duration_us: int | None = None


NO_LIMITS = Limits()


def is_uuid(value: Any) -> bool:
    """Whether a value is a UUID as documents write it."""
    return isinstance(value, str) and bool(_UUID.fullmatch(value))


def is_frame_key(value: Any) -> bool:
    """Whether a value is the number of a picture as a key: decimal, without leading zeros."""
    return isinstance(value, str) and bool(_FRAME.fullmatch(value))


def check_text(path: Path, value: Any, longest: int = LONGEST_TEXT) -> None:
    """Refuse what is no storable text of at most `longest` characters."""
    if not isinstance(value, str):
        raise InvalidChange(path, f"{_shown(value)} is no text.")
    if len(value) > longest:
        raise InvalidChange(
            path, f"The text has {len(value):,} characters; at most {longest:,} can be stored."
        )
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value):
        raise InvalidChange(path, "The text holds a character that cannot be stored; remove it.")


def check_keyframe(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no keyframe; the last part of the path is its picture."""
    _keys(path, value, ("box", "occluded", "source", "run"))
    _check_frame(path, int(path[-1]), limits)
    box = value["box"]
    if not isinstance(box, (list, tuple)) or len(box) != 4 or not all(map(_is_number, box)):
        raise InvalidChange(path, "A box is four finite numbers: x, y, width and height.")
    x, y, w, h = box
    if not (w > 0 and h > 0):
        raise InvalidChange(path, f"The box is {w:g} wide and {h:g} high; both must be above 0.")
    if max(abs(x), abs(y), w, h) > MOST_PX:
        raise InvalidChange(path, f"The box reaches further than {MOST_PX:,} pixels.")
    if (limits.width is not None and not (x < limits.width and x + w > 0)) or (
        limits.height is not None and not (y < limits.height and y + h > 0)
    ):
        raise InvalidChange(path, "No part of the box is inside the picture; move it inside.")
    _check_bool(path, value["occluded"], "occluded")
    _check_source(path, value["source"])
    _check_run(path, value["run"])


def check_visible(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no sorted list of disjoint, non-empty intervals of pictures."""
    if not isinstance(value, (list, tuple)) or not value:
        raise InvalidChange(path, "An object needs at least one visible interval; remove the track instead.")
    before = 0
    for pair in value:
        if not _is_pair(pair):
            raise InvalidChange(path, f"{_shown(pair)} is no [start, end) of two whole numbers.")
        start, end = pair
        if start >= end:
            raise InvalidChange(path, f"The interval [{start}, {end}) is empty; end must come after start.")
        if start < before:
            raise InvalidChange(
                path, f"The interval [{start}, {end}) begins before the one before it ends, or before 0."
            )
        _check_frame(path, end - 1, limits)
        before = end


def check_track(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no complete track under its own id."""
    _keys(path, value, ("id", "keyframes", *TRACK_FIELDS))
    _check_id(path, value["id"])
    for name in TRACK_FIELDS:
        check_track_field((*path, name), value[name], limits)
    keyframes = value["keyframes"]
    if not isinstance(keyframes, Mapping) or len(keyframes) > MOST_KEYFRAMES:
        raise InvalidChange(path, f"Keyframes are an object of at most {MOST_KEYFRAMES:,} entries.")
    for frame, keyframe in keyframes.items():
        if not is_frame_key(frame):
            raise InvalidChange(path, f"{_shown(frame)} is no picture; keyframes are named by whole numbers.")
        check_keyframe((*path, "keyframes", frame), keyframe, limits)
    check_coverage(path, value)


def check_coverage(path: Path, track: Mapping[str, Any]) -> None:
    """Refuse a track with a keyframe outside its intervals, or an interval without a keyframe."""
    visible = track["visible"]
    starts = [start for start, _ in visible]
    covered = set()
    for frame in track["keyframes"]:
        place = bisect_right(starts, int(frame)) - 1
        if place < 0 or int(frame) >= visible[place][1]:
            raise InvalidChange(
                (*path, "keyframes", frame), "The keyframe lies outside every visible interval."
            )
        covered.add(place)
    for place, (start, end) in enumerate(visible):
        if place not in covered:
            raise InvalidChange((*path, "visible"), f"The interval [{start}, {end}) has no keyframe.")


def check_track_field(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse a value that one field of a track cannot have; the last part of the path names the field."""
    name = path[-1]
    if name == "label":
        check_text(path, value, LONGEST_LABEL)
    elif name == "color":
        if value is not None and not (isinstance(value, str) and _COLOR.fullmatch(value)):
            raise InvalidChange(path, f"{_shown(value)} is no colour; write it as #rrggbb, in lower case.")
    elif name == "visible":
        check_visible(path, value, limits)
    elif name == "source":
        _check_source(path, value)
    elif name == "run":
        _check_run(path, value)
    else:
        if not isinstance(value, Mapping) or len(value) > MOST_ATTRIBUTES:
            raise InvalidChange(path, f"Expected an object of at most {MOST_ATTRIBUTES} texts.")
        for key, text in value.items():
            check_text(path, key, LONGEST_LABEL)
            check_text(path, text, LONGEST_RAW)


def check_event(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no audio event under its own id."""
    _keys(path, value, ("id", "label", "start_us", "end_us", "note", "source", "run"))
    _check_id(path, value["id"])
    check_text(path, value["label"], LONGEST_LABEL)
    check_text(path, value["note"])
    start, end = value["start_us"], value["end_us"]
    if not _is_pair((start, end)) or not 0 <= start < end <= MOST_US:
        raise InvalidChange(
            path,
            f"The event lasts from {_shown(start)} to {_shown(end)}; both are whole microseconds from 0, "
            "and the end comes after the start.",
        )
    if limits.duration_us is not None and end > limits.duration_us:
        raise InvalidChange(
            path, f"The event ends at {end}, after the clip, which ends at {limits.duration_us}."
        )
    _check_source(path, value["source"])
    _check_run(path, value["run"])


def check_link(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no evidence link under its own id; whether its target exists is checked elsewhere."""
    _keys(path, value, ("id", "step", "kind", "target", "frames", "relation"))
    _check_id(path, value["id"])
    for name, choices in (("step", STEPS), ("kind", tuple(KINDS)), ("relation", RELATIONS)):
        if value[name] not in choices:
            raise InvalidChange(path, f"{name} is {_shown(value[name])}; use one of {', '.join(choices)}.")
    if not is_uuid(value["target"]):
        raise InvalidChange(path, f"The target {_shown(value['target'])} is no id.")
    frames = value["frames"]
    if frames is None:
        return
    if value["kind"] == "event":
        raise InvalidChange(path, "A link to an audio event has no pictures; frames must be null.")
    if not _is_pair(frames) or not 0 <= frames[0] < frames[1]:
        raise InvalidChange(path, f"{_shown(frames)} is no [start, end) of pictures with end after start.")
    _check_frame(path, frames[1] - 1, limits)


def check_timeframe(path: Path, value: Any, limits: Limits = NO_LIMITS) -> None:
    """Refuse what is no timeframe; that it lies inside the clip is a live check, not a condition."""
    del limits
    _keys(path, value, ("whole", "intervals", "raw"))
    _check_bool(path, value["whole"], "whole")
    check_text(path, value["raw"], LONGEST_RAW)
    intervals = value["intervals"]
    if not isinstance(intervals, (list, tuple)) or len(intervals) > MOST_TIMEFRAMES:
        raise InvalidChange(path, f"A timeframe has at most {MOST_TIMEFRAMES} intervals.")
    for pair in intervals:
        if not _is_pair(pair) or not 0 <= pair[0] <= pair[1] <= MOST_US:
            raise InvalidChange(
                path, f"{_shown(pair)} is no [start, end] in whole microseconds, from 0, start first."
            )


def _keys(path: Path, value: Any, names: Sequence[str]) -> None:
    if not isinstance(value, Mapping):
        raise InvalidChange(path, f"{_shown(value)} is no object.")
    missing = [name for name in names if name not in value]
    if missing:
        raise InvalidChange(path, f"{missing[0]!r} is missing.")
    if len(value) != len(names):
        unknown = min(str(name) for name in value if name not in names)
        raise InvalidChange(path, f"{unknown[:40]!r} is no field here; known are {', '.join(names)}.")


def _check_id(path: Path, value: Any) -> None:
    if value != path[-1]:
        raise InvalidChange(path, f"The id inside is {_shown(value)}; it must be the one of the path.")


def _check_frame(path: Path, frame: int, limits: Limits) -> None:
    if frame > 999_999_999:
        raise InvalidChange(path, f"There is no picture {frame}.")
    if limits.frames is not None and frame >= limits.frames:
        raise InvalidChange(
            path, f"There is no picture {frame}; the clip has pictures 0 to {limits.frames - 1}."
        )


def _check_source(path: Path, value: Any) -> None:
    if value not in SOURCES:
        raise InvalidChange(path, f"source is {_shown(value)}; use one of {', '.join(SOURCES)}.")


def _check_run(path: Path, value: Any) -> None:
    if value is not None:
        check_text(path, value, LONGEST_LABEL)


def _check_bool(path: Path, value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise InvalidChange(path, f"{name} is {_shown(value)}; use true or false.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_whole, value))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


Check = Callable[[Path, Any, Limits], None]
