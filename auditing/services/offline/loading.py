"""From files to traces that can be audited, with every problem named. Nothing here needs a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotation.formats.chains import has_no_steps
from annotation.formats.records import MAX_FILE_BYTES, Problem, ReadOptions, TraceRecord
from annotation.formats.registry import detect, get_format, unrecognised
from annotation.formats.source import Collector, decode
from auditing.formats.canonical import sha256_hex
from auditing.services.imports import prepared
from auditing.services.offline.errors import OfflineError, UsageError


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read: its name without folders, its format, and what identifies its content.

    `notes` is what its reader remarked, with the name alone; it is no part of `to_dict`.
    """

    name: str
    format: str
    sha256: str
    bytes: int
    traces: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the file as JSON-able values."""
        return {
            "name": self.name,
            "format": self.format,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "traces": self.traces,
        }


@dataclass(slots=True)
class Loaded:
    """What the files hold: traces in file order, problems, and remarks that hinder nothing."""

    traces: list[TraceRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inputs: list[InputFile] = field(default_factory=list)


def read_bytes(path: Path) -> bytes | Problem:
    """Return the content of a file, or the problem that keeps it from being read."""
    try:
        if path.is_dir():
            return Problem(str(path), None, "", "this is a folder", "Give the files in it.")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // (1024 * 1024)
            return Problem(
                str(path),
                None,
                "",
                f"the file has {size:,} bytes; the limit is {limit} MiB",
                "Split the file.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        return Problem(str(path), None, "", "there is no such file", "Check the path.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Problem(str(path), None, "", f"the file cannot be read ({reason})", "Check its permissions.")


def load(
    paths: Sequence[Path],
    *,
    format_name: str | None = None,
    options: ReadOptions | None = None,
    without_steps: bool = False,
) -> Loaded:
    """Read traces from files; raw reasoning is split into segments.

    Parameters
    ----------
    paths : sequence of Path
        Files, read in this order.
    format_name : str, optional
        Format of all of them; recognised from the content of each file if not given.
    options : ReadOptions, optional
        The limit holds for all files together.
    without_steps : bool
        Keep sampled chains whose reply has no step: they are data where chains are counted, and nothing to audit.

    Raises
    ------
    UsageError
        If the format is unknown.
    """
    options = options or ReadOptions()
    chosen = None
    if format_name is not None:
        try:
            chosen = get_format(format_name)
        except ValueError as error:
            raise UsageError(str(error)) from None
    loaded = Loaded()
    first_seen: dict[str, str] = {}
    for path in paths:
        if options.limit is not None and len(loaded.traces) >= options.limit:
            break
        data = read_bytes(path)
        if isinstance(data, Problem):
            loaded.problems.append(data)
            continue
        collector = Collector(str(path), options)
        if decode(data, collector) is None:
            loaded.problems += collector.problems
            continue
        found = chosen
        if found is None:
            name = detect(data, path.name)
            if name is None:
                loaded.problems.append(unrecognised(data, str(path)))
                continue
            found = get_format(name)
            loaded.notes.append(f"{path}: recognised as {found.title}. Say --format to choose another.")
        rest = None if options.limit is None else options.limit - len(loaded.traces)
        result = found.read(data, str(path), replace(options, limit=rest))
        loaded.problems += result.problems
        loaded.notes += result.notes
        remarks = tuple(note.replace(str(path), path.name, 1) for note in result.notes)
        loaded.inputs.append(
            InputFile(path.name, found.name, sha256_hex(data), len(data), len(result.traces), remarks)
        )
        _take(loaded, path, found.name, result.traces, first_seen, without_steps)
    return loaded


def _take(
    loaded: Loaded,
    path: Path,
    format_name: str,
    traces: Sequence[TraceRecord],
    first_seen: dict[str, str],
    without_steps: bool,
) -> None:
    """Add the traces of a file, split into segments; what cannot be taken becomes a problem or a note."""
    left_out = 0
    for trace in traces:
        if trace.id in first_seen:
            loaded.problems.append(
                Problem(
                    str(path), None, "id", f"trace {trace.id!r} is in {first_seen[trace.id]} too",
                    "Give each trace its own id, or audit the files one by one.",
                )
            )  # fmt: skip
            continue
        first_seen[trace.id] = str(path)
        if trace.meta.get("case_only"):
            loaded.notes.append(f"{path}: case {trace.id} has no reasoning yet; left out.")
            continue
        ready = prepared(trace, format_name)
        if has_no_steps(ready.meta) and not without_steps:
            left_out += 1
            continue
        if len(ready.segments) == ready.context_segments and not has_no_steps(ready.meta):
            loaded.problems.append(
                Problem(
                    str(path),
                    None,
                    "raw_text",
                    f"trace {trace.id} has nothing to split",
                    "Give its reasoning.",
                )
            )
            continue
        loaded.traces.append(ready)
    if left_out:
        loaded.notes.append(f"{path}: {left_out:,} chains without steps; left out.")


def refuse(problems: Sequence[Problem], *, skip_bad: bool, traces: int) -> None:
    """Stop if there are problems that are not to be skipped, or if no trace is left.

    Raises
    ------
    OfflineError
        After the caller has shown the problems one by one.
    """
    count = len(problems)
    if count and not skip_bad:
        word = "problem" if count == 1 else "problems"
        raise OfflineError(
            f"{count} {word}; nothing was done. Correct the data, or say --skip-bad to leave them out."
        )
    if not traces:
        raise OfflineError("No trace with reasoning is left.")
