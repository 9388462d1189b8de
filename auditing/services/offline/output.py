"""Where audits go: one JSON object, or a folder of files with checksums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditing.formats.audits import SCHEMA, relations_csv, segments_csv, write_audits
from auditing.formats.bundle import BundleError, require_usable, write_bundle
from auditing.formats.canonical import json_document, json_line
from auditing.formats.graphml import write_graphml
from auditing.services.offline.errors import UsageError
from auditing.services.offline.labelling import LabelledTrace


def json_object(
    audits: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], manifest: Mapping[str, Any]
) -> bytes:
    """Return the one object of `audit --json`; relations stay in the files of `--out`."""
    traces = [{name: value for name, value in audit.items() if name != "relations"} for audit in audits]
    return json_line({"schema": SCHEMA, "traces": traces, "summary": summary, "manifest": manifest})


def counts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts that a manifest states."""
    return {
        "traces": summary["traces"],
        "segments": summary["segments"],
        "relations": summary["coverage"],
        "calls": summary["calls"],
    }


def run_times(seconds: float, *, calls: int, cached: int) -> bytes:
    """Return what differs from run to run: time (UTC), duration, new calls and cache hits."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return json_document(
        {"finished": now, "seconds": round(seconds, 3), "new_calls": calls, "cached": cached}
    )


def bundle_files(
    audits: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], *, graphml: bool
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of a bundle by name, and the names of the tables in which cells were escaped."""
    tables = {"segments.csv": segments_csv(audits), "relations.csv": relations_csv(audits)}
    files = {name: table.data for name, table in tables.items()}
    files["audits.jsonl"] = write_audits(audits)
    files["audits.schema.json"] = (Path(__file__).parents[2] / "formats" / "audits.schema.json").read_bytes()
    files["summary.json"] = json_document(summary)
    if graphml:
        # Named by position: an id may hold anything, a file name may not.
        digits = len(str(len(audits)))
        for position, audit in enumerate(audits, start=1):
            files[f"graphml/{position:0{digits}d}.graphml"] = write_graphml(audit)
    return files, [name for name, table in tables.items() if table.escaped]


def write(
    folder: Path,
    audits: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Any],
    manifest: Mapping[str, Any],
    times: bytes,
    *,
    graphml: bool = False,
) -> None:
    """Write the files of an audit into a folder.

    Raises
    ------
    UsageError
        If the folder holds other files or cannot be written.
    """
    files, escaped = bundle_files(audits, summary, graphml=graphml)
    try:
        write_bundle(folder, files, manifest, escaped=escaped, volatile={"run.json": times})
    except BundleError as error:
        raise UsageError(str(error)) from None


def require_usable_folder(folder: Path) -> None:
    """Refuse a folder that cannot take the files, before any work is done.

    Raises
    ------
    UsageError
        That says why and what to do.
    """
    try:
        require_usable(folder)
    except BundleError as error:
        raise UsageError(str(error)) from None


def why(traces: Sequence[LabelledTrace]) -> str:
    """Say why relations have no label, the most frequent reasons first, each with what its first answer said."""
    reasons = Counter(status for trace in traces for status in trace.statuses.values())
    said = {status: text for trace in reversed(traces) for status, text in trace.faults.items()}
    listed = [
        f"{status} ({count:,}): {said[status]}" if status in said else f"{status} ({count:,})."
        for status, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    return f"Reasons: {' '.join(listed[:5])}" if listed else ""
