"""`manage.py audit` in this process: what it prints, and how it ends."""

import json
from functools import partial
from pathlib import Path

import pytest

from auditing.formats.bundle import verify
from auditing.llm.providers import openai_compatible
from auditing.llm.retry import RetryPolicy
from tests.auditing import golden
from tests.scripted_server import start_scripted_server


def labels(out: str) -> dict[int, str]:
    return {s["index"]: s["label"] for s in json.loads(out)["traces"][0]["segments"] if s["label"]}


def script(folder: Path, **content: object) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps({"model": "scripted", "default": "hash", **content}))
    return path


def test_json_is_one_object_and_nothing_else(run, wound):
    done = run("audit", wound, "--labeller", "stored", "--json")
    assert done.code == 0
    assert done.out.count("\n") == 1
    found = json.loads(done.out)
    assert set(found) == {"schema", "traces", "summary", "manifest"}
    assert labels(done.out) == golden.LABELS
    (trace,) = found["traces"]
    assert (trace["id"], trace["domain"], trace["calls"]) == ("wound", "clinical", 0)
    needed = {
        "index",
        "text",
        "label",
        "search_label",
        "y_hat",
        "contradicted",
        "unstable",
        "gold",
        "best_tree",
    }
    assert all(needed | {"root_breakpoint"} <= segment.keys() for segment in trace["segments"])
    assert found["manifest"]["inputs"][0]["name"] == "wound.jsonl"
    assert found["manifest"]["parameters"]["tau"] == 3


def test_the_table_ends_the_report(run, wound):
    done = run("audit", wound, "--labeller", "stored")
    lines = done.out.splitlines()
    assert lines[2].split() == ["clinical", "1", "7", "2", "2", "2", "1", "1.00"]
    assert lines[-1].startswith("calls 0, cached 0, seconds ")


def test_explain_prints_reason_and_tree_in_80_columns(run, wound):
    done = run("audit", wound, "--labeller", "stored", "--explain")
    assert "Unsupported: premise set {S3} reaches it, but S3 is an Orphan." in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_stored_relations_are_taken_if_nothing_is_said(run, wound):
    done = run("audit", wound, "--json")
    assert labels(done.out) == golden.LABELS
    assert "Relation labels: stored." in done.err


def test_out_writes_a_whole_bundle(run, wound, tmp_path):
    folder = tmp_path / "out"
    done = run("audit", wound, "--out", folder, "--graphml")
    assert done.code == 0
    assert verify(folder) == []
    written = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert written == [
        "SHA256SUMS",
        "audits.jsonl",
        "audits.schema.json",
        "graphml/1.graphml",
        "manifest.json",
        "relations.csv",
        "run.json",
        "segments.csv",
        "summary.json",
    ]
    line = json.loads((folder / "audits.jsonl").read_bytes())
    assert line["schema"] == "reasonaudit.audits/1"
    assert len(line["relations"]) == 7


def test_ih_14_the_manifest_says_which_table_was_escaped(run, tmp_path):
    record = golden.trace()
    record["segments"][1]["text"] = "=HYPERLINK(1)"
    done = run("audit", golden.write(tmp_path / "a.jsonl", record), "--out", tmp_path / "out")
    assert done.code == 0
    files = {f["name"]: f for f in json.loads((tmp_path / "out" / "manifest.json").read_bytes())["files"]}
    assert files["segments.csv"]["escaped"] is True
    assert files["relations.csv"]["escaped"] is False
    assert "'=HYPERLINK(1)" in (tmp_path / "out" / "segments.csv").read_text()
    assert '"=HYPERLINK(1)"' in (tmp_path / "out" / "audits.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--set", "tau=soon"], 2, "tau is 'soon'"),
        (["--set", "colour=1"], 2, "Unknown audit parameter colour"),
        (["--set", "tau"], 2, "write NAME=VALUE"),
        (["--set", "tau=1", "--set", "tau=2"], 2, "given twice"),
        (["--set", "m_max=3", "--max-premises", "2"], 2, "do not agree"),
        (["--format", "nope"], 2, "Unknown format 'nope'"),
        (["--labeller", "nope"], 2, "no labeller 'nope'"),
        (["--labeller", "local", "--base-url", "http://x/v1"], 2, "--base-url goes with"),
        (["--labeller", "scripted:/does/not/exist"], 2, "script file cannot be read"),
        (["--labeller", "replay:/does/not/exist"], 3, "no recorded replies"),
        (["--json", "--explain"], 2, "give one of them"),
        (["--graphml"], 2, "--graphml goes with --out"),
        (["--order", "lazy", "--window", "2"], 2, "--window goes with --order eager"),
        (["--cache", "c", "--no-cache", "--labeller", "local"], 2, "contradict each other"),
    ],
)
def test_wrong_use_is_one_sentence_and_an_exit_code(run, wound, arguments, code, words):
    done = run("audit", wound, *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_without_an_address_no_server_is_asked(run, wound, settings):
    settings.LLM_BASE_URL = ""
    done = run("audit", wound, "--labeller", "openai:m")
    assert done.code == 2
    assert "Give --base-url URL" in done.err


def test_bad_data_stop_everything_unless_skipped(run, wound, tmp_path):
    bad = golden.trace("bad")
    bad["relations"][0]["label"] = "maybe"
    late = golden.trace("late")
    late["relations"][0] = {"premises": [5], "target": 2, "label": "implied"}
    path = golden.write(tmp_path / "bad.jsonl", golden.trace("good"), bad, late)
    done = run("audit", path, "--json")
    assert (done.code, done.out) == (1, "")
    assert f"{path}, line 2, field relations" in done.err
    assert "maybe" in done.err
    assert f"{path}, line 3, field relations" in done.err
    assert "nothing was done" in done.err
    done = run("audit", path, "--json", "--skip-bad")
    assert done.code == 0
    assert [trace["id"] for trace in json.loads(done.out)["traces"]] == ["good"]


def test_500_segments_are_refused_with_the_count_and_the_ways_out(run, tmp_path, wound):
    long = {
        "schema": "reasonaudit.trace/1",
        "id": "long",
        "segments": [{"text": f"Step {i}."} for i in range(1, 501)],
    }
    path = golden.write(tmp_path / "long.jsonl", long)
    done = run("audit", path, "--labeller", "local")
    assert done.code == 1
    assert "20,833,250" in done.err  # C(501, 3)
    assert "124,750" in done.err  # C(500, 2) with single premises
    assert "window" in done.err
    assert "--max-premises" in done.err
    done = run("audit", path, wound, "--labeller", f"scripted:{script(tmp_path)}", "--skip-bad", "--json")
    assert [trace["id"] for trace in json.loads(done.out)["traces"]] == ["wound"]


def test_a_window_keeps_the_long_trace_possible(run, tmp_path):
    long = {
        "schema": "reasonaudit.trace/1",
        "id": "long",
        "segments": [{"text": f"Step {i}."} for i in range(1, 61)],
    }
    path = golden.write(tmp_path / "long.jsonl", long)
    done = run("audit", path, "--labeller", f"scripted:{script(tmp_path)}", "--window", "2", "--json")
    found = json.loads(done.out)
    # Targets 2 and 3 have 1 and 2 premises; from 4 on it is the context and 2 segments: 3 + 3 sets.
    assert found["traces"][0]["calls"] == 1 + 3 + 57 * 6
    assert found["manifest"]["window"] == 2


def test_lj_08_invalid_replies_are_shown_as_missing_coverage(run, wound, tmp_path):
    rules = [{"target_has": "rusty nail", "content": "I would rather not say."}]
    labeller = f"scripted:{script(tmp_path, default='neutral', rules=rules)}"
    done = run("audit", wound, "--labeller", labeller, "--json")
    coverage = json.loads(done.out)["summary"]["coverage"]
    assert coverage == {"total": 84, "labelled": 81, "invalid": 3, "missing": 0, "skipped": 0}
    assert done.code == 0
    assert "3 of 84 relations have no label" in done.err
    assert "invalid:not_json (3)" in done.err
    strict = run("audit", wound, "--labeller", labeller, "--json", "--strict")
    assert strict.code == 3


def test_lazy_gives_the_same_labels_with_fewer_calls(run, wound, tmp_path):
    labeller = f"scripted:{script(tmp_path)}"
    found = {}
    for order in ("eager", "lazy"):
        done = run(
            "audit",
            wound,
            "--labeller",
            labeller,
            "--order",
            order,
            "--set",
            "contradiction_scope=none",
            "--json",
        )
        found[order] = json.loads(done.out)
    same = [[(s["label"], s["y_hat"]) for s in found[order]["traces"][0]["segments"]] for order in found]
    assert same[0] == same[1]
    assert found["lazy"]["summary"]["calls"] < found["eager"]["summary"]["calls"] == 84


def test_the_local_model_labels_without_any_server(run, wound, tmp_path):
    first = run("audit", wound, "--labeller", "local", "--cache", tmp_path / "cache", "--json")
    assert first.code == 0
    found = json.loads(first.out)
    assert found["summary"]["coverage"]["labelled"] == 84
    assert found["manifest"]["labeller"]["model"] == "nli-minilm"
    assert "Small local model" in first.err
    again = run(
        "audit",
        wound,
        "--labeller",
        "local",
        "--cache",
        tmp_path / "cache",
        "--json",
        "--out",
        tmp_path / "out",
    )
    assert again.out == first.out
    assert json.loads((tmp_path / "out" / "run.json").read_bytes())["new_calls"] == 0


def test_a_server_is_asked_once_for_each_relation(run, wound, tmp_path):
    arguments = ["audit", wound, "--labeller", "openai:m", "--cache", tmp_path / "cache", "--json"]
    with start_scripted_server() as server:
        first = run(*arguments, "--base-url", server.base_url)
        asked = sum(server.stats()["keys"].values())
        again = run(*arguments, "--base-url", server.base_url)
        assert sum(server.stats()["keys"].values()) == asked
    assert first.code == 0
    assert asked == 84
    assert again.out == first.out
    assert json.loads(first.out)["traces"][0]["calls"] == 84
    # The replies are enough: no server, same labels.
    replayed = run("audit", wound, "--labeller", f"replay:{tmp_path / 'cache'}", "--json")
    assert labels(replayed.out) == labels(first.out)


def test_lj_18_a_refused_key_is_one_sentence_without_the_key(run, wound, settings):
    settings.LLM_API_KEY = "sk-canary-1234567890"
    with start_scripted_server(api_key="another") as server:
        done = run(
            "audit", wound, "--labeller", "openai:m", "--base-url", server.base_url, "--no-cache", "-v", "3"
        )
    assert done.code == 3
    assert "key" in done.err.lower()
    assert "canary" not in done.err + done.out
    assert "Traceback" not in done.err


def test_a_server_that_is_down_is_one_sentence(run, wound, monkeypatch):
    # As often as ever, without the seconds between.
    monkeypatch.setattr(openai_compatible, "RetryPolicy", partial(RetryPolicy, backoff_base=0.001))
    done = run("audit", wound, "--labeller", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--no-cache")
    assert done.code == 3
    assert "No connection to http://127.0.0.1:9" in done.err
    assert "Traceback" not in done.err


def test_lj_11_a_dry_run_says_what_the_run_then_costs(run, wound, tmp_path):
    # A second trace with the same texts asks nothing new.
    path = golden.write(tmp_path / "two.jsonl", golden.trace(), golden.trace("twin"))
    arguments = ["audit", path, "--labeller", "openai:m", "--cache", tmp_path / "cache", "--json"]
    with start_scripted_server() as server:
        address = ["--base-url", server.base_url]
        before = json.loads(run(*arguments, *address, "--dry-run").out)
        assert server.stats()["requests"] == 0
        assert not (tmp_path / "cache").exists() or not list((tmp_path / "cache").rglob("*.gz"))
        run(*arguments, *address)
        assert server.stats()["requests"] == before["new_calls"] == 84
        after = json.loads(run(*arguments, *address, "--dry-run").out)
    assert (before["relations"], before["known"]) == (168, 84)
    assert (after["new_calls"], after["known"], after["prompt_tokens"]) == (0, 168, 0)
    assert before["prompt_tokens"] > 84 * 20
    local = run("audit", path, "--labeller", "local", "--dry-run")
    assert local.out == "2 traces, 168 relations: 84 answers are known, 84 new calls.\n"
    assert (
        run("audit", path, "--dry-run").out == "2 traces, 14 relations: 14 answers are known, 0 new calls.\n"
    )


def test_a_folder_that_cannot_take_the_result_is_refused_before_any_call(run, wound, tmp_path):
    with start_scripted_server() as server:
        arguments = ["audit", wound, "--labeller", "openai:m", "--base-url", server.base_url, "--no-cache"]
        done = run(*arguments, "--out", tmp_path)  # holds the trace file
        assert server.stats()["requests"] == 0
    assert done.code == 2
    assert "holds other files (wound.jsonl)" in done.err
    done = run("audit", wound, "--out", wound / "below")
    assert done.code == 2
    assert "Cannot write to" in done.err
