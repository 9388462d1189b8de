"""Which bytes of a file an HTTP request asks for (RFC 9110, section 14), read in one pass of bounded length."""

import re
from dataclasses import dataclass

# A longer header is not read at all: 2**63 has 19 digits, and one range is all that is ever answered.
LONGEST_HEADER = 80
_ONE = re.compile(r"\s*bytes\s*=\s*(\d{0,19})\s*-\s*(\d{0,19})\s*", re.IGNORECASE | re.ASCII)


class Unsatisfiable(Exception):
    """The range begins behind the end of the file: 416."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` to `end`, exclusive, of a file of `size` bytes."""

    start: int
    end: int
    size: int

    @property
    def length(self) -> int:
        """Number of bytes."""
        return self.end - self.start

    @property
    def content_range(self) -> str:
        """The value of `Content-Range`; both of its ends are inclusive."""
        return f"bytes {self.start}-{self.end - 1}/{self.size}"


def read_range(header: str | None, size: int) -> Span | None:
    """Return the part of a file that a `Range` header asks for; None for all of it.

    The forms are `bytes=A-B`, `bytes=A-` and `bytes=-N` (the last N). What is not of these forms is ignored, as the
    standard allows: another unit, several ranges, an end before the start, a header of more than 80 characters.

    Raises
    ------
    Unsatisfiable
        The range begins behind the end, or asks for the last 0 bytes.
    """
    if header is None or len(header) > LONGEST_HEADER:
        return None
    match = _ONE.fullmatch(header)
    if match is None:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        count = int(last)
        if count == 0 or size == 0:
            raise Unsatisfiable
        return Span(max(0, size - count), size, size)
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return Span(start, min(size, int(last) + 1) if last else size, size)
