"""Boxes: overlap, interpolation, and the way from stored to displayed pixels.

A box is (x, y, w, h): floats, pixels of the displayed orientation with square pixels, origin at the top left.

Sources: spec D5 (intersection over union; a negative size counts as 0; 0 where the union is 0); annotation
design C7 (linear interpolation, exact at both ends), C20 and C21 (rotation, pixel aspect). Choices, in words:
pixels that are not square become square by scaling the width, the height is kept; the picture is scaled first,
then turned, then mirrored.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Box = tuple[float, float, float, float]
Ratio = Fraction | float


def area(box: Box) -> float:
    """Area in square pixels; a negative size counts as 0."""
    return max(box[2], 0.0) * max(box[3], 0.0)


def center(box: Box) -> tuple[float, float]:
    """Point in the middle of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def iou(a: Box, b: Box) -> float:
    """Intersection over union, 0 to 1; 0 where the union is empty (spec D5)."""
    width = min(a[0] + max(a[2], 0.0), b[0] + max(b[2], 0.0)) - max(a[0], b[0])
    height = min(a[1] + max(a[3], 0.0), b[1] + max(b[3], 0.0)) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    union = area(a) + area(b) - shared
    return shared / union if union > 0 else 0.0


def iou_rows(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Intersection over union of the boxes of two arrays whose last axis is x, y, w, h; shapes broadcast."""
    size_a, size_b = np.maximum(a[..., 2:], 0.0), np.maximum(b[..., 2:], 0.0)
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + size_a, b[..., :2] + size_b)
    shared = np.maximum(high - low, 0.0).prod(axis=-1)
    union = size_a.prod(axis=-1) + size_b.prod(axis=-1) - shared
    result: NDArray[np.float64] = np.divide(shared, union, out=np.zeros_like(union), where=union > 0)
    return result


def lerp(a: Box, b: Box, t: float) -> Box:
    """Box a share t of the way from a to b, every coordinate by itself; exactly a at 0 and exactly b at 1."""
    if t == 1:
        return b
    return (
        a[0] + (b[0] - a[0]) * t,
        a[1] + (b[1] - a[1]) * t,
        a[2] + (b[2] - a[2]) * t,
        a[3] + (b[3] - a[3]) * t,
    )


def clamp(box: Box, width: float, height: float) -> Box:
    """Part of a box inside a picture of this size; of size 0 at the border where no part is."""
    left, top = min(max(box[0], 0.0), width), min(max(box[1], 0.0), height)
    right = min(max(box[0] + box[2], left), width)
    bottom = min(max(box[1] + box[3], top), height)
    return left, top, right - left, bottom - top


def scale(box: Box, sx: float, sy: float) -> Box:
    """Box in a picture that is sx times as wide and sy times as high."""
    return box[0] * sx, box[1] * sy, box[2] * sx, box[3] * sy


def display_size(width: int, height: int, rotation: int = 0, sar: Ratio = 1) -> tuple[int, int]:
    """Width and height of a picture as shown.

    Parameters
    ----------
    width, height : int
        Stored size in pixels.
    rotation : int
        Degrees by which the stored picture is turned clockwise to be shown; a multiple of 90.
    sar : Fraction or float
        Width of a stored pixel by its height.

    Raises
    ------
    ValueError
        If the rotation is no multiple of 90 or the aspect is not positive.
    """
    wide = _square_width(width, sar)
    return (height, wide) if _quarters(rotation) % 2 else (wide, height)


def to_display(
    box: Box, width: int, height: int, rotation: int = 0, sar: Ratio = 1, *, mirrored: bool = False
) -> Box:
    """Box of the displayed picture for a box of the stored one.

    Parameters are as in `display_size`; `mirrored`: left and right are swapped after turning.
    """
    wide = _square_width(width, sar)
    x, y, w, h = scale(box, wide / width, 1.0)
    shown_width, _ = display_size(width, height, rotation, sar)
    turns = _quarters(rotation)
    if turns == 1:
        x, y, w, h = height - y - h, x, h, w
    elif turns == 2:
        x, y = wide - x - w, height - y - h
    elif turns == 3:
        x, y, w, h = y, wide - x - w, h, w
    return (shown_width - x - w if mirrored else x), y, w, h


def from_display(
    box: Box, width: int, height: int, rotation: int = 0, sar: Ratio = 1, *, mirrored: bool = False
) -> Box:
    """Box of the stored picture for a box of the displayed one; parameters as in `to_display`."""
    wide = _square_width(width, sar)
    x, y, w, h = box
    if mirrored:
        x = display_size(width, height, rotation, sar)[0] - x - w
    turns = _quarters(rotation)
    if turns == 1:
        x, y, w, h = y, height - x - w, h, w
    elif turns == 2:
        x, y = wide - x - w, height - y - h
    elif turns == 3:
        x, y, w, h = wide - y - h, x, h, w
    return scale((x, y, w, h), width / wide, 1.0)


def _square_width(width: int, sar: Ratio) -> int:
    if not sar > 0:
        raise ValueError(f"The aspect of a pixel is {sar}; it must be positive.")
    # Half a pixel goes up; Python's round would take the even neighbour.
    return max(int(width * sar + 0.5), 1)


def _quarters(rotation: int) -> int:
    if rotation % 90:
        raise ValueError(f"A picture turned by {rotation} degrees cannot be shown; only quarter turns can.")
    return rotation // 90 % 4
