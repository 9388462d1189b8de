"""Parts of a waveform: rows of the peak pyramid, read from its file without reading the rest."""

from typing import Any

from reasonaudit.lib.errors import UserError
from videos.models import Video
from videos.services import files

MOST_ROWS = 65_536
ROW_BYTES = 2


def read_rows(video: Video, level: int, start: int, count: int) -> bytes:
    """Return up to `count` rows (minimum and maximum, int8 each) of a level from row `start` on.

    Raises `UserError`: no sound (404), no such level or row.
    """
    about: dict[str, Any] = video.peaks
    if not about:
        raise UserError(
            "no_sound",
            f"{video.title} has no sound that could be drawn."
            if video.is_ready
            else f"{video.title} is not ready.",
            status=404,
        )
    rows: list[int] = about["rows"]
    if not 0 <= level < len(rows):
        raise UserError(
            "bad_level",
            f"There is no level {level}.",
            f"Levels go from 0 to {len(rows) - 1}.",
            fields={"level": "Unknown."},
        )
    if not 0 <= start < max(1, rows[level]) or not 1 <= count <= MOST_ROWS:
        raise UserError(
            "bad_rows",
            f"Level {level} has rows 0 to {rows[level] - 1:,}; {count:,} from {start:,} on were asked for.",
            f"Ask for 1 to {MOST_ROWS:,} rows that exist.",
            fields={"start": "Out of range."},
        )
    length = min(count, rows[level] - start) * ROW_BYTES
    with files.path_of(video.sha256, files.PEAKS).open("rb") as file:
        file.seek((sum(rows[:level]) + start) * ROW_BYTES)
        return file.read(length)
