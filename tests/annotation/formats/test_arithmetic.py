"""Written sums against values worked out by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.formats.arithmetic import MAX_CHARACTERS, Evaluated, evaluate


@pytest.mark.parametrize(
    ("text", "value", "numbers"),
    [
        ("7", 7, (7,)),
        ("2 + 3 * 4", 14, (2, 3, 4)),
        ("(2 + 3) * 4", 20, (2, 3, 4)),
        ("8 / 3 / 2", Fraction(4, 3), (8, 3, 2)),
        ("10 - 4 - 3", 3, (10, 4, 3)),
        ("6 / (1 - 3 / 4)", 24, (6, 1, 3, 4)),
        ("-(2 - 5)", 3, (2, 5)),
        ("2.5 x 4 \u00f7 5", 2, (Fraction(5, 2), 4, 5)),
        ("9 \u2212 3 \u00d7 2", 3, (9, 3, 2)),
    ],
)
def test_value_and_numbers(text: str, value: object, numbers: tuple[object, ...]) -> None:
    assert evaluate(text) == Evaluated(value, numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None",
        "(2 + 3",
        "2 + 3)",
        "2 +",
        "* 2",
        "2 3",
        "4(2 + 1)",
        "1 / (2 - 2)",
        "2 ** 3",
        "2 ^ 3",
        "__import__('os')",
        "1e9",
        "12345678901234",
        "(" * MAX_CHARACTERS,
        "1" + "+1" * MAX_CHARACTERS,
    ],
)
def test_what_is_no_sum_has_no_value(text: str) -> None:
    assert evaluate(text) is None


numbers = st.integers(0, 99).map(str)
sums = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(
        lambda part: f"({part[0]} {part[1]} {part[2]})"
    ),
    max_leaves=8,
)


@given(sums)
def test_sums_have_the_value_that_python_gives_them(text: str) -> None:
    found = evaluate(text)
    # The text is made of digits, brackets and three operators by the strategy above.
    assert found is None or found.value == eval(text)
    assert found is not None or len(text) > MAX_CHARACTERS
