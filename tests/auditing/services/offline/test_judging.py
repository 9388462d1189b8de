"""Judges over files: what is scored, what is left out, and replays that give the same bytes."""

import json
from pathlib import Path

import pytest

from annotation.formats.records import ReadOptions
from annotation.formats.registry import get_format
from auditing.formats.canonical import json_line
from auditing.judging.protocol import Attempt, JudgeAnswer
from auditing.services.offline import judging
from auditing.services.offline.judging import JudgeChoice, JudgedSet

PROCESSBENCH = [
    {"id": "p1", "generator": "m", "problem": "2+2*2?", "steps": ["a", "b", "c", "d"], "label": 1},
    {"id": "p2", "generator": "m", "problem": "1+1?", "steps": ["e", "f"], "label": -1},
]
MR_BEN = {
    "q1": [
        {
            "Question_UUID": "q1",
            "Subject": "math",
            "Question": "3+3?",
            "Options": "",
            "Model_Solution_Steps": ["Step 1: x", "Step 2: y", "Step 3: z"],
            "Model_Solution_Correctness": "incorrect",
            "Model_Solution_First_Error_Step": "2",
            "Model_Solution_Error_Reason": [],
            "Sampled_Model": "m",
        },
        {
            "Question_UUID": "q1",
            "Subject": "math",
            "Question": "3+3?",
            "Options": "",
            "Model_Solution_Steps": ["Step 1: v", "Step 2: w"],
            "Model_Solution_Correctness": "correct",
            "Model_Solution_First_Error_Step": "N/A",
            "Model_Solution_Error_Reason": [],
            "Sampled_Model": "n",
        },
    ]
}


def read(document, name):
    found = get_format(name).read(json.dumps(document).encode(), f"{name}.json", ReadOptions())
    assert found.problems == []
    return found.traces


def judged(traces, verdict) -> JudgedSet:
    """What a judge says whose verdict on a segment is `verdict(record, index)`; None gives an invalid reply."""

    def answer(record, index):
        word = verdict(record, index)
        status = "valid" if word else "invalid:empty"
        return JudgeAnswer(
            status, word, attempts=(Attempt(status),), error="" if word else "The answer is empty."
        )

    rows = [
        (record, {index: answer(record, index) for index in judging.questions_of(record)})
        for record in traces
    ]
    return JudgedSet(rows, {"model": "m"}, 0, 0)


@pytest.mark.parametrize(
    ("name", "document", "gold"),
    [
        ("processbench", PROCESSBENCH, [["correct", "incorrect", None, None], ["correct", "correct"]]),
        ("mr_ben", MR_BEN, [["correct", "incorrect", None], ["correct", "correct"]]),
    ],
)
def test_first_error_labels_are_correct_before_incorrect_at_and_none_after(name, document, gold):
    traces = read(document, name)
    assert [[s.gold for s in trace.segments[1:]] for trace in traces] == gold
    assert all(trace.segments[0].gold is None for trace in traces)


@pytest.mark.parametrize(("name", "document"), [("processbench", PROCESSBENCH), ("mr_ben", MR_BEN)])
@pytest.mark.parametrize("after", ["trustworthy", "problematic", None])
def test_a_verdict_after_the_first_error_is_in_no_measure(name, document, after):
    traces = read(document, name)

    def verdict(record, index):
        gold = record.segments[index - 1].gold
        return after if gold is None else {"correct": "trustworthy", "incorrect": "problematic"}[gold]

    said = judged(traces, verdict)
    group = judging.evaluation(said, seed=0, resamples=0)["domains"]["mathematical"]
    # By hand: 3 steps labelled correct, 1 labelled incorrect, all found, in either file.
    assert group["confusion"] == {"tp": 3, "fn": 0, "tn": 1, "fp": 0, "n": 4}
    assert {name: measure["value"] for name, measure in group["metrics"].items()} == {
        "tpr": 1.0,
        "tnr": 1.0,
        "f1_0": 1.0,
        "balanced_f1": 1.0,
    }
    covered = judging.coverage(said)
    assert (covered["gold"], covered["scored"]) == (4, 4)
    assert covered["segments"] == sum(len(trace.segments) - 1 for trace in traces)


def test_lj_08_a_missing_verdict_lowers_the_coverage_and_is_in_no_measure():
    traces = read(PROCESSBENCH, "processbench")
    wrong = judged(traces, lambda record, index: None if index == 3 else "trustworthy")
    group = judging.evaluation(wrong, seed=0, resamples=0)["domains"]["mathematical"]
    # S3 is the wrong step of p1 and a right step of p2: left are the right steps p1 S2 and p2 S2.
    assert group["confusion"] == {"tp": 2, "fn": 0, "tn": 0, "fp": 0, "n": 2}
    assert group["metrics"]["tnr"]["value"] is None, "no wrong step is left: undefined, not 0"
    assert group["metrics"]["balanced_f1"]["value"] is None
    assert judging.coverage(wrong) == {
        "segments": 6,
        "verdicts": 4,
        "share": pytest.approx(4 / 6),
        "missing": {"invalid:empty": 2},
        "gold": 4,
        "scored": 2,
        "scored_share": 0.5,
    }


def test_measures_of_a_judge_that_errs_in_both_directions():
    traces = read(PROCESSBENCH, "processbench")
    # p1: S2 right, S3 wrong; p2: S2, S3 right. It distrusts p1 S2 and trusts the rest: TP 2, FN 1, FP 1, TN 0.
    said = judged(
        traces, lambda record, index: "problematic" if (record.id, index) == ("p1", 2) else "trustworthy"
    )
    group = judging.evaluation(said, seed=0, resamples=0)["domains"]["mathematical"]
    assert group["confusion"] == {"tp": 2, "fn": 1, "tn": 0, "fp": 1, "n": 4}
    assert group["metrics"]["tpr"]["value"] == pytest.approx(2 / 3)
    assert (group["metrics"]["tnr"]["value"], group["metrics"]["balanced_f1"]["value"]) == (0.0, 0.0)
    assert group["labels_by_gold"] == {
        "correct": {"trustworthy": 2, "problematic": 1},
        "incorrect": {"trustworthy": 1, "problematic": 0},
    }


@pytest.mark.parametrize("name", ["processbench", "mr_ben"])
def test_first_error_labels_of_the_public_files_are_those_of_the_files_and_none_after_is_scored(
    shared_data: Path, name
):
    files = sorted((shared_data / "reasoning").glob(f"{name}/*.json"))
    if not files:
        pytest.skip(f"no {name} under ../shared")
    records, expected = [], {"incorrect": 0, "correct": 0, "after": 0}
    for path in files:
        records += get_format(name).read(path.read_bytes(), path.name, ReadOptions()).traces
        for steps, first in _first_errors(json.loads(path.read_text()), name):
            for position, step in enumerate(steps):
                if step.strip():  # blank steps are no segments
                    place = "correct" if first is None or position < first else "after"
                    expected["incorrect" if position == first else place] += 1
    gold = [segment.gold for record in records for segment in record.segments[1:]]
    assert (gold.count("incorrect"), gold.count("correct"), gold.count(None)) == (
        expected["incorrect"],
        expected["correct"],
        expected["after"],
    )
    assert expected["after"] > 0
    said = judged(records, lambda record, index: "trustworthy")
    for group in judging.evaluation(said, seed=0, resamples=0)["domains"].values():
        assert group["metrics"]["tpr"]["value"] == 1.0
        assert group["metrics"]["tnr"]["value"] == 0.0
    counted = [
        group["confusion"] for group in judging.evaluation(said, seed=0, resamples=0)["domains"].values()
    ]
    assert sum(group["tp"] for group in counted) == expected["correct"]
    assert sum(group["fp"] for group in counted) == expected["incorrect"]
    assert sum(group["n"] for group in counted) == expected["correct"] + expected["incorrect"]


def _first_errors(document, name):
    """(steps, 0-based first wrong one or None) of each record, read here by hand."""
    if name == "processbench":
        for record in document:
            yield record["steps"], None if record["label"] == -1 else record["label"]
        return
    for solution in (
        [one for value in document.values() for one in value] if isinstance(document, dict) else document
    ):
        stated = str(solution["Model_Solution_First_Error_Step"]).strip()
        yield (
            solution["Model_Solution_Steps"],
            None if stated.lower() in ("n/a", "na", "", "none") else int(stated) - 1,
        )


def test_rp_02_a_replay_gives_the_same_bytes(tmp_path):
    from tests.scripted_server import start_scripted_server

    traces = read(PROCESSBENCH, "processbench")
    cache = tmp_path / "replies"
    with start_scripted_server() as server:
        live = JudgeChoice(
            "openai:scripted", server.base_url, allowed_hosts=("127.0.0.1",), concurrency=3, cache=cache
        )
        first = judging.judge_traces(traces, live)
        asked = server.stats()["requests"]
        again = judging.judge_traces(traces, live)
        assert server.stats()["requests"] == asked == first.calls == 6
    assert (again.calls, again.cached) == (0, 6)
    replayed = judging.judge_traces(traces, JudgeChoice(f"replay:{cache}", concurrency=2))
    bytes_of = {
        json_line(judging.result_document(found, [], seed=1, resamples=50))
        for found in (first, again, replayed)
    }
    assert len(bytes_of) == 1


def test_equal_questions_are_asked_once_and_the_dry_run_says_so(tmp_path):
    from tests.scripted_server import start_scripted_server

    traces = read([PROCESSBENCH[0], {**PROCESSBENCH[0], "id": "twin"}], "processbench")
    with start_scripted_server() as server:
        choice = JudgeChoice(
            "openai:scripted", server.base_url, allowed_hosts=("127.0.0.1",), cache=tmp_path / "r"
        )
        planned = judging.dry_run(traces, choice)
        found = judging.judge_traces(traces, choice)
        assert server.stats()["requests"] == planned["new_calls"] == found.calls == 4
        assert (planned["segments"], planned["cached"]) == (8, 0)
        assert judging.dry_run(traces, choice)["cached"] == 4
