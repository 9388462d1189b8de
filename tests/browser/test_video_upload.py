"""A lead brings videos in over a bad network, adds questions, makes a study, and an annotator opens the work."""

import hashlib
import json
import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from django.db import connection
from playwright.sync_api import Browser, Locator, Page, Route, expect

from annotation.models import Assignment, Study
from reasonaudit import demo_clip
from reasonaudit.accounts.models import User
from tests.browser.conftest import PASSWORD, faults, overflows
from tests.browser.steps import READY, log_in
from tests.browser.test_whole_study import accept
from videos.models import MediaRun, Video, VideoQuestion, VideoSet
from videos.services import preparation

PIECE = 64 * 1024
# What the browser writes down of a file that the server refuses.
REFUSED = "400 (Bad Request)"


@pytest.fixture
def lead(page: Page, live_server: object, monkeypatch: pytest.MonkeyPatch) -> Page:
    """A researcher's page; files go up in small pieces."""
    monkeypatch.setattr("videos.views.uploads.PIECE_BYTES", PIECE)
    User.objects.create_user("rona", password=PASSWORD, role="researcher")
    log_in(page, str(live_server), "rona", PASSWORD, timeout=60_000)
    return page


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "the dog in the park.mp4"
    demo_clip.draw(path)
    assert path.stat().st_size > 4 * PIECE
    return path


def start_preparing(run: MediaRun, may_end: Event) -> "Future[str | None]":
    """Begin as a worker would; what is asked between two steps waits for `may_end`."""

    def wait() -> bool:
        may_end.wait(60)
        return False

    def work() -> str | None:
        try:
            return preparation.prepare(run.pk, should_stop=wait)
        finally:
            connection.close()

    pool = ThreadPoolExecutor(max_workers=1)
    begun = pool.submit(work)
    pool.shutdown(wait=False)
    return begun


def new_set(page: Page, name: str) -> VideoSet:
    page.get_by_role("link", name="Videos", exact=True).first.click()
    page.get_by_role("link", name="New video set").first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Licence").fill("CC0")
    page.get_by_role("button", name="Make the set").click()
    expect(page.get_by_role("heading", name="No video in this set yet")).to_be_visible()
    return VideoSet.objects.get()


def lose_two(page: Page, begun: list[int]) -> None:
    """Lose the second request on its way and the answer of the fourth; `begun` gets the offset of each."""

    def piece(route: Route) -> None:
        begun.append(int(route.request.url.rpartition("=")[2]))
        if len(begun) == 2:
            route.abort("internetdisconnected")
        elif len(begun) == 4:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/piece/?offset=*", piece)


def upload(page: Page, clip: Path, tmp_path: Path, expected_faults: list[str]) -> None:
    """An empty file is refused in words at once; the clip arrives whole although two requests are lost."""
    empty, wrong = tmp_path / "empty.mp4", tmp_path / "notes.mp4"
    empty.write_bytes(b"")
    wrong.write_bytes(b"These are my notes of the walk.\n" * 400)
    page.get_by_role("link", name="Add videos").first.click()
    expected_faults += ["net::ERR_INTERNET_DISCONNECTED", "net::ERR_CONNECTION_RESET", "409 (Conflict)"]
    expected_faults += [REFUSED]
    begun: list[int] = []
    lose_two(page, begun)
    page.get_by_label("Videos", exact=True).set_input_files([clip, empty, wrong])
    page.get_by_role("button", name="Upload").click()
    rows = page.locator("[data-upload-list] .form-row")
    expect(rows.nth(0)).to_contain_text("No answer; trying again in 1 s", timeout=15_000)
    expect(rows.nth(0)).to_contain_text("Received; it is prepared now.", timeout=30_000)
    expect(rows.nth(1).get_by_role("alert")).to_have_text(
        "empty.mp4 has no content (0 bytes). Choose the video itself."
    )
    expect(rows.nth(2)).to_contain_text("Received; it is prepared now.")
    # The piece that was lost is sent again, and the one whose answer was lost is not taken twice.
    pieces = list(range(0, clip.stat().st_size, PIECE))
    assert begun[: len(pieces) + 2] == [*pieces[:2], pieces[1], pieces[2], pieces[2], *pieces[3:]]
    assert (faults(page), overflows(page)) == ([], [])
    page.unroute_all()
    page.get_by_role("link", name="Back to the set").click()


def prepared(page: Page, clip: Video, wrong: Video) -> None:
    """The set's page changes by itself while a worker prepares; what is no video is refused with a sentence."""
    may_end = Event()
    expect(row_of(page, clip)).to_contain_text("Waiting")
    begun = start_preparing(MediaRun.objects.get(video=clip), may_end)
    expect(row_of(page, clip)).to_contain_text("Being prepared", timeout=15_000)
    expect(row_of(page, clip)).to_contain_text("%", timeout=15_000)
    may_end.set()
    assert begun.result(timeout=120) == "done"
    expect(row_of(page, clip)).to_contain_text("Ready", timeout=15_000)
    assert start_preparing(MediaRun.objects.get(video=wrong), may_end).result(timeout=120) == "failed"
    expect(row_of(page, wrong)).to_contain_text("Refused", timeout=15_000)
    wrong.refresh_from_db()
    expect(row_of(page, wrong)).to_contain_text(wrong.message)


def row_of(page: Page, video: Video) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=video.title, exact=True))


def the_clip(page: Page, video: Video) -> None:
    """The clip's page plays it, shows its pictures and says what is in it."""
    page.get_by_role("link", name=video.title).click()
    page.wait_for_function("() => document.querySelector('video').readyState >= 1")
    assert page.evaluate("() => document.querySelector('video').videoWidth") == demo_clip.WIDTH
    strip = page.get_by_role("img", name="evenly spaced pictures")
    strip.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#video-now img').naturalWidth > 0")
    expect(page.get_by_label("Facts")).to_contain_text(
        f"{demo_clip.WIDTH} \N{MULTIPLICATION SIGN} {demo_clip.HEIGHT}"
    )


def questions(page: Page, video: Video, tmp_path: Path) -> None:
    """A file with a mistake is refused as a whole and says where; the mended one is taken in."""
    good = [
        {
            "id": "walk-1",
            "video": video.file_name,
            "question": "Why does the dog run?",
            "answer": "A whistle.",
        },
        {"id": "walk-2", "video": video.title, "question": "Who whistles?", "answer": "The child."},
    ]
    page.get_by_role("link", name="Import questions").click()
    for name, items in (
        ("bad.json", [*good, {**good[0], "id": "walk-3", "video": "another.mp4"}]),
        ("good.json", good),
    ):
        path = tmp_path / name
        path.write_text(json.dumps(items), "utf-8")
        page.get_by_label("File", exact=True).set_input_files(path)
        page.get_by_role("button", name="Read and preview").click()
        if name == "bad.json":
            expect(page.get_by_role("alert")).to_contain_text("1 problem, so nothing can be imported.")
            expect(page.get_by_role("row", name="another.mp4")).to_be_visible()
            page.get_by_role("link", name="Choose another file").click()
    page.get_by_role("button", name="Import 2 questions").click()
    expect(page.get_by_role("row", name="Who whistles?")).to_be_visible()
    assert VideoQuestion.objects.filter(video=video).count() == 2


def study_of(page: Page, video_set: VideoSet) -> Study:
    """A study of all questions of the set, with a guideline."""
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name").fill("Walks, round 1")
    page.get_by_role("button", name="Make the study").click()
    page.wait_for_url("**/studies/walks-round-1/")
    study = Study.objects.get()
    assert study.video_set == video_set
    page.goto(page.url + "items/add/")
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Add the ticked ones").click()
    page.wait_for_url("**/items/")
    page.goto(page.url.replace("items/", "guideline/edit/"))
    page.get_by_role("button", name="Publish version 1").click()
    page.wait_for_url("**/guideline/**")
    return study


def invited(page: Page) -> str:
    """A link for an annotator, from the page of the study's people."""
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("link", name="Invite people").click()
    page.get_by_label("Role").select_option("annotator")
    page.get_by_role("button", name="Make link").click()
    return page.locator("[data-invitation-link]").inner_text().strip()


def give_out(page: Page, study: Study) -> None:
    page.goto(page.url.partition("/accounts/")[0] + f"/studies/{study.slug}/assignments/")
    page.get_by_role("button", name="Give out 2").click()
    expect(page.get_by_role("heading", name="2 pieces of work")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("0 of 2").first).to_be_visible()


def works(page: Page, study: Study) -> None:
    """An annotator reads the guideline and opens the first question."""
    page.goto("/my-cases/")
    page.get_by_role("link", name="Read the guideline").click()
    page.get_by_role("button", name="I have read version 1").click()
    page.goto("/my-cases/")
    page.get_by_role("link", name="Begin").first.click()
    page.wait_for_selector(READY)
    expect(page.locator(".question-text")).to_have_text(
        re.compile(r"^(Why does the dog run|Who whistles)\?$")
    )
    assert Assignment.objects.filter(item__study=study).count() == 2


def test_ih_06_videos_come_in_over_a_bad_network_and_become_work(
    lead: Page, clip: Path, tmp_path: Path, browser: Browser, live_server: object, expected_faults: list[str]
) -> None:
    video_set = new_set(lead, "Walks in the park")
    upload(lead, clip, tmp_path, expected_faults)
    video = Video.objects.get(file_name=clip.name)
    assert video.sha256 == hashlib.sha256(clip.read_bytes()).hexdigest()
    prepared(lead, video, Video.objects.get(file_name="notes.mp4"))
    the_clip(lead, video)
    questions(lead, video, tmp_path)
    study = study_of(lead, video_set)
    link = invited(lead)
    context = browser.new_context(base_url=str(live_server), viewport={"width": 1440, "height": 900})
    context.set_default_timeout(15_000)
    try:
        annotator = context.new_page()
        accept(annotator, link, "anna")
        give_out(lead, study)
        works(annotator, study)
    finally:
        context.close()
