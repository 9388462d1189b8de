"""Stored verdicts of judges: matched with traces, all or none, and never a label where they do not parse."""

import json
import zlib
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from auditing.models import JudgeCallAttempt, JudgeRun, JudgeVerdict
from auditing.selectors.judges import judge_verdicts
from auditing.services.judging import imports
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from tests.auditing import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def trace():
    return factories.trace(4, name="x")  # case-x, trace x, S1 given


def line(segment, verdict=None, judge="stored judge", **more):
    said = {} if "reply" in more else {"verdict": verdict}
    return {"case": "case-x", "trace": "x", "segment": segment, "judge": judge, **said, **more}


def data(*documents):
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def commit(trace, *documents):
    preview = imports.read(data(*documents), "folder/v.jsonl", trace.case.dataset)
    return imports.commit(preview, trace.case.dataset)


def test_verdicts_become_a_run_that_results_can_read(trace):
    (run,) = commit(trace, line(2, "trustworthy", reason="Sound."), line(3, "problematic"), line(4, None))
    assert (run.judge, run.judge_id, run.state) == (
        "imported:stored judge",
        "imported:stored judge",
        RunState.PARTIAL,
    )
    assert (run.total, run.done, run.invalid, run.failed, run.calls) == (3, 2, 1, 0, 0)
    assert run.manifest["file"]["name"] == "v.jsonl"
    assert len(run.manifest["file"]["sha256"]) == 64
    assert list(
        JudgeVerdict.objects.order_by("segment__index").values_list("verdict", "status", "reason")
    ) == [
        ("trustworthy", "valid", "Sound."),
        ("problematic", "valid", ""),
        (None, "invalid:not_given", ""),
    ]
    ((judge, found),) = judge_verdicts([trace]).items()
    assert (judge.name, judge.imported) == ("stored judge", True)
    assert sorted(found.values(), key=str) == [0, 1, None]


def test_lj_08_rp_04_a_raw_reply_is_read_strictly_and_kept(trace):
    (run,) = commit(
        trace,
        line(2, reply='{"verdict": "problematic", "reason": "No."}'),
        line(3, reply="I would say trustworthy."),
        line(4, reply='{"verdict": "trustworthy", "reason": "", "confidence": "1"}'),
    )
    rows = list(JudgeVerdict.objects.order_by("segment__index"))
    assert [(row.verdict, row.status) for row in rows] == [
        ("problematic", "valid"),
        (None, "invalid:not_json"),
        (None, "invalid:wrong_schema"),
    ]
    kept = [zlib.decompress(attempt.raw_reply) for attempt in JudgeCallAttempt.objects.order_by("call__pk")]
    assert kept[1] == b"I would say trustworthy."
    assert {attempt.parser_version for attempt in JudgeCallAttempt.objects.all()} == {"verdict-1"}
    assert (run.done, run.invalid) == (1, 2)


def test_every_judge_of_a_file_is_a_run_and_a_second_import_is_a_newer_one(trace):
    first = commit(trace, line(2, "trustworthy", "a"), line(2, "problematic", "b"))
    assert [run.judge for run in first] == ["imported:a", "imported:b"]
    commit(trace, line(2, "problematic", "a"))
    by_name = {judge.name: list(found.values()) for judge, found in judge_verdicts([trace]).items()}
    assert by_name == {"a": [0], "b": [0]}


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"case": "other"}, "case", "has no case 'other'"),
        ({"trace": "other"}, "trace", "the case has no trace 'other'"),
        ({"segment": 1}, "segment", "S1 is given text, not judged"),
        ({"segment": 9}, "segment", "the trace has no S9"),
        ({"verdict": "correct"}, "verdict", "unknown verdict"),
    ],
)
def test_a_line_that_fits_nothing_names_file_line_and_field_and_stops_the_whole_import(
    trace, change, field, said
):
    preview = imports.read(
        data(line(2, "trustworthy"), {**line(3, "trustworthy"), **change}), "v.jsonl", trace.case.dataset
    )
    (problem,) = preview.problems
    assert (problem.file, problem.line, problem.field) == ("v.jsonl", 2, field)
    assert said in problem.message
    with pytest.raises(UserError) as refused:
        imports.commit(preview, trace.case.dataset)
    assert refused.value.code == "import_has_problems"
    assert not JudgeRun.objects.exists()


def test_the_trace_may_be_left_out_only_where_the_case_has_one(trace):
    bare = {name: value for name, value in line(2, "trustworthy").items() if name != "trace"}
    commit(trace, bare)
    other = factories.trace(3, name="y", into=trace.case.dataset)
    type(other).objects.filter(pk=other.pk).update(case=trace.case)
    preview = imports.read(data(bare), "v.jsonl", trace.case.dataset)
    assert "the case has 2 traces" in preview.problems[0].message


def test_one_segment_named_in_two_ways_is_still_twice(trace):
    bare = {name: value for name, value in line(2, "problematic").items() if name != "trace"}
    preview = imports.read(data(line(2, "trustworthy"), bare), "v.jsonl", trace.case.dataset)
    assert "in line 1 already" in preview.problems[0].message


def test_verdicts_of_another_data_set_s_case_are_not_found(trace):
    preview = imports.read(data(line(2, "trustworthy")), "v.jsonl", factories.dataset())
    assert "has no case" in preview.problems[0].message


def test_rp_02_exported_verdicts_import_to_the_same_and_have_the_same_bytes(trace):
    from auditing.formats.verdicts import write_verdicts

    (run,) = commit(trace, line(2, "trustworthy", reason="=1+1"), line(4, None), line(3, "problematic"))
    exported = write_verdicts(imports.records_of(run))
    (again,) = imports.commit(imports.read(exported, "v.jsonl", trace.case.dataset), trace.case.dataset)
    assert write_verdicts(imports.records_of(again)) == exported


def test_the_command_prints_every_problem_and_imports_all_files_or_none(trace, tmp_path):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(data(line(2, "trustworthy"), line(3, None)))
    bad.write_bytes(data({**line(2, "trustworthy"), "case": "none"}, line(99, "trustworthy")))
    err, out = StringIO(), StringIO()
    with pytest.raises(CommandError, match="2 problems; nothing was imported"):
        call_command("import_verdicts", good, bad, data_set=trace.case.dataset.slug, stderr=err)
    assert f"{bad}, line 1, field case" in err.getvalue()
    assert f"{bad}, line 2, field segment" in err.getvalue()
    assert not JudgeRun.objects.exists()
    with pytest.raises(CommandError, match="There is no data set"):
        call_command("import_verdicts", good, data_set="none")
    call_command("import_verdicts", good, data_set=trace.case.dataset.name, stdout=out)
    assert "1 verdicts on 1 traces, 1 without a verdict" in out.getvalue()
    assert JudgeVerdict.objects.count() == 2
