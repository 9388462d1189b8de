"""Pictures made while somebody waits: filmstrips and contact sheets, within a few seconds or not at all."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reasonaudit.lib.errors import UserError
from videos.core.geometry import Box
from videos.core.timebase import PictureIndex
from videos.media import client
from videos.media.errors import MediaCancelled, MediaError
from videos.media.facts import Sheet
from videos.models import Video
from videos.services import files

STRIP_COUNTS = (8, 12, 16, 24, 32, 48, 64, 96)
STRIP_LINES = (48, 72, 96)
CROP_CELLS = (96, 128, 192)
MOST_CROPS = 64
MOST_PICTURES = 96
LONGEST_SECONDS = 25.0
# Children that read films for pages at the same time in one process of the web server; others wait in the queue.
AT_ONCE = 2
WAIT_SECONDS = 10.0
_places = threading.BoundedSemaphore(AT_ONCE)


def index_of(video: Video) -> PictureIndex:
    """The picture index of a video; raises `UserError` 409 where it is not prepared."""
    if not video.is_ready or video.picture_index is None:
        raise UserError(
            "video_not_ready",
            f"{video.title} is not ready: {video.get_state_display().lower()}.",
            "Wait until it is prepared.",
            status=409,
        )
    return PictureIndex.from_bytes(bytes(video.picture_index))


def filmstrip(video: Video, count: int, lines: int) -> tuple[bytes, dict[str, Any]]:
    """Evenly spaced pictures of a video as one WebP image, kept for the next who asks.

    Parameters
    ----------
    count, lines
        One of `STRIP_COUNTS` and of `STRIP_LINES` (height of a picture in pixels). A shorter clip has all its pictures.

    Returns
    -------
    (image, sheet)
        `sheet` says where each picture lies; see `videos.media.facts.Sheet`.
    """
    index = index_of(video)
    if count not in STRIP_COUNTS or lines not in STRIP_LINES:
        raise UserError(
            "bad_filmstrip",
            f"There is no filmstrip of {count} pictures, {lines} pixels high.",
            f"Ask for {_listed(STRIP_COUNTS)} pictures of {_listed(STRIP_LINES)} pixels.",
        )
    name = f"strip-{count}-{lines}"
    image, about = files.path_of(video.sha256, f"{name}.webp"), files.path_of(video.sha256, f"{name}.json")
    if not (image.is_file() and about.is_file()):
        frames = evenly(index.n, count)
        made: dict[str, Any] = {}

        def write(path: Path) -> None:
            made.update(
                _sheet(
                    lambda is_late: client.make_strip(
                        files.path_of(video.sha256), path, index, frames, lines=lines, is_cancelled=is_late
                    )
                )
            )

        files.make(video.sha256, image.name, write)
        files.make(video.sha256, about.name, lambda path: _write_json(path, made))
    sheet: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))
    return image.read_bytes(), sheet


def pictures(video: Video, frames: Sequence[int], lines: int) -> tuple[bytes, dict[str, Any]]:
    """Named pictures of a video as one WebP image; see `filmstrip`. Not kept."""
    index = index_of(video)
    bad = [frame for frame in frames if not 0 <= frame < index.n]
    if bad or not 1 <= len(frames) <= MOST_PICTURES or lines not in STRIP_LINES:
        raise UserError(
            "bad_pictures",
            f"{video.title} has pictures 0 to {index.n - 1:,}; {len(frames)} were asked for"
            f"{f', among them {bad[0]:,}' if bad else ''}, {lines} pixels high.",
            f"Ask for 1 to {MOST_PICTURES} of them, {_listed(STRIP_LINES)} pixels high.",
        )
    return _made(
        lambda path, is_late: client.make_strip(
            files.path_of(video.sha256), path, index, frames, lines=lines, is_cancelled=is_late
        )
    )


def crops(video: Video, places: Sequence[tuple[int, Box]], cell: int) -> tuple[bytes, dict[str, Any]]:
    """What lies in boxes (display pixels) of pictures, with some surroundings, as one WebP image. Not kept.

    Raises `UserError` for a picture that is not there, a box without size or outside, too many of them.
    """
    index = index_of(video)
    width, height = int(video.facts["width"]), int(video.facts["height"])
    if not 1 <= len(places) <= MOST_CROPS or cell not in CROP_CELLS:
        raise UserError(
            "bad_crops",
            f"{len(places)} boxes were asked for, {cell} pixels wide.",
            f"Ask for 1 to {MOST_CROPS} boxes of {_listed(CROP_CELLS)} pixels.",
        )
    for frame, (x, y, w, h) in places:
        inside = x < width and y < height and x + w > 0 and y + h > 0
        if not 0 <= frame < index.n or w <= 0 or h <= 0 or not inside:
            raise UserError(
                "bad_box",
                f"Box {x:g}, {y:g}, {w:g}, {h:g} of picture {frame:,} cannot be shown.",
                f"Pictures go from 0 to {index.n - 1:,}; a box must overlap the {width} by {height} pixels.",
            )
    return _made(
        lambda path, is_late: client.make_crops(
            files.path_of(video.sha256), path, index, places, cell=cell, is_cancelled=is_late
        )
    )


def evenly(n: int, count: int) -> list[int]:
    """`count` ordinals of `n` pictures, the middle one of as many equal parts each; all of them where fewer exist."""
    if n <= count:
        return list(range(n))
    return [(2 * part + 1) * n // (2 * count) for part in range(count)]


def _made(make: Callable[[Path, Callable[[], bool]], Sheet]) -> tuple[bytes, dict[str, Any]]:
    path = files.incoming_path(uuid.uuid4()).with_suffix(".webp")
    try:
        about = _sheet(lambda is_late: make(path, is_late))
        return path.read_bytes(), about
    finally:
        path.unlink(missing_ok=True)


def _sheet(make: Callable[[Callable[[], bool]], Sheet]) -> dict[str, Any]:
    """Let a child make a sheet, a few at a time and for a few seconds."""
    if not _places.acquire(timeout=WAIT_SECONDS):
        raise UserError(
            "pictures_busy",
            "The server is making pictures for others just now.",
            "Ask again in a moment.",
            status=429,
        )
    try:
        deadline = time.monotonic() + LONGEST_SECONDS
        return make(lambda: time.monotonic() > deadline).to_json()
    except MediaCancelled:
        raise UserError(
            "pictures_too_slow",
            f"The pictures were not made within {LONGEST_SECONDS:.0f} seconds.",
            "Ask for fewer of them.",
            status=422,
        ) from None
    except MediaError as error:
        raise UserError("pictures_not_made", str(error), status=422) from None
    finally:
        _places.release()


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _listed(numbers: Sequence[int]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} or {numbers[-1]}"
