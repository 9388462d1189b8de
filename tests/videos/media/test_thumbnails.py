"""Sheets of pictures: the right picture in each cell, in display orientation; crops with their outline."""

import numpy as np
import pytest
from PIL import Image

from tests.videos.clips import read_barcode
from videos.media import index
from videos.media.errors import MediaRefused
from videos.media.thumbnails import crop, make_crops, make_strip


def cells(path, sheet):
    whole = np.asarray(Image.open(path).convert("RGB"))
    assert whole.shape == (sheet.rows * sheet.cell_height, sheet.columns * sheet.cell_width, 3)
    found = []
    for number in range(len(sheet.frames)):
        top, left = number // sheet.columns * sheet.cell_height, number % sheet.columns * sheet.cell_width
        found.append(whole[top : top + sheet.cell_height, left : left + sheet.cell_width])
    return found


@pytest.mark.parametrize(("kind", "ending"), [("cfr_25", "webp"), ("rotated_90", "jpg"), ("sar_4_3", "webp")])
def test_each_cell_of_a_strip_shows_its_picture(clip, tmp_path, kind, ending):
    path, truth = clip(kind)
    out = tmp_path / f"strip.{ending}"
    frames = [90, 0, 7, 7, *range(10, 80, 3)]
    sheet = make_strip(str(path), str(out), index.read_index(str(path)).index, frames, lines=120)
    assert sheet.frames == tuple(frames)
    assert (sheet.columns, sheet.rows) == (20, 2)
    assert sheet.cell_width / sheet.cell_height == pytest.approx(truth.width / truth.height, rel=0.02)
    assert sheet.bytes == out.stat().st_size
    assert [read_barcode(cell) for cell in cells(out, sheet)] == frames


def test_crops_show_the_place_of_the_box_on_its_picture(clip, tmp_path):
    path, _ = clip("cfr_25")
    out = tmp_path / "crops.webp"
    # The disc of picture n stands at x = 7n mod 280, y = 135, 30 pixels wide (`clips.draw`).
    places = [(frame, ((frame * 7) % 280, 135.0, 30.0, 30.0)) for frame in (3, 60, 3)]
    sheet = make_crops(str(path), str(out), index.read_index(str(path)).index, places, cell=90)
    assert sheet.frames == (3, 60, 3)
    for cell in cells(out, sheet):
        # The disc is (220, 120, 40) on (70, 90, 110); box and cell have one middle.
        assert np.abs(cell[40:50, 40:50].mean((0, 1)) - (220, 120, 40)).max() < 25
        assert np.abs(cell[5:10, 40:50].mean((0, 1)) - (70, 90, 110)).max() < 25


def test_a_crop_by_hand():
    picture = np.zeros((100, 200, 3), np.uint8)
    picture[:, :, 0] = np.arange(200)
    # Box 40 x 20 in the middle of (120, 60): the square is 1.5 * 40 = 60 wide, from x 90 and y 30; one cell
    # pixel is one picture pixel, so the outline runs from (10, 20) to (49, 39).
    made = crop(picture, (100, 50, 40, 20), 60)
    assert (made[20, 10:50] == 255).all()
    assert (made[39, 10:50] == 255).all()
    assert (made[20:40, 10] == 255).all()
    assert (made[20:40, 49] == 255).all()
    assert made[30, 30].tolist() == [120, 0, 0]
    assert made[5, 5].tolist() == [95, 0, 0]


def test_a_crop_over_the_edge_is_black_outside():
    picture = np.full((100, 200, 3), 80, np.uint8)
    made = crop(picture, (-20, 40, 40, 20), 60)  # the square begins at x = -30
    assert (made[:, :9] == 0).all()
    assert made[50, 40].tolist() == [80, 80, 80]


def test_too_many_cells_are_refused(clip, tmp_path):
    path, _ = clip("cfr_12")
    with pytest.raises(MediaRefused, match="1 to 2000 pictures, not 2001"):
        make_strip(str(path), str(tmp_path / "x.webp"), index.read_index(str(path)).index, [0] * 2001)
