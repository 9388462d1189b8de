"""A worker process on the test database."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parents[3]


def database_url() -> str:
    facts = connection.settings_dict
    user, password, host = facts["USER"], facts["PASSWORD"], facts["HOST"]
    secret = f":{quote(password)}" if password else ""
    return f"postgresql://{quote(user)}{secret}@/{facts['NAME']}?host={quote(str(host), safe='/')}"


@pytest.fixture
def start_worker(transactional_db, tmp_path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start `manage.py worker` with these arguments; what still runs at the end is killed, and jobs are removed."""
    started: list[subprocess.Popen[bytes]] = []
    log = tmp_path / "worker.log"

    def start(*arguments: str, stall: float = 1.0) -> subprocess.Popen[bytes]:
        env = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "reasonaudit.settings.test",
            "STALLED_AFTER_SECONDS": str(stall),
        }
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "worker", *arguments],
                env=env,
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(10)
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE procrastinate_jobs, procrastinate_workers, procrastinate_periodic_defers CASCADE"
        )
    print(log.read_text(errors="replace") if log.exists() else "")
