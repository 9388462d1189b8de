"""PARC: mathematical traces with annotated premises and errors for each step (arXiv 2502.02362).

Documented at the data set's repository: `premise_annotation.steps` and
`error_annotation.error_annotations.step_level` are keyed by `step_number`; number 0 is the question. The
set of premise steps of a step is one entailment relation. A step with a native error gets none: its own
inference is wrong, so nothing supports it.
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats.fields import Row, accept_all, question_id, short_title, stem
from annotation.formats.json_input import iter_records
from annotation.formats.records import ReadOptions, ReadResult, RelationRecord, SegmentRecord, TraceRecord
from annotation.formats.source import Collector, decode

# An error of the step itself is native; only a step whose every error is inherited from a premise is
# "accumulation".
_INHERITED = "accumulation_error"


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces with gold labels, error kinds and stored relations; S1 is the question, step j is S(j+1)."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        records = iter_records(text, collector, array_is_usual=True)
        accept_all(records, lambda row, number: _trace(row, f"{stem(filename)}-{number}"), collector)
    return collector.result()


def _trace(row: Row, trace_id: str) -> TraceRecord:
    row.require("question", "steps", "premise_annotation", "error_annotation")
    question = row.text("question").strip()
    steps = row.texts("steps")
    errors = _errors(row, len(steps))
    segments = [SegmentRecord(question)]
    for number, step in enumerate(steps, 1):
        judged = errors.get(number)
        if judged is None:
            segments.append(SegmentRecord(step.strip()))
        else:
            kind, note = judged
            segments.append(SegmentRecord(step.strip(), "incorrect" if kind else "correct", note, kind))
    native = {number for number, (kind, _) in errors.items() if kind == "native"}
    meta: dict[str, object] = {"source": "PARC"}
    if row.has("is_correct"):
        meta["final_answer_correct"] = bool(row.values["is_correct"])
    return TraceRecord(
        id=trace_id,
        case_id=question_id(question),
        domain=row.collector.options.domain or "mathematical",
        title=short_title(question),
        segments=tuple(segments),
        relations=tuple(_relations(row, len(steps), native)),
        question=question,
        reference=row.text("ground_truth_answer"),
        meta=meta,
    )


def _numbered(rows: list[object], owner: Row, field: str) -> Iterator[tuple[int, Row]]:
    seen: set[int] = set()
    for place, item in enumerate(rows, 1):
        entry = Row(item, owner.line, owner.collector)
        number = entry.integer("step_number")
        if number is None:
            raise owner.fail(
                f"{field}[{place}].step_number", "the step number is missing", "Steps are keyed by it."
            )
        if number in seen:
            raise owner.fail(
                f"{field}[{place}].step_number", f"step {number} occurs twice", "Keep one of them."
            )
        seen.add(number)
        yield number, entry


def _errors(row: Row, count: int) -> dict[int, tuple[str | None, str]]:
    """Step number -> (error kind or None, the annotated descriptions)."""
    found: dict[int, tuple[str | None, str]] = {}
    field = "error_annotation.error_annotations.step_level"
    entries = row.row("error_annotation").row("error_annotations").items("step_level")
    for number, entry in _numbered(entries, row, field):
        if not 1 <= number <= count:
            row.collector.note(
                row.line, "error annotations of steps that the trace does not have were dropped."
            )
            continue
        flag = entry.values.get("has_error")
        if not isinstance(flag, bool):
            raise row.fail(f"{field} step {number}.has_error", "must be true or false")
        if not flag:
            found[number] = (None, "")
            continue
        errors = [Row(item, row.line, row.collector) for item in entry.items("errors")]
        kinds = {error.text("error_type").strip().casefold() for error in errors}
        kind = "accumulation" if kinds == {_INHERITED} else "native"
        note = "\n".join(text for error in errors if (text := error.text("error_description").strip()))
        found[number] = (kind, note)
    return found


def _relations(row: Row, count: int, native: set[int]) -> Iterator[RelationRecord]:
    entries = row.row("premise_annotation").items("steps")
    for number, entry in _numbered(entries, row, "premise_annotation.steps"):
        if number == 0:
            continue
        if not 1 <= number <= count:
            row.collector.note(
                row.line, "premise annotations of steps that the trace does not have were dropped."
            )
            continue
        premises: set[int] = set()
        for item in entry.items("premises"):
            index = item[0] if isinstance(item, list) and item else item
            if isinstance(index, str) and index.strip().isdecimal() and len(index) < 9:
                index = int(index)
            if isinstance(index, bool) or not isinstance(index, int) or index < 0:
                raise row.fail(
                    f"premise_annotation step {number}.premises", "a premise must be [step number, text]"
                )
            if index >= number:
                row.collector.note(row.line, "premises that are not before their step were dropped.")
            else:
                premises.add(index)
        if premises and number not in native:
            yield RelationRecord(tuple(sorted(p + 1 for p in premises)), number + 1, "entailment")
