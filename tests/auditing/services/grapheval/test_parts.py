"""Parts of distances as bytes: exact there and back, and damage is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auditing.core.grapheval.distance import DistanceParts
from auditing.services.grapheval.parts import NAMES, pack, unpack

VALUES = st.floats(-2, 1e6, allow_nan=False)


def made(*matrices: object) -> DistanceParts:
    return DistanceParts(*(np.array(matrix, dtype=np.float64) for matrix in matrices))


@given(st.integers(0, 7).flatmap(lambda n: arrays(np.float64, (4, n, n), elements=VALUES)), st.booleans())
def test_there_and_back_is_exact(values: np.ndarray, symmetric: bool) -> None:
    kept = np.maximum(values, values.transpose(0, 2, 1)) if symmetric else values
    found = unpack(pack(made(*kept)))
    assert found is not None
    for name, expected in zip(NAMES, kept, strict=True):
        assert np.array_equal(getattr(found, name), expected)


def test_symmetric_arrays_take_half() -> None:
    noise = np.random.default_rng(42).random((4, 60, 60))
    whole, half = pack(made(*noise)), pack(made(*(noise + noise.transpose(0, 2, 1))))
    assert len(half) < 0.6 * len(whole)


def test_no_parts_are_no_bytes() -> None:
    assert pack(None) == b""
    assert unpack(b"") is None
    assert unpack(memoryview(b"")) is None


def test_what_comes_back_can_be_written_to() -> None:
    found = unpack(pack(made(*np.zeros((4, 2, 2)))))
    assert found is not None
    assert found.distances()[0, 1] == pytest.approx(0.4)  # no cost, conclusions orthogonal


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:5],
        lambda data: b"XXXX" + data[4:],
        lambda data: data[:-3],
        lambda data: data[:4] + b"\xff\xff\xff\xff" + data[8:],
        lambda data: data[:4] + b"\x05\x00\x00\x00" + data[8:],
        lambda data: data[:20] + b"\x00" * 8 + data[28:],
    ],
)
def test_damage_is_noticed(spoil: object) -> None:
    data = pack(made(*np.random.default_rng(42).random((4, 6, 6))))
    with pytest.raises(ValueError, match="score the question again"):
        unpack(spoil(data))  # type: ignore[operator]
