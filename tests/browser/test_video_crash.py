"""DS-05: the tab dies right after an edit of any kind, online and offline; at most the last edit is lost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Page, expect

from reasonaudit import demo_clip, demo_video
from tests.browser.videos import Desk, drag, go, on_picture

EDITS = 3
FRAME = demo_video.MODEL_FRAMES[0]


def move_box(page: Page) -> None:
    for number in range(EDITS):
        x, y, w, h = demo_clip.dog_box(FRAME)
        middle = (x + w / 2 + 6 * number, y + h / 2)
        drag(page, on_picture(page, *middle), on_picture(page, middle[0] + 6, middle[1]))


def draw_box(page: Page) -> None:
    for number in range(EDITS):
        page.keyboard.press("n")
        left = 200 + 60 * number
        drag(page, on_picture(page, left, 20), on_picture(page, left + 40, 60))


def hide_and_show(page: Page) -> None:
    x, y, w, h = demo_clip.dog_box(FRAME)
    page.mouse.click(*on_picture(page, x + w / 2, y + h / 2))
    for _ in range(EDITS):
        page.keyboard.press("o")


def type_texts(page: Page) -> None:
    for field in ("#visual-description", "#audio-description", "#final-answer"):
        page.locator(field).press_sequentially("Words ")


def move_time(page: Page) -> None:
    page.locator("[data-span='step:visual:0'] .span-body").focus()
    for _ in range(EDITS):
        page.keyboard.press("ArrowRight")


def undo(page: Page) -> None:
    """What the crash before this one left behind is there to be taken back, and done again."""
    page.locator("[data-span='step:visual:0'] .span-body").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")


KINDS: tuple[Callable[[Page], None], ...] = (move_box, draw_box, hide_and_show, type_texts, move_time, undo)


def settled(page: Page) -> None:
    """Whatever the browser kept is on the server."""
    expect(page.locator("[data-video-saved]")).to_contain_text(
        re.compile("Saved|Nothing to save"), timeout=20_000
    )


def stored(desk: Desk) -> int:
    desk.row.refresh_from_db()
    return 0 if desk.row.document is None else desk.row.document.operations.count()


@pytest.mark.parametrize("online", [True, False], ids=["online", "offline"])
def test_ds_05_a_tab_that_dies_loses_at_most_the_last_edit(desk: Desk, online: bool) -> None:
    for edit in KINDS:
        page = desk.open()
        settled(page)
        go(page, FRAME)
        before = stored(desk)
        desk.context.set_offline(not online)
        edit(page)
        with pytest.raises(Error, match="crash"):
            page.goto("chrome://crash")
        page.close()
        desk.context.set_offline(False)
        page = desk.open()
        settled(page)
        assert stored(desk) - before in (EDITS - 1, EDITS), edit.__name__
        page.close()


@pytest.fixture
def desk(refine_desk: Desk) -> Desk:
    return refine_desk
