"""Clips made once for all tests of media, and where the hard files are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.videos.clips import Truth, make_clip, suffix

HARD = Path(__file__).resolve().parents[4] / "shared" / "data" / "media" / "hard"


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, Truth]]:
    """Return a function that makes a clip of a kind, once, and gives its path and truth."""
    folder = tmp_path_factory.mktemp("clips")
    made: dict[tuple, tuple[Path, Truth]] = {}

    def make(kind: str, seconds: float = 4) -> tuple[Path, Truth]:
        key = (kind, seconds)
        if key not in made:
            path = folder / f"{kind}-{seconds}{suffix(kind)}"
            made[key] = path, make_clip(path, kind, seconds)
        return made[key]

    return make
