"""Hard2Verify: answers to recent olympiad questions with a human label for every step (arXiv 2510.13744).

Fields: unique_id, question, model_response_by_step, human_labels (1 correct, 0 incorrect, one a step) and
human_labels_first_error_idx (0-based, -1 if none). The published rows are masked against leakage: those
four fields are base64 of the UTF-8 text XORed with the SHA-256 digest, repeated, of the row's own `canary`.
Both forms are read. A step that rests on a wrong step is labelled incorrect too, so labels run to the end
of the trace.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from itertools import cycle

from annotation.formats.fields import Row, accept_all, base_of, question_id, short_title, shown, stem
from annotation.formats.json_input import iter_records, parse_value
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

_MASKED = ("question", "model_response_by_step", "human_labels", "human_labels_first_error_idx")
_WORDS = {"1": "correct", "true": "correct", "correct": "correct", "0": "incorrect", "false": "incorrect"}
_WORDS["incorrect"] = "incorrect"


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces with a gold label for every step; S1 is the question."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        records = iter_records(text, collector, array_is_usual=True)
        accept_all(
            records, lambda row, number: _trace(_unmasked(row), f"{stem(filename)}-{number}"), collector
        )
    return collector.result()


def unmask(text: str, canary: str) -> str:
    """The plain text of one masked field. Raises ValueError if it is not masked with this canary."""
    try:
        masked = base64.b64decode(text, validate=True)
        key = hashlib.sha256(canary.encode("utf-8")).digest()
        return bytes(byte ^ mask for byte, mask in zip(masked, cycle(key), strict=False)).decode("utf-8")
    except (binascii.Error, UnicodeError) as error:
        raise ValueError(f"not masked with this canary ({error})") from error


def _unmasked(row: Row) -> Row:
    """The row in plain text. A row whose steps are already a list is plain and comes back as it is."""
    row.require("model_response_by_step")
    if not isinstance(row.values["model_response_by_step"], str):
        return row
    canary = row.text("canary")
    if not canary:
        message = "the row is masked but has no canary"
        raise row.fail("canary", message, "Take the row with its canary, or unmask it as the data card says.")
    plain = dict(row.values)
    for field in _MASKED:
        value = row.values.get(field)
        if isinstance(value, str) and value:
            try:
                opened = unmask(value, canary)
            except ValueError as error:
                raise row.fail(field, f"the field is {error}", "Check that the row is complete.") from error
            plain[field] = opened if field == "question" else parse_value(opened)
    # A question is text, or a JSON string of text.
    question = parse_value(str(plain.get("question", "")))
    if isinstance(question, str):
        plain["question"] = question
    return Row(plain, row.line, row.collector)


def _trace(row: Row, fallback_id: str) -> TraceRecord:
    row.require("question", "model_response_by_step", "human_labels")
    question = row.text("question").strip()
    steps = row.texts("model_response_by_step")
    labels = row.items("human_labels")
    if len(labels) != len(steps):
        raise row.fail(
            "human_labels", f"{len(labels)} labels for {len(steps)} steps", "Give one label a step."
        )
    segments = [SegmentRecord(question)]
    golds = []
    for place, (step, label) in enumerate(zip(steps, labels, strict=True), 1):
        gold = _WORDS.get(json.dumps(label).strip('"').casefold()) if isinstance(label, str | int) else None
        if gold is None:
            raise row.fail(
                f"human_labels[{place}]", f"unknown label {shown(label)}", "Use 1 (correct) or 0 (incorrect)."
            )
        golds.append(gold)
        if step.strip():
            segments.append(SegmentRecord(step.strip(), gold))
        else:
            row.collector.note(row.line, "blank steps were left out.")
    _check_first_error(row, golds)
    return TraceRecord(
        id=row.text("unique_id").strip() or fallback_id,
        case_id=question_id(question),
        domain=row.collector.options.domain or "mathematical",
        title=short_title(question),
        segments=tuple(segments),
        question=question,
        generator=row.text("model") or row.text("generator"),
        meta={"source": "Hard2Verify"},
    )


def _check_first_error(row: Row, golds: list[str]) -> None:
    """The index of the first error, where given, must say the same as the labels."""
    stated = row.integer("human_labels_first_error_idx")
    if stated is None:
        return
    first = golds.index("incorrect") if "incorrect" in golds else None
    claimed = None if stated < 0 else stated - base_of(row.collector, 0)
    if claimed != first:
        field = "human_labels_first_error_idx"
        found = "no step" if first is None else f"step {first + 1}"
        raise row.fail(
            field, f"the index {stated} disagrees with the labels: {found} is the first error", "Correct one."
        )
