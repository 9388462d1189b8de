"""`manage.py judge`: a model judges files, in a process without database or login."""

import json

import pytest

from tests.auditing.services.offline.test_judging import PROCESSBENCH
from tests.scripted_server import start_scripted_server


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pb.json"
    path.write_text(json.dumps(PROCESSBENCH))
    return path


def test_metrics_and_coverage_are_printed_and_a_second_run_asks_nothing(spawn, file, tmp_path):
    # p1: S2 right, S3 the first error, S4 and S5 not labelled; p2: S2, S3 right.
    table = [["\na\n", "trustworthy"], ["\nb\n", "trustworthy"], ["\nf\n", "problematic"]]
    with start_scripted_server(
        verdicts={"rule": "table", "table": table, "default": "trustworthy"}
    ) as server:
        arguments = [
            "judge",
            file,
            "--judge",
            "openai:scripted",
            "--base-url",
            server.base_url,
            "--cache",
            "r",
        ]
        planned = spawn(*arguments, "--dry-run", "--json")
        assert json.loads(planned.out)["new_calls"] == 6
        done = spawn(*arguments, "--verdicts", "v.jsonl", "--resamples", 0)
        assert server.stats()["requests"] == 6
        again = spawn(*arguments, "--json")
        assert server.stats()["requests"] == 6
    assert (done.code, again.code) == (0, 0), done.err
    # Trusted: a (right), b (wrong), e (right); distrusted: f (right). TPR 2/3, TNR 0, balanced F1 0.
    assert "TPR (correct kept)    0.667" in done.out
    assert "confusion: 2 true positive, 1 false negative, 0 true negative, 1 false positive" in done.out
    assert "6 of 6  100.0 %" in done.out
    assert "4 of 4  100.0 %" in done.out
    document = json.loads(again.out)
    assert document["evaluation"]["domains"]["mathematical"]["confusion"] == {
        "tp": 2, "fn": 1, "tn": 0, "fp": 1, "n": 4,
    }  # fmt: skip
    assert len((tmp_path / "v.jsonl").read_text().splitlines()) == 6
    replay = spawn("judge", file, "--judge", f"replay:{tmp_path / 'r'}", "--json")
    assert json.loads(replay.out) == document
    assert replay.out == again.out, "byte for byte"


def test_lj_08_replies_that_are_no_verdict_lower_the_coverage_and_strict_fails(run, file, tmp_path):
    with start_scripted_server(behaviours=[{"do": "prose", "contains": "SEGMENT 1"}]) as server:
        arguments = ["judge", file, "--judge", "openai:scripted", "--base-url", server.base_url, "--no-cache"]
        done = run(*arguments, "--json")
        strict = run(*arguments, "--strict", "--json")
        server.change(behaviours=[{"do": "refusal"}])
        nothing = run(*arguments, "--json")
    covered = json.loads(done.out)["coverage"]
    # The first segment of each trace has no earlier one: 2 verdicts; the other 4 segments got prose.
    assert (covered["verdicts"], covered["missing"]) == (2, {"invalid:not_json": 4})
    assert "4 of 6 segments have no verdict and are in no measure" in done.err
    assert (done.code, strict.code, nothing.code) == (0, 3, 3)
    assert "invalid:refusal (6)" in nothing.err
    domain = json.loads(nothing.out)["evaluation"]["domains"]["mathematical"]
    assert all(measure["value"] is None for measure in domain["metrics"].values()), "undefined, never 0"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--judge", "local"], 2, "There is no judge 'local'"),
        (["--judge", "openai:m"], 2, "No address of a model server is known"),
        (["--judge", "replay:none", "--base-url", "http://localhost:1/v1"], 2, "--base-url goes with"),
        (["--judge", "replay:none"], 3, "holds no recorded replies"),
        (["--judge", "openai:m", "--base-url", "ftp://x"], 3, "http"),
        (
            ["--judge", "openai:m", "--base-url", "http://localhost:1/v1", "--cache", "a", "--no-cache"],
            2,
            "contradict",
        ),
        (
            ["--judge", "openai:m", "--base-url", "http://localhost:1/v1", "--prompt-dir", "."],
            3,
            "neither judge-clinical",
        ),
    ],
)
def test_wrong_use_is_one_sentence_and_an_exit_code(
    run, file, settings, monkeypatch, tmp_path, arguments, code, said
):
    monkeypatch.chdir(tmp_path)
    settings.LLM_BASE_URL = ""
    done = run("judge", file, *arguments)
    assert done.code == code
    assert said in done.err


def test_lj_06_a_wrong_key_stops_at_once_with_the_remedy(run, file):
    with start_scripted_server(api_key="right") as server:
        done = run("judge", file, "--judge", "openai:scripted", "--base-url", server.base_url, "--no-cache")
    assert done.code == 3
    assert "key" in done.err
