"""A beep begins with a white picture at a clip's start, middle and end: the page draws it at that picture."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.videos import go, settled_frame, shown_picture
from tests.videos import clips

SECONDS = 24
# The outline has a point each 10 ms; a pixel of the finest zoom is 1.4 ms.
TOLERANCE_SECONDS = 0.012
# Loud: the outline reaches 40 % of full scale there; the beep has 80 %, the hum 1 %.
ONSET = """() => {
    const canvas = document.querySelector(".wave canvas");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const row = Math.round(canvas.height * 0.3);
    for (let x = 0; x < canvas.width; x++) {
        if (pixels[4 * (row * canvas.width + x) + 3]) {
            const area = canvas.getBoundingClientRect();
            return area.left + (x * area.width) / canvas.width;
        }
    }
    return null;
}"""
PLAYHEAD = """() => {
    const body = document.querySelector(".tl-body").getBoundingClientRect();
    return body.left + new DOMMatrix(document.querySelector("[data-playhead]").style.transform).m41;
}"""


def zoom_in(page: Page, x: float) -> None:
    """As far as it goes, with what is at `x` kept there."""
    lane = page.locator(".filmstrip").bounding_box()
    assert lane is not None
    page.mouse.move(x, lane["y"] + lane["height"] / 2)
    for _ in range(3):
        page.mouse.wheel(0, -2000)
    page.wait_for_timeout(200)


def test_a_beep_is_drawn_at_the_picture_of_its_flash(
    refining: Callable[[Path], Page], tmp_path: Path
) -> None:
    path = tmp_path / "flash_beep.mp4"
    truth = clips.make_clip(path, "flash_beep", seconds=SECONDS)
    page = refining(path)
    times = [float(time) for time in truth.clip_times]
    for flash, beep in zip(truth.flashes, truth.beeps, strict=True):
        page.get_by_role("button", name="Fit clip").click()
        axis = page.locator(".ruler").bounding_box()
        assert axis is not None
        page.mouse.click(axis["x"] + axis["width"] * times[flash] / SECONDS, axis["y"] + axis["height"] / 2)
        go(page, flash)
        # Below the barcode and beside the digits the flash is white.
        assert shown_picture(page)[100:, :80].min() > 240, f"picture {flash}"
        zoom_in(page, page.evaluate(PLAYHEAD))
        here = page.evaluate(PLAYHEAD)
        page.keyboard.press("ArrowRight")
        assert settled_frame(page) == flash + 1
        seconds_a_pixel = (times[flash + 1] - times[flash]) / (page.evaluate(PLAYHEAD) - here)
        page.wait_for_function(f"() => ({ONSET})() !== null")
        drawn = times[flash] + (page.evaluate(ONSET) - here) * seconds_a_pixel
        assert abs(drawn - float(beep)) <= TOLERANCE_SECONDS, f"picture {flash}"
