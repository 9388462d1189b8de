"""The parts in which all tests run: none is left out, none runs twice, and one that fails is not lost."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import in_parts

TESTS = Path(in_parts.__file__).parent


def test_every_file_of_tests_is_in_one_part_or_in_the_browsers_folder():
    given = Counter(
        path for part in in_parts.parts() for name in part for path in Path(name).rglob("test_*.py")
    )
    given.update(Path(name) for part in in_parts.parts() for name in part if Path(name).is_file())
    found = {path for path in TESTS.rglob("test_*.py") if path.relative_to(TESTS).parts[0] != "browser"}
    assert set(given) == found
    assert set(given.values()) == {1}


@pytest.mark.parametrize(
    ("codes", "browser", "left"),
    [([0, 0], 0, 0), ([0, 5], 5, 0), ([0, 1], 0, 1), ([0, 0], 1, 1), ([0, -9], 0, 9)],
)
def test_a_part_that_fails_or_is_killed_is_told_and_one_with_nothing_to_run_is_none(
    monkeypatch, codes, browser, left
):
    ended = iter(codes)
    monkeypatch.setattr(in_parts, "parts", lambda: [["a"], ["b"]])
    monkeypatch.setattr(in_parts, "run", lambda part: (next(ended), "words"))
    monkeypatch.setattr(
        in_parts, "subprocess", SimpleNamespace(run=lambda *_, **__: SimpleNamespace(returncode=browser))
    )
    assert in_parts.main() == left
