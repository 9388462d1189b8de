"""Clips on the live server, prepared as a worker would, and what the page shows of them."""

import base64
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection
from PIL import Image
from playwright.sync_api import Page

from videos.models import MediaRun, Video, VideoSet
from videos.services import preparation, runs, uploads


def bring_in(path: Path, into: VideoSet) -> Video:
    """Take a file in and prepare it, with its playback file where it needs one."""

    def work() -> Video:
        try:
            video, _ = uploads.take_in(video_set=into, pieces=uploads.pieces_of(path), file_name=path.name)
            _carry_out(video, MediaRun.Kind.PREPARE, preparation.prepare)
            video.refresh_from_db()
            if video.needs_proxy:
                _carry_out(video, MediaRun.Kind.PROXY, preparation.make_proxy)
                video.refresh_from_db()
            return video
        finally:
            connection.close()

    # The browser's event loop holds this thread.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result(timeout=120)


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
