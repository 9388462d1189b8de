"""The made-up sample of each format, read and compared with what was written into it by hand."""

from pathlib import Path

import pytest

from annotation.formats.records import ReadOptions, ReadResult, RelationRecord, SegmentRecord, TraceRecord
from annotation.formats.registry import FORMATS, detect, get_format

SAMPLES = Path(__file__).resolve().parents[3] / "fixtures" / "formats"
FILES = {
    "uroreason": "uroreason.jsonl",
    "csv": "table.csv",
    "parc": "parc.json",
    "processbench": "processbench.json",
    "mr_ben": "mr_ben.json",
    "entailmentbank": "entailmentbank.jsonl",
    "hard2verify": "hard2verify.jsonl",
    "bb_mistake": "bb_mistake.jsonl",
    "cot_samples": "cot_samples.jsonl",
    "gsm8k_solutions": "gsm8k_solutions.jsonl",
    "tot_game24": "tot_game24.json",
    "zeroeval": "zeroeval.jsonl",
    "inferential_strategies": "inferential_strategies.json",
    "logic_llm": "logic_llm.json",
}


def sample(name: str, **options: object) -> ReadResult:
    data = (SAMPLES / FILES[name]).read_bytes()
    return get_format(name).read(data, FILES[name], ReadOptions(**options))  # type: ignore[arg-type]


def golds(trace: TraceRecord) -> list[str | None]:
    return [segment.gold for segment in trace.segments]


def test_every_format_has_a_sample() -> None:
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize("name", FILES)
def test_sample_is_read_without_a_problem_and_recognised(name: str) -> None:
    result = sample(name)
    assert [str(problem) for problem in result.problems] == []
    assert result.traces
    assert detect((SAMPLES / FILES[name]).read_bytes(), FILES[name]) == name


@pytest.mark.parametrize("name", FILES)
def test_limit_stops_after_the_first_trace(name: str) -> None:
    assert [t.id for t in sample(name, limit=1).traces] == [t.id for t in sample(name).traces][:1]


def test_parc_native_steps_get_no_relation_and_late_premises_are_dropped() -> None:
    result = sample("parc")
    (trace,) = result.traces
    kinds = [(s.gold, s.error_kind) for s in trace.segments]
    # Step 3 has an inherited and an own error: native. Premises 4 and 7 of step 4 are not before it.
    assert kinds == [
        (None, None),
        ("correct", None),
        ("incorrect", "native"),
        ("incorrect", "native"),
        ("incorrect", "accumulation"),
    ]
    assert trace.relations == (RelationRecord((1,), 2, "entailment"), RelationRecord((3,), 5, "entailment"))
    assert trace.segments[2].gold_note == "36 - 20 is 16."
    assert trace.reference == "16"
    assert trace.domain == "mathematical"
    assert result.notes == ["parc.json, line 2: premises that are not before their step were dropped."]


def test_processbench_steps_after_the_first_error_are_unlabelled() -> None:
    first, second = sample("processbench").traces
    assert golds(first) == [None, "correct", "incorrect", None]
    assert golds(second) == [None, "correct", "correct"]
    assert first.case_id == second.case_id  # the same problem
    assert (first.id, first.generator) == ("made-up-0", "model-a")
    assert first.meta["final_answer_correct"] is False


def test_an_explicit_index_base_is_followed_and_noted() -> None:
    result = sample("processbench", index_base=1)
    assert golds(result.traces[0]) == [None, "incorrect", None, None]
    assert any("index_base" in note for note in result.notes)


def test_mr_ben_corrected_answer_options_and_blank_step() -> None:
    wrong, right = sample("mr_ben").traces
    # The first error is step 3 of 4, counted from 1; step 2 is blank and left out afterwards.
    assert [s.text for s in wrong.segments[1:]] == [
        "Step 1: Sunlight acts on the skin.",
        "Step 2: This makes vitamin C.",
        "Solution: A",
    ]
    assert golds(wrong) == [None, "correct", "incorrect", None]
    assert wrong.segments[2].gold_note == "Sunlight makes vitamin D.\nVitamin C comes from food."
    assert golds(right) == [None, "correct", "correct"]
    assert wrong.reference == "B"
    assert wrong.meta["reference_before_correction"] == "A"
    assert wrong.domain == "clinical"
    assert wrong.segments[0].text.endswith("C: Vitamin K")
    assert [heading for heading, _ in wrong.case_sections] == ["Question", "Options"]


def test_entailmentbank_puts_conclusions_after_their_premises() -> None:
    (trace,) = sample("entailmentbank").traces
    assert trace.context_segments == 3
    assert [s.text for s in trace.segments[3:]] == [
        "the room is above zero degrees",
        "the ice cube melts",
        "the ice cube in the room turns into a liquid",
    ]
    assert {(r.premises, r.target) for r in trace.relations} == {((2,), 4), ((1, 4), 5), ((3, 5), 6)}
    assert {r.label for r in trace.relations} == {"entailment"}
    assert set(golds(trace)) == {None}


def test_hard2verify_plain_and_masked_rows() -> None:
    plain, masked = sample("hard2verify").traces
    assert golds(plain) == [None, "correct", "incorrect", "incorrect"]
    assert masked.segments == (
        SegmentRecord("Is 7 a prime number? Give a reason."),
        SegmentRecord("7 is odd and larger than 2.", "correct"),
        SegmentRecord("Neither 2 nor 3 nor 5 divides 7, so 7 is prime.", "correct"),
    )


def test_bb_mistake_counts_from_0_and_null_means_no_mistake() -> None:
    wrong, right = sample("bb_mistake").traces
    assert golds(wrong) == [None, "correct", "correct", "incorrect", None]
    assert golds(right) == [None, "correct", "correct", "correct"]
    assert wrong.meta["final_answer_correct"] is False
    assert right.meta["final_answer_correct"] is True


def test_csv_quotes_line_breaks_and_words_for_labels() -> None:
    first, second = sample("csv").traces
    assert first.segments == (
        SegmentRecord("A man of 60; he has a cough."),
        SegmentRecord("A cough for three days is usually viral.", "correct"),
        SegmentRecord('He needs a "strong" antibiotic.', "incorrect", "No sign of a\nbacterial infection."),
    )
    assert first.domain == "clinical"
    assert second.segments[1].gold == "uncertain"
    assert second.domain == "mathematical"


def test_uroreason_raw_text_and_case_without_trace() -> None:
    whole, raw, waiting = sample("uroreason").traces
    assert whole.relations[0].probabilities == {"implied": 0.7, "neutral": 0.3}
    assert len(raw.segments) == 1
    assert str(raw.raw_text).startswith("Light is")
    assert waiting.meta == {"case_only": True}
