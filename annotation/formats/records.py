"""The records that every reader returns and the writer takes.

Segment numbers are 1-based everywhere in this package. Segments 1..context_segments are the context (the
case, the question or the given facts; normally only segment 1); the rest is the reasoning that is audited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DOMAINS = ("clinical", "mathematical", "general")
GOLD_LABELS = ("correct", "incorrect", "uncertain")
RELATION_LABELS = ("contradiction", "neutral", "implied", "entailment")
ERROR_KINDS = ("native", "accumulation")

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_SEGMENT_CHARACTERS = 20_000
MAX_RAW_TEXT_CHARACTERS = 200_000
MAX_SEGMENTS = 10_000
MAX_PROBLEMS = 200  # listed
GIVE_UP_AFTER = 1_000  # problems; the file is then hardly in this format


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """One segment. `gold` is correct, incorrect, uncertain, or None where nobody judged it.

    `error_kind` is "native" (the step itself is wrong) or "accumulation" (a good inference from a wrong
    premise).
    """

    text: str
    gold: str | None = None
    gold_note: str = ""
    error_kind: str | None = None


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A stored relation: ascending premises, each below the target; `probabilities` by label, if known."""

    premises: tuple[int, ...]
    target: int
    label: str
    probabilities: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One reasoning trace, or a case that waits for one.

    With `raw_text` the reasoning is not split yet and `segments` holds only the context; the caller splits
    it. A case without a trace also holds only the context, and says so with `meta["case_only"]`.
    `meta["chain"]` holds the steps and the answer of a sampled chain of thought (see `chains`). `case_meta` belongs
    to the case: `options` (text by letter) and `answer_kind`.
    """

    id: str
    case_id: str
    domain: str
    title: str
    segments: tuple[SegmentRecord, ...]
    context_segments: int = 1
    relations: tuple[RelationRecord, ...] = ()
    raw_text: str | None = None
    question: str = ""
    reference: str = ""
    generator: str = ""
    case_sections: tuple[tuple[str, str], ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict)
    case_meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a record, or the whole file, cannot be taken, and what to do about it."""

    file: str
    line: int | None
    field: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = [self.file]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.field:
            where.append(f"field {self.field}")
        sentence = f"{', '.join(where)}: {self.message}"
        if not sentence.endswith((".", "!", "?")):
            sentence += "."
        return f"{sentence} {self.remedy}" if self.remedy else sentence


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a reader found. `traces` holds only records without a problem; an import takes all or nothing."""

    traces: list[TraceRecord]
    problems: list[Problem]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    index_base: the number of the first segment (or step) in the file's own counting, 0 or 1; None = not said.
    domain: for records that do not state their own. limit: read at most so many traces.
    """

    index_base: int | None = None
    domain: str | None = None
    limit: int | None = None
