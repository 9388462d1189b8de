"""The readers against the public data sets, compared with the counts that their sources state.

The data are never part of the project: without ../shared these tests skip.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from annotation.formats.entailmentbank import ProofStep, parse_proof
from annotation.formats.records import ReadOptions, TraceRecord
from annotation.formats.registry import detect, get_format


@pytest.fixture(scope="module")
def reasoning(shared_data: Path) -> Path:
    return shared_data / "reasoning"


def read_all(folder: Path, pattern: str, name: str) -> list[TraceRecord]:
    """All traces of the files, which must be recognised and free of problems."""
    traces = []
    for path in sorted(folder.glob(pattern)):
        data = path.read_bytes()
        assert detect(data, path.name) == name
        result = get_format(name).read(data, path.name, ReadOptions())
        assert [str(problem) for problem in result.problems] == []
        traces.extend(result.traces)
    if not traces:
        pytest.skip(f"no {pattern} under ../shared")
    return traces


def steps_of(traces: list[TraceRecord]) -> Counter[tuple[str | None, str | None]]:
    return Counter((s.gold, s.error_kind) for t in traces for s in t.segments[t.context_segments :])


def test_parc_traces_steps_and_error_kinds(reasoning: Path) -> None:
    traces = read_all(reasoning / "parc", "*.json", "parc")
    assert len(traces) == 348
    assert steps_of(traces) == {
        ("correct", None): 1158,
        ("incorrect", "native"): 371,
        ("incorrect", "accumulation"): 533,
    }
    native = {(t.id, i) for t in traces for i, s in enumerate(t.segments, 1) if s.error_kind == "native"}
    with_support = {(t.id, r.target) for t in traces for r in t.relations}
    assert not native & with_support
    # One relation for every step that is not native: each has premises.
    assert sum(len(t.relations) for t in traces) == 1158 + 533
    assert {r.label for t in traces for r in t.relations} == {"entailment"}


def test_entailmentbank_trees_steps_and_arities(reasoning: Path) -> None:
    traces = read_all(reasoning / "entailmentbank", "*.jsonl", "entailmentbank")
    assert len(traces) == 187
    arities = Counter(len(r.premises) for t in traces for r in t.relations)
    assert arities == {1: 1, 2: 541, 3: 48, 4: 6, 5: 1}
    assert sum(arities.values()) == 597
    assert sum(any(len(r.premises) > 2 for r in t.relations) for t in traces) == 44
    assert max(len(t.relations) for t in traces) == 15
    assert all(t.relations[-1].target == len(t.segments) for t in traces)


def leaves(steps: list[ProofStep]) -> set[str]:
    return {name for step in steps for name in step.premises if name.startswith("sent")}


@pytest.mark.parametrize(
    ("file", "f1"),
    [("pred_task1_T5_11B_dev.16K_steps.tsv", 0.992), ("pred_task1_T5_large_dev.48K_steps.tsv", 0.987)],
)
def test_predicted_proofs_are_parsed(reasoning: Path, file: str, f1: float) -> None:
    """The stated leaf F1 of the predictions comes out, so steps are found even where texts hold arrows."""
    folder = reasoning / "entailmentbank"
    gold = [
        json.loads(line)["proof"] for line in (folder / "task_1.dev.jsonl").read_text("utf-8").splitlines()
    ]
    predicted = (folder / file).read_text("utf-8").splitlines()
    scores = []
    for right, guess in zip(gold, predicted, strict=True):
        steps = parse_proof(guess)
        assert steps[-1].target == "hypothesis"
        expected, found = leaves(parse_proof(right)), leaves(steps)
        scores.append(2 * len(expected & found) / (len(expected) + len(found)))
    assert sum(scores) / len(scores) == pytest.approx(f1, abs=0.0005)


def test_processbench_gsm8k(reasoning: Path) -> None:
    traces = read_all(reasoning / "processbench", "gsm8k.json", "processbench")
    wrong = [t for t in traces if any(s.gold == "incorrect" for s in t.segments)]
    assert (len(traces), len(wrong)) == (400, 207)
    assert sum(t.meta["final_answer_correct"] is True for t in wrong) == 7
    assert round(sum(len(t.segments) - 1 for t in traces) / len(traces), 1) == 5.2
    assert len(read_all(reasoning / "processbench", "math*.json", "processbench")) == 200


def test_mr_ben_medicine(reasoning: Path) -> None:
    traces = read_all(reasoning / "mr_ben", "medicine*.json", "mr_ben")
    wrong = [t for t in traces if any(s.gold == "incorrect" for s in t.segments)]
    assert (len(traces), len(wrong)) == (412, 286)
    assert len({t.case_id for t in traces}) == 138
    assert round(sum(len(t.segments) - 1 for t in traces) / len(traces), 1) == 7.4
    assert {t.domain for t in traces} == {"clinical"}
    for trace in traces:
        golds = [s.gold for s in trace.segments[1:]]
        if "incorrect" in golds:
            first = golds.index("incorrect")
            assert golds == ["correct"] * first + ["incorrect"] + [None] * (len(golds) - first - 1)
        else:
            assert set(golds) == {"correct"}
    assert {t.domain for t in read_all(reasoning / "mr_ben", "math*.json", "mr_ben")} == {"mathematical"}


@pytest.mark.parametrize(
    ("task", "mistakes", "right", "lucky"),
    [
        ("logical_deduction", 294, 45, 39),
        ("multistep_arithmetic", 238, 45, 1),
        ("tracking_shuffled_objects", 260, 45, 12),
    ],
)
def test_bb_mistake(reasoning: Path, task: str, mistakes: int, right: int, lucky: int) -> None:
    """300 traces a task; `lucky` answers are right although the reasoning holds a mistake."""
    traces = read_all(reasoning / "bb_mistake", f"{task}.jsonl", "bb_mistake")
    wrong = [t for t in traces if any(s.gold == "incorrect" for s in t.segments)]
    answered = [t for t in traces if t.meta.get("final_answer_correct")]
    assert (len(traces), len(wrong), len(answered)) == (300, mistakes, right)
    assert sum(t in wrong for t in answered) == lucky
