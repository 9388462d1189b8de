"""Running the commands: in this process, or as a user does in one of their own."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.auditing import golden

ROOT = Path(__file__).resolve().parents[3]
UNREACHABLE = "postgresql://nobody:nothing@127.0.0.1:1/none"


class Result:
    """What a command said and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run():
    """Run a command in this process; pytest-django forbids the database, so a query fails the test."""

    def runner(*arguments: object) -> Result:
        out, err = StringIO(), StringIO()
        try:
            call_command(*map(str, arguments), stdout=out, stderr=err)
        except CommandError as error:
            return Result(error.returncode, out.getvalue(), f"{err.getvalue()}{error}")
        return Result(0, out.getvalue(), err.getvalue())

    return runner


@pytest.fixture
def spawn(tmp_path):
    """Run manage.py in a process of its own, with an unreachable database and no test settings."""

    def runner(*arguments: object, before: str = "", **env: str) -> Result:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        code = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{before}\n"
            "sys.argv = ['manage.py', *sys.argv[1:]]\nimport manage; manage.main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            cwd=tmp_path,
            env={**kept, "DATABASE_URL": UNREACHABLE, "REASONAUDIT_VAR": str(tmp_path / "var"), **env},
            timeout=120,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return runner


@pytest.fixture
def wound(tmp_path):
    """A file with the trace that was worked out by hand."""
    return golden.write(tmp_path / "wound.jsonl")
