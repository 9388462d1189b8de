"""Clips on the live server, prepared as a worker would, and what the page shows of them."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment
from reasonaudit import demo_clip, demo_video
from tests.annotation import factories, video_factories
from tests.browser.steps import READY, in_a_thread, log_in
from tests.videos import factories as videos
from videos.core.document import empty_document
from videos.models import MediaRun, Video, VideoSet
from videos.selectors.documents import document_json
from videos.services import preparation, runs, uploads

DEMO_SIZE = (demo_clip.WIDTH, demo_clip.HEIGHT)


def bring_in(path: Path, into: VideoSet) -> Video:
    """Take a file in and prepare it, with its playback file where it needs one."""

    def work() -> Video:
        video, _ = uploads.take_in(video_set=into, pieces=uploads.pieces_of(path), file_name=path.name)
        _carry_out(video, MediaRun.Kind.PREPARE, preparation.prepare)
        video.refresh_from_db()
        if video.needs_proxy:
            _carry_out(video, MediaRun.Kind.PROXY, preparation.make_proxy)
            video.refresh_from_db()
        return video

    return in_a_thread(work)


def _carry_out(video: Video, kind: str, do: Callable[[int], Any]) -> None:
    run, _ = runs.create(video=video, kind=kind, by=None)
    assert do(run.pk) == "done", MediaRun.objects.get(pk=run.pk).message


def shown_picture(page: Page) -> np.ndarray:
    """What the video element shows now, as RGB."""
    data: str = page.evaluate(
        """() => {
            const video = document.querySelector("[data-stage] video");
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
            canvas.getContext("2d").drawImage(video, 0, 0);
            return canvas.toDataURL("image/png");
        }"""
    )
    image = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2])))
    return np.asarray(image.convert("RGB"))


def settled_frame(page: Page) -> int:
    """The number that the page gives to the picture, once it says that it is exact."""
    page.wait_for_selector("[data-receipt][data-exact='true']:not(.is-off)")
    page.wait_for_function(
        "() => /^frame \\d+ exact$/.test(document.querySelector('[data-receipt]').textContent)"
    )
    return int(page.locator("[data-receipt]").get_attribute("data-frame") or -1)


@dataclass
class Desk:
    """An annotator with the first question of the demonstration, and how to open it."""

    row: Assignment
    url: str
    context: BrowserContext

    def open(self) -> Page:
        page = self.context.new_page()
        page.goto(self.url)
        page.wait_for_selector(READY)
        return page

    def document(self) -> dict[str, Any]:
        self.row.refresh_from_db()
        assert self.row.document is not None
        return document_json(self.row.document)


@pytest.fixture
def refine_desk(context: BrowserContext, live_server: object, tmp_path: Path) -> Desk:
    """The first question of the demonstration's clip, given to an annotator who is logged in."""
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
    log_in(page, str(live_server), row.member.user.username, factories.PASSWORD)
    page.close()
    return Desk(row, f"{live_server}/my-cases/{row.public_id}/", context)


@pytest.fixture
def refining(context: BrowserContext, live_server: object) -> Callable[[Path], Page]:
    """Opens the workspace of a question about a clip, as its annotator."""

    def open_page(path: Path) -> Page:
        clip = bring_in(path, videos.video_set())
        row = video_factories.work(questions=1, of=clip)
        page = context.new_page()
        log_in(page, str(live_server), row.member.user.username, factories.PASSWORD)
        page.goto(f"{live_server}/my-cases/{row.public_id}/")
        page.wait_for_selector(READY)
        return page

    return open_page


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


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag by the mouse from one place of the window to another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def on_picture(page: Page, x: float, y: float, size: tuple[int, int] = DEMO_SIZE) -> tuple[float, float]:
    """Where a pixel of a clip lies in the window."""
    place = page.locator("[data-stage] video").bounding_box()
    assert place is not None
    return place["x"] + x * place["width"] / size[0], place["y"] + y * place["height"] / size[1]
