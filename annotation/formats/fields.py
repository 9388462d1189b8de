"""Typed access to the fields of one record, and the checks that every trace must pass whatever its format."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath

from annotation.formats.chains import has_no_steps
from annotation.formats.records import (
    DOMAINS,
    ERROR_KINDS,
    GOLD_LABELS,
    MAX_RAW_TEXT_CHARACTERS,
    MAX_SEGMENT_CHARACTERS,
    MAX_SEGMENTS,
    RELATION_LABELS,
    RelationRecord,
    SegmentRecord,
    TraceRecord,
)
from annotation.formats.source import BadRecord, Collector, note_direction_controls, unstorable

# What annotators write for the three labels. The reasoning-audit paper (its binary mapping for evaluation)
# counts everything that is not clearly correct as problematic; hedged and partly true answers are
# "uncertain" here.
_GOLD_WORDS = {
    "correct": "correct",
    "right": "correct",
    "incorrect": "incorrect",
    "wrong": "incorrect",
    "uncertain": "uncertain",
    "unsure": "uncertain",
    "hedging": "uncertain",
    "inconclusive": "uncertain",
    "hedging/inconclusive": "uncertain",
    "partially true": "uncertain",
    "partially correct": "uncertain",
}
_DOMAIN_WORDS = {
    "clinical": "clinical",
    "medical": "clinical",
    "medicine": "clinical",
    "mathematical": "mathematical",
    "mathematics": "mathematical",
    "maths": "mathematical",
    "math": "mathematical",
    "general": "general",
}


def gold_from_word(word: str) -> str | None:
    """The gold label that a word means, or None for an unknown word; letter case is ignored."""
    return _GOLD_WORDS.get(re.sub(r"[\s_]+", " ", word).strip().casefold())


def domain_from_word(word: str) -> str | None:
    """clinical, mathematical or general for the usual names of a field, or None."""
    return _DOMAIN_WORDS.get(word.strip().casefold())


class Row:
    """One JSON object with its line; a getter that fails collects a problem and raises BadRecord."""

    def __init__(self, value: object, line: int, collector: Collector) -> None:
        if not isinstance(value, dict):
            raise collector.reject(line, "", f"a record must be a JSON object, not {kind_of(value)}", "")
        self.values: Mapping[str, object] = value
        self.line = line
        self.collector = collector

    def fail(self, field: str, message: str, remedy: str = "") -> BadRecord:
        """Collect a problem of this row; raise what comes back."""
        return self.collector.reject(self.line, field, message, remedy)

    def has(self, field: str) -> bool:
        """True if the field is there and not null."""
        return self.values.get(field) is not None

    def require(self, *fields: str) -> None:
        """All of these fields must be present and not null."""
        for field in fields:
            if not self.has(field):
                raise self.fail(
                    field, "the field is missing", "Check that the format is right for this file."
                )

    def text(self, field: str, default: str = "") -> str:
        """A string; a number is written out; missing gives the default."""
        value = self.values.get(field)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.fail(field, f"must be text, not {kind_of(value)}")
        return value if isinstance(value, str) else str(value)

    def integer(self, field: str) -> int | None:
        """A whole number; text like "3" counts; missing gives None."""
        value = self.values.get(field)
        if value is None:
            return None
        if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(field, f"must be a whole number, not {shown(value)}")
        return value

    def items(self, field: str) -> list[object]:
        """A list of anything; missing gives an empty one."""
        value = self.values.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.fail(field, f"must be a list, not {kind_of(value)}")
        return value

    def texts(self, field: str) -> list[str]:
        """A list of strings; any other item is a problem that names its place."""
        found = []
        for place, item in enumerate(self.items(field), 1):
            if not isinstance(item, str):
                raise self.fail(f"{field}[{place}]", f"must be text, not {kind_of(item)}")
            found.append(item)
        return found

    def row(self, field: str) -> Row:
        """A nested object; the problem names the field if it is something else."""
        value = self.values.get(field)
        if not isinstance(value, dict):
            raise self.fail(field, f"must be an object, not {kind_of(value)}")
        return Row(value, self.line, self.collector)


def kind_of(value: object) -> str:
    """The JSON word for the type of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def shown(value: object) -> str:
    """A value for a message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def stem(file: str) -> str:
    """The file name without folder and ending, from which ids are made."""
    return PurePath(file).stem or "file"


def short_title(text: str, length: int = 80) -> str:
    """The first words of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rsplit(' ', 1)[0]}…"


def question_id(question: str) -> str:
    """An id that the same question gets in every file, for data sets whose records carry no question id."""
    return f"q-{hashlib.sha256(' '.join(question.split()).encode('utf-8', 'replace')).hexdigest()[:16]}"


def base_of(collector: Collector, documented: int) -> int:
    """The index base of a format whose documentation fixes it; an explicit flag wins and is noted."""
    given = collector.options.index_base
    if given in (0, 1) and given != documented:
        collector.note(
            None, f"this format counts from {documented}; read from {given} because index_base says so."
        )
        return given
    return documented


def steps_with_first_error(
    row: Row, field: str, steps: Sequence[str], first_error: int | None, note: str = ""
) -> tuple[SegmentRecord, ...]:
    """Segments labelled by the position of the first error (0-based, None = none).

    Earlier steps are correct, the step itself incorrect, later ones unlabelled: the data sets that mark
    only the first error did not judge what follows it. Blank steps are dropped after the labels are placed.
    """
    if first_error is not None and not 0 <= first_error < len(steps):
        raise row.fail(
            field,
            f"the first error is step {first_error + 1} of {len(steps)}",
            "Check the index and its base.",
        )
    made = []
    for position, step in enumerate(steps):
        if not step.strip():
            row.collector.note(row.line, "blank steps were left out.")
            continue
        if first_error is None or position < first_error:
            made.append(SegmentRecord(step.strip(), "correct"))
        elif position == first_error:
            made.append(SegmentRecord(step.strip(), "incorrect", note))
        else:
            made.append(SegmentRecord(step.strip()))
    return tuple(made)


def trace_faults(trace: TraceRecord) -> list[tuple[str, str, str]]:
    """Every fault of a trace as (field, message, remedy); empty when it may be stored."""
    faults: list[tuple[str, str, str]] = []

    def fault(field: str, message: str, remedy: str = "") -> None:
        faults.append((field, message, remedy))

    if not trace.id.strip():
        fault("id", "the trace has no id", "Give each trace its own id.")
    elif not trace.case_id.strip():
        fault("case_id", "the trace has no case id", "Give the id of its case; the trace's own id will do.")
    elif len(trace.id) > 200 or len(trace.case_id) > 200:
        fault("id", "an id is longer than 200 characters", "Use shorter ids.")
    if len(trace.generator) > 200:
        fault("generator", "the name is longer than 200 characters", "Use a shorter name.")
    if trace.domain not in DOMAINS:
        fault("domain", f"unknown domain {shown(trace.domain)}", f"Use {', '.join(DOMAINS)}.")
    count = len(trace.segments)
    if count == 0:
        fault("segments", "the trace has 0 segments", "Give the context and at least one reasoning segment.")
        return faults
    if count > MAX_SEGMENTS:
        fault("segments", f"{count:,} segments; at most {MAX_SEGMENTS:,} are read", "Split the trace.")
        return faults
    if not 1 <= trace.context_segments <= count:
        fault(
            "context_segments", f"{trace.context_segments} context segments of {count}", f"Use 1 to {count}."
        )
    elif trace.raw_text is not None:
        if count > trace.context_segments:
            fault("raw_text", "both raw_text and reasoning segments are given", "Give one of them.")
        if not trace.raw_text.strip():
            fault("raw_text", "the reasoning text is blank", "Give the reasoning, or segments.")
        if len(trace.raw_text) > MAX_RAW_TEXT_CHARACTERS:
            message = f"{len(trace.raw_text):,} characters; the limit is {MAX_RAW_TEXT_CHARACTERS:,}"
            fault("raw_text", message, "Split the text into several traces.")
    elif count == trace.context_segments and not (trace.meta.get("case_only") or has_no_steps(trace.meta)):
        remedy = 'Add reasoning segments or raw_text; for a case that waits for an answer say "trace": null.'
        fault("segments", f"only context ({count} of {count} segments), nothing to audit", remedy)
    for index, segment in enumerate(trace.segments, 1):
        name = f"segments[{index}]"
        if not segment.text.strip():
            fault(f"{name}.text", "the segment is blank", "Remove it or fill it in.")
        if len(segment.text) > MAX_SEGMENT_CHARACTERS:
            message = (
                f"{len(segment.text):,} characters; the limit for one segment is {MAX_SEGMENT_CHARACTERS:,}"
            )
            fault(f"{name}.text", message, "Split the segment.")
        if segment.gold is not None and segment.gold not in GOLD_LABELS:
            fault(
                f"{name}.gold",
                f"unknown label {shown(segment.gold)}",
                f"Use {', '.join(GOLD_LABELS)} or null.",
            )
        if segment.error_kind is not None and segment.error_kind not in ERROR_KINDS:
            message = f"unknown error kind {shown(segment.error_kind)}"
            fault(f"{name}.error_kind", message, f"Use {' or '.join(ERROR_KINDS)}, or null.")
    faults.extend(_relation_faults(trace.relations, count))
    for place, text in _named_texts(trace):
        reason = unstorable(text)
        if reason:
            fault(place, f"the text {reason}", "Remove that character.")
    return faults


def _relation_faults(relations: Sequence[RelationRecord], count: int) -> list[tuple[str, str, str]]:
    faults: list[tuple[str, str, str]] = []
    seen: set[tuple[tuple[int, ...], int]] = set()
    for place, relation in enumerate(relations, 1):
        name = f"relations[{place}]"
        premises, target = relation.premises, relation.target
        shape = f"{list(premises)} -> {target}"
        if not premises:
            faults.append((f"{name}.premises", "no premise is given", "Give at least one premise."))
        elif not 2 <= target <= count:
            faults.append((f"{name}.target", f"target {target} of {count} segments", f"Use 2 to {count}."))
        elif min(premises) < 1:
            remedy = "Segments are counted from 1; if the file counts from 0, say so with index_base 0."
            faults.append((f"{name}.premises", f"premise {min(premises)} in {shape}", remedy))
        elif max(premises) >= target:
            remedy = "A premise must come before its target. Correct the order or the index base."
            faults.append(
                (f"{name}.premises", f"premise {max(premises)} is not before target {target}", remedy)
            )
        elif list(premises) != sorted(set(premises)):
            faults.append(
                (f"{name}.premises", f"premises are not ascending in {shape}", "Sort them, each once.")
            )
        if relation.label not in RELATION_LABELS:
            remedy = f"Use {', '.join(RELATION_LABELS)}."
            faults.append((f"{name}.label", f"unknown relation label {shown(relation.label)}", remedy))
        if (premises, target) in seen:
            faults.append((name, f"the relation {shape} is given twice", "Keep one of them."))
        seen.add((premises, target))
        for label, value in (relation.probabilities or {}).items():
            if label not in RELATION_LABELS or not 0.0 <= value <= 1.0:
                message = f"probability {shown(value)} for {shown(label)}"
                faults.append(
                    (f"{name}.probabilities", message, "Use a value from 0 to 1 for each relation label.")
                )
    return faults


def _named_texts(trace: TraceRecord) -> list[tuple[str, str]]:
    named = [
        ("id", trace.id),
        ("case_id", trace.case_id),
        ("title", trace.title),
        ("question", trace.question),
    ]
    named += [
        ("reference", trace.reference),
        ("generator", trace.generator),
        ("raw_text", trace.raw_text or ""),
    ]
    named += [(f"segments[{i}].text", s.text) for i, s in enumerate(trace.segments, 1)]
    named += [(f"segments[{i}].gold_note", s.gold_note) for i, s in enumerate(trace.segments, 1)]
    named += [("case_sections", part) for section in trace.case_sections for part in section]
    return named


def accept_all(
    records: Iterable[tuple[int, object]], make: Callable[[Row, int], TraceRecord], collector: Collector
) -> None:
    """Make a trace of each (line, value) with its number from 1; a record that fails is left out, until too many do."""
    for number, (line, value) in enumerate(records, 1):
        if collector.full:
            break
        try:
            accept(make(Row(value, line, collector), number), line, collector)
        except BadRecord:
            continue


def accept(trace: TraceRecord, line: int | None, collector: Collector) -> None:
    """Check a finished trace and add it; every fault becomes a problem and the trace is left out."""
    faults = trace_faults(trace)
    for field, message, remedy in faults:
        collector.problem(line, field, f"trace {shown(trace.id)}: {message}", remedy)
    if faults:
        raise BadRecord(trace.id)
    note_direction_controls((text for _, text in _named_texts(trace)), line, collector)
    collector.add(line, trace)
