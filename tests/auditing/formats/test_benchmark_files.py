"""Files of a benchmark's rows: read, checked against the schema, and every fault named with line and field."""

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.answer_boxes import AnswerBox, AnswerSound
from auditing.formats import benchmark_files
from auditing.formats.benchmark_files import SCHEMA, read_rows
from auditing.formats.benchmark_rows import AnswerRow, CategoryRow, DifficultyRow, RatingRow, ReferenceRow

SCHEMA_FILE = Path(benchmark_files.__file__).with_name("benchmark_files.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8")))
ANSWER = {"kind": "answer", "item": "q1", "model": "m", "text": "Final Answer: B"}
ROLLOUT = {"kind": "rollout", "item": "q1", "model": "m", "take": 2, "text": "B"}
RATING = {"kind": "rating", "item": "q1", "model": "m", "facet": "answer", "judge": "j", "rating": 4}
REFERENCE = {"kind": "reference", "item": "q1", "source": "human", "reference_kind": "refined", "text": "x"}
CATEGORY = {"kind": "category", "item": "q1", "category": "Sports", "source": "s", "confidence": 0.5}
DIFFICULTY = {"kind": "difficulty", "item": "q1", "judge": "j", "matches": [True, False], "similarity": 4}
BOX = {"label": "dog", "time_s": 1.5, "box": [1, 2, 3, 4], "unit": "px"}
SOUND = {"label": "bell", "start_s": 1, "end_s": 2.5}
ALL = [ANSWER, ROLLOUT, RATING, REFERENCE, CATEGORY, DIFFICULTY]


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_every_kind_of_row_is_read_with_its_line():
    read = read_rows(lines(*ALL))
    assert (read.problems, read.notes) == ([], [])
    assert read.rows == [
        AnswerRow(1, "q1", "chain", "m", "Final Answer: B"),
        AnswerRow(2, "q1", "rollout", "m", "B", take=2),
        RatingRow(3, "q1", "m", "answer", "j", value=4),
        ReferenceRow(4, "q1", "human", "refined", text="x"),
        CategoryRow(5, "q1", "Sports", "", "s", 0.5),
        DifficultyRow(6, "q1", "j", (True, False), 4),
    ]


def test_a_json_list_is_read_as_lines_are():
    assert read_rows(json.dumps(ALL).encode()).rows == [
        type(row)(**{**{name: getattr(row, name) for name in row.__slots__}, "line": 1})
        for row in read_rows(lines(*ALL)).rows
    ]


def test_boxes_sounds_and_what_else_a_row_may_say():
    read = read_rows(
        lines(
            {
                **ANSWER,
                "schema": SCHEMA,
                "setting": "no_audio",
                "boxes": [BOX, {**BOX, "time_s": None, "frame": 7, "unit": "fraction"}],
                "sounds": [SOUND],
                "source": "run 3",
            },
            {**RATING, "judge": None, "person": "Kim", "words": "Fine.", "reference": None},
            {**RATING, "facet": "correct", "rating": True},
            {**RATING, "facet": "divergence", "reference": "generated", "status": "lenient"},
        )
    )
    assert read.problems == []
    answer, person, correct, other = read.rows
    assert isinstance(answer, AnswerRow)
    assert answer.boxes == (
        AnswerBox("dog", (1.0, 2.0, 3.0, 4.0), time_us=1_500_000, unit="px"),
        AnswerBox("dog", (1.0, 2.0, 3.0, 4.0), frame=7, unit="fraction"),
    )
    assert answer.sounds == (AnswerSound("bell", 1_000_000, 2_500_000),)
    assert (answer.setting, answer.source) == ("no_audio", "run 3")
    assert isinstance(person, RatingRow)
    assert (person.source, person.words, person.reference) == ("imported:Kim", "Fine.", None)
    assert isinstance(correct, RatingRow)
    assert correct.reference is None
    assert isinstance(other, RatingRow)
    assert (other.reference, other.status) == ("generated", "lenient")


@pytest.mark.parametrize("answered", ["response", "prediction", "output"])
@pytest.mark.parametrize("named", ["id", "question_id", "qid", "item"])
def test_stored_answers_as_people_have_them(answered, named):
    read = read_rows(lines({named: 17, "model_name": "m", answered: "B", "cost": 1, "gold": "B"}))
    assert read.problems == []
    assert read.rows == [AnswerRow(1, "17", "chain", "m", "B")]
    assert read.notes == ["Stored answers have fields that were ignored: cost, gold."]


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({**ANSWER, "kind": "answers"}, "kind", "unknown kind 'answers'"),
    ({**ANSWER, "schema": "other/1"}, "schema", "unknown schema"),
    ({**ANSWER, "extra": 1}, "extra", "no such field"),
    ({**ANSWER, "item": ""}, "item", "0 characters"),
    ({**ANSWER, "item": None}, "item", "missing"),
    ({**ANSWER, "item": "x" * 201}, "item", "201 characters"),
    ({**ANSWER, "model": "x" * 181}, "model", "181 characters"),
    ({**ANSWER, "model": ["m"]}, "model", "must be text"),
    ({**ANSWER, "text": None}, "text", "missing"),
    ({**ANSWER, "text": 4}, "text", "missing"),
    ({**ANSWER, "text": "x" * 200_001}, "text", "200,001 characters"),
    ({**ANSWER, "setting": "all"}, "setting", "unknown setting"),
    ({**ANSWER, "take": 0}, "take", "no number of a try"),
    ({**ANSWER, "take": 1001}, "take", "no number of a try"),
    ({**ANSWER, "take": True}, "take", "whole number"),
    ({**ANSWER, "boxes": {}}, "boxes", "must be a list"),
    ({**ANSWER, "boxes": [1]}, "boxes[1]", "not an object"),
    ({**ANSWER, "boxes": [BOX, {**BOX, "unit": None}]}, "boxes[2].unit", "unknown unit"),
    ({**ANSWER, "boxes": [{**BOX, "box": [1, 2, 3]}]}, "boxes[1].box", "no box"),
    ({**ANSWER, "boxes": [{**BOX, "box": [1, 2, "3", 4]}]}, "boxes[1].box", "no box"),
    ({**ANSWER, "boxes": [{**BOX, "box": [1, 2, 0, 4]}]}, "boxes[1].box", "no area"),
    ({**ANSWER, "boxes": [{**BOX, "frame": 1}]}, "boxes[1]", "at a time or on a picture"),
    ({**ANSWER, "boxes": [{**BOX, "time_s": -1}]}, "boxes[1].time_s", "no time"),
    ({**ANSWER, "boxes": [{**BOX, "time_s": "1"}]}, "boxes[1].time_s", "no time"),
    ({**ANSWER, "boxes": [{**BOX, "time_s": None, "frame": 1.5}]}, "boxes[1].frame", "no picture"),
    ({**ANSWER, "boxes": [{**BOX, "label": " "}]}, "boxes[1].label", "no label"),
    ({**ANSWER, "boxes": [BOX] * 2001}, "boxes", "2,001 entries"),
    ({**ANSWER, "sounds": [{**SOUND, "end_s": 1}]}, "sounds[1].end_s", "ends before it starts"),
    ({**ANSWER, "tracks": [1]}, "tracks", "not an object by id"),
    ({**ROLLOUT, "boxes": []}, "boxes", "no such field"),
    ({**RATING, "facet": "style"}, "facet", "unknown facet"),
    ({**RATING, "person": "Kim"}, "judge", "of a judge or of a person"),
    ({**RATING, "judge": None}, "judge", "of a judge or of a person"),
    ({**RATING, "judge": "imported:Kim"}, "judge", "cannot begin with imported:"),
    ({**RATING, "reply": "4"}, "rating", "what was said"),
    ({name: value for name, value in RATING.items() if name != "rating"}, "rating", "what was said"),
    ({**RATING, "words": "x" * 20_001}, "words", "20,001 characters"),
    ({**RATING, "status": "certain"}, "status", "unknown status"),
    ({**REFERENCE, "reference_kind": "good"}, "reference_kind", "unknown kind"),
    ({**REFERENCE, "document": {}}, "text", "a text or a document"),
    ({**REFERENCE, "text": None}, "text", "a text or a document"),
    ({**REFERENCE, "origin": [1]}, "origin", "not an object"),
    ({**CATEGORY, "confidence": 1.5}, "confidence", "no share"),
    ({**CATEGORY, "confidence": True}, "confidence", "no share"),
    ({**CATEGORY, "category": ""}, "category", "0 characters"),
    ({**CATEGORY, "source": "hand"}, "source", "hand is no source of a label"),
    ({**CATEGORY, "source": "imported"}, "source", "imported is no source of a label"),
    ({**DIFFICULTY, "matches": []}, "matches", "not true or false for each rollout"),
    ({**DIFFICULTY, "matches": [True, 1]}, "matches", "not true or false for each rollout"),
    ({**DIFFICULTY, "matches": [True] * 1001}, "matches", "not true or false for each rollout"),
    ({**DIFFICULTY, "matches": "all"}, "matches", "must be a list"),
    ({**DIFFICULTY, "similarity": 0}, "similarity", "no similarity"),
    ({**DIFFICULTY, "similarity": 6}, "similarity", "no similarity"),
    ({**DIFFICULTY, "similarity": 3.5}, "similarity", "no similarity"),
    ({**DIFFICULTY, "similarity": True}, "similarity", "no similarity"),
    ({**DIFFICULTY, "similarity": [3]}, "similarity", "no similarity"),
    ({**DIFFICULTY, "similarity": None}, "similarity", "missing"),
    ({**DIFFICULTY, "judge": None}, "judge", "missing"),
    ({**DIFFICULTY, "explanation": "x" * 20_001}, "explanation", "20,001 characters"),
    ({**DIFFICULTY, "level": "hard"}, "level", "no such field"),
    ({"id": "q1", "model": "m"}, "kind", "has no kind"),
    ({"response": "B", "model": "m"}, "qid", "lacks item or id"),
    ({"response": "B", "id": "q1"}, "model_name", "lacks model or model_name"),
]


@pytest.mark.parametrize(("row", "field", "said"), BAD)
def test_what_does_not_fit_is_named_with_line_and_field_and_the_rest_is_read(row, field, said):
    read = read_rows(lines(ROLLOUT, row, CATEGORY), "rows.jsonl")
    (problem,) = read.problems
    assert (problem.file, problem.line, problem.field) == ("rows.jsonl", 2, field)
    assert said in problem.message
    assert [row.line for row in read.rows] == [1, 3]


def test_what_the_reader_takes_the_schema_takes_and_the_other_way_round():
    more = [
        {**ANSWER, "boxes": [BOX], "sounds": [SOUND], "setting": "no_video", "schema": SCHEMA},
        {**RATING, "rating": "six"},
        {**RATING, "rating": None, "why": "no_json"},
    ]
    for row in (*ALL, *more):
        VALIDATOR.validate(row)
        assert not read_rows(lines(row)).problems, row
    no_schema_for = {"sounds[1].end_s", "item", "category", "model", "boxes[1].label", "boxes[1].box"}
    for row, field, said in BAD:
        if "kind" in row and field not in no_schema_for:
            assert not VALIDATOR.is_valid(row), (field, said)


@pytest.mark.parametrize(
    "twice",
    [
        (ANSWER, {**ANSWER, "text": "other"}),
        (ROLLOUT, ROLLOUT),
        (RATING, {**RATING, "rating": 1}),
        (REFERENCE, {**REFERENCE, "text": "y"}),
        (CATEGORY, {**CATEGORY, "category": "Gaming"}),
        (DIFFICULTY, {**DIFFICULTY, "similarity": 1}),
        (ANSWER, {"id": "q1", "model": "m", "output": "B"}),
    ],
)
def test_what_may_be_said_once_is_said_once(twice):
    read = read_rows(lines(*twice))
    (problem,) = read.problems
    assert (problem.line, problem.message) == (2, "the same is said in line 1 already")
    assert len(read.rows) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"\xff\xfe\x00", ""),
        (b"\xff\n", "UTF-8"),
        (b"[]", "no row"),
        (b"[1, 2]", "must be a JSON object"),
        (b'{"kind": "answer",', "JSON"),
        (b'{"kind": "answer", "kind": "rating"}', "twice"),
        (b'{"take": NaN}', "not JSON"),
        (b"[" * 5000, ""),
        (b'{"a":' * 5000, ""),
        (b'{"kind": "answer", "item": "q\\u0000", "model": "m", "text": "x"}', "NUL"),
        (b'{"kind": "answer", "item": "q", "model": "m", "text": "\\ud800"}', ""),
        (b"PK\x03\x04", "ZIP"),
    ],
)
def test_a_file_that_is_none_is_named(data, said):
    read = read_rows(data)
    assert read.rows == []
    assert read.problems
    assert said in str(read.problems[0])


def test_a_file_that_is_too_long_is_not_read():
    read = read_rows(b" " * (20 * 1024 * 1024 + 1))
    assert "the limit is 20 MiB" in read.problems[0].message


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(ALL), st.data())
def test_ih_16_no_value_in_any_field_raises(row, data):
    name = data.draw(st.sampled_from([*row, "boxes", "sounds", "reply", "error", "document", "take"]))
    value = data.draw(JSON_VALUES)
    read = read_rows(json.dumps({**row, name: value}).encode())
    assert len(read.rows) + len(read.problems) == 1


@given(st.binary(max_size=300))
def test_ih_16_no_bytes_raise(data):
    read_rows(data)


def test_ih_16_no_damage_to_a_file_raises():
    whole = lines(*ALL)
    chance = random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(whole))
        read_rows(whole[:at] + bytes([chance.randrange(256)]) + whole[at + chance.randrange(1, 4) :])
