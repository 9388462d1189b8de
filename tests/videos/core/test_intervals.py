from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.tables import cases, close
from videos.core import intervals

PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5)


def points(pairs: Any) -> set[int]:
    return {point for start, end in pairs for point in range(start, end)}


@pytest.mark.parametrize(("data", "expected"), cases("video_intervals"))
def test_table(data: dict[str, Any], expected: Any) -> None:
    function = getattr(intervals, data["function"])
    if data["function"] == "holds":
        assert [[point, function(data["a"], point)] for point, _ in expected] == expected
    else:
        assert close(function(*(data[name] for name in ("a", "b") if name in data)), expected)


@given(PAIRS, PAIRS)
def test_equal_to_sets_of_points(a: Any, b: Any) -> None:
    left, right = points(a), points(b)
    assert points(intervals.union(a, b)) == left | right
    assert points(intervals.intersect(a, b)) == left & right
    assert points(intervals.subtract(a, b)) == left - right
    assert intervals.length(a) == len(left)
    assert intervals.overlap_us(a, b) == len(left & right)
    expected = len(left & right) / len(left | right) if left | right else None
    assert intervals.tiou(a, b) == expected
    for found in (intervals.union(a, b), intervals.intersect(a, b), intervals.subtract(a, b)):
        assert all(start < end for start, end in found)
        assert all(before[1] < after[0] for before, after in pairwise(found))
