"""Single values of files into what a scene may hold, or None with a warning that says why not."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from videos.core.geometry import Box
from videos.formats.log import MAX_FRAME, MAX_LABEL, MAX_PIXELS, MAX_SECONDS, MAX_TEXT, Log
from videos.formats.scene import Event, FormatError, Media

# Any fixed value does: it makes the ids of an imported file the same each time the file is read.
_NAMESPACE = uuid.UUID("6d1f4c1e-8f0a-5b0e-9a51-3f3c0f7c2b11")
_NUMBER = re.compile(r"\s*[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
NO_TIMES = "the file has no times for its frames and the video's are not known; spans in frames are left out."


def stable_id(*parts: object) -> str:
    """A UUID made from these parts: the same parts give the same id."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(str(part) for part in parts)))


def own_or_stable_id(external: str, *parts: object) -> str:
    """An id of the file that already is a UUID is kept (then it was ours), any other gets a stable one."""
    try:
        known = uuid.UUID(external)
    except ValueError:
        return stable_id(*parts, external)
    return external if str(known) == external else stable_id(*parts, external)


def number(value: object) -> float | None:
    """A finite number, also from text (with a decimal point or comma); anything else is None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        if len(value) > 60 or not _NUMBER.fullmatch(value):
            return None
        value = float(value.replace(",", "."))
    if not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > 10**15):
        return None
    return float(value) if math.isfinite(value) else None


def whole(value: object) -> int | None:
    """A whole number, also written as 3.0 or as text; anything else is None."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < 1e15 else None


def frame(value: object, log: Log, where: str, base: int = 0) -> int | None:
    """A frame number counted from `base`, as an ordinal from 0; None with a warning outside the possible."""
    found = whole(value)
    if found is None or not 0 <= found - base < MAX_FRAME:
        log.warn(f"{shown(value)} is not a frame number; left out.", where)
        return None
    return found - base


def box(given: Sequence[object], log: Log, where: str) -> Box | None:
    """A box with positive size. A negative size is turned round, what is no box is left out, both with a warning."""
    left, top, width, height = (number(value) for value in given)
    if left is None or top is None or width is None or height is None:
        log.warn("a box with a missing or impossible number; left out.", where)
        return None
    if max(abs(value) for value in (left, top, width, height)) > MAX_PIXELS:
        log.warn(f"a box beyond {MAX_PIXELS:,.0f} pixels; left out.", where)
        return None
    if width < 0 or height < 0:
        log.warn("a box of negative size; turned round.", where)
        left, width = (left + width, -width) if width < 0 else (left, width)
        top, height = (top + height, -height) if height < 0 else (top, height)
    if width == 0 or height == 0:
        log.warn("a box without area; left out.", where)
        return None
    return tidy((left, top, width, height))


def tidy(found: Box) -> Box:
    """Without the noise of floating-point arithmetic: a millionth of a pixel is far below any meaning."""
    x, y, w, h = (round(value, 6) + 0.0 for value in found)
    return x, y, w, h


def seconds_us(value: object) -> int | None:
    """Seconds as whole microseconds (nearest), or None if that is no time of a recording."""
    found = number(value)
    if found is None or abs(found) > MAX_SECONDS:
        return None
    return round(Fraction(found).limit_denominator(10**9) * 1_000_000)


def span(start: int | None, end: int | None, log: Log, where: str) -> tuple[int, int] | None:
    """A half-open span in clip time that is not empty. A point becomes one microsecond long."""
    if start is None or end is None:
        log.warn("a time is missing or impossible; left out.", where)
        return None
    if end < start:
        log.warn("a span that ends before it starts; turned round.", where)
        start, end = end, start
    if start < 0:
        if end <= 0:
            log.warn("a span before the start of the video; left out.", where)
            return None
        log.warn("a span that starts before the video; cut.", where)
        start = 0
    return start, max(end, start + 1)


def text(value: object, log: Log, where: str, limit: int = MAX_TEXT) -> str:
    """Text of a file: numbers are written out, too long is cut, halves of surrogate pairs are replaced."""
    if value is None or isinstance(value, bool | dict | list):
        if value is not None:
            log.warn("something that is not text; left out.", where)
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    found = str(value).replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if len(found) > limit:
        log.warn(f"a text of more than {limit:,} characters; cut.", where)
        found = found[:limit]
    return found


def label(value: object, log: Log, where: str) -> str:
    """The name of an object or a sound, on one line."""
    return " ".join(text(value, log, where, MAX_LABEL).split())


def color(value: object) -> str | None:
    """A colour as #rrggbb, else None."""
    return value.lower() if isinstance(value, str) and _COLOR.fullmatch(value) else None


def rate(value: object) -> Fraction | None:
    """Pictures a second as a fraction; 29.97 and its kin are taken as 30000/1001. None if impossible."""
    found = number(value)
    if found is None or not 0.01 <= found <= 1000:
        return None
    nominal = Fraction(round(found) * 1000, 1001)
    if abs(float(nominal) - found) < 0.0011 * found / 30 and found != round(found):
        return nominal
    return Fraction(str(found))


def shown(value: object) -> str:
    """A value for a message, cut to a readable length."""
    found = repr(value)
    return found if len(found) <= 40 else f"{found[:37]}..."


def file_name(value: object) -> str:
    """The last part of a path or an address."""
    return PurePath(value.replace("\\", "/").split("?", 1)[0]).name if isinstance(value, str) else ""


def rows(value: object, log: Log, where: str) -> list[dict[str, Any]]:
    """The objects of a list; everything else is warned of."""
    if value is None:
        return []
    if not isinstance(value, list):
        log.warn("must be a list; left out.", where)
        return []
    found = [item for item in value if isinstance(item, dict)]
    for _ in range(len(value) - len(found)):
        log.warn("an item that is not an object; left out.", where)
    return found


def obj(value: object) -> dict[str, Any]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def scale_to(media: Media | None, width: object, height: object, log: Log) -> tuple[float, float]:
    """Factors from the file's picture size to the video's. Another shape is not scaled: nobody knows how it came."""
    w, h = number(width), number(height)
    if media is None or not media.width or not media.height or not w or not h or w < 0 or h < 0:
        return 1.0, 1.0
    if (w, h) == (media.width, media.height):
        return 1.0, 1.0
    sizes = f"the file is for {w:g} x {h:g} pixels, the video shows {media.width} x {media.height}"
    sx, sy = media.width / w, media.height / h
    if abs(sx / sy - 1) > 0.01:
        log.warn(f"{sizes}, which is another shape; boxes were not scaled. Check them on the picture.")
        return 1.0, 1.0
    log.warn(f"{sizes}; boxes were scaled.")
    return sx, sy


def frame_us(media: Media, ordinal: int) -> int | None:
    """Clip time at which a picture starts (`ordinal` = number of pictures: at which the last one ends)."""
    if media.index is not None:
        n = media.index.n
        return media.index.clip_us(ordinal) if ordinal < n else media.index.duration_us
    return round(Fraction(ordinal) / media.fps * 1_000_000) if media.fps else None


def checked_events(events: Iterable[Event], media: Media, log: Log) -> list[Event]:
    """Events by start, each id once, with a warning for those beyond the end of the video."""
    found: dict[str, Event] = {}
    for event in events:
        if event.id in found:
            log.warn("an id is used twice; the second gets another one.", event.label)
            event = Event(
                stable_id(event.id, len(found)),
                event.label,
                event.start_us,
                event.end_us,
                event.note,
                event.source,
                event.run,
            )
        if media.duration_us is not None and event.end_us > media.duration_us + 1000:
            log.warn("a span ends after the video; kept.", event.label)
        found[event.id] = event
    return sorted(found.values(), key=lambda event: (event.start_us, event.end_us))


def need_size(media: Media, name: str) -> tuple[int, int]:
    """Width and height of the picture, for formats that cannot do without."""
    if not media.width or not media.height:
        raise FormatError(f"{name} needs the size of the picture.", remedy="Give it with the video.")
    return media.width, media.height
