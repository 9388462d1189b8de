"""The confinement: whatever a child does, the caller gets a value or a sentence, and nothing is left running."""

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from videos.media import sandbox
from videos.media.errors import MediaCancelled, MediaFailed, MediaRefused
from videos.media.sandbox import Limits

BAD = "tests.videos.media.misbehaving"
SHORT = Limits(cpu_seconds=5, wall_seconds=20)


def gone(pid: int) -> bool:
    """Whether a process has ended (or waits, dead, for its parent to ask)."""
    for _ in range(50):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_an_answer_comes_back_and_chatter_does_not_disturb_it():
    value = {"number": 3, "text": "ü", "list": [1.5, None]}
    assert sandbox.run(f"{BAD}:answer", limits=SHORT, value=value) == value


def test_progress_arrives_and_stays_between_nothing_and_all():
    said = []
    sandbox.run(
        f"{BAD}:told_progress", limits=SHORT, on_progress=lambda share, words: said.append((share, words))
    )
    assert said == [(0.25, "A quarter"), (1.0, "More than all")]


def test_a_loop_ends_with_its_processor_time():
    with pytest.raises(MediaRefused, match="more than 1 seconds of processor time"):
        sandbox.run(f"{BAD}:spin", limits=Limits(cpu_seconds=1, wall_seconds=30))


def test_waiting_ends_with_the_clock_and_no_process_is_left(tmp_path):
    note = tmp_path / "pids"
    with pytest.raises(MediaFailed, match=r"longer than 1\.5 seconds"):
        sandbox.run(f"{BAD}:sleep_with_child", limits=Limits(wall_seconds=1.5), note=str(note))
    assert all(gone(int(pid)) for pid in note.read_text().split())


def test_a_process_left_behind_holds_nothing_up_and_is_ended(tmp_path):
    note = tmp_path / "pid"
    start = time.monotonic()
    assert sandbox.run(f"{BAD}:leave_child", limits=SHORT, note=str(note)) == {"left": True}
    assert time.monotonic() - start < 10
    assert gone(int(note.read_text()))


def test_cancel_ends_it_at_once_and_no_process_is_left(tmp_path):
    note, said = tmp_path / "pids", []
    start = time.monotonic()
    with pytest.raises(MediaCancelled):
        sandbox.run(
            f"{BAD}:sleep_with_child",
            limits=SHORT,
            on_progress=lambda share, words: said.append(share),
            is_cancelled=lambda: bool(said),
            note=str(note),
        )
    assert time.monotonic() - start < 10
    assert all(gone(int(pid)) for pid in note.read_text().split())


@pytest.mark.parametrize(
    ("task", "kind", "words"),
    [
        ("crash", MediaRefused, "decoder crashed"),
        ("killed", MediaFailed, "killed"),
        ("vanish", MediaFailed, "without an answer"),
        ("scribble", MediaFailed, "without an answer"),
        ("no_such_function", MediaFailed, "without an answer"),
    ],
)
def test_a_child_that_breaks_is_a_sentence(task, kind, words):
    with pytest.raises(kind, match=words) as raised:
        sandbox.run(f"{BAD}:{task}", limits=SHORT)
    assert "/" not in str(raised.value)


def test_an_answer_of_another_kind_is_a_failure():
    with pytest.raises(MediaFailed, match="without an answer"):
        sandbox.run(f"{BAD}:answer", limits=SHORT, value=3)


def test_memory_over_the_limit_is_refused_with_the_number():
    with pytest.raises(MediaRefused, match="more than 1024 MB"):
        sandbox.run(f"{BAD}:devour", limits=Limits(cpu_seconds=5, wall_seconds=20, memory_bytes=2**30))


def test_a_file_over_the_limit_is_a_failure():
    with pytest.raises(MediaFailed, match="no room on the disk"):
        sandbox.run(f"{BAD}:write_much", limits=Limits(cpu_seconds=5, wall_seconds=20, file_bytes=2**23))


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces and seccomp are Linux")
def test_network_programs_and_secrets_are_out_of_reach(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "not for a decoder")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        tried = sandbox.run(f"{BAD}:escape", limits=SHORT, port=server.getsockname()[1])
        with pytest.raises(TimeoutError):
            server.accept()
    held = sandbox.enforced()
    assert held["memory"]
    assert held["processor"]
    if not (held["calls"] or held["network_namespace"]):
        pytest.skip("this kernel lets an ordinary process give up neither calls nor the network")
    assert tried["network"] != "reached"
    if held["calls"]:
        assert tried["program"] == "PermissionError"
    assert "SECRET_KEY" not in tried["environment"]
    assert tried["files"] == []
    assert not os.path.exists(tried["folder"])


def test_only_ordinary_files_are_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(MediaRefused, match="not an ordinary file"):
        sandbox.run("probe", path=str(pipe))
    with pytest.raises(MediaFailed, match="not there") as raised:
        sandbox.run("probe", path=str(tmp_path / "nothing.mp4"))
    assert str(tmp_path) not in str(raised.value)
