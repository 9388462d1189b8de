"""The plain table: delimiters, header names, order, context, first error column, and its faults."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.formats import plain_csv
from annotation.formats.records import ReadOptions, ReadResult


def read(text: str, **options: object) -> ReadResult:
    return plain_csv.read(text.encode(), "table.csv", ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("sep", [False, True])
def test_delimiters_line_ends_and_the_sep_line(delimiter: str, end: str, sep: bool) -> None:
    rows = [
        ["Trace ID", "ROLE", "Segment-Text", "Gold label"],
        ["t", "context", "Case", ""],
        ["t", "", "Step", "CORRECT"],
    ]
    lines = ([f"sep={delimiter}"] if sep else []) + [delimiter.join(row) for row in rows]
    result = read(end.join(lines) + end)
    assert [str(p) for p in result.problems] == []
    (trace,) = result.traces
    assert [(s.text, s.gold) for s in trace.segments] == [("Case", None), ("Step", "correct")]


cell = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20
).filter(lambda text: bool(text.strip()))


@settings(max_examples=200, deadline=None)
@given(st.lists(cell, min_size=2, max_size=5), st.sampled_from([",", ";", "\t"]))
def test_cells_written_by_the_standard_library_come_back(texts: list[str], delimiter: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["role", "text"])
    writer.writerows([["context" if i == 0 else "segment", text] for i, text in enumerate(texts)])
    (trace,) = read(stream.getvalue()).traces
    assert [s.text for s in trace.segments] == [text.strip() for text in texts]


def test_rows_are_ordered_by_index_whatever_its_base() -> None:
    result = read("index,role,text\n2,,c\n0,context,a\n1,,b\n")
    assert [s.text for s in result.traces[0].segments] == ["a", "b", "c"]
    assert "order" in result.notes[0]
    assert "gaps" in read("index,role,text\n1,context,a\n3,,b\n").notes[0]


def test_case_text_column_gives_the_context_once() -> None:
    (trace,) = read("trace_id,case,text\nt,The case,one\nt,The case,two\nt,,three\n").traces
    assert [s.text for s in trace.segments] == ["The case", "one", "two", "three"]
    assert trace.context_segments == 1


def test_unknown_columns_are_noted() -> None:
    assert "colour" in read("role,text,colour\ncontext,a,red\n,b,red\n").notes[0]


def test_first_error_column_asks_for_its_base() -> None:
    text = "case,first error,text\nC,1,a\nC,1,b\nC,1,c\n"
    asked = read(text)
    assert asked.traces == []
    assert asked.problems[0].field == "first_error"
    assert "index_base" in asked.problems[0].remedy
    assert [s.gold for s in read(text, index_base=0).traces[0].segments] == [
        None,
        "correct",
        "incorrect",
        None,
    ]
    assert [s.gold for s in read(text, index_base=1).traces[0].segments] == [None, "incorrect", None, None]
    assert [s.gold for s in read(text.replace("1", "-1")).traces[0].segments] == [None] + ["correct"] * 3


FAULTS = [
    ("a,b\n1,2\n", 1, "text", "no column"),
    ("text,Segment\n1,2\n", 1, "text", "two columns"),
    ("trace_id,text\nt,a\nt,b\n", 2, "role", "neither a role nor a case text"),
    ("role,text\nsegment,a\n", 2, "role", "no row has the role context"),
    ("role,text\ncontext,a\n", 2, "segments", "only context"),
    ("role,text\nboss,a\n", 2, "role", "unknown role"),
    ("role,text\ncontext,a\n,b\ncontext,c\n", 4, "role", "after a reasoning segment"),
    ("role,case,text\ncontext,C,a\n,,b\n", 2, "case_text", "both"),
    ("role,text,label\ncontext,a,\n,b,maybe\n", 3, "label", "unknown label 'maybe'"),
    ("role,text,label\ncontext,a,\n,b,1\n", 3, "label", "unknown label '1'"),
    ("role,text\ncontext,a\nsegment, \n", 3, "text", "blank"),
    ("index,role,text\n1,context,a\n1,,b\n", 3, "index", "occurs twice, first on line 2"),
    ("index,role,text\n1,context,a\nx,,b\n", 3, "index", "not a whole number"),
    ("index,role,text\n1,context,a\n,,b\n", 3, "index", "not a whole number"),
    ("domain,role,text\nlaw,context,a\n,,b\n", 2, "domain", "unknown domain"),
    ("domain,role,text\nmath,context,a\nclinical,,b\n", 3, "domain", "different values"),
    ("role,text\ncontext,a\n,b,c\n", 3, "", "3 cells under 2 columns"),
    ('role,text\ncontext,a\n,"b\nc\nd\n', 3, "", "not valid CSV"),
    ("case,first_error,text\nC,1,a\nC,2,b\n", 3, "first_error", "different values"),
    ("case,first_error,label,text\nC,1,correct,a\n", 2, "first_error", "both a label"),
]


@pytest.mark.parametrize(("text", "line", "field", "words"), FAULTS, ids=[fault[3] for fault in FAULTS])
def test_a_fault_names_line_and_field(text: str, line: int, field: str, words: str) -> None:
    result = read(text)
    assert result.traces == []
    problem = result.problems[0]
    assert (problem.line, problem.field) == (line, field)
    assert words in problem.message
    assert problem.remedy


def test_a_first_error_outside_the_trace_is_a_problem() -> None:
    problem = read("case,first_error,text\nC,5,a\n", index_base=0).problems[0]
    assert "'5' is not one of 1" in problem.message


def test_a_line_break_inside_a_cell_does_not_shift_the_line_numbers() -> None:
    problem = read('role,text,label\ncontext,"a\nb",\n,c,maybe\n').problems[0]
    assert problem.line == 4
