"""Looks of an object (colours) and the fit of a box to a mask. Pictures are red-green-blue, masks uint8 0 or 1."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from videos.core.geometry import Box

HUES, SATURATIONS, VALUES = 12, 4, 4
GREY_SATURATION = 40  # of 255; below it the hue is noise
MASK_ENOUGH = 0.2

Looks = NDArray[np.float32]


def cut(picture: NDArray[Any], box: Box) -> NDArray[Any]:
    """Return the part of a picture or a mask under a box, rounded to pixels; empty outside the picture."""
    x, y, w, h = (round(value) for value in box)
    return picture[max(y, 0) : max(y + h, y + 1, 0), max(x, 0) : max(x + w, x + 1, 0)]


def looks(picture: NDArray[Any], box: Box, mask: NDArray[Any] | None = None) -> Looks | None:
    """Return the colours in a box as a histogram that sums to 1, None for a box outside the picture.

    The middle of the box counts more, since a box's corners are mostly background; and where a mask says what
    is the object, the rest hardly counts.
    """
    part = cut(picture, box)
    if part.size == 0:
        return None
    hsv = cv2.cvtColor(part, cv2.COLOR_RGB2HSV).astype(np.int32)
    height, width = hsv.shape[:2]
    down, right = (np.arange(height) + 0.5) / height * 2 - 1, (np.arange(width) + 0.5) / width * 2 - 1
    weight = np.clip(1 - (down[:, None] ** 2 + right[None] ** 2) / 1.2, 0, 1)
    if mask is not None:
        inside = cut(mask, box)
        if inside.mean() > MASK_ENOUGH:
            weight = weight * (0.05 + 0.95 * inside)
    hue, saturation, value = hsv[..., 0], hsv[..., 1], hsv[..., 2]
    bins = (hue * HUES // 180) * SATURATIONS + saturation * SATURATIONS // 256
    bins = np.where(saturation < GREY_SATURATION, HUES * SATURATIONS, bins) * VALUES + value * VALUES // 256
    size = (HUES * SATURATIONS + 1) * VALUES
    counted = np.bincount(bins.ravel(), weight.ravel(), minlength=size).astype(np.float32)
    # Brightness is smoothed: a little more light must not be another colour.
    smoothed = np.asarray(
        cv2.GaussianBlur(counted.reshape(-1, VALUES), (3, 1), 0.5), dtype=np.float32
    ).ravel()
    total: Looks = smoothed / np.float32(max(float(smoothed.sum()), 1e-9))
    return total


def alike(a: Looks, b: Looks) -> float:
    """Return the Bhattacharyya coefficient of two histograms: 0 nothing in common, 1 the same."""
    return float(np.sqrt(a * b).sum())


def closed(mask: NDArray[Any], size: float) -> NDArray[Any]:
    """Return a mask with the gaps filled that an object of this mean side may have (windows of a car)."""
    kernel = int(min(max(3.0, 0.12 * size), 11.0)) | 1
    return cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((kernel, kernel), np.uint8))


def components(mask: NDArray[Any], smallest: int = 12) -> list[Box]:
    """Return the boxes of a mask's connected parts with at least so many pixels."""
    _, _, rows, _ = cv2.connectedComponentsWithStats(mask)
    return [
        (float(x), float(y), float(w), float(h))
        for x, y, w, h, pixels in rows[1:].tolist()
        if pixels >= smallest
    ]


def _side(
    low: float, high: float, first: int, last: int, begin: int, end: int, limit: int, size: float | None
) -> tuple[float, float, int]:
    """Fit one axis: (low, high) of the box, `first` and `last` covered lines within [begin, end) of `limit`."""
    open_low, open_high = first == 0 and begin > 0, last == end - begin - 1 and end < limit
    new_low, new_high = float(begin + first), float(begin + last + 1)
    if size is None:  # the object comes in: it may grow as far as it was looked for
        return new_low, new_high, open_low + open_high
    if open_low and open_high:
        new_low = (low + high - size) / 2
        new_high = new_low + size
    elif open_low:
        new_low = max(0.0, new_high - size)
    elif open_high:
        new_high = min(float(limit), new_low + size)
    return new_low, new_high, open_low + open_high


def fit(
    mask: NDArray[Any],
    box: Box,
    size: tuple[float | None, float | None],
    reach: float = 0.15,
    cover: float = 0.1,
) -> tuple[Box, int] | None:
    """Move the sides of a box to where the mask ends nearby.

    Parameters
    ----------
    size
        Width and height to keep where the mask goes on beyond `reach` (the object touches another one). None
        along an axis on which the object is cut by the picture's edge: there its size is not known yet.
    reach
        How far a side may move, as a share of the box's size.
    cover
        Share of a line that must be covered for it to belong to the object.

    Returns
    -------
    The box and how many of its sides found no end of the mask; None where the mask hardly covers the box.
    """
    height, width = mask.shape
    x, y, w, h = box
    more_x, more_y = max(reach * w, 3), max(reach * h, 3)
    left, top = round(max(0, x - more_x)), round(max(0, y - more_y))
    right, bottom = round(min(width, x + w + more_x)), round(min(height, y + h + more_y))
    part = mask[top:bottom, left:right]
    if part.size == 0 or part.sum() < MASK_ENOUGH * w * h:
        return None
    columns = np.flatnonzero(part.sum(axis=0) >= max(1, cover * h))
    rows = np.flatnonzero(part.sum(axis=1) >= max(1, cover * w))
    if not len(columns) or not len(rows):
        return None
    x0, x1, open_x = _side(x, x + w, int(columns[0]), int(columns[-1]), left, right, width, size[0])
    y0, y1, open_y = _side(y, y + h, int(rows[0]), int(rows[-1]), top, bottom, height, size[1])
    if x1 - x0 <= 2 or y1 - y0 <= 2:
        return None
    return (x0, y0, x1 - x0, y1 - y0), open_x + open_y
