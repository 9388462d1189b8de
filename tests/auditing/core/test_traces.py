"""The trace type refuses what cannot be audited."""

from typing import Any

import pytest

from auditing.core.traces import Trace


def test_a_trace() -> None:
    assert Trace("t", ("context", "step"), gold=(None, "correct")).n == 2


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"segments": ()}, "no segments"),
        ({"segments": ("context", " \n")}, "segment 2 is empty"),
        ({"context_segments": 0}, "context_segments"),
        ({"context_segments": 3}, "context_segments"),
        ({"domain": "legal"}, "domain"),
        ({"gold": ("correct",)}, "1 gold labels for 2 segments"),
    ],
)
def test_bad_traces_are_named(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Trace(**({"id": "t", "segments": ("context", "step")} | values))
