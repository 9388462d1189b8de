"""The page of a video question in Chromium, on the server that `make serve` starts: a clip of 2 h, and many tracks.

The clips are made by code and kept under `REASONAUDIT_VAR`. Targets are times of the page on a quiet machine; the load
is printed beside each figure. A shorter clip and fewer repeats, for a look in a minute:

    python -m tests.benchmarks.bench_video_page quick
"""

import logging
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from reasonaudit.lib import browser, embedded
from tests.benchmarks import page_probe as probe
from tests.benchmarks.bench_saves import _unused_port, served
from tests.browser.steps import log_in
from tests.videos import long_clips

LONG, SHORT = 2 * 3600 * long_clips.RATE, 10_000
TRACKS, SPANS = 50, 2000
SWITCHES = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    long: int
    seeks: int
    scrub: int
    seconds: float
    moves: int
    boxes: int


WHOLE = Size(long=LONG, seeks=20, scrub=200, seconds=8, moves=150, boxes=12)
QUICK = Size(long=SHORT, seeks=5, scrub=40, seconds=3, moves=40, boxes=3)


@dataclass(frozen=True)
class Question:
    """A question to open: its page, and who may."""

    path: str
    name: str


def run(size: Size = WHOLE, scenes: Sequence[str] = ("long", "tracks", "heavy")) -> list[dict[str, Any]]:
    """Return the rows of the chosen scenes."""
    chromium = browser.find_chromium()
    if chromium is None:
        return [{"name": browser.REMEDY}]
    lengths = [*([size.long] if "long" in scenes else []), SHORT]
    clips = {length: _clip(length) for length in lengths}
    folder = Path(tempfile.mkdtemp(prefix="ra-page-", dir="/tmp"))  # a socket's path must be short
    folder.chmod(0o755)  # the embedded database runs as a user of its own when this runs as root
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        os.environ.pop(name, None)
    os.environ["REASONAUDIT_VAR"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.development")
    port = _unused_port()
    try:
        with served(port):
            import django

            django.setup()
            logging.disable(logging.INFO)
            rows, questions = _prepared(clips, size, scenes)
            with sync_playwright() as playwright:
                for scene in scenes:
                    opened = playwright.chromium.launch(executable_path=chromium, args=list(SWITCHES))
                    page = opened.new_context(viewport={"width": 1440, "height": 900}).new_page()
                    page.set_default_timeout(probe.OPEN_MS)
                    question = questions[scene]
                    address = f"http://127.0.0.1:{port}"
                    log_in(page, address, question.name, _password())
                    measure = _long if scene == "long" else _tracks
                    rows += measure(page, f"{address}{question.path}", scene, size)
                    opened.close()
        return rows
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clip(pictures: int) -> Path:
    """Return a clip of so many pictures, made once."""
    path = embedded.var_dir() / "bench" / f"long-{pictures}.mp4"
    path.parent.mkdir(exist_ok=True)
    if not path.is_file():
        long_clips.make(path, pictures)
    return path


def _password() -> str:
    from tests.annotation import factories

    return factories.PASSWORD


def _prepared(
    clips: dict[int, Path], size: Size, scenes: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, Question]]:
    """Take the clips in as a worker would, and give each scene a question of its own."""
    from tests.annotation import factories, video_factories
    from tests.videos import factories as videos
    from videos.models import MediaRun, Video
    from videos.services import preparation, runs, uploads

    rows, stored = [], {}
    for length, path in clips.items():
        video, _ = uploads.take_in(
            video_set=videos.video_set(), pieces=uploads.pieces_of(path), file_name=path.name
        )
        run_of, _ = runs.create(video=video, kind=MediaRun.Kind.PREPARE, by=None)
        start = time.perf_counter()
        if preparation.prepare(run_of.pk) != "done":
            raise RuntimeError(MediaRun.objects.get(pk=run_of.pk).message)
        spent = time.perf_counter() - start
        stored[length] = Video.objects.get(pk=video.pk)
        if stored[length].needs_proxy:
            raise RuntimeError(f"{path.name} does not play as it is: {stored[length].needs_proxy}")
        rows.append(
            _row(f"preparing a clip of {length:,} pictures, 1280 x 720, with sound", f"{spent:.1f} s", None)
        )
    questions = {}
    for scene in scenes:
        content = None if scene == "long" else _document(1 if scene == "heavy" else 10)
        clip = stored[size.long if scene == "long" else SHORT]
        question = videos.question(clip, **({} if content is None else {"document": content}))
        study = video_factories.study(questions=0, of=clip)
        work = factories.assignment(video_factories.item(study, question), video_factories.annotator(study))
        questions[scene] = Question(f"/my-cases/{work.public_id}/", work.member.user.username)
    return rows, questions


def _document(every: int) -> dict[str, Any]:
    """Tracks that drift over the picture with a keyframe every so many pictures, and sounds along the clip."""
    from tests.benchmarks.bench_documents import document

    content = document(TRACKS, every)
    for number, track in enumerate(content["tracks"].values()):
        left, top = 20 + number % 10 * 120, 20 + number // 10 * 135
        for frame, key in track["keyframes"].items():
            key["box"] = [float(left + int(frame) % 400 / 10), float(top), 70.0, 60.0]
    step = SHORT * 1_000_000 // long_clips.RATE // SPANS
    for number in range(SPANS):
        key = f"00000000-0000-4000-8000-{number + 1:012x}"
        content["events"][key] = {
            "id": key,
            "label": f"sound {number}",
            "start_us": number * step,
            "end_us": number * step + step // 2,
            "note": "",
            "source": "model",
            "run": "bench",
        }
    return content


def _long(page: Page, url: str, _scene: str, size: Size) -> list[dict[str, Any]]:
    what = f"clip of {size.long / long_clips.RATE / 3600:.2g} h"
    rows = [_opened(what, probe.open_page(page, url), 5)]
    chance = random.Random(1)
    times = []
    for _ in range(size.seeks):
        ms, frame = probe.seek(page, chance.uniform(0.01, 0.99))
        _check_number(page, frame)
        times.append(ms)
    rows.append(
        _times(f"{what}: from a click on the axis to the exact picture, {size.seeks} places", times, 500)
    )
    probe.scrub(page, size.scrub)
    rows.append(_heap(f"{what}: JavaScript heap after scrubbing end to end in {size.scrub} steps", page, 500))
    return rows


def _check_number(page: Page, frame: int) -> None:
    """A picture counts only if it carries the number that the page gives it."""
    from tests.browser.videos import shown_picture
    from tests.videos.clips import read_barcode

    seen = read_barcode(shown_picture(page))
    if seen != frame % long_clips.PART:
        raise RuntimeError(f"the page says picture {frame}, the picture says {seen}")


def _tracks(page: Page, url: str, scene: str, size: Size) -> list[dict[str, Any]]:
    every = 1 if scene == "heavy" else 10
    what = f"{TRACKS} tracks of {SHORT // every:,} keyframes, {SPANS:,} sounds"
    # The heavy one is told, not promised.
    target = 5 if scene == "tracks" else None
    rows = [_opened(what, probe.open_page(page, url), target)]
    bare = probe.bare(page)
    page.bring_to_front()
    for words, closer in (("whole clip in sight", 0), ("10 s in sight", 24)):
        _zoomed_in(page, closer)
        found = probe.pace(page, size.seconds)
        rows.append(
            _row(
                f"{what}: frames a second while it plays, {words}",
                f"{found['fps']:.1f} (p95 {found['p95']:.1f} ms; "
                f"{found['shown']:.1f} pictures/s, {found['dropped']:.0f} dropped)",
                ">= 50",
                found["fps"] / 50,
                f"{bare.fps:.1f} on an empty page",
            )
        )
    _zoomed_in(page, 0)
    turns = probe.zoom(page, 40)
    rows.append(_times(f"{what}: from a turn of the wheel to the painted timelines", turns, None))
    page.keyboard.press("Home")
    page.wait_for_function(probe.EXACT)
    empty = f"p95 {bare.feedback_ms:.0f} ms on an empty page"
    moves = probe.drag(page, _middle(page, 0), (30, 20), size.moves)
    rows.append(_times(f"{what}: from a move of a box to the painted box", moves, 33, empty))
    span = probe.place_of(page, "[data-span^='event:'] .span-body")
    start = (span["x"] + span["width"] / 2, span["y"] + span["height"] / 2)
    rows.append(
        _times(
            f"{what}: from a move of a sound to the painted sound",
            probe.drag(page, start, (40, 0), size.moves),
            33,
            empty,
        )
    )
    saves = [_save_ms(page, number) for number in range(1, size.boxes + 1)]
    rows.append(_times(f"{what}: from letting a box go to its being saved", saves, 200 if target else None))
    rows.append(_heap(f"{what}: JavaScript heap at the end", page, 500 if target else None))
    return rows


def _zoomed_in(page: Page, turns: int) -> None:
    page.get_by_role("button", name="Fit clip").click()
    page.keyboard.press("Home")
    page.wait_for_function(probe.EXACT)
    strip = probe.place_of(page, ".filmstrip")
    page.mouse.move(strip["x"] + 2, strip["y"] + strip["height"] / 2)
    for _ in range(turns):
        page.mouse.wheel(0, -100)
    page.wait_for_timeout(600)


def _middle(page: Page, number: int) -> tuple[float, float]:
    """The middle of a track's box in the window."""
    box = probe.place_of(page, f"[data-stage] g.box:nth-child({number + 1}) .box-line")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _save_ms(page: Page, number: int) -> float:
    x, y = _middle(page, number)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y + 4, steps=3)
    with page.expect_response(lambda response: response.request.method == "PUT") as answer:
        start = time.perf_counter()
        page.mouse.up()
    if not answer.value.ok:
        raise RuntimeError(f"a save was answered with {answer.value.status}")
    answer.value.finished()
    return 1000 * (time.perf_counter() - start)


def _opened(what: str, opened: probe.Opened, target: float | None) -> dict[str, Any]:
    return _row(
        f"{what}: from the address to the first exact picture",
        f"{opened.exact:.2f} s (the server's answer {opened.answer:.2f} s, the workspace {opened.ready:.2f} s)",
        None if target is None else f"< {target:g} s",
        None if target is None else opened.exact / target,
    )


def _times(name: str, times: list[float], target: float | None, bare: str = "") -> dict[str, Any]:
    ordered = sorted(times)
    p50, p95 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95))
    return _row(
        f"{name}: p95",
        f"{p95:.0f} ms (p50 {p50:.0f}, longest {ordered[-1]:.0f}, {len(ordered)} times)",
        None if target is None else f"< {target:g} ms",
        None if target is None else p95 / target,
        bare,
    )


def _heap(name: str, page: Page, target: float | None) -> dict[str, Any]:
    used, kept = probe.heap_mb(page)
    return _row(
        name,
        f"{used:.0f} MB ({kept:.0f} after a collection; the tab's process {probe.process_mb(page):.0f})",
        None if target is None else f"< {target:g} MB",
        None if target is None else used / target,
    )


def _row(
    name: str, measured: str, target: str | None, ratio: float | None = None, bare: str = ""
) -> dict[str, Any]:
    load = f"load average {os.getloadavg()[0]:.1f}"
    row = {
        "name": name,
        "measured": measured,
        "target": target,
        "baseline": f"{bare}; {load}" if bare else load,
        "ratio": None if ratio is None else round(ratio, 3),
    }
    print(f"   {row['name']}: {row['measured']} [{row['baseline']}]", file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    chosen = [word for word in sys.argv[1:] if word != "quick"]
    print_table(run(QUICK if "quick" in sys.argv else WHOLE, chosen or ("long", "tracks", "heavy")))
