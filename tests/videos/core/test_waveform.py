from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videos.core.waveform import PeakBuilder, level_for, loudness, pyramid


def build(samples: Any, rate: int, cuts: list[int]) -> list[Any]:
    builder = PeakBuilder(rate)
    for block in np.split(samples, sorted(min(cut, len(samples)) for cut in cuts)):
        builder.add(block)
    return builder.finish()


def test_points_by_hand() -> None:
    # 400 samples a second: 4 a point. 16384 / 32768 * 127 = 63.5, to the even 64; the last point is short.
    samples = np.array([0, 16384, -32768, 0, 1, 2, 3, 4, 0, 0, 0, 32767, -258], dtype=np.int16)
    assert build(samples, 400, [])[0].tolist() == [[-127, 64], [0, 0], [0, 127], [-1, -1]]


def test_floats_and_channels() -> None:
    # Opposite channels do not cancel; what is no number is silence; beyond full scale is full scale.
    samples = np.array([[0.5, -0.5], [np.nan, 0.0], [2.0, -np.inf], [0.0, 0.0]], dtype=np.float32)
    assert build(samples, 200, [])[0].tolist() == [[-64, 64], [-127, 127]]


@given(
    st.integers(100, 1200),
    st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=3000),
    st.lists(st.integers(0, 3000), max_size=6),
)
def test_every_level_is_the_smallest_and_largest_of_its_samples(
    rate: int, values: list[int], cuts: list[int]
) -> None:
    """In blocks of any length, at rates that no hundredth divides, against the definition sample by sample."""
    samples = np.array(values, dtype=np.int16)
    levels = build(samples, rate, cuts)
    points: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        points.setdefault(place * 100 // rate, []).append(value)
    expected = [[round(min(p) / 32768 * 127), round(max(p) / 32768 * 127)] for _, p in sorted(points.items())]
    assert levels[0].tolist() == expected
    assert levels[0].dtype == np.int8


def test_levels_are_four_times_coarser() -> None:
    base = np.stack([-np.arange(2050) % 100, np.arange(2050) % 100], axis=1).astype(np.int8)
    levels = pyramid(base)
    assert [len(level) for level in levels] == [2050, 513]
    assert levels[1][0].tolist() == [base[:4, 0].min(), base[:4, 1].max()]
    assert levels[1][-1].tolist() == [base[2048:, 0].min(), base[2048:, 1].max()]
    assert [level_for(levels, rate) for rate in (200, 100, 26, 25, 1)] == [0, 0, 0, 1, 1]


def test_c16_a_click_is_found_within_10_ms() -> None:
    """A click every second for ten minutes, at a rate that drifts where points are whole numbers of samples."""
    rate = 11025
    builder = PeakBuilder(rate)
    block = np.zeros(rate, dtype=np.int16)
    block[rate // 2] = 30000
    for _ in range(600):
        builder.add(block)
    base = builder.finish()[0]
    clicks = np.flatnonzero(base[:, 1] > 100) / 100
    late = np.arange(600) + (rate // 2) / rate - clicks
    assert len(clicks) == 600
    assert late.min() >= 0
    assert late.max() < 0.01


def test_loudness_is_the_larger_side() -> None:
    assert loudness(np.array([[-127, 3], [-1, 5], [0, 0]], dtype=np.int8)).tolist() == [127, 5, 0]
    assert loudness(np.empty((0, 2), dtype=np.int8)).tolist() == []


def test_nothing_and_refusals() -> None:
    assert PeakBuilder(48000).finish() == []
    with pytest.raises(ValueError, match="at least 100"):
        PeakBuilder(50)
    with pytest.raises(ValueError, match="int16 or floats"):
        PeakBuilder(8000).add(np.zeros(4, dtype=np.int32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 3"):
        PeakBuilder(8000).add(np.zeros((2, 2, 2), dtype=np.float32))
