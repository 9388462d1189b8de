"""Readers of sampled chains against the public samples, compared with the counts that their sources state.

The data are never part of the project: without ../shared these tests skip.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from annotation.formats.chains import exact
from annotation.formats.records import TraceRecord
from tests.annotation.formats.test_public_counts import read_all


@pytest.fixture(scope="module")
def reasoning(shared_data: Path) -> Path:
    return shared_data / "reasoning"


def chain(trace: TraceRecord) -> Any:
    return trace.meta["chain"]


def number(answer: str | None) -> object:
    return exact((answer or "").replace("$", "").strip())


def test_gsm8k_answers_agree_with_the_published_judgements(reasoning: Path) -> None:
    traces = read_all(reasoning / "gsm8k_model_solutions", "*.jsonl", "gsm8k_solutions")
    assert (len(traces), len({t.case_id for t in traces})) == (1600, 400)
    right = [t for t in traces if number(chain(t)["answer"]) == number(t.reference)]
    assert Counter(t.generator for t in right) == {
        "6b_finetuning": 89,
        "6b_verification": 156,
        "175b_finetuning": 146,
        "175b_verification": 224,
    }
    assert [t.id for t in right] == [t.id for t in traces if t.meta["is_correct"]]


@pytest.fixture(scope="module")
def game24(reasoning: Path) -> list[TraceRecord]:
    return read_all(reasoning / "tot_game24", "*.json", "tot_game24")


def test_every_expression_of_the_game_of_24_is_judged_as_the_log_did(game24: list[TraceRecord]) -> None:
    assert (len(game24), len({t.case_id for t in game24})) == (10_000, 100)
    assert sum((chain(t)["answer"] == "24") is (t.meta["reward"] == 1) for t in game24) == 10_000
    assert sum(t.meta["reward"] == 1 for t in game24) / len(game24) == pytest.approx(0.040, abs=0.0005)
    assert len({t.case_id for t in game24 if chain(t)["answer"] == "24"}) == 49
    assert {t.generator for t in game24} == {"gpt-4, temperature 0.7"}


def test_every_puzzle_has_four_numbers_and_its_replies_about_61_texts(game24: list[TraceRecord]) -> None:
    texts = defaultdict(set)
    for trace in game24:
        assert len(trace.question.partition("Numbers: ")[2].split()) == 4
        steps = tuple(segment.text for segment in trace.segments[1:])
        rest = tuple(chain(trace).get("ignored_lines", ()))
        texts[trace.case_id].add((steps, rest, chain(trace).get("answer_written")))
    assert sum(map(len, texts.values())) / len(texts) == pytest.approx(61, abs=0.5)


def test_zeroeval_plurality(reasoning: Path) -> None:
    traces = read_all(reasoning / "zeroeval_gsm", "*.jsonl", "zeroeval")
    assert (len(traces), len({t.generator for t in traces}), len({t.case_id for t in traces})) == (
        1845,
        41,
        45,
    )
    assert sum(chain(t)["answer"] is None for t in traces) == 1
    votes: dict[str, Counter[object]] = defaultdict(Counter)
    gold = {}
    for trace in traces:
        votes[trace.case_id][number(chain(trace)["answer"])] += 1
        gold[trace.case_id] = number(trace.reference)
    right = sum(count.most_common(1)[0][0] == gold[case] for case, count in votes.items())
    assert right / len(gold) == pytest.approx(0.956, abs=0.0005)


def test_inferential_strategies_judgements_and_answers(reasoning: Path) -> None:
    traces = read_all(reasoning / "inferential_strategies", "*.json", "inferential_strategies")
    assert Counter(t.case_id for t in traces).most_common() == [(t.case_id, 25) for t in traces[:12]]
    assert sum(chain(t)["sound"] == "yes" for t in traces) == 58
    assert sum(chain(t)["answer"] == "True" and chain(t)["sound"] == "no" for t in traces) == 163
    # Worked out by hand, problem by problem.
    follows = [True, False, False, False, True, False, True, False, True, False, True, False]
    assert [t.reference for t in traces[:12]] == [str(one) for one in follows]


@pytest.mark.parametrize(
    ("pattern", "count", "texts"),
    [("CoT_FOLIO*13b*", 204, 37), ("CoT_FOLIO*70b*", 204, 194), ("CoT_ProntoQA*13b*", 500, 56)],
)
def test_logic_llm_outputs(reasoning: Path, pattern: str, count: int, texts: int) -> None:
    traces = read_all(reasoning / "logic_llm" / "cot_outputs", pattern, "logic_llm")
    assert len(traces) == count
    assert len({t.raw_text for t in traces}) == texts
    assert {t.generator.startswith("meta-llama-Llama-2-") for t in traces} == {True}


@pytest.mark.parametrize(
    ("pattern", "correct", "agree"), [("medicine*.json", 126, 122), ("math*.json", 44, 44)]
)
def test_mr_ben_solutions_without_an_error_choose_the_right_option(
    reasoning: Path, pattern: str, correct: int, agree: int
) -> None:
    """Of the four that do not, two name no option and two are against the key: one of these has two right options."""
    traces = read_all(reasoning / "mr_ben", pattern, "mr_ben")
    sound = [t for t in traces if all(s.gold == "correct" for s in t.segments[1:])]
    assert len(sound) == correct
    assert sum(chain(t)["answer"] == t.reference for t in sound) == agree
    assert {tuple(t.case_meta["options"]) for t in traces} == {("A", "B", "C", "D")}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "kind", "letters"),
    [
        ("logical_deduction", "choice", {3: 13, 5: 101, 7: 186}),
        ("multistep_arithmetic", "number", {0: 300}),
        ("tracking_shuffled_objects", "choice", {3: 200, 5: 100}),
    ],
)
def test_bb_mistake_kinds_of_answers(reasoning: Path, task: str, kind: str, letters: dict[int, int]) -> None:
    traces = read_all(reasoning / "bb_mistake", f"{task}.jsonl", "bb_mistake")
    assert {t.case_meta["answer_kind"] for t in traces} == {kind}
    assert Counter(len(t.case_meta.get("options", {})) for t in traces) == letters  # type: ignore[arg-type]
    assert all(len(chain(t)["steps"]) == len(t.segments) - 1 for t in traces)
