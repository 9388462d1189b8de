"""The picture, the number in the page and the number in the clip are one: each picture carries its own number.

Pictures are reached by clicks on the time axis, by steps both ways, and by playing and pausing.
"""

import random
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.videos import settled_frame, shown_picture
from tests.videos import clips

CLICKS, STEPS = 8, 5


def check(page: Page, truth: clips.Truth, how: str) -> int:
    """Compare the number on the picture with that of the picture which the page says it shows."""
    frame = settled_frame(page)
    assert clips.read_barcode(shown_picture(page)) == truth.numbers[frame], how
    return frame


@pytest.mark.parametrize("kind", [kind for kind in clips.KINDS if kind != "flash_beep"])
def test_every_picture_has_the_number_that_it_carries(kind: str, refining, tmp_path: Path) -> None:
    path = tmp_path / f"clip{clips.suffix(kind)}"
    truth = clips.make_clip(path, kind, seconds=2)
    page = refining(path)
    expect(page.locator("[data-video-head]")).to_contain_text(f"{len(truth.ticks)} frames")
    page.keyboard.press("End")
    assert check(page, truth, "the last picture") == len(truth.ticks) - 1
    page.keyboard.press("Home")
    assert check(page, truth, "the first picture") == 0
    axis = page.locator(".ruler").bounding_box()
    assert axis is not None
    chance = random.Random(kind)
    for _ in range(CLICKS):
        x = axis["x"] + axis["width"] * chance.uniform(0.01, 0.97)
        page.mouse.click(x, axis["y"] + axis["height"] / 2)
        check(page, truth, "after a click on the axis")
    page.keyboard.press("Home")
    for number in range(1, STEPS + 1):
        page.keyboard.press("ArrowRight")
        assert check(page, truth, "a step forward") == number
    for number in reversed(range(STEPS)):
        page.keyboard.press("ArrowLeft")
        assert check(page, truth, "a step back") == number
    page.keyboard.press("Space")
    page.wait_for_timeout(400)
    page.keyboard.press("Space")
    assert check(page, truth, "after playing and pausing") > 0
