from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.tables import cases
from videos.core.timebase import PictureIndex

RATES = [Fraction(12), Fraction(24000, 1001), Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(30)]
RATES += [Fraction(50), Fraction(60000, 1001), Fraction(60)]
BASES = [1000, 12800, 90000]


def build(data: dict[str, Any]) -> PictureIndex:
    if "bytes_hex" in data:
        return PictureIndex.from_bytes(bytes.fromhex(data["bytes_hex"]))
    index = data["index"]
    if "ticks" in index:
        ticks = np.array(index["ticks"], dtype=np.int64)
    else:
        ticks = index["first"] + index["step"] * np.arange(index["count"], dtype=np.int64)
    return PictureIndex(ticks, index["num"], index["den"], index["end_tick"])


@st.composite
def indexes(draw: st.DrawFn) -> PictureIndex:
    gaps = draw(st.lists(st.integers(1, 100_000), min_size=1, max_size=60))
    first = draw(st.integers(-1_000_000, 1_000_000))
    ticks = first + np.concatenate([[0], np.cumsum(gaps)])
    num, den = draw(st.integers(1, 1001)), draw(st.integers(1, 90_000))
    return PictureIndex(ticks[:-1], num, den, int(ticks[-1]))


@pytest.mark.parametrize(("data", "expected"), cases("video_timebase"))
def test_table(data: dict[str, Any], expected: dict[str, Any]) -> None:
    if expected.get("error"):
        with pytest.raises(ValueError, match=r"\w"):
            build(data)
        return
    index = build(data)
    assert index.n == expected["n"]
    assert index.duration_us == expected["duration_us"]
    if "bytes_hex" in expected:
        assert index.to_bytes().hex() == expected["bytes_hex"]
        assert PictureIndex.from_bytes(bytes.fromhex(expected["bytes_hex"])) == index
        return
    assert index.mean_rate == Fraction(*expected["mean_rate"])
    assert index.is_constant is expected["is_constant"]
    assert [[i, index.clip_us(i)] for i, _ in expected["clip_us"]] == expected["clip_us"]
    assert [index.middle(i) for i, _ in expected["middle"]] == [
        Fraction(*time) for _, time in expected["middle"]
    ]
    assert [[time, index.at(Fraction(*time))] for time, _ in expected["at"]] == expected["at"]
    assert [[us, index.at_us(us)] for us, _ in expected["at_us"]] == expected["at_us"]
    assert [[time, index.nearest(time)] for time, _ in expected["nearest"]] == expected["nearest"]


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("base", [None, *BASES])
def test_c2_the_middle_of_every_picture_names_it(rate: Fraction, base: int | None) -> None:
    """For every rate, exactly and rounded to time bases, as a fraction and as the float a browser is told."""
    n = 1500
    if base is None:
        index = PictureIndex.constant(n, rate)
    else:
        ticks = np.array([round(i * base / rate) for i in range(n + 1)])
        index = PictureIndex(ticks[:-1], 1, base, int(ticks[-1]))
    assert index.is_constant
    for i in range(n):
        middle = index.middle(i)
        assert index.at(middle) == i
        assert index.at(float(middle)) == i
        # A browser cuts the time to microseconds.
        assert index.at_us(int(middle * 1_000_000)) == i
        assert index.nearest(round(float(index.clip_seconds(i)), 6)) == i


@given(indexes())
def test_middle_and_start_of_any_clip(index: PictureIndex) -> None:
    starts = [index.clip_us(i) for i in range(index.n)]
    for i in range(index.n):
        assert index.at(index.middle(i)) == i
        assert index.at(index.clip_seconds(i)) == i
        assert index.nearest(index.clip_seconds(i)) == i
        # Several pictures may start in one microsecond: the last of them is on show.
        assert index.at_us(starts[i]) == max(j for j in range(index.n) if starts[j] == starts[i])
    assert index.end_us(index.n - 1) == index.duration_us
    assert index.at(index.duration) == index.n - 1


@given(indexes())
def test_bytes_and_back(index: PictureIndex) -> None:
    again = PictureIndex.from_bytes(index.to_bytes())
    assert again == index
    assert hash(again) == hash(index)
    assert len(index.to_bytes()) == 40 + 4 * (index.n - 1)


@given(indexes(), st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_with_a_sentence(index: PictureIndex, noise: bytes) -> None:
    for data in (noise, index.to_bytes()[: len(noise)], index.to_bytes()[:8] + noise):
        try:
            read = PictureIndex.from_bytes(data)
        except ValueError as error:
            sentence = str(error)
        else:
            sentence = "read"
            assert read.to_bytes() == data
        assert sentence


@given(indexes(), st.integers(0, 59), st.integers(1, 20))
def test_pictures_of_a_span_are_those_of_its_times(index: PictureIndex, start: int, count: int) -> None:
    start = min(start, index.n - 1)
    end = min(start + count, index.n)
    low, high = index.span_us((start, end))
    if all(index.end_us(i) > index.clip_us(i) for i in range(index.n)):
        assert index.frames_in(low, high) == (start, end)
        assert index.frames_in(low, low) == (start, start + 1)


def test_times_that_are_none_are_refused() -> None:
    index = PictureIndex.constant(3, Fraction(25))
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not a time"):
            index.at(value)
    with pytest.raises(IndexError, match="pictures 0 to 2"):
        index.clip_us(3)
    with pytest.raises(ValueError, match="more than a file can hold"):
        PictureIndex(np.array([0, 2**32]), 1, 1, 2**32 + 1).to_bytes()
    with pytest.raises(ValueError, match="read-only"):
        index.ticks[0] = 5


def test_an_index_keeps_its_own_copy() -> None:
    ticks = np.array([0, 1, 2])
    index = PictureIndex(ticks, 1, 25, 3)
    ticks[0] = -9
    assert index.ticks.tolist() == [0, 1, 2]
