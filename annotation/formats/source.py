"""From bytes to text, and the list in which a reader collects what is wrong.

Nothing here raises on bad bytes: a fault becomes a `Problem` that names the file, the line and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from annotation.formats.records import (
    DOMAINS,
    GIVE_UP_AFTER,
    MAX_FILE_BYTES,
    MAX_PROBLEMS,
    Problem,
    ReadOptions,
    ReadResult,
    TraceRecord,
)

SAVE_AS_UTF8 = "Save the file again as UTF-8 (in Excel: Save As, CSV UTF-8; in an editor: Encoding, UTF-8)."

# Containers that people upload by mistake, by their first bytes.
_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook", "Unpack it, or export the sheet as CSV UTF-8."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it first."),
    (b"PAR1", "a Parquet file", "Export it as JSON lines."),
    (b"%PDF", "a PDF document", "Give the data as JSON lines or CSV."),
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class BadRecord(Exception):
    """Internal: this record has a problem that was already collected; go on with the next one."""


class Collector:
    """Problems and notes of one file, in the order in which they were met."""

    def __init__(self, file: str, options: ReadOptions) -> None:
        self.file = file
        self.options = options
        self.problems: list[Problem] = []
        self.traces: list[TraceRecord] = []
        self._hidden = 0
        self._note_counts: dict[str, list[int]] = {}
        self._ids: dict[str, int] = {}
        if options.index_base not in (None, 0, 1):
            self.problem(None, "index_base", f"index_base is {options.index_base}", "Use 0 or 1.")
        if options.domain is not None and options.domain not in DOMAINS:
            self.problem(None, "domain", f"unknown domain {options.domain!r}", f"Use {', '.join(DOMAINS)}.")
        if options.limit is not None and options.limit < 1:
            self.problem(None, "limit", f"limit is {options.limit}", "Use 1 or more.")

    @property
    def full(self) -> bool:
        """True when reading should stop: the caller's limit is reached, or the file is hopeless."""
        if self.hopeless:
            return True
        return self.options.limit is not None and len(self.traces) >= self.options.limit

    @property
    def hopeless(self) -> bool:
        """True after so many problems that more of them would tell nothing."""
        return len(self.problems) + self._hidden >= GIVE_UP_AFTER

    def problem(self, line: int | None, field: str, message: str, remedy: str = "") -> None:
        """Collect a problem; beyond the limit only their number is kept."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.file, line, field, message, remedy))
        else:
            self._hidden += 1

    def reject(self, line: int | None, field: str, message: str, remedy: str = "") -> BadRecord:
        """Collect the problem and return the exception that leaves the record; the caller raises it."""
        self.problem(line, field, message, remedy)
        return BadRecord(message)

    def note(self, line: int | None, message: str) -> None:
        """Remember something worth saying; the same message for many lines becomes one note."""
        self._note_counts.setdefault(message, []).append(line or 0)

    def add(self, line: int | None, trace: TraceRecord) -> None:
        """Accept a finished trace, unless its id was used before in this file."""
        if trace.id in self._ids:
            first = self._ids[trace.id]
            where = f", first on line {first}" if first else ""
            raise self.reject(
                line, "id", f"the trace id {trace.id!r} occurs twice{where}", "Give each trace its own id."
            )
        self._ids[trace.id] = line or 0
        self.traces.append(trace)

    def result(self) -> ReadResult:
        """What was read. A file without any trace and without a problem is a problem itself."""
        notes: list[str] = []
        for message, lines in self._note_counts.items():
            others = len(set(lines)) - 1
            where = self.file if lines[0] == 0 else f"{self.file}, line {lines[0]}"
            notes.append(f"{where} and {others} more: {message}" if others else f"{where}: {message}")
        if self._hidden:
            notes.append(f"{self.file}: {self._hidden} more problems are not listed.")
        if self.hopeless:
            notes.append(
                f"{self.file}: reading stopped after {GIVE_UP_AFTER:,} problems; is the format right?"
            )
        if not self.traces and not self.problems:
            self.problem(
                None, "", "no trace found", "Check that the file has records and that the format is right."
            )
        return ReadResult(traces=self.traces, problems=self.problems, notes=notes)


def decode(data: bytes, collector: Collector) -> str | None:
    """UTF-8 text of the file without its byte order mark, or None after collecting a problem."""
    if len(data) > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // (1024 * 1024)
        collector.problem(
            None,
            "",
            f"the file has {len(data):,} bytes; the limit is {limit} MiB",
            "Split the file into several.",
        )
        return None
    if not data.strip():
        collector.problem(None, "", "the file is empty", "Export it again, or choose another file.")
        return None
    for magic, what, remedy in _MAGIC:
        if data.startswith(magic):
            collector.problem(None, "", f"this is {what}, not a text file", remedy)
            return None
    wide = _wide_encoding(data)
    if wide:
        collector.problem(1, "", f"the file is not UTF-8: it looks like {wide}", SAVE_AS_UTF8)
        return None
    nul = data.find(b"\x00")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        collector.problem(line, "", f"NUL byte at byte {nul}", "Remove it; text files hold no NUL bytes.")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start]
        message = f"byte 0x{found:02X} is not UTF-8; the file looks like {_narrow_encoding(data)}"
        collector.problem(line, "", message, SAVE_AS_UTF8)
        return None


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 by the byte order mark, or by NULs in every second byte of the beginning."""
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "UTF-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    head = data[:2000]
    half = len(head) // 2
    if half >= 4:
        if head[1::2].count(0) > 0.7 * half and head[0::2].count(0) < 0.1 * half:
            return "UTF-16 (little endian)"
        if head[0::2].count(0) > 0.7 * half and head[1::2].count(0) < 0.1 * half:
            return "UTF-16 (big endian)"
    return None


def _narrow_encoding(data: bytes) -> str:
    """Latin-1 leaves 0x80-0x9F to control codes; Windows-1252 has quotes and dashes there, but five holes."""
    high = {byte for byte in data if 0x80 <= byte <= 0x9F}
    if not high:
        return "Latin-1 (ISO 8859-1)"
    if high & {0x81, 0x8D, 0x8F, 0x90, 0x9D}:
        return "a damaged or binary file"
    return "Windows-1252"


def unstorable(text: str) -> str | None:
    """Why a string cannot be stored (NUL, half of a surrogate pair), or None."""
    if "\x00" in text:
        return "holds a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which is not a character"
    return None


def note_direction_controls(texts: Iterable[str], line: int | None, collector: Collector) -> None:
    """Invisible direction controls can make a text look like another one: keep them, but say so."""
    found = sorted({match for text in texts for match in _BIDI.findall(text)})
    if found:
        codes = ", ".join(f"U+{ord(character):04X}" for character in found)
        collector.note(line, f"text holds invisible direction controls ({codes}); kept as they are.")
