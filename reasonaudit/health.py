"""/healthz: the process answers. /readyz: it can also do its work."""

import shutil
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

LOWEST_FREE_DISK = 0.05  # share of the disk


@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_GET
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when every part works, else 503. Anonymous callers learn which part fails, not why."""
    checks: dict[str, Callable[[], str]] = {
        "database": database_problem,
        "migrations": migrations_problem,
        "worker": worker_problem,
        "disk": disk_problem,
    }
    problems = {}
    for name, check in checks.items():
        try:
            problems[name] = check()
        except DatabaseError:
            problems[name] = "The database does not answer."
    ready = not any(problems.values())
    parts = {name: "ok" if not problem else "failing" for name, problem in problems.items()}
    body: dict[str, object] = {"status": "ready" if ready else "not ready", "parts": parts}
    if _is_admin(request):
        body["problems"] = {name: problem for name, problem in problems.items() if problem}
    return JsonResponse(body, status=200 if ready else 503)


def database_problem() -> str:
    """Why the database cannot be read and written, "" where it can."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool")
        if cursor.fetchone()[0]:
            return "The database takes no writes."
        cursor.execute("CREATE TEMPORARY TABLE IF NOT EXISTS readyz_probe (at timestamptz)")
        cursor.execute("INSERT INTO readyz_probe VALUES (now())")
        cursor.execute("DROP TABLE readyz_probe")
    return ""


def migrations_problem() -> str:
    """Which migrations are missing, "" where none is."""
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} migrations are missing. Run `manage.py migrate`." if missing else ""


def worker_problem() -> str:
    """Why no job would be done: the last heartbeat of a worker is missing or too old."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(last_heartbeat) FROM procrastinate_workers")
        last = cursor.fetchone()[0]
    if last is None:
        return "No worker is running. Start one with `manage.py procrastinate worker`."
    age = timezone.now() - last
    if age > timedelta(seconds=settings.STALLED_AFTER_SECONDS):
        return f"The last worker was heard {int(age.total_seconds())} seconds ago."
    return ""


def disk_problem() -> str:
    """Why data may soon not be written, "" where enough of the disk is free."""
    usage = shutil.disk_usage(settings.VAR)
    free = usage.free / usage.total
    return f"Only {free:.1%} of the disk is free." if free < LOWEST_FREE_DISK else ""


def _is_admin(request: HttpRequest) -> bool:
    try:
        return request.user.is_authenticated and (request.user.role == "admin" or request.user.is_superuser)
    except DatabaseError:
        return False
