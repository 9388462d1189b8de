"""Verdicts of direct judges as JSON lines, one segment a line (`"schema": "reasonaudit.verdict/1"`), and back.

The fields are described in README.md of this folder and in verdicts.schema.json. The reader also takes a JSON list,
and records without `schema`. A record gives `verdict`, or the judge's raw `reply`, which whoever imports it reads
by the strict rules of our own calls; a null verdict with a `status` says that the judge gave none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotation.formats.fields import Row, shown
from annotation.formats.json_input import iter_records
from annotation.formats.records import Problem, ReadOptions
from annotation.formats.source import BadRecord, Collector, decode
from auditing.formats.canonical import json_lines

SCHEMA = "reasonaudit.verdict/1"
VERDICTS = ("trustworthy", "problematic")
MAX_REPLY_CHARACTERS = 200_000
MAX_NAME_CHARACTERS = 150

_KEYS = {"schema", "case", "trace", "segment", "judge", "verdict", "reply", "reason", "status"}
_STATUS = re.compile(r"(valid|(invalid|error):[a-z0-9_]{1,60})")


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One line.

    Attributes
    ----------
    case, trace
        Ids in the data set; an empty trace means the only trace of its case.
    segment
        Number of the segment as pages show it: from 1, the case text included.
    judge
        Name of the judge.
    verdict
        ``trustworthy``, ``problematic``, or None.
    reply
        The judge's reply as text, where that is given instead of a verdict.
    status
        ``valid``, ``invalid:<why>`` or ``error:<name>``; empty where `reply` decides.
    line
        Where it stands in the file.
    """

    case: str
    trace: str
    segment: int
    judge: str
    verdict: str | None = None
    reply: str | None = None
    reason: str = ""
    status: str = ""
    line: int = 0


def write_verdicts(records: Iterable[VerdictRecord]) -> bytes:
    """Write verdicts as JSON lines, in the order given: the same records have the same bytes."""
    return json_lines(_document(record) for record in records)


def _document(record: VerdictRecord) -> Mapping[str, object]:
    document: dict[str, object] = {
        "schema": SCHEMA,
        "case": record.case,
        "trace": record.trace,
        "segment": record.segment,
        "judge": record.judge,
    }
    if record.reply is None:
        document |= {"verdict": record.verdict, "status": record.status}
        if record.reason:
            document["reason"] = record.reason
    else:
        document["reply"] = record.reply
    return document


def read_verdicts(data: bytes, filename: str) -> tuple[list[VerdictRecord], list[Problem]]:
    """Read verdicts; returns the records without a problem, and every problem with file, line and field."""
    collector = Collector(filename, ReadOptions())
    found: list[VerdictRecord] = []
    first_seen: dict[tuple[str, str, int, str], int] = {}
    text = decode(data, collector)
    if text is not None:
        for line, value in iter_records(text, collector):
            if collector.hopeless:
                break
            try:
                record = _record(Row(value, line, collector))
                place = (record.case, record.trace, record.segment, record.judge)
                if place in first_seen:
                    message = f"judge {record.judge!r} has this segment in line {first_seen[place]} already"
                    raise collector.reject(line, "segment", message, "Give each segment once per judge.")
            except BadRecord:
                continue
            first_seen[place] = line
            found.append(record)
        if not found and not collector.problems:
            collector.problem(None, "", "the file holds no verdict", "Check that it is the right file.")
    return found, collector.problems


def _record(row: Row) -> VerdictRecord:
    schema = row.text("schema")
    if schema and schema != SCHEMA:
        raise row.fail("schema", f"unknown schema {shown(schema)}", f"Write {SCHEMA}, or leave it out.")
    if unknown := sorted(set(row.values) - _KEYS):
        raise row.fail(unknown[0][:60], "there is no such field", f"Use {', '.join(sorted(_KEYS))}.")
    row.require("case", "segment", "judge")
    judge = " ".join(row.text("judge").split())
    if not 1 <= len(judge) <= MAX_NAME_CHARACTERS:
        raise row.fail("judge", f"the name has {len(judge):,} characters", f"Use 1 to {MAX_NAME_CHARACTERS}.")
    segment = row.integer("segment")
    if segment is None or segment < 1:
        raise row.fail(
            "segment", f"the segment is {segment}", "Segments count from 1, the case text included."
        )
    verdict, reply, status = _said(row)
    return VerdictRecord(
        case=row.text("case").strip(),
        trace=row.text("trace").strip(),
        segment=segment,
        judge=judge,
        verdict=verdict,
        reply=reply,
        reason=row.text("reason")[:MAX_REPLY_CHARACTERS],
        status=status,
        line=row.line,
    )


def _said(row: Row) -> tuple[str | None, str | None, str]:
    """Return (verdict, reply, status) of a record, checked against each other."""
    if row.has("reply"):
        if row.has("verdict") or row.has("status") or row.has("reason"):
            raise row.fail(
                "reply", "the reply says it all", "Give either reply, or verdict with status and reason."
            )
        reply = row.values["reply"]
        if not isinstance(reply, str):
            raise row.fail("reply", "must be text", "Give the judge's reply as it came, as a JSON string.")
        if len(reply) > MAX_REPLY_CHARACTERS:
            raise row.fail(
                "reply", f"{len(reply):,} characters", f"At most {MAX_REPLY_CHARACTERS:,} are read."
            )
        return None, reply, ""
    if "verdict" not in row.values:
        raise row.fail("verdict", "the field is missing", "Give verdict or reply.")
    verdict = row.values["verdict"]
    if verdict is not None and verdict not in VERDICTS:
        raise row.fail("verdict", f"unknown verdict {shown(verdict)}", f"Use {', '.join(VERDICTS)} or null.")
    status = row.text("status") or ("valid" if verdict else "invalid:not_given")
    if not _STATUS.fullmatch(status):
        raise row.fail(
            "status", f"unknown status {shown(status)}", "Use valid, invalid:<why> or error:<name>."
        )
    if (status == "valid") != (verdict is not None):
        raise row.fail(
            "status", f"status {status} does not go with this verdict", "Only valid has a verdict."
        )
    return (None if verdict is None else str(verdict)), None, status
