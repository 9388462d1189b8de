"""The demo data: readable without a problem, shaped as the README beside them says."""

import json
from pathlib import Path

import jsonschema
import pytest

from annotation.formats import uroreason
from annotation.formats.records import ReadOptions, TraceRecord
from annotation.formats.registry import detect

DEMO = Path(__file__).resolve().parents[3] / "fixtures" / "demo"
SCHEMA = json.loads(Path(uroreason.__file__).with_name("uroreason.schema.json").read_text(encoding="utf-8"))


def traces_of(name: str) -> list[TraceRecord]:
    result = uroreason.read((DEMO / name).read_bytes(), name, ReadOptions())
    assert [str(problem) for problem in result.problems] == []
    assert result.notes == []
    return result.traces


@pytest.mark.parametrize("name", ["clinical.jsonl", "mathematical.jsonl", "cases.jsonl"])
def test_demo_files_follow_the_schema_and_are_written_canonically(name: str) -> None:
    data = (DEMO / name).read_bytes()
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for line in data.decode().splitlines():
        validator.validate(json.loads(line))
    assert detect(data, name) == "uroreason"
    assert uroreason.write(traces_of(name)) == data
    assert all(trace.meta["invented"] is True for trace in traces_of(name))


def test_clinical_segments_have_the_size_of_the_published_ones() -> None:
    """The paper's Table 7 has 5 to 12 segments a case and 39.6 words a segment on average."""
    traces = traces_of("clinical.jsonl")
    assert len(traces) >= 6
    for trace in traces:
        assert 6 <= len(trace.segments) - 1 <= 11
        assert len(trace.case_sections) >= 4
        assert trace.case_sections[-1] == ("Question to the model", trace.question)
        for segment in trace.segments[1:]:
            assert 25 <= len(segment.text.split()) <= 45
            assert segment.gold is not None
            assert segment.gold == "correct" or segment.gold_note


def test_mathematical_traces_and_waiting_cases() -> None:
    traces = traces_of("mathematical.jsonl")
    assert len(traces) >= 3
    assert {t.domain for t in traces} == {"mathematical"}
    for trace in traces:
        for segment in trace.segments[1:]:
            assert (
                (segment.gold == "incorrect") == (segment.error_kind is not None) == bool(segment.gold_note)
            )
    cases = traces_of("cases.jsonl")
    assert cases
    assert all(case.meta["case_only"] is True and len(case.segments) == 1 for case in cases)
