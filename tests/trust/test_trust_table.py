"""The table of `reasonaudit/docs/trust.md` names every guarded rule, and only tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([A-Z]{2}-\d{2}) \| (.+?) \| (.+?) \|", re.MULTILINE)
TABLE = ROW.findall((ROOT / "reasonaudit" / "docs" / "trust.md").read_text(encoding="utf-8"))
TEST_NAME = re.compile(r"^\s*(?:async )?def test_((?:ab|ag|dp|ds|ih|lj|mv|pr|rp|sp|ux)_\d{2})_", re.MULTILINE)


def ids_in(path: Path) -> set[str]:
    """Ids that the names of a file's tests carry."""
    return {found.upper().replace("_", "-") for found in TEST_NAME.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize(("rule", "kept", "files"), TABLE, ids=[row[0] for row in TABLE])
def test_every_file_of_a_row_holds_a_test_of_its_rule(rule: str, kept: str, files: str) -> None:
    paths = re.findall(r"`([^`]+)`", files)
    assert paths
    for path in paths:
        assert rule in ids_in(ROOT / path), f"{path} holds no test of {rule}"


def test_every_guarded_rule_has_a_row() -> None:
    guarded = set().union(*(ids_in(path) for path in (ROOT / "tests").rglob("test_*.py")))
    rows = [row[0] for row in TABLE]
    assert len(rows) == len(set(rows))
    assert guarded - set(rows) == set()
