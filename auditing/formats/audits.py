"""Audited traces as JSON lines, one trace a line (`"schema": "reasonaudit.audits/1"`), and back.

The fields are described in README.md of this folder and in audits.schema.json. The reader takes what the
writer makes, and the one object that `manage.py audit --json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from auditing.formats.canonical import json_lines
from auditing.formats.csv_view import CsvView, write_csv

SCHEMA = "reasonaudit.audits/1"

SEGMENT_COLUMNS = (
    "trace",
    "domain",
    "segment",
    "context",
    "text",
    "gold",
    "error_kind",
    "label",
    "search_label",
    "y_hat",
    "contradicted",
    "unstable",
    "root_breakpoint",
    "min_depth",
    "trees",
    "truncated",
)
RELATION_COLUMNS = ("trace", "premises", "target", "label", "kept", "reason", "status")


class AuditsError(ValueError):
    """A file is not what the writer makes; the text names the line and the remedy."""


def write_audits(traces: Iterable[Mapping[str, Any]]) -> bytes:
    """Write audited traces as JSON lines, in the order given."""
    return json_lines({"schema": SCHEMA, **trace} for trace in traces)


def looks_like_audits(data: bytes) -> bool:
    """Tell whether a file is one of audits, from its first bytes and without raising."""
    head = data[:400].removeprefix(b"\xef\xbb\xbf").lstrip()
    return head.startswith(b"{") and SCHEMA.encode() in head


def read_audits(data: bytes, filename: str) -> list[dict[str, Any]]:
    """Read audited traces from JSON lines, or from the one object of `audit --json`.

    Raises
    ------
    AuditsError
        If a line is not an audited trace of this schema.
    """
    documents = _documents(data, filename)
    found: list[dict[str, Any]] = []
    for line, document in documents:
        traces = document.get("traces", [document])
        for trace in traces:
            _check(trace, filename, line)
            found.append(trace)
    if not found:
        raise AuditsError(f"{filename}: no audited trace found. Give a file made by audit --json or --out.")
    return found


def _documents(data: bytes, filename: str) -> list[tuple[int, dict[str, Any]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AuditsError(f"{filename}: not UTF-8. Give the file as it was written.") from None
    try:
        values: list[tuple[int, Any]] = [(1, json.loads(text))]
    except (ValueError, RecursionError):
        values = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                values.append((number, json.loads(line)))
            except (ValueError, RecursionError):
                raise AuditsError(
                    f"{filename}, line {number}: not valid JSON. Write the file again."
                ) from None
    for number, value in values:
        schema = value.get("schema") if isinstance(value, dict) else None
        if schema != SCHEMA:
            raise AuditsError(
                f"{filename}, line {number}, field schema: {schema!r} is not {SCHEMA}. Audit again."
            )
    return values


_NEEDED = frozenset({"gold", "index", "label", "text", "y_hat"})
_LABELS = frozenset({"supported", "unsupported", "orphan", "contradicted", None})


def _check(trace: object, filename: str, line: int) -> None:
    where = f"{filename}, line {line}"
    if not isinstance(trace, dict):
        raise AuditsError(f"{where}: a trace must be a JSON object. Write the file again.")
    for name, kind in (("id", str), ("domain", str), ("segments", list)):
        if not isinstance(trace.get(name), kind):
            raise AuditsError(f"{where}, field {name}: missing or of the wrong kind. Write the file again.")
    for place, segment in enumerate(trace["segments"], start=1):
        if not isinstance(segment, dict) or not segment.keys() >= _NEEDED:
            raise AuditsError(f"{where}, field segments[{place}]: {', '.join(sorted(_NEEDED))} are needed.")
        if segment["label"] not in _LABELS:
            raise AuditsError(
                f"{where}, field segments[{place}].label: {segment['label']!r} is no audit label."
            )
        if (segment["label"] is None) != (segment["y_hat"] is None) or segment["y_hat"] not in (0, 1, None):
            raise AuditsError(
                f"{where}, field segments[{place}].y_hat: 0 or 1 for an audited segment, else null."
            )


def segments_csv(traces: Iterable[Mapping[str, Any]]) -> CsvView:
    """Write one row per segment, context included."""
    return write_csv(
        SEGMENT_COLUMNS,
        (
            (
                trace["id"],
                trace["domain"],
                segment["index"],
                segment["context"],
                segment["text"],
                segment["gold"],
                segment["error_kind"],
                segment["label"],
                segment["search_label"],
                segment["y_hat"],
                segment["contradicted"],
                segment["unstable"],
                segment["root_breakpoint"],
                segment["min_depth"],
                segment["n_trees_total"],
                segment["truncated"],
            )
            for trace in traces
            for segment in trace["segments"]
        ),
    )


def relations_csv(traces: Iterable[Mapping[str, Any]]) -> CsvView:
    """Write one row per relation; premises as `S1 S3`."""
    return write_csv(
        RELATION_COLUMNS,
        (
            (trace["id"], " ".join(f"S{index}" for index in premises), target, label, kept, reason, status)
            for trace in traces
            for premises, target, label, kept, reason, status in trace["relations"]
        ),
    )
