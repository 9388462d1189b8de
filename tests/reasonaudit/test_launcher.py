"""The launcher: one a folder, a killed worker is started again, and nothing foreign is ever signalled."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import OperationalError

from reasonaudit import launcher
from reasonaudit.lib import embedded


@pytest.fixture(autouse=True)
def own_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REASONAUDIT_VAR", str(tmp_path))
    return tmp_path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = python("import time; time.sleep(60)")
    yield child
    child.kill()
    child.wait()


def python(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code])


def test_the_lock_of_a_record_says_that_its_launcher_runs() -> None:
    with launcher.claim_record(8123):
        assert launcher.running_elsewhere() == {"pid": os.getpid(), "port": 8123, "children": []}
        with pytest.raises(BlockingIOError):
            launcher.claim_record(8124)
        assert launcher.running_elsewhere() == {"pid": os.getpid(), "port": 8123, "children": []}
    assert launcher.running_elsewhere() is None


def test_a_record_left_by_a_killed_launcher_counts_for_nothing(sleeper: subprocess.Popen[bytes]) -> None:
    launcher.record_path().write_text(json.dumps({"pid": sleeper.pid, "port": 8080}))
    assert launcher.running_elsewhere() is None
    with launcher.claim_record(8081):
        assert launcher.running_elsewhere() == {"pid": os.getpid(), "port": 8081, "children": []}


def test_children_of_a_killed_launcher_are_ended_and_nothing_else(
    sleeper: subprocess.Popen[bytes],
) -> None:
    code = "import time; time.sleep(60)"
    worker = subprocess.Popen([sys.executable, "-c", code, "manage.py worker"])
    threading.Thread(target=worker.wait).start()  # so that it does not stay as a zombie
    with launcher.claim_record(8081) as record:
        launcher.write_record(record, 8081, [worker.pid, sleeper.pid])
        assert launcher.end_leftovers() is False
        assert worker.poll() is None
    assert launcher.end_leftovers() is True
    assert worker.wait(timeout=5) == -15
    assert sleeper.poll() is None
    assert launcher.end_leftovers() is False


def test_stop_leaves_a_program_alone_that_has_the_number_of_a_dead_database(
    sleeper: subprocess.Popen[bytes],
) -> None:
    embedded.postgres_dir().mkdir()
    (embedded.postgres_dir() / "postmaster.pid").write_text(f"{sleeper.pid}\n")
    assert embedded.stop_postgres() is False
    assert sleeper.poll() is None


def test_a_killed_worker_is_started_again_and_the_web_server_is_not(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launcher, "SHORTEST_LIFE", 0.0)
    killed = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    killed.wait()
    children = {launcher.WEB: sleeper, launcher.WORKER: killed}
    started = []

    def start(name: str) -> None:
        started.append(name)
        children[name] = python("import time; time.sleep(60)")
        sleeper.kill()
        sleeper.wait()

    assert launcher.watch(children, start) == launcher.WEB
    assert started == [launcher.WORKER]
    assert "killed by SIGKILL" in capsys.readouterr().err
    children[launcher.WORKER].kill()
    children[launcher.WORKER].wait()


def test_a_worker_that_cannot_run_is_not_started_for_ever(sleeper: subprocess.Popen[bytes]) -> None:
    broken = python("raise SystemExit(3)")
    broken.wait()
    children = {launcher.WEB: sleeper, launcher.WORKER: broken}
    assert launcher.watch(children, lambda name: pytest.fail(f"{name} was started again")) == launcher.WORKER
    assert launcher.ending(broken) == "exit code 3"


@pytest.mark.parametrize("wanted", [0, -5, 65536, 99999])
def test_what_is_no_port_is_named(wanted: int) -> None:
    with pytest.raises(SystemExit, match=f"{wanted} is not a port"):
        launcher.free_port(wanted)


def test_a_taken_port_gives_way_to_the_next_and_the_last_has_none() -> None:
    with socket.socket() as taken:
        taken.bind((launcher.HOST, 0))
        taken.listen()
        wanted = taken.getsockname()[1]
        assert wanted < launcher.free_port(wanted) < wanted + 20
    with socket.socket() as taken:
        try:
            taken.bind((launcher.HOST, launcher.LAST_PORT))
        except OSError:
            pytest.skip("the last port is in use")
        taken.listen()
        with pytest.raises(SystemExit, match="65535 to 65535 are all in use"):
            launcher.free_port(launcher.LAST_PORT)


def test_a_data_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REASONAUDIT_VAR", str(tmp_path / "file"))
    with pytest.raises(SystemExit, match=r"cannot be made \(File exists\)\. Name another"):
        embedded.var_dir()


@pytest.fixture
def own_signals() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("own_signals")
def test_a_database_that_is_away_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "start_valkey_unless_external", lambda: None)

    def prepare() -> None:
        raise OperationalError("connection failed:\n refused")

    with pytest.raises(SystemExit, match="The database cannot be used: connection failed: refused"):
        launcher.run(port=8700, prepare=prepare, announce=lambda address: None)
    assert launcher.running_elsewhere() is None
