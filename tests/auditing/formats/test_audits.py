"""JSON lines of audits: what is written can be read, and damage is named."""

import json

import pytest

from auditing.formats.audits import AuditsError, looks_like_audits, read_audits, write_audits

TRACE = {
    "id": "t",
    "domain": "general",
    "segments": [
        {"index": 1, "text": "given", "label": None, "gold": None, "y_hat": None},
        {"index": 2, "text": "step", "label": "orphan", "gold": "correct", "y_hat": 0},
    ],
}


def test_written_lines_are_read_back():
    data = write_audits([TRACE, {**TRACE, "id": "u"}])
    assert looks_like_audits(data)
    assert [trace["id"] for trace in read_audits(data, "a.jsonl")] == ["t", "u"]


def test_the_one_object_of_the_command_line_is_read_too():
    data = json.dumps({"schema": "reasonaudit.audits/1", "traces": [TRACE]}).encode()
    assert looks_like_audits(data)
    assert read_audits(data, "a.json") == [TRACE]


def test_a_trace_file_is_not_taken_for_audits():
    assert not looks_like_audits(b'{"schema": "reasonaudit.trace/1", "id": "t", "segments": []}')
    assert not looks_like_audits(b"")
    assert not looks_like_audits(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "other/1"}, "field schema"),
        ({"id": 3}, "field id"),
        ({"segments": None}, "field segments"),
        ({"segments": [{"index": 1}]}, r"segments\[1\]"),
        ({"segments": [{**TRACE["segments"][1], "label": "fine"}]}, r"segments\[1\]\.label: 'fine'"),
        ({"segments": [{**TRACE["segments"][1], "y_hat": None}]}, r"segments\[1\]\.y_hat"),
    ],
)
def test_every_fault_names_file_line_and_field(change, words):
    good = {"schema": "reasonaudit.audits/1", **TRACE}
    data = json.dumps(good).encode() + b"\n" + json.dumps({**good, **change}).encode()
    with pytest.raises(AuditsError, match=rf"a\.jsonl, line 2.*{words}"):
        read_audits(data, "a.jsonl")


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"{}\n{", "line 2: not valid JSON"), (b"\xff", "not UTF-8"), (b"", "no audited trace")],
)
def test_broken_files(data, words):
    with pytest.raises(AuditsError, match=words):
        read_audits(data.replace(b"{}", b'{"schema":"reasonaudit.audits/1"}'), "a.jsonl")
