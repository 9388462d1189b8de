"""Files of an exported benchmark: what fits by the schema fits by the reader, and every fault has file, line, field."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditing.core.grounding import BoxMatch, Grounding, TimeMatch
from auditing.formats import benchmark_bundle as bundle
from auditing.formats import benchmark_bundle_fields as checks
from auditing.services.anchor import grounding

SCHEMA = json.loads(bundle.SCHEMA_FILE.read_bytes())
SHA = "a" * 64
ANSWER_KEY = {"item": "q1", "role": "chain", "model": "m", "setting": "full", "take": 1}
TIMES = {
    "why": "", "tiou": 0.5, "precision": 1, "recall": None, "f1": None, "points": 0, "points_inside": 0, "beyond": 0,
    "cited": [[0, 5]], "reference": [],
}  # fmt: skip
BOXES = {
    "why": "no_boxes",
    "cited": 0,
    "reference": 1,
    "pictures": {
        "matched_frames": 1,
        "mean_iou": 1,
        "union_iou": 0.5,
        "precision": 1,
        "recall": 1,
        "f1": 1,
    },
    "single": None,
}
HEAD = {
    "schema": bundle.SCHEMA,
    "name": "Name",
    "description": "",
    "parameters": {},
    "video_set": {"name": "Set", "description": "", "licence": "", "attribution": ""},
}
ROWS: dict[str, dict[str, Any]] = {
    bundle.ITEMS: {
        "number": 1,
        "item": "q1",
        "question": {
            "text": "Why?", "answer": "So.", "options": ["A", "B"], "category": "", "question_type": "",
            "difficulty": "", "target_label": "", "source": "", "meta": {}, "document": {},
        },
        "video": {
            "title": "Clip", "sha256": SHA, "duration_us": 4_000_000, "pictures": None, "rate": 25.5, "width": 640,
            "height": None, "licence": None, "attribution": "x",
        },
        "annotation_source": "human",
        "category": "Sports",
        "subcategory": "",
        "category_by": {"source": "imported", "person": None},
        "difficulty": "",
        "verdict": None,
        "review": {
            "decision": "confirmed", "fault": "", "level": "hard", "note": "", "version": 1, "person": "rater-2",
        },
    },
    bundle.REFERENCES: {
        "item": "q1", "source": "human", "kind": "refined", "writer": "", "version": "", "document": {}, "origin": {},
    },
    bundle.ANSWERS: {
        **ANSWER_KEY, "text": "Yes.", "final_answer": "Yes.", "document": None,
        "warnings": [{"code": "no_times", "message": "None."}], "source": "",
    },
    bundle.RATINGS: {
        **ANSWER_KEY, "facet": "answer", "reference": "human", "judge": "openai:j", "person": None, "value": 4,
        "status": "strict", "why": "", "words": "", "about": {"answer_sha256": SHA, "reference_sha256": ""},
    },
    bundle.DIFFICULTY: {
        "item": "q1", "judge": "openai:j", "matches": [True, False], "similarity": 5, "explanation": "", "problem": "",
        "about": None,
    },
    bundle.TAXONOMY: {
        "item": "q1", "source": None, "person": "rater-1", "category": "Sports", "subcategory": "", "confidence": None,
        "note": "",
    },
    bundle.GROUNDING: {
        **ANSWER_KEY, "reference": "human", "about": None,
        "document": {
            "schema": "reasonaudit.grounding-score/1", "match_from": 0.5, "boxes": BOXES, "visual": TIMES,
            "audio": TIMES, "sounds": TIMES,
        },
    },
}  # fmt: skip


def written(folder: Path, *changes: tuple[str, Any], head: Any = HEAD) -> Path:
    """A folder with one line a file; a change is a file and a further line, whole or as text."""
    (folder / bundle.BENCHMARK).write_text(json.dumps(head))
    for name in bundle.LINES:
        more = [line for file, line in changes if file == name]
        lines = [ROWS[name], *more]
        (folder / name).write_text(
            "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        )
    return folder


def read(folder: Path) -> tuple[bundle.BundleReader, list[Any]]:
    reader = bundle.BundleReader(folder)
    rows = [(bundle.ITEMS, line, row) for line, row in reader.items()]
    return reader, [*rows, *reader.others()]


def validator(name: str) -> Any:
    kind = "benchmark" if name == bundle.BENCHMARK else bundle.LINES[name]
    return jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{kind}"})


def changed(row: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    made = deepcopy(row)
    *parents, last = path.split(".")
    place: Any = made
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    if value is ...:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return made


def test_every_line_that_fits_is_handed_on_with_file_and_line(tmp_path):
    reader, rows = read(written(tmp_path))
    assert reader.problems == []
    assert reader.head == HEAD
    assert [(name, line) for name, line, _ in rows] == [(name, 1) for name in bundle.LINES]
    assert [row for *_, row in rows] == list(ROWS.values())
    assert reader.counts == dict.fromkeys(bundle.LINES, 1)


BAD: list[tuple[str, str, Any]] = [
    (bundle.ITEMS, "number", 0),
    (bundle.ITEMS, "number", True),
    (bundle.ITEMS, "item", ""),
    (bundle.ITEMS, "item", ...),
    (bundle.ITEMS, "extra", 1),
    (bundle.ITEMS, "question.text", None),
    (bundle.ITEMS, "question.options", "A"),
    (bundle.ITEMS, "question.options.0", 1),
    (bundle.ITEMS, "question.meta", []),
    (bundle.ITEMS, "question.extra", []),
    (bundle.ITEMS, "video.sha256", "../../etc/passwd"),
    (bundle.ITEMS, "video.duration_us", -1),
    (bundle.ITEMS, "video.rate", "25"),
    (bundle.ITEMS, "annotation_source", "robot"),
    (bundle.ITEMS, "category_by", "hand"),
    (bundle.ITEMS, "difficulty", "impossible"),
    (bundle.ITEMS, "review.decision", ""),
    (bundle.ITEMS, "review.person", "Ann"),
    (bundle.ITEMS, "review.version", 0),
    (bundle.REFERENCES, "source", "Human"),
    (bundle.REFERENCES, "kind", "good"),
    (bundle.REFERENCES, "version", "v" * 81),
    (bundle.REFERENCES, "document", None),
    (bundle.ANSWERS, "role", "other"),
    (bundle.ANSWERS, "setting", "all"),
    (bundle.ANSWERS, "take", 0),
    (bundle.ANSWERS, "take", 40_000),
    (bundle.ANSWERS, "text", 4),
    (bundle.ANSWERS, "warnings", [{"code": "x"}]),
    (bundle.ANSWERS, "warnings.0.code", ""),
    (bundle.RATINGS, "facet", "style"),
    (bundle.RATINGS, "value", 6),
    (bundle.RATINGS, "value", 0),
    (bundle.RATINGS, "value", 4.5),
    (bundle.RATINGS, "value", True),
    (bundle.RATINGS, "value", None),
    (bundle.RATINGS, "status", "invalid"),
    (bundle.RATINGS, "status", "certain"),
    (bundle.RATINGS, "person", "rater-1"),
    (bundle.RATINGS, "judge", None),
    (bundle.RATINGS, "judge", "imported:rater-1"),
    (bundle.RATINGS, "about", SHA),
    (bundle.RATINGS, "about.answer_sha256", "x"),
    (bundle.DIFFICULTY, "matches", [1]),
    (bundle.DIFFICULTY, "similarity", 6),
    (bundle.DIFFICULTY, "about", "x"),
    (bundle.TAXONOMY, "confidence", 1.5),
    (bundle.TAXONOMY, "category", ""),
    (bundle.TAXONOMY, "source", "openai:sorter"),
    (bundle.TAXONOMY, "person", "rater-0"),
    (bundle.GROUNDING, "document.schema", "other"),
    (bundle.GROUNDING, "document.visual.tiou", 2),
    (bundle.GROUNDING, "document.visual.cited", [[1]]),
    (bundle.GROUNDING, "document.boxes.why", "because"),
    (bundle.GROUNDING, "document.boxes.pictures.f1", "1"),
    (bundle.GROUNDING, "document.sounds", ...),
]


@pytest.mark.parametrize(("name", "path", "value"), BAD)
def test_what_does_not_fit_is_named_with_file_line_and_field_and_by_the_schema_too(
    tmp_path, name, path, value
):
    bad = changed(ROWS[name], path, value)
    reader, rows = read(written(tmp_path, (name, bad)))
    (problem,) = reader.problems
    assert (problem.file, problem.line) == (name, 2)
    assert problem.field
    assert len(rows) == len(bundle.LINES), "the lines that fit are there"
    assert not validator(name).is_valid(bad)


def test_what_the_reader_takes_the_schema_takes():
    for name, row in ROWS.items():
        validator(name).validate(row)
    validator(bundle.BENCHMARK).validate(HEAD)
    more = [
        (bundle.RATINGS, {"value": None, "status": "error", "about": None, "reference": None}),
        (bundle.RATINGS, {"judge": None, "person": "rater-12", "status": "given"}),
        (bundle.RATINGS, {"facet": "correct", "value": 0}),
        (bundle.ITEMS, {"category_by": None, "verdict": {}, "review": None}),
        (bundle.DIFFICULTY, {"matches": None, "similarity": None, "about": SHA}),
        (bundle.TAXONOMY, {"person": None, "source": "openai:sorter", "confidence": 0.5}),
    ]
    for name, fields in more:
        row = {**ROWS[name], **fields}
        validator(name).validate(row)
        assert checks.fault(row, checks.FIELDS[bundle.LINES[name]]) == ("", "")


OTHER_ANSWER = {**ANSWER_KEY, "model": "nobody"}


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        (bundle.ITEMS, {**ROWS[bundle.ITEMS], "item": "q2"}, "the same is said in line 1 already"),
        (bundle.ITEMS, {**ROWS[bundle.ITEMS], "number": 2}, "the same is said in line 1 already"),
        (bundle.REFERENCES, {**ROWS[bundle.REFERENCES], "version": "2"}, "the same is said"),
        (bundle.REFERENCES, {**ROWS[bundle.REFERENCES], "item": "q9"}, "there is no item 'q9'"),
        (bundle.ANSWERS, {**ROWS[bundle.ANSWERS], "text": "No."}, "the same is said"),
        (bundle.RATINGS, {**ROWS[bundle.RATINGS], "value": 1}, "the same is said"),
        (bundle.RATINGS, {**ROWS[bundle.RATINGS], **OTHER_ANSWER}, "there is no such answer of 'nobody'"),
        (bundle.RATINGS, {**ROWS[bundle.RATINGS], "reference": "other"}, "the item has no reference 'other'"),
        (bundle.DIFFICULTY, {**ROWS[bundle.DIFFICULTY], "similarity": 1}, "the same is said"),
        (bundle.TAXONOMY, {**ROWS[bundle.TAXONOMY], "category": "Gaming"}, "the same is said"),
        (bundle.GROUNDING, {**ROWS[bundle.GROUNDING], "about": SHA}, "the same is said"),
        (bundle.ANSWERS, "{", "not valid JSON"),
        (bundle.ANSWERS, "[]", "not a JSON object"),
        (bundle.ANSWERS, '{"text": NaN}', "NaN is no number of JSON"),
        (bundle.ANSWERS, '{"text": 1e999}', "larger than any number"),
        (bundle.ANSWERS, "[" * 100_000, "not valid JSON"),
        (bundle.ANSWERS, '{"text": "\\u0000"}', "holds a NUL character"),
        (bundle.ANSWERS, '{"text": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_a_line_about_nothing_said_twice_or_unreadable_is_a_problem(tmp_path, name, line, said):
    reader, rows = read(written(tmp_path, (name, line)))
    (problem,) = reader.problems
    assert (problem.file, problem.line) == (name, 2)
    assert said in problem.message
    assert len(rows) == len(bundle.LINES)


@pytest.mark.parametrize("name", [bundle.BENCHMARK, *bundle.LINES])
def test_a_file_that_is_missing_is_named(tmp_path, name):
    (written(tmp_path) / name).unlink()
    reader, _ = read(tmp_path)
    assert (reader.problems[0].file, reader.problems[0].message) == (name, "the file is missing")


def test_ten_thousand_bad_lines_are_counted_and_two_hundred_are_listed(tmp_path):
    reader, _ = read(written(tmp_path, *[(bundle.RATINGS, "{}")] * 10_000))
    assert (reader.problem_count, len(reader.problems)) == (10_000, 200)


def test_numbers_and_line_separators_stay_as_they_are():
    line = bundle.json_line({"b": 10.0, "a": "x\u2028y\x85z"})
    assert line == b'{"a":"x\\u2028y\\u0085z","b":10.0}\n'
    assert json.loads(line) == {"b": 10.0, "a": "x\u2028y\x85z"}


def test_scores_have_the_fields_of_the_core_and_its_reasons():
    boxes = SCHEMA["$defs"]["score"]["properties"]["document"]["properties"]["boxes"]["properties"]
    assert set(boxes["pictures"]["required"]) == set(Grounding.__slots__)
    assert set(boxes["single"]["required"]) == set(BoxMatch.__slots__)
    assert set(TIMES) == {"why", "cited", "reference", *TimeMatch.__slots__}
    assert set(checks.WHY) == {"", *grounding.WHY}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_ih_16_no_value_in_any_field_raises(tmp_path, data):
    name = data.draw(st.sampled_from(list(bundle.LINES)))
    field = data.draw(st.sampled_from(sorted(ROWS[name])))
    line = json.dumps({**ROWS[name], field: data.draw(JSON)})
    reader, _ = read(written(tmp_path, (name, line)))
    assert all(problem.line == 2 for problem in reader.problems)
