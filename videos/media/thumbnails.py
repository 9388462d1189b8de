"""Sheets of small pictures: the film strip, and crops along a track for checking it at a glance."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videos.core.geometry import Box
from videos.core.timebase import PictureIndex
from videos.media.errors import MediaRefused
from videos.media.facts import Sheet
from videos.media.frames import Pictures, display_size
from videos.media.sandbox import unpacked

Report = Callable[[float, str], None]
Rgb = NDArray[np.uint8]

MOST_CELLS = 2000
MOST_SIDE = 16_383  # of a WebP
COLUMNS = 20
SURROUNDINGS = 0.25  # of the box's longer side, shown on each side of it
OUTLINE = (255, 255, 255)
QUALITY = 80


def make_strip(
    path: str,
    out: str,
    index: PictureIndex,
    frames: Sequence[int],
    lines: int = 72,
    report: Report = lambda share, words: None,
) -> Sheet:
    """Write whole pictures, `lines` high, in the order of `frames`, to `out`."""
    width, height = display_size(path)
    cell = (max(1, round(width * lines / height)), lines)
    cells: dict[int, Rgb] = {}
    with Pictures(path, index) as pictures:
        for ordinal, rgb in pictures.read(sorted(set(frames)), cell):
            cells[ordinal] = rgb
            report(len(cells) / len(frames), "Making the film strip")
    return _save(out, frames, [cells[frame] for frame in frames], cell)


def make_crops(
    path: str,
    out: str,
    index: PictureIndex,
    places: Sequence[tuple[int, Box]],
    cell: int = 128,
    report: Report = lambda share, words: None,
) -> Sheet:
    """Write one square of `cell` pixels per (picture, box), the box outlined, to `out`."""
    by_frame: dict[int, list[int]] = {}
    for number, (frame, _) in enumerate(places):
        by_frame.setdefault(frame, []).append(number)
    cells: dict[int, Rgb] = {}
    with Pictures(path, index) as pictures:
        for ordinal, rgb in pictures.read(sorted(by_frame)):
            for number in by_frame[ordinal]:
                cells[number] = crop(rgb, places[number][1], cell)
            report(len(cells) / len(places), "Cutting out the boxes")
    return _save(out, [frame for frame, _ in places], [cells[n] for n in range(len(places))], (cell, cell))


def crop(rgb: Rgb, box: Box, cell: int) -> Rgb:
    """Return a square of `cell` pixels around `box` with some surroundings and the box's outline.

    Outside the picture is black. The square is centred on the box, so a box that slides off its object along
    a track is seen as the object moving in the sheet.
    """
    x, y, w, h = box
    side = max(w, h, 2.0) * (1 + 2 * SURROUNDINGS)
    left, top = x + w / 2 - side / 2, y + h / 2 - side / 2
    picture = Image.fromarray(rgb)
    # An affine map from cell pixels to picture pixels; Pillow fills the outside with black.
    step = side / cell
    square = picture.transform(
        (cell, cell), Image.Transform.AFFINE, (step, 0, left, 0, step, top), Image.Resampling.BILINEAR
    )
    made = np.array(square)
    x0, y0 = round((x - left) / step), round((y - top) / step)
    x1, y1 = round((x + w - left) / step) - 1, round((y + h - top) / step) - 1
    x1, y1 = min(max(x1, x0), cell - 1), min(max(y1, y0), cell - 1)
    made[y0, x0 : x1 + 1] = made[y1, x0 : x1 + 1] = OUTLINE
    made[y0 : y1 + 1, x0] = made[y0 : y1 + 1, x1] = OUTLINE
    return made


def strip_task(
    path: str, out: str, index: str, frames: Sequence[int], lines: int, report: Report
) -> dict[str, Any]:
    """Task `strip`."""
    return make_strip(path, out, unpacked(index), frames, lines, report).to_json()


def crops_task(
    path: str, out: str, index: str, places: Sequence[Any], cell: int, report: Report
) -> dict[str, Any]:
    """Task `crops`."""
    x = [(int(frame), (float(b[0]), float(b[1]), float(b[2]), float(b[3]))) for frame, b in places]
    return make_crops(path, out, unpacked(index), x, cell, report).to_json()


def _save(out: str, frames: Sequence[int], cells: Sequence[Rgb], cell: tuple[int, int]) -> Sheet:
    width, height = cell
    if not 0 < len(cells) <= MOST_CELLS:
        raise MediaRefused(f"A sheet holds 1 to {MOST_CELLS} pictures, not {len(cells)}.")
    columns = max(1, min(len(cells), COLUMNS, MOST_SIDE // width))
    rows = -(-len(cells) // columns)
    if rows * height > MOST_SIDE or width > MOST_SIDE:
        raise MediaRefused(f"{len(cells)} pictures of {width} x {height} do not fit on one sheet.")
    sheet = np.zeros((rows * height, columns * width, 3), np.uint8)
    for number, made in enumerate(cells):
        top, left = number // columns * height, number % columns * width
        sheet[top : top + height, left : left + width] = made
    Image.fromarray(sheet).save(out, quality=QUALITY)
    return Sheet(tuple(frames), columns, rows, width, height, Path(out).stat().st_size)
