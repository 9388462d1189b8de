"""The project's own format: JSON lines, one trace a line, `"schema": "reasonaudit.trace/1"`.

Described in README.md of this folder and in uroreason.schema.json. The reader is lenient (optional keys may
be missing, unknown ones are noted), the writer strict: it refuses what the reader would refuse.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from annotation.formats.chains import case_meta_faults, chain_faults
from annotation.formats.fields import Row, accept_all, domain_from_word, gold_from_word, shown, trace_faults
from annotation.formats.json_input import iter_records
from annotation.formats.records import (
    DOMAINS,
    GOLD_LABELS,
    ReadOptions,
    ReadResult,
    RelationRecord,
    SegmentRecord,
    TraceRecord,
)
from annotation.formats.source import Collector, decode

SCHEMA = "reasonaudit.trace/1"
_SCHEMA_FAMILY = "reasonaudit.trace/"

_TRACE_KEYS = {
    *("schema", "id", "case_id", "domain", "title", "question", "reference", "generator", "case_sections"),
    *("context_segments", "segments", "raw_text", "trace", "relations", "meta", "case_meta"),
    "index_base",
}
_SEGMENT_KEYS = {"index", "text", "gold", "gold_note", "error_kind"}
_RELATION_KEYS = {"premises", "target", "label", "probabilities"}


def read(data: bytes, filename: str, options: ReadOptions) -> ReadResult:
    """Traces of the project's own format; see the module docstring."""
    collector = Collector(filename, options)
    text = decode(data, collector)
    if text is not None:
        accept_all(iter_records(text, collector), lambda row, _: _trace(row), collector)
    return collector.result()


def _trace(row: Row) -> TraceRecord:
    schema = row.text("schema")
    if schema and schema != SCHEMA:
        if schema.startswith(_SCHEMA_FAMILY):
            raise row.fail(
                "schema", f"version {shown(schema)} is not known here", f"This version reads {SCHEMA}."
            )
        raise row.fail("schema", f"unknown schema {shown(schema)}", f"Write {SCHEMA}.")
    _note_unknown(row, _TRACE_KEYS, "")
    if "trace" in row.values and row.values["trace"] is not None:
        raise row.fail(
            "trace", "only null is allowed here", "Leave the key out, or write null for a case without trace."
        )
    case_only = "trace" in row.values
    if case_only and row.has("raw_text"):
        raise row.fail("trace", '"trace": null and raw_text contradict each other', "Remove one of them.")
    segments = _segments(row)
    context = 1 if not row.has("context_segments") else row.integer("context_segments")
    meta = dict(row.row("meta").values) if row.has("meta") else {}
    if case_only:
        meta["case_only"] = True
        if context is not None and len(segments) > context:
            raise row.fail("trace", '"trace": null but there are reasoning segments', "Remove one of them.")
    elif "case_only" in meta:
        raise row.fail("meta.case_only", "this key is set by the reader", 'Write "trace": null instead.')
    if "chain" in meta:
        _check_chain(row, meta, None if row.has("raw_text") else len(segments) - (context or 0))
    case_meta = dict(row.row("case_meta").values) if row.has("case_meta") else {}
    for field, message in case_meta_faults(case_meta):
        raise row.fail(f"case_meta.{field}", message)
    return TraceRecord(
        id=row.text("id"),
        case_id=row.text("case_id") or row.text("id"),
        domain=_domain(row),
        title=row.text("title"),
        segments=segments,
        context_segments=context or 0,
        relations=_relations(row, bool(schema)),
        raw_text=row.text("raw_text") if row.has("raw_text") else None,
        question=row.text("question"),
        reference=row.text("reference"),
        generator=row.text("generator"),
        case_sections=_sections(row),
        meta=meta,
        case_meta=case_meta,
    )


def _check_chain(row: Row, meta: dict[str, object], count: int | None) -> None:
    """Refuse a chain that cannot be read; leave out one that is not of these segments, which were split anew then."""
    chain = meta["chain"]
    for field, message in chain_faults(chain, count):
        raise row.fail(f"meta.chain.{field}".rstrip("."), message)
    steps = chain.get("steps") if isinstance(chain, dict) else None
    if count is not None and steps and len(steps) != count:
        row.collector.note(
            row.line, "the steps of meta.chain are not the segments of the trace; the chain was left out."
        )
        del meta["chain"]


def _note_unknown(row: Row, known: set[str], where: str) -> None:
    for key in sorted(set(row.values) - known):
        row.collector.note(row.line, f"unknown key {where}{key[:60]} was ignored.")


def _domain(row: Row) -> str:
    if not row.has("domain"):
        return row.collector.options.domain or "general"
    domain = domain_from_word(row.text("domain"))
    if domain is None:
        raise row.fail("domain", f"unknown domain {shown(row.text('domain'))}", f"Use {', '.join(DOMAINS)}.")
    return domain


def _segments(row: Row) -> tuple[SegmentRecord, ...]:
    made: list[SegmentRecord] = []
    indices: list[int] = []
    for place, item in enumerate(row.items("segments"), 1):
        name = f"segments[{place}]"
        if isinstance(item, str):
            made.append(SegmentRecord(item))
            continue
        entry = Row(item, row.line, row.collector)
        _note_unknown(entry, _SEGMENT_KEYS, "segments.")
        if not entry.has("text"):
            raise row.fail(f"{name}.text", "the text is missing", "Give each segment a text.")
        word = entry.text("gold").strip()
        gold = gold_from_word(word) if word else None
        if word and gold is None:
            remedy = f"Use {', '.join(GOLD_LABELS)} or null."
            raise row.fail(f"{name}.gold", f"unknown label {shown(word)}", remedy)
        kind = entry.text("error_kind") or None
        made.append(SegmentRecord(entry.text("text"), gold, entry.text("gold_note"), kind))
        index = entry.integer("index")
        if index is not None:
            indices.append(index)
    return _in_order(row, made, indices)


def _in_order(row: Row, made: list[SegmentRecord], indices: list[int]) -> tuple[SegmentRecord, ...]:
    """Segments by their own numbers, where they carry any; the numbers must be 1..n."""
    if not indices:
        return tuple(made)
    if len(indices) != len(made):
        raise row.fail(
            "segments.index", "some segments have an index and some have none", "Number all or none."
        )
    twice = next((index for index in indices if indices.count(index) > 1), None) if len(made) < 2000 else None
    if twice is not None or len(set(indices)) != len(indices):
        raise row.fail("segments.index", f"index {twice} occurs twice", "Give each segment its own number.")
    base = row.collector.options.index_base
    first = min(indices)
    if first == 0 and base is None:
        remedy = "Segments are counted from 1; if this file counts from 0, say so with index_base 0."
        raise row.fail("segments.index", "the numbering starts at 0", remedy)
    base = 1 if base is None else base
    if sorted(indices) != list(range(base, base + len(indices))):
        remedy = f"Number the segments {base} to {base + len(indices) - 1} without gaps."
        raise row.fail("segments.index", f"the numbers run from {first} to {max(indices)}", remedy)
    if indices != sorted(indices):
        row.collector.note(row.line, "segments were put in the order of their index.")
    return tuple(segment for _, segment in sorted(zip(indices, made, strict=True), key=lambda pair: pair[0]))


def _relations(row: Row, has_schema: bool) -> tuple[RelationRecord, ...]:
    items = row.items("relations")
    if not items:
        return ()
    base = _relation_base(row, has_schema)
    made = []
    for place, item in enumerate(items, 1):
        entry = Row(item, row.line, row.collector)
        _note_unknown(entry, _RELATION_KEYS, "relations.")
        target = entry.integer("target")
        if target is None:
            raise row.fail(f"relations[{place}].target", "the target is missing")
        premises = []
        for premise in entry.items("premises"):
            if isinstance(premise, bool) or not isinstance(premise, int):
                raise row.fail(f"relations[{place}].premises", f"must be whole numbers, not {shown(premise)}")
            premises.append(premise + 1 - base)
        label = entry.text("label").strip().casefold()
        made.append(
            RelationRecord(tuple(sorted(premises)), target + 1 - base, label, _probabilities(entry, place))
        )
    return tuple(made)


def _relation_base(row: Row, has_schema: bool) -> int:
    """0 or 1: the record's own statement, else the flag, else the schema's 1, else it is asked for."""
    stated = row.integer("index_base")
    if stated is not None and stated not in (0, 1):
        raise row.fail("index_base", f"index_base is {stated}", "Use 0 or 1.")
    if stated is not None:
        return stated
    flag = row.collector.options.index_base
    if flag is not None:
        if has_schema and flag != 1:
            row.collector.note(
                row.line, "relations were read from 0 because index_base says so; the schema counts from 1."
            )
        return flag
    if not has_schema:
        # A hand-made record could mean either, and often both would fit.
        remedy = (
            f'Say index_base 0 or 1 (a flag of the import), or add "schema": "{SCHEMA}", which counts from 1.'
        )
        raise row.fail(
            "relations", "it is not said whether premises and targets count from 0 or from 1", remedy
        )
    return 1


def _probabilities(entry: Row, place: int) -> dict[str, float] | None:
    if not entry.has("probabilities"):
        return None
    found: dict[str, float] = {}
    for label, value in entry.row("probabilities").values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise entry.fail(
                f"relations[{place}].probabilities.{label[:40]}", f"must be a number, not {shown(value)}"
            )
        found[label] = float(value)
    return found


def _sections(row: Row) -> tuple[tuple[str, str], ...]:
    made = []
    for item in row.items("case_sections"):
        entry = Row(item, row.line, row.collector)
        made.append((entry.text("heading"), entry.text("text")))
    return tuple(made)


def write(traces: Iterable[TraceRecord]) -> bytes:
    """JSON lines (UTF-8, keys in a fixed order) that the reader gives back unchanged.

    Raises ValueError, naming trace and field, for a record that the reader would refuse.
    """
    lines = []
    ids: set[str] = set()
    for trace in traces:
        faults = trace_faults(trace)
        if faults:
            field, message, remedy = faults[0]
            raise ValueError(f"trace {shown(trace.id)}, field {field}: {message}. {remedy}".strip())
        if trace.id in ids:
            raise ValueError(
                f"trace {shown(trace.id)}, field id: the id occurs twice. Give each trace its own id."
            )
        ids.add(trace.id)
        try:
            line = json.dumps(_as_dict(trace), ensure_ascii=False, allow_nan=False)
            lines.append(line.encode("utf-8") + b"\n")
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"trace {shown(trace.id)}, field meta: cannot be written as JSON ({error})."
            ) from error
    return b"".join(lines)


def _as_dict(trace: TraceRecord) -> dict[str, object]:
    made: dict[str, object] = {
        "schema": SCHEMA,
        "id": trace.id,
        "case_id": trace.case_id,
        "domain": trace.domain,
    }
    for key in ("title", "question", "reference", "generator"):
        if value := getattr(trace, key):
            made[key] = value
    if trace.case_sections:
        made["case_sections"] = [{"heading": heading, "text": text} for heading, text in trace.case_sections]
    made["context_segments"] = trace.context_segments
    segments = []
    for index, segment in enumerate(trace.segments, 1):
        one: dict[str, object] = {"index": index, "text": segment.text}
        if segment.gold is not None:
            one["gold"] = segment.gold
        if segment.gold_note:
            one["gold_note"] = segment.gold_note
        if segment.error_kind is not None:
            one["error_kind"] = segment.error_kind
        segments.append(one)
    made["segments"] = segments
    if trace.raw_text is not None:
        made["raw_text"] = trace.raw_text
    if trace.meta.get("case_only"):
        made["trace"] = None
    if trace.relations:
        relations = []
        for relation in trace.relations:
            edge: dict[str, object] = {"premises": list(relation.premises), "target": relation.target}
            edge["label"] = relation.label
            if relation.probabilities is not None:
                edge["probabilities"] = dict(relation.probabilities)
            relations.append(edge)
        made["relations"] = relations
    meta = {key: value for key, value in trace.meta.items() if key != "case_only"}
    if meta:
        made["meta"] = meta
    if trace.case_meta:
        made["case_meta"] = dict(trace.case_meta)
    return made
