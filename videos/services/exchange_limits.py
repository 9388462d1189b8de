"""What bounds the reading and writing of files: their size, what is in them, and how many are at work at once.

Pure Python needs seconds for large files, and nobody can stop it on the way, so all of this is asked beforehand.
"""

import threading

from reasonaudit.lib.errors import UserError
from videos.formats.source import unzip

MB = 1_000_000
MOST_FILE_BYTES = 50 * MB
# The body of one save. A box of a picture takes about 86 to 110 bytes, so that all boxes fit that are read of a file at
# once (MOST_READ): 50 objects over 10,000 pictures with a box on every fourth.
MOST_SAVE_BYTES = 16 * 1024 * 1024
# A longer one needs seconds and a hundred megabytes of memory: it takes a place of those below.
LONG_SAVE_BYTES = 2 * 1024 * 1024
# Objects of a JSON file, elements of an XML file, lines of a text: what a reader's time grows with.
MOST_READ = 150_000
# Commas of a file: numbers and texts, of which one entry may hold any number.
MOST_VALUES = 5_000_000
# Files that are read or written for pages at the same time in one process of the web server.
AT_ONCE = 2
WAIT_SECONDS = 20.0
# Whatever a reader may take for the end of a line.
LINE_ENDS = (*(bytes([code]) for code in b"\n\r\x0b\x0c\x1c\x1d\x1e\x85"), b"\xe2\x80\xa8", b"\xe2\x80\xa9")
ARCHIVED = ("annotations.xml", "gt.txt")
_places = threading.BoundedSemaphore(AT_ONCE)


class Place:
    """One of the few places for reading and writing files and long saves; whoever waits too long is sent away."""

    def __enter__(self) -> None:
        if not _places.acquire(timeout=WAIT_SECONDS):
            raise UserError(
                "files_busy",
                "The server is reading files of others just now.",
                "Try again in a moment.",
                status=429,
            )

    def __exit__(self, *_: object) -> None:
        _places.release()


def check_file_size(number: int) -> None:
    """Refuse a file of no bytes, or of too many; ask before it is read into memory."""
    if not number:
        raise UserError(
            "file_empty", "The file is empty.", "Export it again, or choose another file.", status=422
        )
    if number > MOST_FILE_BYTES:
        raise UserError(
            "file_too_large",
            f"The file has {number / MB:,.1f} MB; at most {MOST_FILE_BYTES // MB} MB are read.",
            "Split it into several files.",
            status=413,
        )


def check_amount(data: bytes) -> None:
    """Refuse what would take long to read, by counting what every format needs for an entry; costs milliseconds."""
    files = list(unzip(data, ARCHIVED).values()) if data.startswith(b"PK\x03\x04") else [data]
    entries = sum(map(_entries, files))
    values = sum(content.count(b",") + content.count(b"[") for content in files)
    for what, found, most in (("entries", entries, MOST_READ), ("values", values, MOST_VALUES)):
        if found > most:
            raise UserError(
                "too_much_in_file",
                f"The file holds about {found:,} {what}; at most {most:,} are read at once.",
                "Split it, or export it with keyframes instead of a box on every picture.",
                status=422,
            )


def _entries(content: bytes) -> int:
    """About how many objects, elements or lines there are; never fewer than a reader would meet."""
    first = content[:4000].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first in (b"{", b"["):
        return content.count(b"{")
    if first == b"<":
        return content.count(b"<")
    return sum(map(content.count, LINE_ENDS)) - content.count(b"\r\n")
