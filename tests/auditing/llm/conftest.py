"""One scripted server per module; each test sets its scenario."""

from collections.abc import Iterator

import pytest

from tests.scripted_server import ScriptedServer, start_scripted_server


@pytest.fixture(scope="module")
def scripted_process() -> Iterator[ScriptedServer]:
    with start_scripted_server() as server:
        yield server


@pytest.fixture
def server(scripted_process: ScriptedServer) -> ScriptedServer:
    scripted_process.change()
    return scripted_process
