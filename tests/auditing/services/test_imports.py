"""Importing files: what is wrong is named with file, line and field, and nothing is half imported."""

import json

import pytest

from annotation.formats.records import ReadOptions
from annotation.models import Case, Dataset, Segment, Trace
from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.services import imports
from reasonaudit.lib.errors import UserError
from tests.auditing import factories

pytestmark = pytest.mark.django_db


def line(**changes):
    base = {
        "schema": "reasonaudit.trace/1",
        "id": "t1",
        "case_id": "c1",
        "domain": "clinical",
        "title": "A case",
        "segments": [{"text": "The case."}, {"text": "It follows.", "gold": "correct"}],
        "relations": [{"premises": [1], "target": 2, "label": "entailment"}],
    }
    return json.dumps({name: value for name, value in {**base, **changes}.items() if value is not ...})


def counts():
    return [model.objects.count() for model in (Dataset, Case, Trace, Segment)]


def read(*lines, name="file.jsonl", format_name=None, **options):
    return imports.read_upload("\n".join(lines).encode(), name, format_name, ReadOptions(**options))


def test_a_file_is_read_shown_and_stored():
    preview = read(line(), line(id="t2", case_id="c2"))
    assert preview.problems == []
    assert preview.format == "uroreason"
    assert preview.counts == {"traces": 2, "cases": 2, "segments": 2, "relations": 2, "gold": 2, "split": 0}
    assert counts() == [0, 0, 0, 0]
    outcome = imports.commit(preview, dataset="New set")
    assert outcome.dataset.slug == "new-set"
    assert counts() == [1, 2, 2, 4]
    assert outcome.traces[0].stored_relations == [[[1], 2, "entailment"]]


@pytest.mark.parametrize(
    ("title", "question", "shown"),
    [("Named", "Why?", "Named"), (..., "Why?", "Why?"), (..., ..., "The case.")],
)
def test_a_case_without_a_title_is_called_by_its_question_or_first_words(title, question, shown):
    (record,) = read(line(title=title, question=question)).records
    assert record.title == shown


def test_raw_text_is_split_here_and_kept():
    raw = "The first finding is clear. It has a dose of 2.5 mg. So we stop."
    preview = read(line(segments=[{"text": "The case."}], raw_text=raw, relations=...))
    assert [segment.text for segment in preview.records[0].segments[1:]] == [
        "The first finding is clear.",
        "It has a dose of 2.5 mg.",
        "So we stop.",
    ]
    assert preview.counts["split"] == 1
    (trace,) = imports.commit(preview, dataset="Raw").traces
    assert (trace.raw_text, trace.segmenter) == (raw, SEGMENTER_VERSION)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file is empty"),
        (b" \n\n ", "file is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "NUL byte"),
        ('{"id": "a", "x": 1}\n'.encode("utf-16"), "it looks like UTF-16"),
        ("caf\xe9, text".encode("latin-1"), "not UTF-8"),
        (line(segments=[]).encode(), "segments"),
        (line(segments=[{"text": "only"}], relations=...).encode(), "only context"),
        (line(segments=[{"text": "a"}, {"text": "b\x00"}]).encode(), "NUL"),
        (line(segments=[{"text": "a"}, {"text": "x" * 20_001}]).encode(), "20,0"),
        (line(relations=[{"premises": [1], "target": 2, "label": "proves"}]).encode(), "label"),
        (line(relations=[{"premises": [2], "target": 1, "label": "implied"}]).encode(), "target"),
        ((line() + "\n" + line()).encode(), "t1"),
    ],
)
def test_a_bad_file_is_explained_and_leaves_the_database_as_it_was(content, words):
    factories.trace(2)
    before = counts()
    preview = imports.read_upload(content, "bad.jsonl", None, ReadOptions())
    assert preview.problems
    text = " ".join(map(str, preview.problems))
    assert text.startswith("bad.jsonl")
    assert words in text
    with pytest.raises(UserError) as refused:
        imports.commit(preview, dataset="Set")
    assert "bad.jsonl" in refused.value.message
    assert counts() == before


def test_one_bad_line_stops_the_whole_import_and_is_named_with_line_and_field():
    preview = read(line(), line(id="t2", relations=[{"premises": [1], "target": 2, "label": "proves"}]))
    (problem,) = preview.problems
    assert (problem.file, problem.line) == ("file.jsonl", 2)
    assert "label" in problem.field
    with pytest.raises(UserError, match="Nothing was imported"):
        imports.commit(preview, dataset="Set")
    assert counts() == [0, 0, 0, 0]


def test_importing_the_same_file_again_is_a_conflict_and_makes_no_second_copy():
    preview = read(line())
    first = imports.commit(preview, dataset="Set")
    before = counts()
    with pytest.raises(UserError, match="already") as refused:
        imports.commit(preview, dataset=first.dataset)
    assert refused.value.status == 409
    with pytest.raises(UserError, match="data set named"):
        imports.commit(preview, dataset="Set")
    assert counts() == before


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(UserError, match="parc") as refused:
        read(line(), format_name="docx")
    assert refused.value.code == "unknown_format"
