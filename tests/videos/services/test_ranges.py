"""IH-08: which bytes a `Range` header asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videos.services import ranges
from videos.services.ranges import LONGEST_HEADER, Span, Unsatisfiable, read_range

numbers = st.integers(0, 40)


@given(size=numbers, first=numbers, last=numbers)
def test_ih_08_a_closed_range_is_that_slice(size: int, first: int, last: int) -> None:
    """Oracle: the slice of Python, whose end is exclusive where that of HTTP is not."""
    data = bytes(range(size))
    header = f"bytes={first}-{last}"
    if last < first:
        assert read_range(header, size) is None
    elif first >= size:
        with pytest.raises(Unsatisfiable):
            read_range(header, size)
    else:
        span = read_range(header, size)
        assert span is not None
        assert data[span.start : span.end] == data[first : last + 1]
        assert span.length == len(data[first : last + 1])


@given(size=numbers, first=numbers)
def test_ih_08_an_open_range_goes_to_the_end(size: int, first: int) -> None:
    if first >= size:
        with pytest.raises(Unsatisfiable):
            read_range(f"bytes={first}-", size)
    else:
        assert read_range(f"bytes={first}-", size) == Span(first, size, size)


@given(size=numbers, count=numbers)
def test_ih_08_a_suffix_is_the_last_bytes(size: int, count: int) -> None:
    data = bytes(range(size))
    if count == 0 or size == 0:
        with pytest.raises(Unsatisfiable):
            read_range(f"bytes=-{count}", size)
    else:
        span = read_range(f"bytes=-{count}", size)
        assert span is not None
        assert data[span.start : span.end] == data[-count:]


@pytest.mark.parametrize(
    "header",
    [
        None, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1-2,3-4", "bytes=0-0,-1", "items=0-1", "bytes=2-1",
        "bytes=--5", "bytes=1.5-2", "bytes=+1-2", "bytes=0x1-2", "bytes=1-2;", "bytes=٣-٤", "bytes=²-", "0-1",
        "bytes=1-2\r\nX: y", "bytes=99999999999999999999-", "bytes=0-" + "9" * 5000,
    ],
)  # fmt: skip
def test_ih_08_other_forms_ask_for_everything(header: str | None) -> None:
    assert read_range(header, 10) is None


def test_ih_08_spaces_and_case_do_not_matter() -> None:
    assert read_range(" Bytes = 2 - 5 ", 10) == Span(2, 6, 10)


def test_ih_08_content_range_counts_both_ends() -> None:
    assert Span(2, 6, 10).content_range == "bytes 2-5/10"


def test_ih_08_the_end_of_a_range_may_lie_far_behind_the_file() -> None:
    assert read_range("bytes=3-9223372036854775807", 10) == Span(3, 10, 10)


@given(st.text(max_size=LONGEST_HEADER + 20))
def test_ih_08_no_header_is_a_fault(header: str) -> None:
    try:
        span = read_range(header, 10)
    except Unsatisfiable:
        return
    assert span is None or 0 <= span.start < span.end <= 10


def test_ih_08_a_header_with_many_ranges_is_not_even_read(monkeypatch) -> None:
    """The work does not grow with the header (compare CVE-2025-62727)."""

    class NeverAsked:
        def fullmatch(self, text: str) -> None:
            raise AssertionError(f"{len(text)} characters were read")

    monkeypatch.setattr(ranges, "_ONE", NeverAsked())
    assert read_range("bytes=" + "0-1," * 1_000_000, 10) is None
