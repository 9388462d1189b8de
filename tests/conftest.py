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
