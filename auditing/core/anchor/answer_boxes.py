"""Boxes and sounds that an answer names, as tracks and events of a video document.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.6 compares boxes over visible
pictures, but does not say how a model writes them down. Ours, in words:

- A model writes a block that begins with a line ``Boxes:``, then one box a line, as
  ``- label @ M:SS.s: x y w h`` in percent of width and height, from the left and from the top.
- A box may also stand in a line without the dash, or with a number before it. The block ends at the first line that
  is neither blank, nor a code fence, nor a list entry, nor a box. An entry that is no box is kept as unreadable and
  never guessed at; so are numbers outside the picture.
- A box is put on the picture whose start is nearest to its time. A time or a picture beyond the clip, and a box that
  lies outside the picture, are left out and counted.
- Boxes of one label make up one object, in which the box moves evenly from one named picture to the next; where they
  are more than `JOIN_US` apart the object is out of sight in between. A second box of a label on the same picture is
  another object.
- Ids follow from the content (UUID 5), so that reading the same twice gives the same document.
"""

import json
import math
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from videos.core.checks import EDGE_US
from videos.core.cot import parse_timeframe
from videos.core.timebase import PictureIndex
from videos.core.values import LONGEST_LABEL, MOST_PX

Unit = Literal["percent", "fraction", "px"]

MOST_BOXES = 2_000
"""Boxes and sounds of one answer that are read; more are no answer but a fault."""

JOIN_US = 5_000_000
"""Boxes of one label up to so far apart belong to one appearance."""

_NAMESPACE = uuid.UUID("7c0d0c6e-5a0b-5b67-9f0e-2f6f7b1f5f0a")
_LINES = re.compile(r"\r\n|\r|\n")
_HEAD = re.compile(r"^(?:[0-9]+\s*[.)]\s*)?(?:bounding\s+)?boxes\s*:?\s*(.*)$", re.IGNORECASE)
_ENTRY = re.compile(r"^[-*•]\s*(.*)$")
_PLACE = re.compile(r"^[0-9]{1,4}\s*[.)]\s*")
_FENCE = re.compile(r"^```[A-Za-z]*$")
_NOTHING = frozenset({"", "none", "no boxes", "n a", "nothing"})
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_BETWEEN = str.maketrans(dict.fromkeys("\t,;%[]()", " "))


@dataclass(frozen=True, slots=True)
class AnswerBox:
    """A box at one moment.

    Attributes
    ----------
    label : str
        What is boxed.
    box : tuple of four float
        x, y, width, height in `unit`.
    time_us : int or None
        Clip time in microseconds; None where `frame` says the picture.
    frame : int or None
        Picture from 0.
    unit : {"percent", "fraction", "px"}
        Of the displayed picture's width and height, or displayed pixels.
    """

    label: str
    box: tuple[float, float, float, float]
    time_us: int | None = None
    frame: int | None = None
    unit: Unit = "percent"


@dataclass(frozen=True, slots=True)
class AnswerSound:
    """A sound that an answer names; clip times in microseconds, start before end."""

    label: str
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class BoxesRead:
    """A text without its block of boxes, the boxes, and entries that are none."""

    text: str
    boxes: tuple[AnswerBox, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """Parts of a document by id, and how many of the given were left out since they lie beyond clip or picture."""

    parts: dict[str, dict[str, Any]]
    beyond: int = 0


def take_boxes(text: str) -> BoxesRead:
    """Take the block of boxes off a text. Never fails: what is no box is unreadable."""
    lines = _LINES.split(text)
    start = next((place for place, line in enumerate(lines) if _is_head(line)), None)
    if start is None:
        return BoxesRead(text)
    boxes: list[AnswerBox] = []
    unreadable: list[str] = []
    end = start + 1
    while end < len(lines):
        line = _bare(lines[end])
        entry = _ENTRY.match(line)
        said = entry[1] if entry else _PLACE.sub("", line)
        box = _box_of(said)
        if entry is None and box is None and line and not _FENCE.match(line):
            break
        end += 1
        if _says_nothing(said):
            continue
        if box is None or len(boxes) == MOST_BOXES:
            unreadable.append(said)
        else:
            boxes.append(box)
    kept = lines[:start] + lines[end:]
    return BoxesRead("\n".join(kept).rstrip(), tuple(boxes), tuple(unreadable))


def place_boxes(
    boxes: Iterable[AnswerBox], index: PictureIndex, width: float, height: float, source: str = "model"
) -> Placed:
    """Make tracks of boxes.

    Parameters
    ----------
    boxes : iterable of AnswerBox
        Of one answer.
    index : PictureIndex
        Of the clip.
    width, height : float
        Displayed size in pixels.
    source : str
        Of the tracks, see `videos.core.tracks`.
    """
    found: dict[str, list[dict[int, list[float]]]] = {}
    labels: dict[str, str] = {}
    beyond = 0
    for box in boxes:
        frame = _frame(box, index)
        pixels = _pixels(box, width, height)
        if frame is None or pixels is None:
            beyond += 1
            continue
        key = " ".join(box.label.casefold().split())
        labels.setdefault(key, box.label.strip()[:LONGEST_LABEL])
        objects = found.setdefault(key, [])
        if any(known.get(frame) == pixels for known in objects):
            continue
        free = next((known for known in objects if frame not in known), None)
        if free is None:
            objects.append(free := {})
        free[frame] = pixels
    tracks = (
        _track(labels[key], frames, index, source) for key, objects in found.items() for frames in objects
    )
    return Placed({track["id"]: track for track in tracks}, beyond)


def place_sounds(sounds: Iterable[AnswerSound], duration_us: int | None, source: str = "model") -> Placed:
    """Make events of sounds; what goes beyond a clip of `duration_us` is cut there, what begins there left out."""
    events: dict[str, dict[str, Any]] = {}
    beyond = 0
    for sound in sounds:
        end = sound.end_us if duration_us is None else min(sound.end_us, duration_us)
        if not 0 <= sound.start_us < end:
            beyond += 1
            continue
        event = {"label": sound.label.strip()[:LONGEST_LABEL], "start_us": sound.start_us, "end_us": end}
        event |= {"note": "", "source": source, "run": None}
        key = _id("event", event)
        events[key] = {"id": key, **event}
    return Placed(events, beyond)


def _is_head(line: str) -> bool:
    match = _HEAD.match(_bare(line))
    return match is not None and _says_nothing(match[1])


def _says_nothing(said: str) -> bool:
    return _FENCE.match(said) is not None or " ".join(_WORD.findall(said)).lower() in _NOTHING


def _bare(line: str) -> str:
    return line.replace("**", "").strip().lstrip("#").strip()


def _box_of(said: str) -> AnswerBox | None:
    """Read ``label @ time: x y w h``; the time itself has colons, so the numbers come after the last one."""
    head, _, numbers = said.rpartition(":")
    label, at, time = head.rpartition("@")
    values = _numbers(numbers)
    label = label.strip(" \t*_`\"'")
    if not at or not label or values is None or len(label) > LONGEST_LABEL:
        return None
    intervals = parse_timeframe(time).intervals
    if len(intervals) != 1 or intervals[0][0] != intervals[0][1]:
        return None
    x, y, w, h = values
    if min(x, y) < 0 or min(w, h) <= 0 or max(x + w, y + h) > 101:
        return None
    box = (x, y, min(w, 100 - x), min(h, 100 - y))
    if min(box[2:]) <= 0:
        return None
    return AnswerBox(label, box, time_us=int(intervals[0][0] * 1_000_000 + 0.5))


def _numbers(text: str) -> list[float] | None:
    words = text.translate(_BETWEEN).split()
    if len(words) != 4 or not all(_NUMBER.fullmatch(word) for word in words):
        return None
    return [float(word) for word in words]


def _frame(box: AnswerBox, index: PictureIndex) -> int | None:
    if box.frame is not None:
        return box.frame if 0 <= box.frame < index.n else None
    if box.time_us is None or not 0 <= box.time_us <= index.duration_us + EDGE_US:
        return None
    return index.nearest(Fraction(box.time_us, 1_000_000))


def _pixels(box: AnswerBox, width: float, height: float) -> list[float] | None:
    by = {"percent": (width / 100, height / 100), "fraction": (width, height), "px": (1.0, 1.0)}[box.unit]
    x, y, w, h = (round(value * by[place % 2], 3) for place, value in enumerate(box.box))
    if not all(map(math.isfinite, (x, y, w, h))) or max(abs(x), abs(y), w, h) > MOST_PX:
        return None
    inside = x < width and y < height and x + w > 0 and y + h > 0
    return [x, y, w, h] if w > 0 and h > 0 and inside else None


def _track(label: str, frames: dict[int, list[float]], index: PictureIndex, source: str) -> dict[str, Any]:
    visible: list[list[int]] = []
    for frame in sorted(frames):
        if visible and index.clip_us(frame) - index.clip_us(visible[-1][1] - 1) <= JOIN_US:
            visible[-1][1] = frame + 1
        else:
            visible.append([frame, frame + 1])
    keyframes = {
        str(frame): {"box": frames[frame], "occluded": False, "source": source, "run": None}
        for frame in sorted(frames)
    }
    track: dict[str, Any] = {
        "label": label,
        "color": None,
        "attributes": {},
        "visible": visible,
        "source": source,
    }
    track |= {"run": None, "external": {}, "keyframes": keyframes}
    return {"id": _id("track", track), **track}


def _id(kind: str, content: Any) -> str:
    return str(uuid.uuid5(_NAMESPACE, kind + json.dumps(content, sort_keys=True, separators=(",", ":"))))
