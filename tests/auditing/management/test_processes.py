"""The commands as a user starts them: no database, no login, no network, and the same bytes everywhere."""

import json
import os

import pytest

from tests.auditing import golden

# Audit events cannot be switched off from Python code, so nothing that opens a socket escapes this.
WATCH = """
import os, sys
def watch(event, args):
    if event.startswith("socket.") or event in ("sqlite3.connect", "os.system"):
        with open(os.environ["WATCH"], "a") as log:
            log.write(event + "\\n")
sys.addaudithook(watch)
"""


def watched(tmp_path):
    log = tmp_path / "events"
    log.touch()
    return log


def test_no_socket_is_opened_and_no_database_is_needed(spawn, wound, tmp_path):
    log = watched(tmp_path)
    out = tmp_path / "out"
    done = spawn("audit", wound, "--labeller", "stored", "--json", "--out", out, before=WATCH, WATCH=str(log))
    assert done.code == 0, done.err
    found = {s["index"]: s["label"] for s in json.loads(done.out)["traces"][0]["segments"] if s["label"]}
    assert found == golden.LABELS
    assert log.read_text() == ""
    for command in (["evaluate", wound], ["ablate", wound]):
        done = spawn(*command, before=WATCH, WATCH=str(log))
        assert done.code == 0, done.err
    assert log.read_text() == ""


def test_the_watch_would_see_a_socket(spawn, tmp_path):
    log = watched(tmp_path)
    spawn("help", before=f"{WATCH}\nimport socket; socket.socket().close()", WATCH=str(log))
    assert "socket.__new__" in log.read_text()


def test_the_local_model_needs_no_network(spawn, wound, tmp_path):
    log = watched(tmp_path)
    done = spawn("audit", wound, "--labeller", "local", "--json", before=WATCH, WATCH=str(log))
    assert done.code == 0, done.err
    assert json.loads(done.out)["summary"]["coverage"]["labelled"] == 84
    # The event loop wakes itself through a pair of connected sockets that leave the process nowhere.
    assert set(log.read_text().split()) <= {"socket.__new__"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--labeller", "stored", "none.jsonl"], 1, "none.jsonl: there is no such file."),
        (["--max-premises", "0", "x"], 2, "not a whole number of at least 1"),
        (["--labeller", "openai:m", "wound.jsonl"], 2, "Give --base-url URL"),
        ([], 2, "FILE"),
    ],
)
def test_exit_codes_of_the_process(spawn, wound, arguments, code, words):
    done = spawn("audit", *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_nobody_logs_in_so_the_key_of_the_web_server_may_be_out_of_reach(spawn, wound, tmp_path):
    (tmp_path / "var" / "secret_key").mkdir(parents=True)  # as root, permissions would not keep it unread
    assert spawn("audit", wound, "--labeller", "stored").code == 0


def test_a_key_file_that_was_left_empty_is_filled(spawn, wound, tmp_path):
    key = tmp_path / "var" / "secret_key"
    key.parent.mkdir()
    key.touch()
    assert spawn("audit", wound, "--labeller", "stored").code == 0
    first = key.read_text()
    assert len(first) > 50
    assert key.stat().st_mode & 0o077 == 0
    assert [path.name for path in key.parent.iterdir()] == ["secret_key"]
    assert spawn("audit", wound, "--labeller", "stored").code == 0
    assert key.read_text() == first


def test_closed_streams_hinder_nothing(spawn, wound):
    whole = spawn("audit", wound, "--labeller", "stored", "--json")
    deaf = spawn("audit", wound, "--labeller", "stored", "--json", before="sys.stderr = None")
    assert (deaf.code, deaf.out) == (0, whole.out)
    assert spawn("audit", wound, "--labeller", "stored", before="sys.stdout = None").code == 0


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no /dev/full, a disk that is always full"
)
def test_a_full_disk_behind_standard_output_is_one_sentence(spawn, wound):
    for extra in ([], ["--json"]):
        done = spawn(
            "audit", wound, "--labeller", "stored", *extra, before="sys.stdout = open('/dev/full', 'w')"
        )
        assert done.code == 1
        assert "Cannot write to standard output: No space left on device." in done.err
        assert "Traceback" not in done.err


def test_rp_02_the_same_bytes_whatever_the_locale_time_zone_and_hash_seed(spawn, tmp_path):
    record = golden.trace()
    record["segments"][1]["text"] = "Die Wunde ist tief \u2014 \u00fcber 2\u00a0cm, \u6df1\u3044."
    record["relations"] = []
    path = golden.write(tmp_path / "wound.jsonl", record, golden.trace("other", "mathematical"))
    (tmp_path / "script.json").write_text('{"model": "scripted", "default": "hash"}')
    arguments = [
        "audit",
        path,
        "--labeller",
        "scripted:script.json",
        "--cache",
        "cache",
        "--json",
        "--graphml",
    ]
    places = (
        {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"},
        {"PYTHONHASHSEED": "77", "TZ": "America/St_Johns", "LC_ALL": "POSIX", "PYTHONIOENCODING": "latin-1"},
    )
    said, written = [], []
    for number, place in enumerate(places):
        folder = tmp_path / f"out{number}"
        done = spawn(*arguments, "--out", folder, **place)
        assert done.code == 0, done.err
        said.append(done.out)
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        times = json.loads(files.pop("run.json"))
        assert (times["new_calls"] == 0) == (number > 0)  # later runs are replays
        written.append(files)
    assert said[0] == said[1] == said[2]
    assert "\u6df1\u3044" in said[0]
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 9


def test_a_reader_that_has_enough_is_no_error(spawn, wound):
    before = "import sys, os; r, w = os.pipe(); os.close(r); os.dup2(w, 1)"
    done = spawn("audit", wound, "--explain", before=before)
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
