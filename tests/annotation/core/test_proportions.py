"""Wilson's interval against statsmodels' published values and its formula by hand."""

import pytest

from annotation.core.proportions import wilson_interval


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (score without continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_ag_10_wilson_interval_is_that_of_newcombe(hits, total, low, high):
    found = wilson_interval(hits, total)
    assert found == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_nothing_of_nothing_is_no_proportion():
    with pytest.raises(ValueError, match="not a proportion"):
        wilson_interval(0, 0)
