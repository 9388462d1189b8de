"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public data sets that are never part of the project; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with public data is not there")
    return SHARED / "data"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser tests last: Playwright leaves an event loop running, which other asynchronous tests refuse."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_exception_interact(node: pytest.Item | pytest.Collector, report: pytest.TestReport) -> None:
    """Say a failure when it happens: a run that is cut off comes to no list at its end."""
    terminal = node.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        last_lines = "\n".join(report.longreprtext.splitlines()[-30:])
        terminal.write_line(f"\n{report.nodeid} failed:\n{last_lines}")
