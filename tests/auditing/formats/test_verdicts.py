"""Files of verdicts: written, read back, checked against the schema, and every fault named."""

import json
from pathlib import Path

import jsonschema
import pytest

from auditing.formats.verdicts import SCHEMA, VerdictRecord, read_verdicts, write_verdicts

SCHEMA_FILE = Path(__file__).parents[3] / "auditing" / "formats" / "verdicts.schema.json"
GOOD = {"case": "c1", "trace": "t1", "segment": 2, "judge": "a judge", "verdict": "trustworthy"}
RECORDS = [
    VerdictRecord("c1", "t1", 2, "j", "trustworthy", status="valid", reason="Ja, \u00fc \u2028 =1+1"),
    VerdictRecord("c1", "t1", 3, "j", "problematic", status="valid"),
    VerdictRecord("c1", "t1", 4, "j", None, status="invalid:not_json"),
    VerdictRecord("c2", "", 2, "j", reply='{"verdict": "trustworthy", "reason": ""}'),
]


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def plain(record: VerdictRecord) -> tuple[object, ...]:
    return tuple(getattr(record, name) for name in record.__slots__ if name != "line")


def test_rp_02_what_is_written_is_read_back_and_has_the_same_bytes():
    data = write_verdicts(RECORDS)
    found, problems = read_verdicts(data, "v.jsonl")
    assert problems == []
    assert [plain(record) for record in found] == [plain(record) for record in RECORDS]
    assert [record.line for record in found] == [1, 2, 3, 4]
    assert write_verdicts(found) == data


def test_what_is_written_is_what_the_schema_says():
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for line in write_verdicts(RECORDS).decode().split("\n")[:-1]:
        validator.validate(json.loads(line))
    for bad in (
        {**GOOD, "verdict": "correct"},
        {**GOOD, "verdict": None, "status": "valid"},
        {**GOOD, "status": "invalid:x"},
        {**GOOD, "reply": "x"},
        {**GOOD, "segment": 0},
        {**GOOD, "more": 1},
    ):
        assert not validator.is_valid(bad), bad
        assert read_verdicts(lines(bad), "v.jsonl")[1], "reader and schema agree"


def test_a_json_list_and_records_without_schema_trace_or_status_are_read():
    given = [
        {name: value for name, value in GOOD.items() if name != "trace"},
        {**GOOD, "schema": SCHEMA, "segment": 3, "verdict": None},
    ]
    found, problems = read_verdicts(json.dumps(given).encode(), "v.json")
    assert problems == []
    assert [(record.trace, record.verdict, record.status) for record in found] == [
        ("", "trustworthy", "valid"),
        ("t1", None, "invalid:not_given"),
    ]


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        (
            {"verdict": "correct"},
            "verdict",
            "unknown verdict 'correct'. Use trustworthy, problematic or null",
        ),
        ({"verdict": True}, "verdict", "unknown verdict"),
        ({"verdict": 1}, "verdict", "unknown verdict"),
        ({"segment": 0}, "segment", "the segment is 0"),
        ({"segment": "two"}, "segment", "whole number"),
        ({"segment": None}, "segment", "missing"),
        ({"case": None}, "case", "missing"),
        ({"judge": " "}, "judge", "0 characters"),
        ({"judge": "x" * 151}, "judge", "151 characters"),
        ({"schema": "other/1"}, "schema", "unknown schema"),
        ({"vote": 1}, "vote", "no such field"),
        ({"reply": "x"}, "reply", "either reply, or verdict"),
        ({"status": "fine"}, "status", "unknown status"),
        ({"status": "invalid:empty"}, "status", "does not go with this verdict"),
        ({"verdict": None, "status": "valid"}, "status", "Only valid has a verdict"),
    ],
)
def test_a_fault_names_file_line_and_field(change, field, said):
    found, problems = read_verdicts(lines(GOOD, {**GOOD, "segment": 3, **change}), "v.jsonl")
    assert len(found) == 1
    (problem,) = problems
    assert (problem.file, problem.line, problem.field) == ("v.jsonl", 2, field)
    assert said in str(problem)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'{"case": ', "not valid JSON"),
        (b"[1, 2]", "must be a JSON object"),
        (b"PK\x03\x04 zip", "ZIP"),
        (b"[]", "no verdict"),
    ],
)
def test_a_file_that_is_none_of_verdicts_is_said_so(data, said):
    found, problems = read_verdicts(data, "v.jsonl")
    assert found == []
    assert said in str(problems[0])


def test_a_segment_that_a_judge_has_twice_is_refused_with_both_lines():
    found, problems = read_verdicts(lines(GOOD, {**GOOD, "judge": "b"}, GOOD), "v.jsonl")
    assert len(found) == 2
    assert "line 3" in str(problems[0])
    assert "in line 1 already" in str(problems[0])


def test_a_verdict_without_verdict_and_reply_is_refused():
    bare = {name: value for name, value in GOOD.items() if name != "verdict"}
    assert "Give verdict or reply" in str(read_verdicts(lines(bare), "v")[1][0])
    assert "At most" in str(read_verdicts(lines({**bare, "reply": "x" * 200_001}), "v")[1][0])
