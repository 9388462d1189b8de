"""DP-09: /healthz and /readyz, each fault shown by causing it."""

import shutil
from collections.abc import Callable

import pytest
from django.conf import settings as project
from django.db import connection
from django.db.utils import OperationalError
from django.test import Client

from reasonaudit import health
from reasonaudit.accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> None:
    """A worker that was heard just now."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")


def parts(client: Client | None = None) -> tuple[int, dict[str, str]]:
    response = (client or Client()).get("/readyz")
    return response.status_code, response.json()["parts"]


def test_dp_09_healthz_needs_no_database(monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("asked the database")

    monkeypatch.setattr(connection, "cursor", fail)
    assert Client().get("/healthz").json() == {"status": "ok"}


@pytest.mark.usefixtures("worker")
def test_dp_09_ready_when_every_part_works() -> None:
    assert parts() == (200, {"database": "ok", "migrations": "ok", "worker": "ok", "disk": "ok"})


def test_dp_09_no_worker() -> None:
    status, found = parts()
    assert (status, found["worker"]) == (503, "failing")


@pytest.mark.usefixtures("worker")
def test_dp_09_worker_not_heard_for_too_long() -> None:
    seconds = project.STALLED_AFTER_SECONDS + 1
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE procrastinate_workers SET last_heartbeat = now() - make_interval(secs => %s)", [seconds]
        )
    status, found = parts()
    assert (status, found["worker"]) == (503, "failing")


@pytest.mark.usefixtures("worker")
def test_dp_09_missing_migration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'auditing'")
    status, found = parts()
    assert (status, found["migrations"]) == (503, "failing")


@pytest.mark.usefixtures("worker")
def test_dp_09_database_that_takes_no_writes() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
    status, found = parts()
    assert (status, found["database"]) == (503, "failing")


@pytest.mark.usefixtures("worker")
def test_dp_09_full_disk(monkeypatch) -> None:
    usage = type(shutil.disk_usage("/"))(total=1000, used=960, free=40)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    status, found = parts()
    assert (status, found["disk"]) == (503, "failing")


def test_dp_09_database_down_is_an_answer_not_a_crash(monkeypatch) -> None:
    def down() -> str:
        raise OperationalError("connection to server at 10.1.2.3 failed: password secret-in-error")

    monkeypatch.setattr(health, "database_problem", down)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["parts"]["database"] == "failing"
    assert "10.1.2.3" not in response.content.decode()


def test_dp_09_only_administrators_learn_why(make_user: Callable[..., User], login) -> None:
    assert "problems" not in Client().get("/readyz").json()
    assert "problems" not in login(make_user("researcher")).get("/readyz").json()
    assert "manage.py" in login(make_user("admin")).get("/readyz").json()["problems"]["worker"]
