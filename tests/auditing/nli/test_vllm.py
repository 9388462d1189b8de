"""The labeller against a real vLLM on the CPU, started by `manage.py serve_llm` with a tiny random model.

Skips where there is no environment for vLLM (``var/vllm``, made by `make test-vllm`, or ``VLLM_PYTHON``). An
environment that is there but broken fails.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditing.llm import serve
from tests.auditing.nli.server_checks import *  # noqa: F403 - the tests
from tests.conftest import ROOT

pytestmark = pytest.mark.models

START_SECONDS = 300


@pytest.fixture(scope="module")
def python() -> Path:
    found = serve.find_python(ROOT, None, os.environ)
    if not found.exists():
        pytest.skip(f"no vLLM: {found} does not exist; run `make test-vllm` (3.5 GB), or set VLLM_PYTHON")
    return found


@pytest.fixture(scope="module")
def model(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-qwen3"
    script = Path(__file__).with_name("tiny_qwen.py")
    made = subprocess.run(
        [str(python), str(script), str(folder)], capture_output=True, text=True, timeout=180
    )
    assert made.returncode == 0, made.stderr[-2000:]
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Return once the server answers its health check; fail with the end of its log if it never does."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, (
            f"serve_llm ended with {process.returncode}:\n{log.read_text()[-3000:]}"
        )
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    pytest.fail(f"vLLM did not answer within {START_SECONDS} s:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="module")
def base_url(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    command = [
        sys.executable,
        "manage.py",
        "serve_llm",
        str(model),
        "--port",
        str(port),
        "--dtype",
        "float32",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_until_ready(process, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server, and what it may leave behind: its engine is a process of its own, in the same session."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


async def test_the_server_lists_the_model_it_was_started_with(server, model: Path):
    assert await server.models() == [str(model)]
