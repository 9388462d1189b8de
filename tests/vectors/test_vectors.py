"""Every vector case against the product: the committed files, and the shared ones where present."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.adapter import ALGORITHMS, run

ROOT = Path(__file__).resolve().parents[2]
PORTABLE = ROOT / "fixtures" / "vectors"
PUBLIC = ROOT.parent / "shared" / "vectors" / "public"

# Algorithms of later issues. A file must be in ALGORITHMS or here; nothing is skipped silently.
PLANNED: set[str] = set()


def _difference(actual: Any, expected: Any, tolerance: float, path: str = "") -> str | None:
    """Return the first place where `actual` is not what `expected` asks for, or None."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return f"{path}: {actual!r} is not an object"
        for key, value in expected.items():
            if key not in actual:
                return f"{path}.{key} is missing"
            found = _difference(actual[key], value, tolerance, f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return f"{path}: {actual!r} != {expected!r}"
        for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
            found = _difference(left, right, tolerance, f"{path}[{index}]")
            if found:
                return found
        return None
    if isinstance(expected, bool) or isinstance(actual, bool) or not isinstance(expected, int | float):
        return (
            None
            if actual == expected and type(actual) is type(expected)
            else f"{path}: {actual!r} != {expected!r}"
        )
    if not isinstance(actual, int | float):
        return f"{path}: {actual!r} != {expected!r}"
    close = math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance)
    return None if close else f"{path}: {actual!r} != {expected!r}"


def _cases(folder: Path) -> list[Any]:
    params = []
    for path in sorted(folder.glob("*.json")):
        if path.stem not in ALGORITHMS:
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        params += [
            pytest.param(path.stem, case, document["tolerance"], id=f"{path.stem}-{case['id']}")
            for case in document["cases"]
        ]
    return params


def _check(name: str, case: dict[str, Any], tolerance: float) -> None:
    actual, expected = run(name, case["input"], case["params"]), dict(case["expected"])
    if name == "nli_lazy":
        calls = expected.pop("max_calls")
        assert actual["max_calls"] <= calls, (
            f"{case['id']}: {actual['max_calls']} calls, at most {calls} are allowed"
        )
        assert actual["finished"] is True
    found = _difference(actual, expected, tolerance)
    assert found is None, f"{name} {case['id']} ({case.get('note')}) params {case['params']}: {found}"


@pytest.mark.parametrize(("name", "case", "tolerance"), _cases(PORTABLE))
def test_portable_vector(name: str, case: dict[str, Any], tolerance: float) -> None:
    _check(name, case, tolerance)


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the shared vectors are not beside this checkout")
@pytest.mark.parametrize(("name", "case", "tolerance"), _cases(PUBLIC))
def test_public_vector(name: str, case: dict[str, Any], tolerance: float) -> None:
    _check(name, case, tolerance)


def test_every_vector_file_is_run_or_planned() -> None:
    names = {path.stem for folder in (PORTABLE, PUBLIC) for path in folder.glob("*.json")}
    assert names, "no vector file found"
    assert names - set(ALGORITHMS) - PLANNED == set()
    assert set(ALGORITHMS) & PLANNED == set()
    assert set(ALGORITHMS) <= names


def test_comparison_can_fail() -> None:
    assert _difference({"a": [1.0]}, {"a": [1.0 + 1e-12]}, 1e-9) is None
    assert _difference({"a": [1.0]}, {"a": [1.1]}, 1e-9) is not None
    assert _difference({}, {"a": None}, 1e-9) is not None
    assert _difference({"a": 0}, {"a": None}, 1e-9) is not None
    assert _difference({"a": 1}, {"a": True}, 1e-9) is not None
    assert _difference({"a": [1]}, {"a": [1, 2]}, 1e-9) is not None
