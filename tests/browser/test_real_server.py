"""The whole application as `make demo` starts it: web server, worker, sockets, and a clean end."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.browser.conftest import ROOT

START_SECONDS, END_SECONDS, AUDIT_MS = 60, 30, 60_000
# 18 reasoning segments: C(19, 2) single premises and C(19, 3) pairs, each a new call for the embedded model.
STEPS, RELATIONS = 18, 171 + 969
# What this test process was given for its own throw-away services must not reach the demo.
NOT_INHERITED = (
    "REASONAUDIT_TEST_VAR",
    "DJANGO_SETTINGS_MODULE",
    "SECRET_KEY",
    "DATABASE_URL",
    "REDIS_URL",
    "DJANGO_ALLOW_ASYNC_UNSAFE",
)


@dataclass
class Demo:
    """A running demo: its process, folder, address and the researcher's password."""

    process: subprocess.Popen[str]
    folder: Path
    address: str
    password: str


@pytest.fixture
def served() -> Iterator[Demo]:
    folder = Path(tempfile.mkdtemp(prefix="ra-live-", dir="/tmp" if Path("/tmp").is_dir() else None))
    folder.chmod(0o755)  # the embedded database runs as a user of its own when tests run as root
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "demo", "--port", str(unused_port())],
        cwd=ROOT,
        env={**environment, "REASONAUDIT_VAR": str(folder), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = read_until(process, "Ctrl-C")
        address = re.search(r"runs at (http://127\.0\.0\.1:\d+)", said)
        login = re.search(r"^\s*researcher\s+(\S+)", said, re.MULTILINE)
        assert address, said
        assert login, said
        yield Demo(process, folder, address[1], login[1])
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(END_SECONDS)
        process.stdout.close()  # type: ignore[union-attr]
        shutil.rmtree(folder, ignore_errors=True)


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read_until(process: subprocess.Popen[str], mark: str) -> str:
    """What the process says up to `mark`; it is ended when it says it too late, which ends the reading."""
    said = ""
    too_late = Timer(START_SECONDS, process.terminate)
    too_late.start()
    try:
        for line in process.stdout:  # type: ignore[union-attr]
            said += line
            if mark in line:
                return said
    finally:
        too_late.cancel()
    raise AssertionError(f"The demo did not start:\n{said}")


def services_of(folder: Path) -> list[str]:
    """Processes whose command names the folder: its database and message server."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(folder) in line]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def long_trace(folder: Path) -> Path:
    """A trace long enough that its audit takes a moment."""
    steps = [
        f"Lamp {k} is on and uses {3 * k} watts, so {k} lamps use more than lamp 1." for k in range(STEPS)
    ]
    record = {
        "schema": "reasonaudit.trace/1",
        "id": "lamps-1",
        "case_id": "lamps",
        "domain": "mathematical",
        "title": "Counting lamps",
        "segments": [{"text": text} for text in ["A house has many lamps.", *steps]],
    }
    path = folder / "lamps.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def test_an_audit_runs_before_ones_eyes_and_everything_ends_with_sigterm(
    served: Demo, page: Page, tmp_path: Path
) -> None:
    sockets: list[WebSocket] = []
    messages: list[dict[str, object]] = []

    def opened(one: WebSocket) -> None:
        sockets.append(one)
        one.on("framereceived", lambda data: messages.append(json.loads(data)))

    page.on("websocket", opened)
    page.goto(f"{served.address}/accounts/login/")
    page.get_by_label("Name").fill("researcher")
    page.get_by_label("Password").fill(served.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/data-sets/")

    page.goto(f"{served.address}/import/")
    page.get_by_label("Name of the new data set").fill("Lamps")
    page.get_by_label("File", exact=True).set_input_files(long_trace(tmp_path))
    page.get_by_role("button", name="Read and preview").click()
    page.get_by_role("button", name="Import 1 trace").click()
    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(page.locator("#plan-host > summary")).to_have_text("Run audit on 1")
    page.locator("#plan-host > summary").click()
    page.get_by_role("button", name=f"Run {RELATIONS:,} calls").click()
    page.wait_for_url("**/runs/*/")
    run = int(page.url.rstrip("/").rsplit("/", 1)[1])

    island = page.locator("[data-island='run-progress']")
    expect(island.get_by_role("status")).to_have_text("Done", timeout=AUDIT_MS)
    expect(island.locator("progress")).to_have_js_property("value", RELATIONS)
    assert [one.url for one in sockets] == [f"{served.address.replace('http', 'ws', 1)}/ws/runs/{run}/"]
    own = [message for message in messages if message["id"] == run]
    assert own[-1]["state"] == "done"
    assert own[-1]["done"] == RELATIONS
    # The bar moved: the socket brought growing counts, the first of them before the end.
    counts = [int(str(message["done"])) for message in own]
    assert counts == sorted(counts)
    assert counts[0] < RELATIONS

    page.get_by_role("link", name="Counting lamps").click()
    expect(page.get_by_role("tab", name="Support tree")).to_be_visible()
    labels = [text.strip() for text in page.locator("[data-audit-chip]").all_inner_texts()]
    assert len(labels) == STEPS
    assert set(labels) <= {"Supported", "Unsupported", "Orphan", "Contradicted"}

    children = json.loads((served.folder / "launcher.json").read_text(encoding="utf-8"))["children"]
    assert len(children) == 2
    assert len(services_of(served.folder)) >= 2
    page.goto("about:blank")
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(END_SECONDS) == 0
    assert services_of(served.folder) == []
    assert not any(alive(pid) for pid in children)
    assert not (served.folder / "launcher.json").exists()
