"""Counting and complaining while a file is read or written, and the limits that keep both finite."""

from __future__ import annotations

from collections import Counter

from videos.formats.scene import FormatError, Report

MIB = 1024 * 1024
MAX_FILE_BYTES = 64 * MIB
MAX_FRAME = 10_000_000  # 46 hours at 60 pictures a second
MAX_BOXES = 2_000_000
MAX_TRACKS = 50_000
MAX_EVENTS = 200_000
MAX_TEXT = 20_000  # characters of a note or a description
MAX_LABEL = 200
MAX_SECONDS = 100 * 3600
MAX_PIXELS = 100_000.0
MAX_LISTED = 200


class Log:
    """Counts, losses and warnings of one file. A sentence met many times is kept once, with its number."""

    def __init__(self) -> None:
        self.counts_in: Counter[str] = Counter()
        self.counts_out: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._warnings: dict[str, list[str]] = {}
        self._numbers: Counter[str] = Counter()

    def warn(self, message: str, where: str = "") -> None:
        """Remember a sentence; `where` is a line or a field, and the first three of them are shown."""
        places = self._warnings.setdefault(message, [])
        self._numbers[message] += 1
        if where and len(places) < 3 and where not in places:
            places.append(where)

    def drop(self, what: str, number: int = 1) -> None:
        """Remember that `number` things of this kind do not get across. `what` is a sentence without a number."""
        if number:
            self._dropped[what] += number

    def report(self) -> Report:
        """Everything as lists of sentences; beyond a readable number only how many more there were."""
        warnings = []
        for message, places in self._warnings.items():
            number = self._numbers[message]
            where = ", ".join(places)
            if number > len(places) and places:
                where += f" and {number - len(places):,} more"
            elif number > 1 and not places:
                where = f"{number:,} times"
            warnings.append(f"{where}: {message}" if where else message)
        if len(warnings) > MAX_LISTED:
            warnings[MAX_LISTED:] = [f"{len(warnings) - MAX_LISTED:,} more warnings are not listed."]
        dropped = [f"{number:,} {what}" for what, number in self._dropped.items()]
        return Report(dict(self.counts_in), dict(self.counts_out), dropped, warnings)


def check_size(data: bytes) -> None:
    """Refuse an empty or an oversized file."""
    if len(data) > MAX_FILE_BYTES:
        raise FormatError(
            f"the file has {len(data):,} bytes; at most {MAX_FILE_BYTES // MIB} MiB are read.",
            remedy="Split it into several files.",
        )
    if not data.strip(b" \t\r\n"):
        raise FormatError("the file is empty.", remedy="Export it again, or choose another file.")


def check_number(what: str, number: int, limit: int) -> None:
    """Refuse more things than a person could have made."""
    if number > limit:
        raise FormatError(f"{number:,} {what}; at most {limit:,} are read.", remedy="Split the file.")


def check_written(name: str, holds: str, log: Log) -> None:
    """A writer that was given something and wrote nothing has failed (an empty file would look like success)."""
    if sum(log.counts_in.values()) and not sum(log.counts_out.values()):
        given = ", ".join(f"{number:,} {what}" for what, number in log.counts_in.items() if number)
        raise FormatError(
            f"{name} holds {holds}; of this content ({given}) nothing can be written.",
            remedy="Choose another format.",
        )
