"""`manage.py grapheval` and `grapheval_study`: files without a database, a study with one."""

import json
from pathlib import Path

import pytest

from annotation.models import Case
from auditing.services.grapheval import scoring
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder

FORMATS = Path(__file__).resolve().parents[3] / "fixtures" / "formats"


def trace(case: str, name: str, answer: str | None, *steps: str) -> str:
    return json.dumps(
        {
            "id": name,
            "case_id": case,
            "domain": "mathematical",
            "title": f"How many {case}?",
            "reference": "18",
            "segments": [
                {"index": n, "text": text} for n, text in enumerate([f"How many {case}?", *steps], 1)
            ],
            "index_base": 1,
            "meta": {
                "chain": {
                    "steps": [{"index": n, "depends_on": []} for n in range(1, len(steps) + 1)],
                    "answer": answer,
                    "answer_kind": "number",
                    "take": 1,
                    "warnings": [],
                }
            },
        }
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "chains.jsonl"
    lines = [
        trace("eggs", "e1", "18", "Nine hens lay two eggs each.", "Nine times two is 18."),
        trace("eggs", "e2", "18", "Nine hens lay two eggs each.", "Nine times two is 18."),
        trace("eggs", "e3", "11", "Nine hens lay two eggs each.", "Nine plus two is 11."),
        trace("hens", "h1", None, "There are hens."),
    ]
    path.write_text("\n".join(lines))
    return path


def test_files_are_scored_without_a_database_and_twice_the_same(spawn, file):
    done, again = spawn("grapheval", file, "--json"), spawn("grapheval", file, "--json")
    assert done.code == 0, done.err
    assert done.out == again.out, "byte for byte"
    document = json.loads(done.out)
    eggs, hens = document["questions"]
    assert eggs["votes"]["counts"] == [
        {"answer": "18", "count": 2, "correct": True},
        {"answer": "11", "count": 1, "correct": False},
    ]
    assert eggs["gsc"] == {"answer": "18", "correct": True}
    assert eggs["distinct"]["facts"] == 3
    assert hens["metrics"]["grcs"] is None
    assert document["summary"]["texts_embedded"] == 4
    assert document["manifest"]["inputs"][0]["name"] == "chains.jsonl"


def test_text_says_what_is_missing_and_why(run, file):
    done = run("grapheval", file)
    assert done.code == 0, done.err
    assert "eggs: How many eggs?" in done.out
    assert "vote   18 (right)  (18 2, 11 1)" in done.out
    assert "\N{EN DASH} CoTA: No relation labeller was asked" in done.out
    assert "accuracy of the vote 0.500, of the medoid 0.500" in done.out


def test_weights_change_the_scores(run, file):
    plain, other = (
        json.loads(run("grapheval", file, "--limit", 1, "--json", *more).out)
        for more in ((), ("--beta", 1, "--set", "terminal_basis=node"))
    )
    assert len(plain["questions"]) == 1
    assert plain["questions"][0]["metrics"]["grcs"] != other["questions"][0]["metrics"]["grcs"]
    assert other["manifest"]["parameters"]["distance"]["beta"] == 1
    assert other["manifest"]["parameters"]["graph"]["terminal_basis"] == "node"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--beta", "2"], 2, "beta must be from 0 to 1"),
        (["--set", "delta=1"], 2, "Unknown parameter 'delta'"),
        (["--set", "tau=high"], 2, "tau must be a number, not 'high'"),
        (["--set", "require_answer=3"], 2, "require_answer must be true or false, not 3"),
        (["--set", "fact_edges=1"], 2, "fact_edges must be a word, not 1"),
        (["--beta", "1", "--set", "beta=1"], 2, "give one of them"),
        (["--embedder", "word2vec"], 2, "There is no embedder"),
        (["--base-url", "http://localhost:1/v1"], 2, "--base-url goes with --embedder openai:MODEL"),
        (["--format", "nonsense"], 2, "Unknown format"),
    ],
)
def test_wrong_use_is_one_sentence(run, file, arguments, code, sentence):
    done = run("grapheval", file, *arguments)
    assert done.code == code
    assert sentence in done.err


def test_chains_without_steps_are_counted_and_who_did_not_vote_is_said(run):
    done = run("grapheval", FORMATS / "tot_game24.json", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    # Four replies: one has no step, one no valid expression.
    assert document["questions"][0]["excluded"] == [{"chain": 4, "reason": "no_steps"}]
    assert document["summary"]["votes"] == {"cast": 2, "chains": 3}
    assert any("a vote here is over checked expressions" in note for note in document["manifest"]["notes"])
    for command in ("grapheval", "grapheval_study"):
        said = " ".join(run(command, FORMATS / "tot_game24.json").out.split())
        assert "a vote here is over checked expressions" in said
        assert "2 of 3 chains voted" in said


def test_only_chains_without_steps_are_a_result(run, tmp_path):
    path = tmp_path / "refused.jsonl"
    sample = {"id": "q", "question": "?", "answer_kind": "text", "samples": [{"text": "No."}, {"text": ""}]}
    path.write_text(json.dumps(sample))
    done = run("grapheval", path)
    assert done.code == 0, done.err
    assert "0 chains, 2 left out (no steps)" in done.out


def test_problems_that_were_skipped_are_counted(run, file):
    file.write_text(file.read_text() + '\n{"id": "broken"}')
    assert run("grapheval", file, "--json").code == 1
    done = run("grapheval", file, "--json", "--skip-bad")
    assert json.loads(done.out)["manifest"]["problems_skipped"] == 1
    assert "1 problem: what has them was left out" in run("grapheval", file, "--skip-bad").out


def test_a_file_that_is_not_there_is_named(run, tmp_path):
    done = run("grapheval", tmp_path / "nothing.jsonl")
    assert done.code == 1
    assert "there is no such file" in done.err


def test_a_server_that_does_not_answer_is_one_sentence(run, file):
    done = run("grapheval", file, "--embedder", "openai:embedder", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 3
    assert "could not be embedded" in done.err


def test_statistics_of_files_with_a_sweep_into_a_file(run, file, tmp_path):
    out = tmp_path / "study.json"
    done = run("grapheval_study", file, "--sweep", "--resamples", 20, "--out", out)
    assert done.code == 0, done.err
    assert "accuracy of the vote 0.500" in done.out
    assert "Other weights" in done.out
    document = json.loads(out.read_text())
    assert document["decoding"]["n"] == 2
    assert len(document["sweep"]["rows"]) == 6 * 6 * 6
    assert sum(row["own"] for row in document["sweep"]["rows"]) == 1
    again = run("grapheval_study", file, "--out", out)
    assert (again.code, "there already" in again.err) == (2, True)
    nowhere = run("grapheval_study", file, "--out", tmp_path / "none" / "study.json")
    assert (nowhere.code, "There is no folder" in nowhere.err) == (2, True)


def test_a_seed_below_zero_is_wrong_use(run, file):
    done = run("grapheval_study", file, "--seed", "-1")
    assert done.code != 0
    assert "'-1' is not a whole number of at least 0" in done.err


def test_files_or_a_study(run, file):
    assert "one of the two" in run("grapheval_study").err
    assert run("grapheval_study", file, "--study", "ways").code == 2


@pytest.mark.django_db
def test_a_study_of_the_database(run):
    study = rows.study(name="Ways", slug="ways")
    rows.case(study, "q1")
    waiting = run("grapheval_study", "--study", "ways")
    assert (waiting.code, "scored" in waiting.err) == (1, True)
    for number, answer in enumerate("AAB", 1):
        rows.chain(study, Case.objects.get(), number, steps=[f"Step {answer}", "So."], answer=answer)
    scoring.score_case(study, Case.objects.get(), FakeEmbedder())
    done = run("grapheval_study", "--study", "ways", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["study"]["slug"] == "ways"
    assert document["questions"][0]["sc"]["answer"] == "A"
    unknown = run("grapheval_study", "--study", "other")
    assert (unknown.code, "no study 'other'" in unknown.err) == (1, True)
