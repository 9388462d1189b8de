"""Words, complete labels, spans and times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import labels


@pytest.mark.parametrize("text", ["a", " 7 ", "…x…", "né", "否", "नहीं", "²"])
def test_a_letter_or_digit_is_a_word(text: str) -> None:
    assert labels.has_word(text)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "?!", "…", "\u200b", "\u00a0", "-- . --", "\U0001f44d"])
def test_marks_and_spaces_are_no_word(text: str) -> None:
    assert not labels.has_word(text)


@pytest.mark.parametrize(
    ("label", "cannot_judge", "comment", "complete"),
    [
        (None, False, "why", False),
        ("", False, "why", False),
        ("correct", False, "", True),
        ("incorrect", False, "", False),
        ("incorrect", False, " … ", False),
        ("incorrect", False, "wrong side", True),
        ("uncertain", False, "", False),
        ("uncertain", False, "vague", True),
        (None, True, "", False),
        (None, True, "no picture", True),
    ],
)
def test_ag_08_only_correct_needs_no_comment(
    label: str | None, cannot_judge: bool, comment: str, complete: bool
) -> None:
    assert labels.is_complete(label, cannot_judge, comment) is complete


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udfff"])
def test_ih_15_what_cannot_be_stored_is_known(text: str) -> None:
    assert not labels.storable(text)


def test_ih_15_everything_else_can_be_stored() -> None:
    assert labels.storable("é e\u0301 \U0001f9ec \u202e \ufeff \t\r\n")


@pytest.mark.parametrize(
    "spans",
    [
        "0-3", {"start": 0}, [[0]], [[0, 1, 2]], [[0, 1.0]], [[True, 2]], [["0", "1"]], [[-1, 2]], [[2, 2]], [[3, 2]],
        [[0, 11]], [[0, 5], [4, 6]], [[4, 6], [0, 5]], [[0, 2], [0, 2]], [None],
    ],
)  # fmt: skip
def test_spans_outside_the_text_or_over_each_other_are_named(spans: object) -> None:
    assert labels.bad_spans(spans, 10)


@given(st.lists(st.integers(0, 10), min_size=0, max_size=8, unique=True).map(sorted), st.randoms())
def test_spans_between_growing_edges_are_fine_in_any_order(edges: list[int], chance) -> None:
    spans = [list(pair) for pair in zip(edges[::2], edges[1::2], strict=False)]
    chance.shuffle(spans)
    assert labels.bad_spans(spans, 10) == ""


def test_reasons_belong_to_a_label() -> None:
    known = {"incorrect": [{"code": "a", "words": "A"}], "correct": []}
    assert labels.unknown_reasons(["a"], "incorrect", known) == []
    assert labels.unknown_reasons(["a", "b"], "incorrect", known) == ["b"]
    assert labels.unknown_reasons(["a"], "correct", known) == ["a"]
    assert labels.unknown_reasons(["a"], "uncertain", known) == ["a"]
    assert labels.unknown_reasons(["a"], None, known) == ["a"]


@pytest.mark.parametrize(
    ("stored", "sent", "wall", "kept"),
    [
        (0, 5_000, 60_000, 5_000),
        (9_000, 5_000, 60_000, 9_000),  # the browser lost its count
        (0, 90_000, 60_000, 60_000),  # nobody is busy for longer than the day is long
        (9_000, 90_000, 5_000, 9_000),
        (0, 5_000, -3, 0),  # a clock that was set back
        (0, 10**12, 10**12, labels.MOST_MS),
    ],
)
def test_ag_12_times_only_grow_and_stay_below_the_wall_time(
    stored: int, sent: int, wall: int, kept: int
) -> None:
    assert labels.believable_ms(stored, sent, wall) == kept


def test_the_version_of_a_text_tells_texts_apart_and_fits_a_browsers_number() -> None:
    assert labels.text_version("") == 0
    # First 12 hexadecimal digits of SHA-256("abc"), FIPS 180-4.
    assert labels.text_version("abc") == 0xBA7816BF8F01
    assert labels.text_version("abc ") != labels.text_version("abc")
    assert labels.text_version("\U0001f9ec") < 2**53
