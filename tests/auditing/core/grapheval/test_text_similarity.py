"""The subsequence ratio against the usual table, and its options by hand."""

from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.grapheval.text_similarity import (
    NORMS,
    UNITS,
    Norm,
    Unit,
    common_subsequence,
    text_similarity,
)

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def table(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for left in first:
        above = row
        row = [0]
        for place, right in enumerate(second):
            row.append(above[place] + 1 if left == right else max(above[place + 1], row[place]))
    return row[-1]


@given(WORDS, WORDS)
def test_equals_the_table_of_the_textbook(first: list[str], second: list[str]) -> None:
    assert common_subsequence(first, second) == table(first, second)


def test_ratios_by_hand() -> None:
    # "the cat ... sat" is common: 3 of 4 and 5 words.
    a, b = "The cat has sat", "the  cat then never SAT"
    assert text_similarity(a, b).similarity == 2 * 3 / 9
    assert text_similarity(a, b, norm="max").similarity == 3 / 5
    assert text_similarity("abcd", "badc", unit="char").similarity == 0.5
    blocks = SequenceMatcher(None, a.lower().split(), b.lower().split()).ratio()
    assert text_similarity(a, b, norm="difflib").similarity == blocks


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("norm", NORMS)
def test_empty_and_equal_texts(unit: Unit, norm: Norm) -> None:
    options: dict[str, Any] = {"unit": unit, "norm": norm}
    assert text_similarity("", "", **options).similarity == 1
    assert text_similarity("a", "", **options).similarity == 0
    assert text_similarity("", "a", **options).distance == 1
    assert text_similarity("A b c", "a B C", **options).distance == 0


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="unit"):
        text_similarity("", "", unit="line")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="norm"):
        text_similarity("", "", norm="cosine")  # type: ignore[arg-type]


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(UNITS), st.sampled_from(["dice", "max"]))
def test_symmetric_and_from_0_to_1(a: str, b: str, unit: Unit, norm: Norm) -> None:
    found = text_similarity(a, b, unit=unit, norm=norm)
    assert 0 <= found.similarity <= 1
    assert found.distance == 1 - found.similarity
    assert text_similarity(b, a, unit=unit, norm=norm) == found
