"""The project's own JSON lines: round trip, schema, lenient reading, strict writing."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.formats import uroreason
from annotation.formats.records import (
    DOMAINS,
    ERROR_KINDS,
    GOLD_LABELS,
    RELATION_LABELS,
    ReadOptions,
    ReadResult,
    RelationRecord,
    SegmentRecord,
    TraceRecord,
)

SCHEMA = json.loads(Path(uroreason.__file__).with_name("uroreason.schema.json").read_text(encoding="utf-8"))

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
).filter(str.strip)
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def read(*rows: object, **options: object) -> ReadResult:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return uroreason.read(data, "x.jsonl", ReadOptions(**options))  # type: ignore[arg-type]


def row(**changes: object) -> dict[str, object]:
    made: dict[str, object] = {
        "schema": "reasonaudit.trace/1",
        "id": "t1",
        "segments": ["The case.", "A step."],
    }
    return {**made, **changes}


@st.composite
def traces(draw: st.DrawFn) -> TraceRecord:
    kind = draw(st.sampled_from(["whole", "raw", "case"]))
    context = draw(st.integers(1, 3))
    count = context + (draw(st.integers(1, 5)) if kind == "whole" else 0)
    relations = {}
    for target, seed in draw(
        st.lists(st.tuples(st.integers(2, max(2, count)), st.integers(1, 255)), max_size=6)
    ):
        premises = tuple(i for i in range(1, target) if seed >> i & 1) or (1,)
        if target <= count:
            probability = draw(st.none() | st.floats(0, 1))
            label = draw(st.sampled_from(RELATION_LABELS))
            probabilities = None if probability is None else {label: probability}
            relations[premises, target] = RelationRecord(premises, target, label, probabilities)
    return TraceRecord(
        id=draw(texts),
        case_id=draw(texts),
        domain=draw(st.sampled_from(DOMAINS)),
        title=draw(anything),
        segments=tuple(
            SegmentRecord(
                draw(texts),
                draw(st.none() | st.sampled_from(GOLD_LABELS)),
                draw(anything),
                draw(st.none() | st.sampled_from(ERROR_KINDS)),
            )
            for _ in range(count)
        ),
        context_segments=context,
        relations=tuple(relations.values()),
        raw_text=draw(texts) if kind == "raw" else None,
        question=draw(anything),
        reference=draw(anything),
        generator=draw(anything),
        case_sections=tuple(draw(st.lists(st.tuples(anything, anything), max_size=2))),
        meta={"case_only": True} if kind == "case" else draw(st.dictionaries(st.just("note"), anything)),
    )


@settings(max_examples=150, deadline=None)
@given(traces())
def test_ds_18_round_trip_and_schema(trace: TraceRecord) -> None:
    data = uroreason.write([trace])
    assert data.count(b"\n") == 1
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(data))
    result = uroreason.read(data, "x.jsonl", ReadOptions())
    assert result.problems == []
    assert result.traces == [trace]
    assert uroreason.write(result.traces) == data


def test_line_separators_inside_a_text_do_not_end_the_line() -> None:
    trace = TraceRecord("t", "c", "general", "", (SegmentRecord("a\u2028b\x0bc"), SegmentRecord("d\u0085e")))
    assert uroreason.read(uroreason.write([trace]), "x", ReadOptions()).traces == [trace]


def test_lenient_reading_of_a_minimal_record() -> None:
    result = read(
        {"id": "t1", "segments": ["The case.", {"text": "A step.", "gold": " Incorrect "}], "extra": 1}
    )
    (trace,) = result.traces
    assert (trace.case_id, trace.domain, trace.context_segments) == ("t1", "general", 1)
    assert trace.segments[1].gold == "incorrect"
    assert result.notes == ["x.jsonl, line 1: unknown key extra was ignored."]
    assert read({"id": "t1", "segments": ["a", "b"]}, domain="clinical").traces[0].domain == "clinical"


def test_ih_15_html_is_kept_as_text_and_direction_controls_are_noted() -> None:
    result = read(row(segments=["<script>alert(1)</script>", "left \u202e right"]))
    assert [s.text for s in result.traces[0].segments] == ["<script>alert(1)</script>", "left \u202e right"]
    assert "U+202E" in result.notes[0]


def test_segments_are_put_in_the_order_of_their_index() -> None:
    result = read(row(segments=[{"index": 2, "text": "b"}, {"index": 1, "text": "a"}]))
    assert [s.text for s in result.traces[0].segments] == ["a", "b"]
    assert "order" in result.notes[0]


PROBLEMS = [
    ("id", row(id=""), "no id"),
    ("segments", row(segments=[]), "0 segments"),
    ("segments", row(segments=["only the case"]), "only context"),
    ("segments[2].text", row(segments=["a", "b" * 20_001]), "20,000"),
    ("segments[2].text", row(segments=["a", " \n"]), "blank"),
    ("segments[2].gold", row(segments=["a", {"text": "b", "gold": "maybe"}]), "unknown label 'maybe'"),
    ("segments[2].error_kind", row(segments=["a", {"text": "b", "error_kind": "odd"}]), "unknown error kind"),
    ("segments[2].text", row(segments=["a", {"gold": "correct"}]), "missing"),
    ("segments.index", row(segments=[{"index": 1, "text": "a"}, {"index": 1, "text": "b"}]), "twice"),
    ("segments.index", row(segments=[{"index": 0, "text": "a"}, {"index": 1, "text": "b"}]), "starts at 0"),
    ("segments.index", row(segments=[{"index": 1, "text": "a"}, {"index": 3, "text": "b"}]), "from 1 to 3"),
    ("segments.index", row(segments=[{"index": 1, "text": "a"}, "b"]), "some have none"),
    ("segments", row(segments="a"), "must be a list"),
    ("domain", row(domain="law"), "unknown domain"),
    ("schema", row(schema="reasonaudit.trace/2"), "version"),
    ("schema", row(schema="other/1"), "unknown schema"),
    ("context_segments", row(context_segments=3), "3 context segments of 2"),
    ("context_segments", row(context_segments="many"), "whole number"),
    ("raw_text", row(raw_text="More."), "both"),
    ("trace", row(trace=None), "reasoning segments"),
    ("trace", row(trace={}), "only null"),
    ("trace", {"id": "t", "segments": ["a"], "trace": None, "raw_text": "b"}, "contradict"),
    ("meta.case_only", row(meta={"case_only": True}), "set by the reader"),
    (
        "relations[1].premises",
        row(relations=[{"premises": [2], "target": 2, "label": "neutral"}]),
        "not before",
    ),
    (
        "relations[1].premises",
        row(relations=[{"premises": [0], "target": 2, "label": "neutral"}]),
        "premise 0",
    ),
    (
        "relations[1].premises",
        row(relations=[{"premises": [], "target": 2, "label": "neutral"}]),
        "no premise",
    ),
    (
        "relations[1].premises",
        row(relations=[{"premises": [1, 1], "target": 2, "label": "neutral"}]),
        "ascending",
    ),
    ("relations[1].premises", row(relations=[{"premises": ["1"], "target": 2, "label": "neutral"}]), "whole"),
    (
        "relations[1].target",
        row(relations=[{"premises": [1], "target": 3, "label": "neutral"}]),
        "target 3 of 2",
    ),
    ("relations[1].target", row(relations=[{"premises": [1], "label": "neutral"}]), "missing"),
    (
        "relations[1].label",
        row(relations=[{"premises": [1], "target": 2, "label": "yes"}]),
        "unknown relation",
    ),
    ("relations[2]", row(relations=[{"premises": [1], "target": 2, "label": "neutral"}] * 2), "twice"),
    (
        "relations[1].probabilities",
        row(
            relations=[{"premises": [1], "target": 2, "label": "neutral", "probabilities": {"neutral": 1.5}}]
        ),
        "1.5",
    ),
    ("index_base", row(index_base=2, relations=[{"premises": [1], "target": 2, "label": "neutral"}]), "is 2"),
]


@pytest.mark.parametrize(("field", "record", "words"), PROBLEMS, ids=[f"{p[0]}-{p[2]}" for p in PROBLEMS])
def test_a_bad_record_names_line_and_field(field: str, record: dict[str, object], words: str) -> None:
    result = read(row(id="good"), record)
    assert [t.id for t in result.traces] == ["good"]
    problem = result.problems[0]
    assert (problem.file, problem.line, problem.field) == ("x.jsonl", 2, field)
    assert words in problem.message
    assert str(problem).startswith(f"x.jsonl, line 2, field {field}: ")


def test_a_segment_of_20000_characters_is_accepted() -> None:
    assert read(row(segments=["a", "b" * 20_000])).problems == []


def test_duplicate_trace_ids_name_both_lines() -> None:
    result = read(row(), row())
    assert "line 1" in result.problems[0].message
    assert result.problems[0].line == 2


def test_relations_without_schema_ask_for_the_index_base() -> None:
    record = {
        "id": "t",
        "segments": ["a", "b", "c"],
        "relations": [{"premises": [1], "target": 2, "label": "neutral"}],
    }
    asked = read(record)
    assert asked.traces == []
    assert "index_base" in asked.problems[0].remedy
    assert read(record, index_base=1).traces[0].relations[0] == RelationRecord((1,), 2, "neutral")
    assert read(record, index_base=0).traces[0].relations[0] == RelationRecord((2,), 3, "neutral")
    assert read({**record, "index_base": 0}).traces[0].relations[0] == RelationRecord((2,), 3, "neutral")
    assert read({**record, "schema": "reasonaudit.trace/1"}).traces[0].relations[0].target == 2


def test_an_array_is_read_with_a_note_and_names_lines() -> None:
    data = json.dumps([row(), row(id="t2", domain="law"), row(id="t3")], indent=1).encode()
    result = uroreason.read(data, "x.json", ReadOptions())
    assert [t.id for t in result.traces] == ["t1", "t3"]
    assert "array" in result.notes[0]
    line = data.decode().split("\n").index(" {", 2) + 1
    assert result.problems[0].line == line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": " "}, "no id"),
        ({"domain": "law"}, "unknown domain"),
        ({"segments": (SegmentRecord("a"),)}, "only context"),
        ({"segments": (SegmentRecord("a"), SegmentRecord("\ud800"))}, "surrogate"),
        ({"segments": (SegmentRecord("a"), SegmentRecord("b\x00"))}, "NUL"),
        ({"relations": (RelationRecord((2,), 2, "neutral"),)}, "not before"),
        ({"meta": {"x": float("nan")}}, "JSON"),
        ({"meta": {"x": object()}}, "JSON"),
    ],
)
def test_the_writer_refuses_what_the_reader_would_refuse(change: dict[str, object], words: str) -> None:
    good: dict[str, object] = {"id": "t", "case_id": "c", "domain": "general", "title": ""}
    good["segments"] = (SegmentRecord("a"), SegmentRecord("b"))
    with pytest.raises(ValueError, match=words):
        uroreason.write([TraceRecord(**{**good, **change})])  # type: ignore[arg-type]


def test_the_writer_refuses_an_id_given_twice() -> None:
    trace = TraceRecord("t", "c", "general", "", (SegmentRecord("a"), SegmentRecord("b")))
    with pytest.raises(ValueError, match="twice"):
        uroreason.write([trace, trace])
