"""Importing sampled chains of thought: what is in the file is in the trace and its case, and comes out again."""

import json
from pathlib import Path

import pytest

from annotation.formats.records import SegmentRecord, TraceRecord
from annotation.models import Case, Segment, Trace
from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.services import exports, imports
from auditing.services.execution import execute
from tests.auditing import factories

SAMPLES = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


def read(name):
    preview = imports.read_upload((SAMPLES / name).read_bytes(), name)
    assert preview.problems == []
    return preview


def record(text, **chain):
    given = {
        "from_text": "steps",
        "answer": None,
        "answer_kind": "number",
        "take": 1,
        "warnings": [],
        **chain,
    }
    made = TraceRecord("t", "c", "general", "", (SegmentRecord("q"),), raw_text=text, meta={"chain": given})
    return imports.prepared(made, "cot_samples")


def test_a_reply_in_the_step_format_becomes_steps_with_dependencies():
    told, short, refused, empty = read("cot_samples.jsonl").records[:4]
    assert [s.text for s in told.segments[1:]] == [
        "The basket starts with 3 apples.",
        "It gets 4 more.",
        "Together that is 7.",
    ]
    assert told.meta["chain"] == {
        "steps": [
            {"index": 1, "depends_on": []},
            {"index": 2, "depends_on": []},
            {"index": 3, "depends_on": [1, 2]},
        ],
        "answer": "7",
        "answer_kind": "number",
        "take": 1,
        "warnings": [],
    }
    assert [step["depends_on"] for step in short.meta["chain"]["steps"]] == [[], [1]]
    assert short.meta["chain"]["answer"] is None
    assert short.meta["chain"]["warnings"] == [
        {"code": "missing_answer"},
        {"code": "step_count", "count": 2},
        {"code": "unknown_dependency", "step": 2, "dep": 5},
    ]
    # The reply stays readable, and no step is made of it.
    assert (len(refused.segments), refused.raw_text) == (1, "I cannot help with that.")
    assert refused.meta["chain"]["steps"] == []
    assert [w["code"] for w in refused.meta["chain"]["warnings"]] == [
        "ignored_line",
        "missing_answer",
        "no_steps",
    ]
    assert empty.meta["chain"]["steps"] == []


def test_an_answer_that_the_file_gives_goes_before_the_one_in_the_text():
    chain = record("3. a [depends_on: none]\nThe final answer is: 8", answer="9").meta["chain"]
    assert chain["answer"] == "9"
    assert chain["steps"] == [{"index": 3, "depends_on": []}]
    assert "missing_answer" not in [w["code"] for w in record("1. a", answer="9").meta["chain"]["warnings"]]


def test_a_step_without_a_statement_is_no_segment_and_nothing_depends_on_it():
    made = record("1. [depends_on: none]\n2. b [depends_on: 1]\n3. c [depends_on: 1, 2]")
    assert [s.text for s in made.segments[1:]] == ["b", "c"]
    assert made.meta["chain"]["steps"] == [
        {"index": 2, "depends_on": []},
        {"index": 3, "depends_on": [2]},
    ]
    assert {"code": "empty_step", "step": 1} in made.meta["chain"]["warnings"]


def test_a_step_longer_than_a_segment_is_cut_and_named():
    made = record("1. " + "a" * 20_001 + " [depends_on: none]")
    assert len(made.segments[1].text) == 20_000
    assert {"code": "cut_step", "step": 1} in made.meta["chain"]["warnings"]


def test_more_steps_than_a_trace_holds_are_a_problem():
    text = "\n".join(f"{number}. a" for number in range(1, 10_001))
    line = {"id": "q", "question": "q", "answer_kind": "text", "samples": [{"text": text}]}
    (problem,) = imports.read_upload(json.dumps(line).encode(), "x.jsonl").problems
    assert "10,001 segments; at most 10,000" in problem.message


def test_other_reasoning_is_split_into_segments_that_follow_each_other():
    good, noise, _ = read("logic_llm.json").records
    assert [s.text for s in good.segments[1:]] == [
        "It is a yumpus.",
        "Yumpuses are not sour.",
        "So it is not sour.",
    ]
    assert [step["depends_on"] for step in good.meta["chain"]["steps"]] == [[], [1], [2]]
    assert "from_text" not in good.meta["chain"]
    assert good.meta["chain"]["warnings"] == [{"code": "assumed_dependencies"}]
    assert [s.text for s in noise.segments[1:]] == ["$}}%"]


@pytest.mark.parametrize("chain", [{"steps": []}, None, 5, {"from_text": "else"}])
def test_raw_text_with_no_such_chain_is_split_as_ever(chain):
    made = TraceRecord(
        "t", "c", "general", "", (SegmentRecord("q"),), raw_text="A. B b b b.", meta={"chain": chain}
    )
    assert imports.prepared(made, "uroreason").meta["chain"] == chain


@pytest.mark.django_db
def test_chains_and_the_options_of_their_cases_are_stored():
    outcome = imports.commit(read("cot_samples.jsonl"), dataset="Samples")
    apples, plant = Case.objects.order_by("pk")
    assert apples.meta == {"answer_kind": "number"}
    assert plant.meta == {"answer_kind": "choice", "options": {"A": "Its colour", "B": "Its roots"}}
    assert [trace.case_id for trace in outcome.traces] == [apples.pk] * 4 + [plant.pk] * 2
    told, *_, first, _ = Trace.objects.order_by("pk")
    assert (told.segmenter, told.raw_text[:2]) == (SEGMENTER_VERSION, "1.")
    assert first.meta["chain"]["facts"][1] == {"text": "The leaves fade.", "step": 3, "depends_on": [1]}
    for trace in outcome.traces:
        steps = trace.meta["chain"]["steps"]
        assert len(steps) == Segment.objects.filter(trace=trace, index__gt=1).count()
    assert [len(trace.meta["chain"]["steps"]) for trace in outcome.traces] == [3, 2, 0, 0, 2, 2]


@pytest.mark.django_db
def test_the_outputs_of_two_models_share_their_questions():
    data = (SAMPLES / "logic_llm.json").read_bytes()
    one, two = (imports.read_upload(data, f"CoT_MADE_dev_{name}.json") for name in ("one", "two"))
    dataset = imports.commit(one, dataset="Outputs").dataset
    imports.commit(two, dataset=dataset)
    assert Case.objects.filter(dataset=dataset).count() == 3
    assert set(Trace.objects.values_list("generator", flat=True)) == {"one", "two"}


@pytest.mark.parametrize(
    ("name", "chains", "cases", "unread", "without_steps"),
    [
        ("gsm8k_model_solutions/example_model_solutions_first400.jsonl", 1600, 400, 5, 0),
        ("zeroeval_gsm/gsm_45q_multi_model.jsonl", 1845, 45, 1, 0),
        ("inferential_strategies/inferential_strategies.json", 300, 12, 17, 0),
        ("logic_llm/cot_outputs/CoT_FOLIO_dev_meta-llama-Llama-2-13b-hf.json", 204, 204, 172, 0),
    ],
)
def test_public_samples_have_steps_that_fit_their_segments(
    shared_data, name, chains, cases, unread, without_steps
):
    path = shared_data / "reasoning" / name
    if not path.exists():
        pytest.skip(f"no {name} under ../shared")
    preview = imports.read_upload(path.read_bytes(), path.name)
    assert preview.problems == []
    assert (preview.counts["traces"], preview.counts["cases"]) == (chains, cases)
    made = [(record, record.meta["chain"]) for record in preview.records]
    assert sum(chain["answer"] is None for _, chain in made) == unread
    assert sum(not chain["steps"] for _, chain in made) == without_steps
    for record, chain in made:
        assert len(chain["steps"]) == len(record.segments) - 1
        assert json.loads(json.dumps(chain)) == chain
        for step in chain["steps"]:
            assert all(index < step["index"] for index in step["depends_on"])


@pytest.mark.django_db
def test_an_export_gives_chains_and_options_back(make_run, tmp_path):
    outcome = imports.commit(read("cot_samples.jsonl"), dataset="Samples")
    Case.objects.filter(external_id="plant").update(
        meta={
            **Case.objects.get(external_id="plant").meta,
            "answer_problem": {"message": "for the page only"},
        }
    )
    run = make_run(*outcome.traces, options={"skip_refused": True})
    execute(run.pk, labeller=factories.FakeLabeller())
    run.refresh_from_db()
    exports.export_run(run, tmp_path / "out")
    again = imports.read_upload((tmp_path / "out" / "traces.jsonl").read_bytes(), "traces.jsonl").records
    chains = {
        trace.external_id: trace.meta["chain"] for trace in outcome.traces if trace.meta["chain"]["steps"]
    }
    assert {record.id: record.meta["chain"] for record in again} == chains
    options = {"answer_kind": "choice", "options": {"A": "Its colour", "B": "Its roots"}}
    assert [record.case_meta for record in again if record.case_id == "plant"] == [options, options]
