"""An answered save survives a killed server, and a full disk is said."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.models import Event
from tests import load
from tests.annotation import factories as make
from tests.annotation.desk import Desk, code
from tests.trust.saving import everything

ROOT = Path(__file__).resolve().parents[2]


# DS-01: a killed server


@contextlib.contextmanager
def web_server(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The web server as the launcher starts it, on the database of the tests."""
    database = connection.settings_dict
    environment = {
        **{name: value for name, value in os.environ.items() if name != "REASONAUDIT_TEST_VAR"},
        "DJANGO_SETTINGS_MODULE": "reasonaudit.settings.development",
        "REASONAUDIT_VAR": str(folder),
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}",
    }
    process = subprocess.Popen(
        [
            sys.executable, "-m", "uvicorn", "reasonaudit.asgi:application", "--host", "127.0.0.1",
            "--port", str(port), "--no-access-log", "--log-level", "warning", "--lifespan", "off",
        ],
        cwd=ROOT,
        env=environment,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, "the server could not start"
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(30)


@pytest.mark.django_db(transaction=True)
def test_ds_01_an_answered_save_survives_kill_9(settings) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ra-kill-", dir="/tmp"))
    (folder / "secret_key").write_text(settings.SECRET_KEY)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    people = load.annotators(4, segments=4)
    try:
        with web_server(folder, port) as server:
            threads = load.run_all(people, port, seconds=5, every=0.2, patient=True, grace=60)
            deadline = time.monotonic() + 60
            while sum(len(person.acked_all) for person in people) < 10 and time.monotonic() < deadline:
                time.sleep(0.05)
            server.send_signal(signal.SIGKILL)
            server.wait()
            at_kill = sum(len(person.acked_all) for person in people)
        with web_server(folder, port):
            for thread in threads:
                thread.join(120)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert [error for person in people for error in person.errors] == []
    assert sum(person.retries for person in people) > 0
    assert sum(len(person.acked_all) for person in people) > at_kill >= 10
    assert load.lost(people) == 0
    events = Event.objects.filter(action="label.save").count()
    assert events == sum(len(person.acked_all) for person in people), (
        "stored without or more often than an answer"
    )
    assert all(problem is None for _stream, problem in verify_all())


@pytest.mark.django_db(transaction=True)
def test_ds_15_a_full_disk_is_said_and_leaves_nothing() -> None:
    """The database says so with an error of its own class, which is raised here in place of a real full disk."""
    from psycopg.errors import DiskFull

    desk = Desk(make.study_with_work(items=1).work[0][0])

    def full(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if "annotation_segmentlabel" in str(sql) and str(sql).startswith("INSERT"):
            from django.db import OperationalError

            raise OperationalError("could not extend file: No space left on device") from DiskFull("no space")
        return execute(sql, params, many, context)

    before = everything()
    with connection.execute_wrapper(full):
        response = desk.save(2)
    assert code(response) == (507, "disk_full")
    assert everything() == before
    assert desk.save(2).status_code == 200
