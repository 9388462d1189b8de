"""An annotator refines a question about the demonstration's clip, by mouse and keys, and over a lost network."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment, Submission
from reasonaudit import demo_clip, demo_video
from tests.annotation import factories, video_factories
from tests.browser.conftest import faults, overflows
from tests.browser.videos import bring_in, settled_frame
from tests.videos import factories as videos
from videos.core.document import empty_document
from videos.core.geometry import iou
from videos.core.tracks import Track, box_at
from videos.selectors.documents import document_json


@dataclass
class Desk:
    """An annotator with the first question of the demonstration, and how to open it."""

    row: Assignment
    url: str
    context: BrowserContext

    def open(self) -> Page:
        page = self.context.new_page()
        page.goto(self.url)
        page.wait_for_selector("[data-island='video-refine'][data-ready]")
        return page

    def document(self) -> dict[str, Any]:
        self.row.refresh_from_db()
        assert self.row.document is not None
        return document_json(self.row.document)


@pytest.fixture
def desk(context: BrowserContext, live_server: object, tmp_path: Path) -> Desk:
    path = tmp_path / "dog.mp4"
    demo_clip.draw(path)
    clip = bring_in(path, videos.video_set())
    assert clip.needs_proxy == "", "the demonstration's clip plays exactly as it is"
    content = empty_document("dog")
    content["cot"]["visual"] |= {
        "timeframe": {"whole": False, "intervals": [[5_000_000, 8_000_000]], "raw": "00:05 - 00:08"},
        "description": "The dog runs to the child.",
    }
    content["cot"]["audio"] |= {
        "timeframe": {"whole": False, "intervals": [[4_000_000, 4_600_000]], "raw": "00:04 - 00:04.6"},
        "description": "One short whistle.",
    }
    content["cot"]["final_answer"] = "The child whistles."
    content["tracks"] = demo_video._dog()
    question = videos.question(clip, document=content, text="Why does the dog run to the bench?")
    study = video_factories.study(questions=0, of=clip)
    row = factories.assignment(video_factories.item(study, question), video_factories.annotator(study))
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.goto(f"{live_server}/accounts/login/")
    page.get_by_label("Name").fill(row.member.user.username)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "login" not in url)
    page.close()
    return Desk(row, f"{live_server}/my-cases/{row.public_id}/", context)


def saved(page: Page) -> None:
    expect(page.locator("[data-video-saved]")).to_contain_text("Saved", timeout=10_000)


def go(page: Page, frame: int) -> None:
    """Step to a picture: seconds, then pictures."""
    now = settled_frame(page)
    while now != frame:
        step = frame - now
        key, size = ("Right", 1) if step > 0 else ("Left", -1)
        page.keyboard.press(f"Shift+Arrow{key}" if abs(step) >= 10 else f"Arrow{key}")
        now = settled_frame(page)
        assert (frame - now) * size >= 0


def on_picture(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the clip lies in the window."""
    place = page.locator("[data-stage] video").bounding_box()
    assert place is not None
    return (
        place["x"] + x * place["width"] / demo_clip.WIDTH,
        place["y"] + y * place["height"] / demo_clip.HEIGHT,
    )


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def test_a_question_is_refined_and_handed_in(desk: Desk) -> None:
    page = desk.open()
    (track_id,) = demo_video._dog()
    # The box between two keyframes of the model is off: drag it onto the dog.
    frame = 170
    go(page, frame)
    truth = demo_clip.dog_box(frame)
    track = Track.from_json(desk.row.item.question.document["tracks"][track_id])
    proposed = box_at(track, frame)
    assert proposed is not None
    assert iou(proposed, truth) < 0.9
    middle = on_picture(page, proposed[0] + proposed[2] / 2, proposed[1] + proposed[3] / 2)
    wanted = on_picture(page, truth[0] + truth[2] / 2, truth[1] + truth[3] / 2)
    page.mouse.click(*middle)
    drag(page, middle, wanted)
    saved(page)
    found = Track.from_json(desk.document()["tracks"][track_id])
    corrected = box_at(found, frame)
    assert corrected is not None
    assert iou(corrected, truth) > 0.95
    assert desk.document()["tracks"][track_id]["keyframes"][str(frame)]["source"] == "human"

    # Undo and redo.
    page.keyboard.press("Control+z")
    saved(page)
    assert str(frame) not in desk.document()["tracks"][track_id]["keyframes"]
    page.keyboard.press("Control+Shift+z")
    saved(page)
    assert str(frame) in desk.document()["tracks"][track_id]["keyframes"]

    # The texts.
    page.locator("#audio-description").fill("Two whistles of the child.")
    page.locator("#final-answer").fill("The child whistles twice.")
    page.locator("#final-answer").blur()
    saved(page)
    document = desk.document()
    assert document["cot"]["audio"]["description"] == "Two whistles of the child."
    assert document["cot"]["final_answer"] == "The child whistles twice."

    page.locator("#submit-question").click()
    page.locator("#submit-now").click()
    expect(page.locator("#submit-question")).to_be_hidden(timeout=10_000)
    desk.row.refresh_from_db()
    assert desk.row.state == "adjudicated"
    (entry,) = Submission.objects.get().labels
    assert entry["content"] == document


def test_ds_05_work_without_a_network_survives_a_killed_page(desk: Desk) -> None:
    page = desk.open()
    page.locator("#visual-description").fill("First.")
    page.locator("#visual-description").blur()
    saved(page)
    desk.context.set_offline(True)
    page.locator("#final-answer").fill("Written without a network.")
    page.locator("#final-answer").blur()
    expect(page.locator("[data-video-saved]")).to_contain_text("Offline")
    page.wait_for_timeout(300)
    page.close(run_before_unload=False)
    desk.context.set_offline(False)
    page = desk.open()
    saved(page)
    assert desk.document()["cot"]["final_answer"] == "Written without a network."
    assert desk.document()["cot"]["visual"]["description"] == "First."


@pytest.mark.parametrize("size", [(1440, 900), (1366, 768)], ids=["1440", "1366"])
def test_the_workspace_fits_and_axe_finds_nothing(desk: Desk, size: tuple[int, int]) -> None:
    page = desk.open()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    go(page, 150)
    assert overflows(page) == []
    assert faults(page) == []
