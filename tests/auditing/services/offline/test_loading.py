"""Files in, traces out; every problem is named and nothing raises."""

import json

import pytest

from annotation.formats.records import ReadOptions
from auditing.services.offline.errors import OfflineError, UsageError
from auditing.services.offline.loading import load, refuse
from tests.auditing import golden


def only_problem(loaded) -> str:
    assert len(loaded.problems) == 1
    return str(loaded.problems[0])


def test_the_format_is_recognised_and_said(tmp_path):
    path = golden.write(tmp_path / "a.jsonl")
    loaded = load([path])
    assert [trace.id for trace in loaded.traces] == ["wound"]
    assert loaded.notes == [f"{path}: recognised as reasonaudit JSON lines. Say --format to choose another."]
    assert loaded.inputs[0].name == "a.jsonl"
    assert loaded.inputs[0].format == "uroreason"


def test_raw_reasoning_is_split_behind_the_context(tmp_path):
    record = {
        "schema": "reasonaudit.trace/1",
        "id": "raw",
        "context_segments": 1,
        "segments": [{"text": "A case."}],
        "raw_text": "First this holds. Then that follows.",
    }
    path = tmp_path / "raw.jsonl"
    path.write_text(json.dumps(record))
    loaded = load([path])
    assert loaded.problems == []
    assert [s.text for s in loaded.traces[0].segments] == [
        "A case.",
        "First this holds.",
        "Then that follows.",
    ]


def test_a_case_without_reasoning_is_left_out_and_said(tmp_path):
    path = tmp_path / "case.jsonl"
    case = {"schema": "reasonaudit.trace/1", "id": "c", "segments": [{"text": "A case."}], "trace": None}
    path.write_text(json.dumps(case))
    loaded = load([path])
    assert loaded.traces == []
    assert "case c has no reasoning yet" in loaded.notes[-1]


def test_a_chain_without_steps_is_kept_only_where_chains_are_counted(tmp_path):
    path = tmp_path / "chains.jsonl"
    samples = [{"text": "I refuse."}, {"text": " "}, {"text": "1. So."}]
    path.write_text(json.dumps({"id": "q", "question": "?", "answer_kind": "text", "samples": samples}))
    kept = load([path], without_steps=True)
    assert [trace.id for trace in kept.traces] == ["q-01", "q-02", "q-03"]
    audited = load([path])
    assert [trace.id for trace in audited.traces] == ["q-03"]
    assert audited.notes[-1] == f"{path}: 2 chains without steps; left out."
    assert kept.problems == audited.problems == []


def test_remarks_of_a_reader_go_with_the_name_of_the_file_alone(tmp_path):
    path = tmp_path / "chains.jsonl"
    path.write_text(json.dumps({"id": "q", "question": "?", "gold": 7, "samples": [{"text": "1. So."}]}))
    (entry,) = load([path]).inputs
    assert entry.notes == ("chains.jsonl, line 1: answer_kind is not given; read as number.",)
    assert "notes" not in entry.to_dict()


def test_a_missing_file(tmp_path):
    assert only_problem(load([tmp_path / "none.jsonl"])) == (
        f"{tmp_path / 'none.jsonl'}: there is no such file. Check the path."
    )


def test_a_folder(tmp_path):
    assert "this is a folder" in only_problem(load([tmp_path]))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"  \n ", "the file is empty"),
        ("grün".encode("utf-16"), "UTF-16"),
        (b'{"id": "a\x00"}', "NUL byte"),
        (b"PK\x03\x04zip", "a ZIP archive"),
        (b"just a sentence", "the format was not recognised"),
    ],
)
def test_bad_bytes_are_named(tmp_path, data, words):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    loaded = load([path])
    assert words in only_problem(loaded)
    assert loaded.traces == []


def test_ids_must_be_unique_over_all_files(tmp_path):
    first, second = golden.write(tmp_path / "a.jsonl"), golden.write(tmp_path / "b.jsonl")
    loaded = load([first, second])
    assert f"trace 'wound' is in {first} too" in only_problem(loaded)
    assert len(loaded.traces) == 1


def test_the_limit_holds_for_all_files_together(tmp_path):
    first = golden.write(tmp_path / "a.jsonl", golden.trace("a"), golden.trace("b"))
    second = golden.write(tmp_path / "b.jsonl", golden.trace("c"), golden.trace("d"))
    assert [t.id for t in load([first, second], options=ReadOptions(limit=3)).traces] == ["a", "b", "c"]
    assert [t.id for t in load([first, second], options=ReadOptions(limit=2)).traces] == ["a", "b"]


def test_an_unknown_format_is_wrong_use(tmp_path):
    with pytest.raises(UsageError, match=r"Unknown format 'nope'.*uroreason"):
        load([golden.write(tmp_path / "a.jsonl")], format_name="nope")


def test_a_doubt_about_the_index_base_asks_for_the_flag(tmp_path):
    record = golden.trace()
    del record["schema"]
    path = golden.write(tmp_path / "a.jsonl", record)
    assert "from 0 or from 1" in only_problem(load([path]))
    assert load([path], options=ReadOptions(index_base=1)).problems == []


def test_problems_stop_unless_they_are_skipped(tmp_path):
    loaded = load([tmp_path / "none.jsonl", golden.write(tmp_path / "a.jsonl")])
    with pytest.raises(OfflineError, match="1 problem; nothing was done"):
        refuse(loaded.problems, skip_bad=False, traces=1)
    refuse(loaded.problems, skip_bad=True, traces=1)
    with pytest.raises(OfflineError, match="No trace with reasoning"):
        refuse(loaded.problems, skip_bad=True, traces=0)
