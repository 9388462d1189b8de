"""The project's own format of sampled chains: what is read, and what is named as wrong."""

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.formats import cot_samples, uroreason
from annotation.formats.chains import case_meta_of, meta_of
from annotation.formats.records import ReadOptions, ReadResult, SegmentRecord, TraceRecord
from annotation.formats.registry import detect
from tests.annotation.formats.test_bad_input import json_values
from tests.annotation.formats.test_samples import SAMPLES, sample

SCHEMA = json.loads(
    Path(cot_samples.__file__).with_name("cot_samples.schema.json").read_text(encoding="utf-8")
)
STEPS = [{"index": 1, "text": "One.", "depends_on": []}, {"index": 2, "text": "Two.", "depends_on": [1]}]


def row(**changes: Any) -> dict[str, Any]:
    base = {
        "schema": "reasonaudit.cot-samples/1",
        "id": "q1",
        "question": "How many?",
        "gold": 7,
        "answer_kind": "number",
        "samples": [{"text": "1. It is 7. [depends_on: none]"}],
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not ...}


def one(**changes: Any) -> dict[str, Any]:
    """A question with a good sample and then one with these fields."""
    return row(samples=[{"steps": STEPS}, {"steps": copy.deepcopy(STEPS), **changes}])


def read(*rows: dict[str, Any], **options: Any) -> ReadResult:
    data = "\n".join(json.dumps(item) for item in rows).encode()
    return cot_samples.read(data, "x.jsonl", ReadOptions(**options))


def chain(trace: TraceRecord) -> Any:
    return trace.meta["chain"]


def test_the_example_follows_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for line in (SAMPLES / "cot_samples.jsonl").read_text("utf-8").splitlines():
        validator.validate(json.loads(line))


def test_the_example_is_read() -> None:
    told, short, refused, empty, first, second = sample("cot_samples").traces
    assert [t.id for t in (told, short, refused, empty)] == [f"apples-0{n}" for n in (1, 2, 3, 4)]
    assert {t.case_id for t in (told, short, refused, empty)} == {"apples"}
    assert {(t.reference, t.domain, t.generator) for t in (told, short, refused, empty)} == {
        ("7", "mathematical", "model-a, temperature 0.7")
    }
    assert {str(t.raw_text)[:2] for t in (told, short)} == {"1."}
    assert chain(told) == {
        "from_text": "steps",
        "answer": None,
        "answer_kind": "number",
        "take": 1,
        "warnings": [],
    }
    # A reply without any text stays a chain, which has no step.
    assert (chain(empty)["steps"], len(empty.segments), empty.raw_text) == ([], 1, None)
    assert [w["code"] for w in chain(empty)["warnings"]] == ["no_steps", "missing_answer"]
    assert first.segments[0].text == (
        "The plant stood in the dark for a month.\n\nWhat did it lose first?\n\nA: Its colour\nB: Its roots"
    )
    assert [heading for heading, _ in first.case_sections] == ["Context", "Question", "Options"]
    assert first.case_meta == {"answer_kind": "choice", "options": {"A": "Its colour", "B": "Its roots"}}
    assert (first.id, second.id) == ("plant-first", "plant-02")
    assert chain(first) == {
        "steps": [{"index": 1, "depends_on": []}, {"index": 3, "depends_on": [1]}],
        "answer": "(A)",
        "answer_kind": "choice",
        "take": 1,
        "warnings": [{"code": "unknown_dependency", "step": 3, "dep": 4}],
        "sound": "yes",
        "sound_by": "the authors",
        "facts": [
            {"text": "Chlorophyll needs light.", "step": 1, "depends_on": []},
            {"text": "The leaves fade.", "step": 3, "depends_on": [1]},
        ],
        "prefix_answers": ["B", "A"],
        "step_answers": [{"step": 3, "edit": "So the roots rot.", "answer": "B"}],
    }
    # Bare texts depend each on the one before, and a note says so.
    assert [step["depends_on"] for step in chain(second)["steps"]] == [[], [1]]
    assert {"code": "assumed_dependencies"} in chain(second)["warnings"]
    assert (chain(second)["sound"], chain(second)["sound_by"]) == ("no", "the file")
    assert any("depending each on the one before" in note for note in sample("cot_samples").notes)


def test_dependencies_that_lead_nowhere_are_dropped_with_a_warning() -> None:
    steps = [
        {"index": 2, "text": "a", "depends_on": [2, 3, 9]},
        {"index": 3, "text": "b"},
        {"index": 4, "text": "c", "depends_on": [3, 2, 3]},
    ]
    (trace,) = read(row(samples=[{"steps": steps, "answer": 7}])).traces
    assert [step["depends_on"] for step in chain(trace)["steps"]] == [[], [], [2, 3]]
    assert chain(trace)["warnings"] == [
        {"code": "self_dependency", "step": 2, "dep": 2},
        {"code": "forward_dependency", "step": 2, "dep": 3},
        {"code": "unknown_dependency", "step": 2, "dep": 9},
        {"code": "missing_depends_on", "step": 3},
    ]
    assert chain(trace)["answer"] == "7"


def test_gold_and_answers_may_be_numbers_or_truth_values() -> None:
    (trace,) = read(row(gold=True, answer_kind="boolean", samples=[{"steps": ["a"], "answer": False}])).traces
    assert (trace.reference, chain(trace)["answer"]) == ("True", "False")


def test_a_missing_kind_is_read_from_the_gold_answer_with_a_note() -> None:
    result = read(row(answer_kind=...))
    assert chain(result.traces[0])["answer_kind"] == "number"
    assert any("read as number" in note for note in result.notes)


def test_a_file_without_schema_is_recognised_by_its_samples() -> None:
    assert detect(json.dumps(row(schema=...)).encode(), "x.jsonl") == "cot_samples"
    assert detect(json.dumps(row(samples=[])).encode(), "x.jsonl") == "cot_samples"
    replies = [{"model": "m", "output": "o"}]
    assert detect(json.dumps(row(schema=..., samples=replies)).encode(), "x.jsonl") == "zeroeval"


PROBLEMS = [
    ("schema", row(schema="reasonaudit.cot-samples/2"), "version"),
    ("schema", row(schema="other"), "not known here"),
    ("id", row(id=...), "missing"),
    ("question", row(question=None), "missing"),
    ("samples", row(samples=...), "no list of samples"),
    ("samples", row(samples=[]), "no list of samples"),
    ("samples[1]", row(samples=["text"]), "must be an object, not text"),
    ("answer_kind", row(answer_kind="letters"), "unknown kind"),
    ("options.AB", row(options={"AB": "x"}), "one capital letter"),
    ("options.A", row(options={"A": " "}), "one capital letter"),
    ("domain", row(domain="law"), "unknown domain"),
    ("gold", row(gold=[7]), "must be text"),
    ("samples[2].text", one(text="1. It."), "both text and steps"),
    ("samples[1].text", row(samples=[{"answer": "7"}]), "neither text nor steps"),
    ("samples[2].steps[1].text", one(steps=[{"text": " "}]), "not blank"),
    ("samples[2].steps[1]", one(steps=[4]), "must be text or an object"),
    ("samples[2].steps[1].depends_on", one(steps=[{"text": "a", "depends_on": ["1"]}]), "whole numbers"),
    ("samples[2].steps[1].index", one(steps=[{"text": "a", "index": "x"}]), "whole number"),
    ("samples[2].steps", one(steps=[{"text": "a", "index": 1}, "b"]), "Number all or none"),
    ("samples[2].steps", one(steps=[{"text": "a", "index": 1}] * 2), "occurs twice"),
    ("samples[2].steps[1]", one(steps=[{"text": "a", "index": -1}]), "whole index"),
    ("samples[2].facts[1].text", one(facts=[{"text": "", "step": 1}]), "not blank"),
    ("samples[2].facts[1]", one(facts=[{"text": "f", "step": "1"}]), "whole step"),
    ("samples[2].facts[1].step", one(facts=[{"text": "f", "step": 3}]), "no step 3"),
    ("samples[2].facts", one(facts={"text": "f"}), "must be a list"),
    (
        "samples[2].prefix_answers",
        one(facts=[{"text": "f", "step": 1}], prefix_answers=["7", "8"]),
        "2 answers for 1 facts",
    ),
    ("samples[2].prefix_answers[1]", one(prefix_answers=[[7]]), "text or null"),
    ("samples[2].step_answers[1]", one(step_answers=[{"edit": "e"}]), "whole step"),
    ("samples[2].step_answers[1].edit", one(step_answers=[{"step": 1}]), "must be text"),
    ("samples[2].step_answers[1].step", one(step_answers=[{"step": 5, "edit": "e"}]), "no step 5"),
    ("samples[2].sound", one(sound="yes"), "true or false"),
    ("samples[2].answer", one(answer={}), "must be text"),
    ("generator", one(generator="m" * 201), "longer than 200"),
    ("segments[2].text", one(steps=["a" * 20_001]), "20,001 characters"),
]


@pytest.mark.parametrize(("field", "record", "words"), PROBLEMS, ids=[f"{p[0]}-{p[2]}" for p in PROBLEMS])
def test_a_bad_question_names_line_and_field(field: str, record: dict[str, Any], words: str) -> None:
    result = read(row(id="good"), record)
    assert result.traces[0].id == "good-01"
    (problem,) = result.problems
    assert (problem.line, problem.field) == (2, field)
    assert words in f"{problem.message} {problem.remedy}"


def test_the_same_sample_twice_is_named() -> None:
    result = read(row(samples=[{"id": "a", "text": "1. x"}, {"id": "a", "text": "1. y"}]))
    assert "'q1-a' occurs twice" in result.problems[0].message


@pytest.mark.parametrize(
    "change", [{"gold": 8}, {"answer_kind": "text"}, {"question": "How few?"}, {"options": {"A": "x"}}]
)
def test_a_question_may_come_again_with_more_samples_but_not_as_another_one(change: dict[str, Any]) -> None:
    more = [{"id": "more", "steps": STEPS}]
    assert [trace.id for trace in read(row(), row(samples=more)).traces] == ["q1-01", "q1-more"]
    result = read(row(), row(samples=more, **change))
    (problem,) = result.problems
    assert (problem.line, problem.field) == (2, "id")
    assert "on an earlier line" in problem.message


def test_unknown_keys_are_noted() -> None:
    notes = " ".join(read(row(extra=1, samples=[{"steps": [{"text": "a", "colour": 1}], "seed": 3}])).notes)
    for key in ("unknown key extra", "unknown key samples.seed", "unknown key samples.steps.colour"):
        assert key in notes


fields = ["id", "generator", "text", "steps", "answer", "facts", "prefix_answers", "step_answers", "sound"]


@settings(max_examples=300, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(fields, json_values),
            "steps": st.lists(
                st.fixed_dictionaries(
                    {}, optional={"index": json_values, "text": json_values, "depends_on": json_values}
                ),
                max_size=3,
            ),
            "facts": st.lists(
                st.fixed_dictionaries(
                    {}, optional={"text": json_values, "step": json_values, "depends_on": json_values}
                ),
                max_size=3,
            ),
            "step_answers": st.lists(
                st.fixed_dictionaries(
                    {}, optional={"step": json_values, "edit": json_values, "answer": json_values}
                ),
                max_size=3,
            ),
        },
    )
)
def test_any_values_in_a_sample_never_raise(values: dict[str, Any]) -> None:
    result = read(row(samples=[values]))
    assert result.traces or result.problems


def stored(**changes: Any) -> TraceRecord:
    made = {
        "steps": [{"index": 1, "depends_on": []}, {"index": 2, "depends_on": [1]}],
        "answer": None,
        "answer_kind": "choice",
        "take": 3,
        "warnings": [{"code": "missing_answer"}],
        **changes,
    }
    return TraceRecord(
        "t",
        "c",
        "general",
        "",
        (SegmentRecord("q"), SegmentRecord("a"), SegmentRecord("b")),
        meta={"chain": made},
        case_meta={"options": {"A": "one", "B": "two"}, "answer_kind": "choice"},
    )


def test_a_chain_and_the_options_of_its_case_survive_the_projects_own_trace_format() -> None:
    record = stored()
    result = uroreason.read(uroreason.write([record]), "x.jsonl", ReadOptions())
    assert (result.traces, result.problems, result.notes) == ([record], [], [])


def test_a_chain_without_steps_survives_it_too_with_its_reply() -> None:
    chained = {"steps": [], "answer": "A", "answer_kind": "choice", "take": 1, "warnings": []}
    for raw_text in (None, "I cannot."):
        record = TraceRecord(
            "t", "c", "general", "", (SegmentRecord("q"),), raw_text=raw_text, meta={"chain": chained}
        )
        result = uroreason.read(uroreason.write([record]), "x.jsonl", ReadOptions())
        assert (result.traces, result.problems) == ([record], [])


def test_what_of_stored_meta_goes_into_a_file() -> None:
    stored_case = {"options": {"A": "a"}, "answer_kind": "choice", "gold_by": "us", "answer_problem": {}}
    assert set(case_meta_of(stored_case)) == {"options", "answer_kind", "gold_by"}
    meta = {"source": "x", "chain": {"steps": []}}
    assert meta_of(meta, 1) == meta
    # People split or merged the segments: the steps of the chain are others.
    assert meta_of(meta, 2) == {"source": "x"}


def test_a_chain_of_other_segments_is_left_out_with_a_note() -> None:
    result = uroreason.read(
        uroreason.write([stored(steps=[{"index": 1, "depends_on": []}])]), "x.jsonl", ReadOptions()
    )
    assert result.traces[0].meta == {}
    assert "the chain was left out" in result.notes[0]


@pytest.mark.parametrize(
    ("field", "change", "words"),
    [
        ("meta.chain.steps", {"steps": 1}, "must be a list"),
        ("meta.chain.steps[1]", {"steps": [1, 2]}, "must be an object"),
        ("meta.chain.steps", {"steps": [{"index": 1}, {"index": 1}]}, "same index"),
        ("meta.chain.answer", {"answer": 7}, "must be text or null"),
        ("meta.chain.answer_kind", {"answer_kind": "letters"}, "must be one of"),
        ("meta.chain.take", {"take": 0}, "from 1"),
        ("meta.chain.sound", {"sound": True}, "yes or no"),
        ("meta.chain.sound_by", {"sound_by": 1}, "must be text"),
        ("meta.chain.warnings[1]", {"warnings": ["x"]}, "with a code"),
        ("meta.chain.from_text", {"from_text": "steps"}, "needs raw_text"),
        ("meta.chain.prefix_answers[2]", {"prefix_answers": [None, 2]}, "text or null"),
    ],
)
def test_a_malformed_chain_in_a_trace_file_is_a_problem(
    field: str, change: dict[str, Any], words: str
) -> None:
    (problem,) = uroreason.read(uroreason.write([stored(**change)]), "x.jsonl", ReadOptions()).problems
    assert problem.field == field
    assert words in problem.message


@pytest.mark.parametrize(
    ("field", "case_meta"),
    [
        ("options", {"options": ["one"]}),
        ("options", {"options": {"A": 1}}),
        ("answer_kind", {"answer_kind": "x"}),
    ],
)
def test_malformed_case_meta_is_a_problem(field: str, case_meta: dict[str, Any]) -> None:
    line = {"id": "t", "segments": ["q", "a"], "case_meta": case_meta}
    (problem,) = uroreason.read(json.dumps(line).encode(), "x.jsonl", ReadOptions()).problems
    assert problem.field == f"case_meta.{field}"
