"""Saving by 26 people at once, against server and database as `make demo` starts them.

Each saves every 2 s for 20 s over HTTP with session, CSRF token and keep-alive connection; all write into one study, so
into one chain of events. Then the same beside a worker that commits 20 times a second, then with the web server killed
(SIGKILL) in the middle and started again: the people send again, with the same keys, what got no answer.

    python -m tests.benchmarks saves
"""

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, EVERY_SECONDS, SECONDS = 26, 2.0, 20.0
COMMITS_PER_SECOND = 20
START_SECONDS = 90


def run() -> list[dict[str, Any]]:
    """Return rows for latency, errors and losses of the three scenes."""
    folder = Path(tempfile.mkdtemp(prefix="ra-saves-", dir="/tmp"))  # a socket's path must be short
    folder.chmod(0o755)  # the embedded database runs as a user of its own when this runs as root
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        os.environ.pop(name, None)
    os.environ["REASONAUDIT_VAR"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "reasonaudit.settings.development"
    port = _unused_port()
    try:
        with served(port):
            import django

            django.setup()
            logging.disable(logging.INFO)
            plain = _scene(port, "26 people, a save every 2 s for 20 s")
            stop = threading.Event()
            committed: list[str] = []
            worker = threading.Thread(target=_commit, args=(stop, committed))
            worker.start()
            busy = _scene(port, "the same beside a worker with 20 commits a second")
            stop.set()
            worker.join()
            busy.append(_row("beside the worker: its commits, and its errors", _counts(committed), "400, 0"))
        return [*plain, *busy, *_killed(port)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def served(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The application as `make serve` and `make demo` run it, without data."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(port, process)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)


def _scene(port: int, what: str) -> list[dict[str, Any]]:
    from tests import load

    before = os.getloadavg()[0]
    people = load.annotators(PEOPLE)
    for thread in load.run_all(people, port, seconds=SECONDS, every=EVERY_SECONDS):
        thread.join()
    return [*_latency(people, what, before), *_losses(people, what)]


def _latency(people: Sequence[Any], what: str, before: float) -> list[dict[str, Any]]:
    from tests import load

    all_ms = [1000 * one for person in people for one in person.latencies]
    p50, p95, p99 = (load.percentile(all_ms, share) for share in (0.5, 0.95, 0.99))
    after = os.getloadavg()[0]
    return [
        {
            "name": f"{what}: p95 (p50, p99, longest) of {len(all_ms)} saves",
            "measured": f"{p95:.0f} ms ({p50:.0f}, {p99:.0f}, {max(all_ms):.0f})",
            "target": "<= 200 ms",
            "baseline": f"200 ms; load average {before:.1f} before, {after:.1f} after",
            "ratio": round(p95 / 200, 3),
        }
    ]


def _losses(people: Sequence[Any], what: str) -> list[dict[str, Any]]:
    from tests import load

    errors = [error for person in people for error in person.errors]
    for error in sorted(set(errors))[:5]:
        print(f"   {error[:200]}", file=sys.stderr)
    return [_row(f"{what}: errors, lost", f"{len(errors)}, {load.lost(people)}", "0, 0")]


def _killed(port: int) -> list[dict[str, Any]]:
    """Kill the web server while everybody saves, start it again, and count what is missing."""
    from django.db import connections

    from tests import load

    # The database went down with the first server.
    connections.close_all()
    with served(port) as process:
        people = load.annotators(PEOPLE)
        threads = load.run_all(people, port, seconds=SECONDS, every=EVERY_SECONDS / 4, patient=True, grace=90)
        connections.close_all()
        time.sleep(SECONDS / 3)
        web = json.loads((Path(os.environ["REASONAUDIT_VAR"]) / "launcher.json").read_text())["children"][0]
        os.kill(web, signal.SIGKILL)
        process.wait(60)
    with served(port):
        for thread in threads:
            thread.join()
        what = f"{PEOPLE} people, a save every {EVERY_SECONDS / 4} s, web server killed (SIGKILL) and started again"
        saves = sum(len(person.acked_all) for person in people)
        rows = _losses(people, f"{what}, {saves} answered saves")
        replays, retries = (
            sum(getattr(person, name) for person in people) for name in ("replays", "retries")
        )
        stored = sum(len(load.recorded(_work(person))) for person in people)
        return [
            *rows,
            _row(
                "… stored without an answer, found again by their key",
                f"{replays} (of {retries} repeats)",
                None,
            ),
            _row("… stored twice", str(stored - saves), "0"),
        ]


def _work(person: Any) -> Any:
    from annotation.models import Assignment

    return Assignment.objects.get(public_id=person.path.split("/")[4])


def _commit(stop: threading.Event, committed: list[str]) -> None:
    """Commit 20 times a second, a few rows each, as a worker does that stores what a model answered."""
    from django.db import connection, transaction

    from reasonaudit.lib.chain import record_event

    due = time.monotonic()
    while not stop.is_set():
        try:
            with transaction.atomic():
                record_event(
                    stream="bench",
                    actor=None,
                    action="bench",
                    subject_type="bench",
                    subject_id=1,
                    data={"x": "y" * 2000},
                )
            committed.append("done")
        except Exception as error:
            committed.append(repr(error))
        due += 1 / COMMITS_PER_SECOND
        time.sleep(max(0.0, due - time.monotonic()))
    connection.close()


def _counts(committed: list[str]) -> str:
    done = committed.count("done")
    return f"{done}, {len(committed) - done}"


def _row(name: str, measured: str, target: str | None) -> dict[str, Any]:
    return {"name": name, "measured": measured, "target": target, "baseline": None, "ratio": None}


def _unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("The application ended before it answered.")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                probe.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
                if b" 200 " in probe.recv(100):
                    return
        except OSError:
            pass
        time.sleep(0.3)
    raise RuntimeError("The application did not answer in time.")
