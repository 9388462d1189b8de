"""DP-01 and DP-02: a deployment starts only with safe settings, and Django's own check finds nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = "k3y-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2
GOOD = {
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "audit.example.org",
    "DATABASE_URL": "postgresql://audit:secret-in-url@127.0.0.1:1/audit",
}


def start(tmp_path: Path, changes: dict[str, str | None], *command: str) -> subprocess.CompletedProcess[str]:
    """Run a Django command under production settings with GOOD changed; None unsets a variable."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    wanted = {**GOOD, **changes}
    environment = {
        **keep,
        **{name: value for name, value in wanted.items() if value is not None},
        "DJANGO_SETTINGS_MODULE": "reasonaudit.settings.production",
        "REASONAUDIT_VAR": str(tmp_path),
    }
    return subprocess.run(
        [sys.executable, "-m", "django", *command],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"SECRET_KEY": None}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": ""}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": KEY[:49]}, "SECRET_KEY is too short or too simple"),
        ({"SECRET_KEY": "changeme!" * 10}, "SECRET_KEY is too short or too simple"),
        ({"SECRET_KEY": "django-insecure-" + KEY}, "SECRET_KEY is one for development"),
        ({"DEBUG": "1"}, "DEBUG is on"),
        ({"DEBUG": "True"}, "DEBUG is on"),
        ({"ALLOWED_HOSTS": None}, "ALLOWED_HOSTS is not set"),
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS holds a wildcard"),
        ({"ALLOWED_HOSTS": "audit.example.org,*"}, "ALLOWED_HOSTS holds a wildcard"),
        ({"DATABASE_URL": None}, "DATABASE_URL is not set"),
        ({"DATABASE_URL": None, "REASONAUDIT_EMBEDDED": "0"}, "DATABASE_URL is not set"),
        ({"DATABASE_URL": "sqlite:///db.sqlite3"}, "runs on PostgreSQL only"),
    ],
)
def test_dp_01_unsafe_settings_stop_the_start(
    tmp_path: Path, changes: dict[str, str | None], sentence: str
) -> None:
    result = start(tmp_path, changes, "check")
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert sentence in last
    assert KEY not in result.stderr


def test_dp_01_every_problem_is_named_at_once(tmp_path: Path) -> None:
    result = start(tmp_path, {"SECRET_KEY": None, "ALLOWED_HOSTS": "*", "DATABASE_URL": None}, "check")
    last = result.stderr.strip().splitlines()[-1]
    assert all(name in last for name in ("SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"))


@pytest.mark.parametrize("changes", [{}, {"DATABASE_URL": None, "REASONAUDIT_EMBEDDED": "1"}])
def test_dp_02_deployment_check_is_clean(tmp_path: Path, changes: dict[str, str | None]) -> None:
    result = start(tmp_path, changes, "check", "--deploy", "--fail-level", "WARNING")
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout + result.stderr


def test_dp_04_production_cookies_and_transport(tmp_path: Path) -> None:
    """Django's check knows no policy header and no cookie prefix: read the settings themselves."""
    script = (
        "from django.conf import settings as s; import django; django.setup(); "
        "print(s.DEBUG, s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE, "
        "s.CSRF_COOKIE_SECURE, s.SESSION_COOKIE_HTTPONLY, s.SECURE_HSTS_SECONDS, "
        "s.STORAGES['staticfiles']['BACKEND'].rsplit('.')[-1], "
        "s.CSRF_TRUSTED_ORIGINS, 'CONTENT_SECURITY_POLICY_REPORT_ONLY' in dir(s))"
    )
    result = start(
        tmp_path, {"ALLOWED_HOSTS": "audit.example.org,.example.net"}, "shell", "--no-imports", "-c", script
    )
    assert result.stdout.strip() == (
        "False __Host-session __Host-csrf True True True 31536000 HashedStaticFilesStorage "
        "['https://audit.example.org', 'https://*.example.net'] False"
    ), result.stderr
