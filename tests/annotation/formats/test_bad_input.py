"""Bytes that are not what they should be, for every format: a problem with a remedy, never an exception."""

import gzip
import json
import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.formats.records import MAX_FILE_BYTES, MAX_PROBLEMS, Problem, ReadOptions, ReadResult
from annotation.formats.registry import FORMATS, detect, get_format, unrecognised

ALL = sorted(FORMATS)
JSON_FORMATS = [name for name in ALL if name != "csv"]
GOOD = {"schema": "reasonaudit.trace/1", "id": "t1", "segments": ["The case.", "A step."]}


def read(name: str, data: bytes, **options: object) -> ReadResult:
    return get_format(name).read(data, "file.x", ReadOptions(**options))  # type: ignore[arg-type]


def only_problem(result: ReadResult) -> Problem:
    assert result.traces == []
    assert len(result.problems) == 1
    assert result.problems[0].file == "file.x"
    return result.problems[0]


def excel_workbook() -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


WRONG_BYTES = {
    "empty": (b"", "empty"),
    "blank": (b" \r\n \n", "empty"),
    "byte order mark only": (b"\xef\xbb\xbf", None),
    "NUL": (b'{"id": "a\x00b"}\n', "NUL byte at byte 9"),
    "UTF-16 with mark": ("id,text\n1,ä\n".encode("utf-16"), "UTF-16"),
    "UTF-16 without mark": ('{"id": "a", "x": 1}\n'.encode("utf-16-le"), "UTF-16 (little endian)"),
    "UTF-16 big endian": ('{"id": "a", "x": 1}\n'.encode("utf-16-be"), "UTF-16 (big endian)"),
    "UTF-32": ('{"id": "a"}\n'.encode("utf-32"), "UTF-32"),
    "Latin-1": ("trace_id,text\n1,Prüfung\n".encode("latin-1"), "Latin-1"),
    "Windows-1252": ("trace_id,text\n1,“quoted”\n".encode("cp1252"), "Windows-1252"),
    "binary": (b"trace_id,text\n1,\x81\x82\n", "a damaged or binary file"),
    "Excel workbook": (excel_workbook(), "Excel workbook"),
    "gzip": (gzip.compress(b"{}"), "gzip"),
    "Parquet": (b"PAR1\x00\x00PAR1", "Parquet"),
    "PDF": (b"%PDF-1.7\n", "PDF"),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("case", WRONG_BYTES)
def test_ih_15_wrong_bytes_are_named_with_a_remedy(name: str, case: str) -> None:
    data, words = WRONG_BYTES[case]
    problem = only_problem(read(name, data))
    if words:
        assert words in problem.message
        assert problem.remedy


@pytest.mark.parametrize(
    ("data", "message", "remedy"),
    [
        (b'{"schema": "reasonaudit.trace/1", "id": "t', "cut off or not valid JSON", "export it again"),
        (b"[" * 5000, "cut off or not valid JSON", "choose the format"),
        (b"<!doctype html><p>Log in", "a web page", "Download the file itself"),
        (b'{"unknown": 1}', "the format was not recognised", "uroreason, csv"),
        ('{"id": 1}'.encode("utf-16"), "UTF-16", "UTF-8"),
        (b'{"id": "a\x00"}', "NUL byte", "Remove it"),
    ],
)
def test_ih_15_an_unknown_format_is_told_by_what_the_file_is(data: bytes, message: str, remedy: str) -> None:
    assert detect(data, "file.jsonl") is None or b"\x00" in data
    problem = unrecognised(data, "file.jsonl")
    assert message in problem.message
    assert remedy in problem.remedy


def test_the_line_of_a_byte_that_is_not_utf8() -> None:
    problem = only_problem(read("csv", b"trace_id,text\n1,ok\n2,caf\xe9\n"))
    assert problem.line == 3
    assert "0xE9" in problem.message
    assert "UTF-8" in problem.remedy


@pytest.mark.parametrize("name", ALL)
def test_a_file_above_the_limit_is_refused(name: str) -> None:
    problem = only_problem(read(name, b" " * (MAX_FILE_BYTES + 1)))
    assert "64 MiB" in problem.message


WRONG_JSON = {
    "NaN": ('{"id": "t", "segments": ["a", "b"], "meta": {"x": NaN}}', "NaN"),
    "Infinity": ('{"id": "t", "segments": ["a", "b"], "meta": {"x": -Infinity}}', "Infinity"),
    "float that overflows": ('{"id": "t", "meta": {"x": 1e999}}', "too large"),
    "huge integer": ('{"id": "t", "meta": {"x": ' + "9" * 5000 + "}}", "5000 digits"),
    "nesting bomb": ("[" * 100_000, "deep"),
    "nested object bomb": ('{"a":' * 100_000, "deep"),
    "deep but parsable": ('{"id": "t", "meta": ' + '{"a":' * 70 + "1" + "}" * 71, "deep"),
    "key twice": ('{"id": "t", "id": "u"}', "twice"),
    "not JSON": ("{id: 1}", "not valid JSON"),
    "cut off": ('{"id": "t", "segments": ["a", "b"', "not valid JSON"),
    "a number": ("17", "must be a JSON object"),
    "a list of numbers": ("[1]", "must be a JSON object"),
    "array not closed": ('[{"id": 1}', "not closed"),
    "text after the end": ("[] x", "after the end"),
    "NUL escape": ('{"id": "t\\u0000", "segments": []}', "NUL"),
    "half a surrogate pair": ('{"id": "t\\ud83d", "segments": []}', "surrogate"),
}


@pytest.mark.parametrize("case", WRONG_JSON)
def test_ih_16_wrong_json_is_a_problem_with_a_line(case: str) -> None:
    text, words = WRONG_JSON[case]
    problems = read("uroreason", text.encode()).problems
    assert words in str(problems[-1])
    assert {problem.line for problem in problems} == {1}


@pytest.mark.parametrize("name", JSON_FORMATS)
@pytest.mark.parametrize("case", WRONG_JSON)
def test_ih_16_wrong_json_never_raises(name: str, case: str) -> None:
    result = read(name, WRONG_JSON[case][0].encode())
    assert result.traces == []
    assert result.problems


def test_one_bad_line_does_not_hide_the_others() -> None:
    good = json.dumps(GOOD)
    result = read("uroreason", f"{good}\n{{broken\n\n{good.replace('t1', 't2')}\n".encode())
    assert [t.id for t in result.traces] == ["t1", "t2"]
    assert result.problems[0].line == 2


def test_the_number_of_listed_problems_is_bounded() -> None:
    result = read("uroreason", b"{broken\n" * (MAX_PROBLEMS + 50))
    assert len(result.problems) == MAX_PROBLEMS
    assert any("50 more problems" in note for note in result.notes)


def test_a_hopeless_file_is_not_read_to_its_end() -> None:
    result = read("uroreason", b"{broken\n" * 100_000)
    assert any("stopped after 1,000 problems" in note for note in result.notes)
    assert any("800 more problems" in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "field"),
    [({"index_base": 2}, "index_base"), ({"domain": "law"}, "domain"), ({"limit": 0}, "limit")],
)
def test_wrong_options_are_a_problem(options: dict[str, object], field: str) -> None:
    result = read("uroreason", json.dumps(GOOD).encode(), **options)
    assert field in [problem.field for problem in result.problems]


def test_unknown_format_lists_the_names() -> None:
    with pytest.raises(ValueError, match="uroreason, csv, parc, processbench, mr_ben, entailmentbank"):
        get_format("xlsx")


def test_aliases() -> None:
    assert get_format("native") is get_format("jsonl") is get_format("uroreason")
    assert get_format(" PARC ").name == "parc"


def test_detect_gives_up_quietly() -> None:
    for data in (
        b"",
        b"hello",
        b"{",
        b"[" * 100_000,
        b"\xff\x00\xfe",
        b'{"a": 1}',
        b"a,b\n1,2\n",
        b"[]",
        b"17",
    ):
        assert detect(data, "x.json") is None


BAD_RECORDS = [
    (
        "entailmentbank",
        {"id": "e", "hypothesis": "h", "proof": "sent1 -> int1: a;" * 501, "context": "sent1: a"},
        "proof",
        "501 proof steps",
    ),
    ("processbench", {"id": "x", "problem": "p", "steps": ["a", "b"], "label": 2}, "label", "step 3 of 2"),
    ("processbench", {"id": "x", "problem": "p", "steps": ["a"], "label": -2}, "label", "-2"),
    ("processbench", {"id": "x", "problem": "p", "steps": ["a"]}, "label", "missing"),
    ("processbench", {"id": "x", "problem": "p", "steps": [1], "label": -1}, "steps[1]", "must be text"),
    ("processbench", {"id": "x", "problem": "p", "steps": [], "label": -1}, "segments", "only context"),
    ("processbench", {"id": "x", "problem": "p", "steps": ["a"], "label": 0.5}, "label", "whole number"),
    ("bb_mistake", {"input": "i", "steps": ["a"]}, "mistake_index", "missing"),
    ("bb_mistake", {"input": "i", "steps": ["a"], "mistake_index": 1}, "mistake_index", "step 2 of 1"),
    (
        "hard2verify",
        {"question": "q", "model_response_by_step": ["a", "b"], "human_labels": [1]},
        "human_labels",
        "1 labels",
    ),
    (
        "hard2verify",
        {"question": "q", "model_response_by_step": ["a"], "human_labels": [2]},
        "human_labels[1]",
        "unknown label",
    ),
    (
        "hard2verify",
        {"question": "q", "model_response_by_step": "eA==", "human_labels": "eA=="},
        "canary",
        "no canary",
    ),
    (
        "hard2verify",
        {"question": "q", "model_response_by_step": "not base64!", "human_labels": "", "canary": "c"},
        "question",
        "not masked",
    ),
    (
        "hard2verify",
        {
            "question": "q",
            "model_response_by_step": ["a"],
            "human_labels": [1],
            "human_labels_first_error_idx": 0,
        },
        "human_labels_first_error_idx",
        "disagrees",
    ),
    (
        "entailmentbank",
        {"id": "e", "hypothesis": "h", "context": "sent1: a"},
        "proof",
        "missing",
    ),
    (
        "entailmentbank",
        {"id": "e", "hypothesis": "h", "proof": "x", "context": "sent1: a"},
        "proof",
        "no step leads",
    ),
    (
        "entailmentbank",
        {"id": "e", "hypothesis": "h", "proof": "sent2 -> hypothesis;", "context": "sent1: a"},
        "proof",
        "nowhere given",
    ),
    (
        "entailmentbank",
        {
            "id": "e",
            "hypothesis": "h",
            "proof": "int2 -> int1: a; int1 -> int2: b; int2 -> hypothesis;",
            "context": "sent1: a",
        },
        "proof",
        "circle",
    ),
    (
        "entailmentbank",
        {"id": "e", "hypothesis": "h", "proof": "sent1 -> hypothesis;"},
        "meta.triples",
        "missing",
    ),
    ("mr_ben", {"q": 1}, "q", "a list of solutions"),
    ("mr_ben", {"q": [{"Question": "q"}]}, "Model_Solution_Steps", "missing"),
    (
        "mr_ben",
        {"q": [{"Question": "q", "Model_Solution_Steps": ["a"], "Model_Solution_Correctness": "partly"}]},
        "Model_Solution_Correctness",
        "unknown label",
    ),
    (
        "mr_ben",
        {"q": [{"Question": "q", "Model_Solution_Steps": ["a"], "Model_Solution_Correctness": "incorrect"}]},
        "Model_Solution_First_Error_Step",
        "no first error",
    ),
    (
        "parc",
        {
            "question": "q",
            "steps": ["a"],
            "premise_annotation": {"steps": [{"premises": []}]},
            "error_annotation": {"error_annotations": {"step_level": []}},
        },
        "premise_annotation.steps[1].step_number",
        "missing",
    ),
    (
        "parc",
        {"question": "q", "steps": ["a"], "premise_annotation": 1, "error_annotation": 1},
        "error_annotation",
        "object",
    ),
]


@pytest.mark.parametrize(
    ("name", "record", "field", "words"),
    BAD_RECORDS,
    ids=[f"{name}-{words}" for name, _, _, words in BAD_RECORDS],
)
def test_a_bad_record_of_a_public_format(name: str, record: object, field: str, words: str) -> None:
    problem = only_problem(read(name, json.dumps(record).encode()))
    assert problem.field == field
    assert words in problem.message


def test_bare_predicted_proofs_are_refused_with_the_way_out() -> None:
    problem = only_problem(read("entailmentbank", b"$proof$ = sent1 & sent2 -> hypothesis;\n"))
    assert "task file" in problem.remedy


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = {
    "uroreason": [
        "id",
        "segments",
        "relations",
        "meta",
        "trace",
        "raw_text",
        "context_segments",
        "case_sections",
    ],
    "parc": ["question", "steps", "premise_annotation", "error_annotation"],
    "processbench": ["id", "problem", "steps", "label"],
    "mr_ben": [
        "Question",
        "Model_Solution_Steps",
        "Model_Solution_Correctness",
        "Model_Solution_First_Error_Step",
    ],
    "entailmentbank": ["id", "proof", "hypothesis", "meta", "context"],
    "hard2verify": [
        "question",
        "model_response_by_step",
        "human_labels",
        "canary",
        "human_labels_first_error_idx",
    ],
    "bb_mistake": ["input", "steps", "mistake_index", "answer", "target"],
    "cot_samples": [
        "id",
        "question",
        "context",
        "options",
        "gold",
        "answer_kind",
        "samples",
    ],
    "gsm8k_solutions": ["question", "ground_truth", "6b_finetuning"],
    "tot_game24": ["idx", "ys", "infos"],
    "zeroeval": ["id", "question", "gold", "samples"],
    "inferential_strategies": ["id", "instance", "annotations"],
    "logic_llm": ["id", "question", "answer", "predicted_reasoning", "predicted_answer"],
}


@pytest.mark.parametrize("name", JSON_FORMATS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_values_in_the_known_fields_never_raise(name: str, data: st.DataObject) -> None:
    record = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS[name], json_values)))
    wrapped = {"mr_ben": {"q": [record]}, "inferential_strategies": {"instances": [record]}}
    text = json.dumps(wrapped.get(name, record))
    result = read(name, text.encode())
    assert result.traces or result.problems


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(ALL))
def test_any_bytes_never_raise(data: bytes, name: str) -> None:
    result = read(name, data)
    assert result.traces or result.problems
    detect(data, "x.csv")
