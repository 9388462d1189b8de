"""What is missing on a machine is said in one sentence with the remedy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reasonaudit.lib import browser

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "sh", "grep", "sed", "find", "expand")


def make(target: str, *, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a make target with only the tools of `path`."""
    program = shutil.which("make")
    if program is None:
        pytest.skip("make is not installed")
    settings = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(
        [program, target, *settings],
        cwd=ROOT,
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder of programs without Python and Node.js."""
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tmp_path / name).symlink_to(found)
    return tmp_path


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
    path.chmod(0o755)


def test_no_python(bare_path: Path) -> None:
    done = make("need-python", path=bare_path)
    assert done.returncode
    assert "Python 3.11 or newer is needed and 'python3' was not found. Install it" in done.stdout


def test_an_old_python(bare_path: Path) -> None:
    program(bare_path, "oldpython", 'if [ "$1" = "-V" ]; then echo "Python 3.9.2"; else exit 1; fi')
    done = make("need-python", path=bare_path, PYTHON="oldpython")
    assert done.returncode
    assert "'oldpython' is Python 3.9.2. Install a newer one" in done.stdout


def test_this_python_will_do(bare_path: Path) -> None:
    assert make("need-python", path=bare_path, PYTHON=sys.executable).returncode == 0


def test_no_node(bare_path: Path) -> None:
    done = make("need-node", path=bare_path)
    assert done.returncode
    assert "Node.js 20 or newer with npm is needed" in done.stdout


def test_an_old_node(bare_path: Path) -> None:
    program(bare_path, "npm", "exit 0")
    program(bare_path, "node", 'if [ "$1" = "--version" ]; then echo v18.1.0; else exit 1; fi')
    done = make("need-node", path=bare_path)
    assert done.returncode
    assert "Node.js 20 or newer is needed; this is v18.1.0" in done.stdout


def test_no_chromium(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert browser.find_chromium() is None
    done = subprocess.run(
        [sys.executable, "-m", "reasonaudit.lib.browser"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert done.stderr.strip() == browser.REMEDY
