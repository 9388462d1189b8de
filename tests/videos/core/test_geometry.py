from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.tables import close
from tests.videos.core.track_strategies import boxes
from videos.core.geometry import (
    area,
    center,
    clamp,
    display_size,
    from_display,
    iou,
    iou_rows,
    lerp,
    scale,
    to_display,
)

TURNS = [-90, 0, 90, 180, 270, 360]


def test_iou_by_hand() -> None:
    # 4 x 4 of 10 x 10; halves: 50 of 150.
    assert iou((0, 0, 10, 10), (2, 2, 4, 4)) == pytest.approx(0.16)
    assert iou((0, 0, 10, 10), (5, 0, 10, 10)) == pytest.approx(50 / 150)
    assert iou((0, 0, 10, 10), (10, 0, 10, 10)) == 0
    assert iou((0, 0, 0, 0), (0, 0, 0, 0)) == 0
    assert iou((0, 0, -3, 4), (0, 0, 3, 4)) == 0


@given(boxes(), boxes())
def test_iou_is_symmetric_and_one_on_itself(a: Any, b: Any) -> None:
    assert iou(a, b) == pytest.approx(iou(b, a), abs=1e-12)
    assert 0 <= iou(a, b) <= 1 + 1e-12
    assert iou(a, a) == pytest.approx(1)
    assert iou_rows(np.array(a), np.array(b)) == pytest.approx(iou(a, b), abs=1e-12)


def test_iou_rows_takes_tables() -> None:
    left = np.array([[0, 0, 10, 10], [0, 0, -1, 5]], dtype=float)[:, None]
    right = np.array([[2, 2, 4, 4], [0, 0, 10, 10], [50, 50, 1, 1]], dtype=float)[None]
    assert iou_rows(left, right) == pytest.approx(np.array([[0.16, 1, 0], [0, 0, 0]]))


@given(boxes(), boxes(), st.floats(0, 1))
def test_lerp(a: Any, b: Any, t: float) -> None:
    assert lerp(a, b, 0) == a
    assert lerp(a, b, 1) == b
    assert close(lerp(a, b, t), [p * (1 - t) + q * t for p, q in zip(a, b, strict=True)], 1e-6)


def test_small_things() -> None:
    assert area((1, 1, 3, -2)) == 0
    assert area((1, 1, 3, 2)) == 6
    assert center((10, 20, 4, 6)) == (12, 23)
    assert scale((1, 2, 3, 4), 2, 0.5) == (2, 1, 6, 2)
    assert clamp((-5, 10, 20, 100), 100, 50) == (0, 10, 15, 40)
    assert clamp((200, -9, 5, 5), 100, 50) == (100, 0, 0, 0)


# A stored picture of 160 x 90 with a box of 30 x 20 at (10, 5): 120 to its right, 65 below it.
#
#   0 degrees     90 clockwise    180             270
#   +--------+    +----+          +--------+      +----+
#   |#       |    |   #|          |        |      |    |
#   +--------+    +----+          |       #|      |#   |
#                                 +--------+      +----+
@pytest.mark.parametrize(
    ("rotation", "box", "mirrored_box"),
    [
        (0, (10, 5, 30, 20), (120, 5, 30, 20)),
        (90, (65, 10, 20, 30), (5, 10, 20, 30)),
        (180, (120, 65, 30, 20), (10, 65, 30, 20)),
        (270, (5, 120, 20, 30), (65, 120, 20, 30)),
        (-90, (5, 120, 20, 30), (65, 120, 20, 30)),
    ],
)
def test_c20_boxes_turn_with_the_picture(rotation: int, box: Any, mirrored_box: Any) -> None:
    assert to_display((10, 5, 30, 20), 160, 90, rotation) == box
    assert to_display((10, 5, 30, 20), 160, 90, rotation, mirrored=True) == mirrored_box
    assert display_size(160, 90, rotation) == ((90, 160) if rotation % 180 else (160, 90))


def test_c21_pixels_that_are_not_square() -> None:
    # 720 x 576 with pixels of 16:15 is shown 768 wide; turned by 90 it is 576 x 768.
    assert display_size(720, 576, 0, Fraction(16, 15)) == (768, 576)
    assert display_size(720, 576, 90, Fraction(16, 15)) == (576, 768)
    assert to_display((90, 10, 45, 20), 720, 576, 0, Fraction(16, 15)) == pytest.approx((96, 10, 48, 20))
    assert display_size(720, 576, 0, Fraction(8, 9)) == (640, 576)


@given(boxes(), st.sampled_from(TURNS), st.sampled_from([1, Fraction(4, 3), Fraction(8, 9)]), st.booleans())
def test_to_display_and_back(box: Any, rotation: int, sar: Any, mirrored: bool) -> None:
    shown = to_display(box, 320, 180, rotation, sar, mirrored=mirrored)
    assert close(from_display(shown, 320, 180, rotation, sar, mirrored=mirrored), box, 1e-9)
    whole = to_display((0, 0, 320, 180), 320, 180, rotation, sar, mirrored=mirrored)
    assert close(whole, (0, 0, *display_size(320, 180, rotation, sar)))


def test_pictures_that_cannot_be_shown_are_refused() -> None:
    with pytest.raises(ValueError, match="only quarter turns"):
        display_size(10, 10, 45)
    with pytest.raises(ValueError, match="must be positive"):
        display_size(10, 10, 0, 0)
