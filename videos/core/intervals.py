"""Lists of half-open intervals [start, end) in whole numbers: pictures or microseconds.

Source: annotation design C8 (visible intervals are half-open), E4 (overlap of spans as intersection over
union). Choices, in words: results are sorted, and intervals that touch become one; an interval without length
is a point and has no part in any overlap.
"""

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]


def union(*lists: Iterable[Sequence[int]]) -> list[Interval]:
    """Everything that at least one list covers: sorted, disjoint, without points."""
    merged: list[Interval] = []
    for start, end in sorted((pair[0], pair[1]) for intervals in lists for pair in intervals):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def intersect(a: Iterable[Sequence[int]], b: Iterable[Sequence[int]]) -> list[Interval]:
    """Everything that both lists cover: sorted, disjoint."""
    left, right = union(a), union(b)
    found: list[Interval] = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            found.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return found


def subtract(a: Iterable[Sequence[int]], b: Iterable[Sequence[int]]) -> list[Interval]:
    """Everything that the first list covers and the second does not: sorted, disjoint."""
    found: list[Interval] = []
    holes = union(b)
    for start, end in union(a):
        for low, high in holes:
            if high <= start or low >= end:
                continue
            if low > start:
                found.append((start, low))
            start = max(start, high)
        if start < end:
            found.append((start, end))
    return found


def length(intervals: Iterable[Sequence[int]]) -> int:
    """Total length, what is covered twice counted once."""
    return sum(end - start for start, end in union(intervals))


def overlap_us(a: Iterable[Sequence[int]], b: Iterable[Sequence[int]]) -> int:
    """Length of what both lists cover, in their unit (microseconds for spans)."""
    return sum(end - start for start, end in intersect(a, b))


def tiou(a: Iterable[Sequence[int]], b: Iterable[Sequence[int]]) -> float | None:
    """Length of the intersection by that of the union, 0 to 1; None where both lists cover nothing."""
    left, right = union(a), union(b)
    whole = length((*left, *right))
    return overlap_us(left, right) / whole if whole else None


def holds(intervals: Iterable[Sequence[int]], point: int) -> bool:
    """Whether a point lies in one of the intervals."""
    return any(start <= point < end for start, end in intervals)
