"""The tables that Python and TypeScript both run."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "cases"


def cases(name: str) -> list[Any]:
    """Cases of a table as parameters, by name."""
    rows = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [pytest.param(row["input"], row["expected"], id=row["name"]) for row in rows]


def close(actual: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two JSON values are equal, numbers up to a tolerance."""
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(close(actual[key], value, tolerance) for key, value in expected.items())
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(expected)
            and all(close(left, right, tolerance) for left, right in zip(actual, expected, strict=True))
        )
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (actual, expected)]
    if all(numbers):
        return bool(abs(actual - expected) <= tolerance)
    return type(actual) is type(expected) and bool(actual == expected)
