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
