"""Single values: boxes of negative size, odd numbers, rates, spans and ids."""

from __future__ import annotations

from fractions import Fraction

import pytest

from videos.formats import values
from videos.formats.log import Log


def test_negative_sizes_are_turned_round() -> None:
    log = Log()
    assert values.box((50, 60, -20, 30), log, "a") == (30, 60, 20, 30)
    assert values.box((50, 60, 20, -30), log, "b") == (50, 30, 20, 30)
    assert log.report().warnings == ["a, b: a box of negative size; turned round."]


@pytest.mark.parametrize(
    "bad", [(0, 0, 0, 5), (0, 0, 5, None), (float("nan"), 0, 1, 1), (1e308, 0, 1, 1), ("x", 0, 1, 1)]
)
def test_what_is_no_box_is_left_out_with_a_word(bad: tuple[object, ...]) -> None:
    log = Log()
    assert values.box(bad, log, "here") is None
    assert len(log.report().warnings) == 1


def test_numbers_in_text() -> None:
    assert [values.number(text) for text in ("1.5", "1,5", " -2 ", "1e3", "nan", "inf", "0x10", "1_0", True)] == [
        1.5, 1.5, -2, 1000, None, None, None, None, None,
    ]  # fmt: skip


def test_rates_of_television_are_exact() -> None:
    assert values.rate(29.97) == Fraction(30000, 1001)
    assert values.rate(23.976) == Fraction(24000, 1001)
    assert values.rate("59.94") == Fraction(60000, 1001)
    assert values.rate(25) == 25
    assert values.rate(12.5) == Fraction(25, 2)
    assert [values.rate(bad) for bad in (0, -25, 1e9, "fast", None)] == [None] * 5


def test_spans_are_never_empty_and_never_before_the_video() -> None:
    log = Log()
    assert values.span(5, 5, log, "") == (5, 6)
    assert values.span(9, 5, log, "") == (5, 9)
    assert values.span(-5, 5, log, "") == (0, 5)
    assert values.span(-5, 0, log, "") is None
    assert values.span(None, 5, log, "") is None


def test_ids_are_the_same_each_time_and_ours_are_kept() -> None:
    ours = "0b1c2d3e-0000-4000-8000-000000000001"
    assert values.own_or_stable_id(ours, "eaf") == ours
    assert values.own_or_stable_id(ours.upper(), "eaf") != ours.upper()
    assert values.own_or_stable_id("a1", "eaf") == values.own_or_stable_id("a1", "eaf")
    assert values.own_or_stable_id("a1", "eaf") != values.own_or_stable_id("a1", "coco")
