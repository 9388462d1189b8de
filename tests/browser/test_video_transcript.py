"""The transcript: on the clip's page, and as a lane of the workspace."""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.browser.conftest import faults, overflows
from tests.browser.videos import Desk, bring_in, settled_frame
from tests.videos import factories as videos
from tests.videos.clips import make_clip
from videos.models import Transcript, Video
from videos.services import transcripts

# The demonstration's clip has 25 pictures a second.
WORDS = [
    [0, 500_000, "Where", 0.9],
    [500_000, 1_000_000, "is", 0.9],
    [1_000_000, 1_600_000, "he?", 0.9],
    [4_000_000, 4_600_000, "Here", 0.9],
    [4_600_000, 5_200_000, "boy!", 0.9],
]


def transcribed(video: Video, words: list[Any]) -> None:
    with transaction.atomic():
        transcripts.store(
            video=video,
            source=Transcript.Source.RECOGNISER,
            words=words,
            version={"name": "whisper-tiny"},
            by=None,
        )


def test_words_are_gone_to_by_click_and_keys_and_marked_while_they_are_said(refine_desk: Desk) -> None:
    transcribed(refine_desk.row.item.question.video, WORDS)
    page = refine_desk.open()
    words = page.locator(".words .word")
    expect(words).to_have_text(["Where", "is", "he?", "Here", "boy!"])
    words.nth(3).click()
    assert settled_frame(page) == 100
    expect(page.locator(".word[aria-current]")).to_have_text("Here")
    page.keyboard.press("ArrowRight")
    expect(words.nth(4)).to_be_focused()
    assert settled_frame(page) == 100, "the key moves among the words, not among the pictures"
    page.keyboard.press("Enter")
    assert settled_frame(page) == 115
    expect(page.locator(".word[aria-current]")).to_have_text("boy!")
    assert faults(page) == []


def test_a_clip_without_words_says_so_in_the_lane(refine_desk: Desk) -> None:
    page = refine_desk.open()
    expect(page.locator(".is-words")).to_contain_text("No transcript of this clip yet")


def test_a_transcript_is_uploaded_and_shown_on_the_clips_page(
    logged_in: Page, live_server: object, screen: tuple[int, int], tmp_path: Path
) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    clip = tmp_path / "beeps.mp4"
    make_clip(clip, "flash_beep", 2)
    video = bring_in(clip, videos.video_set())
    path = tmp_path / "walk.vtt"
    path.write_text("WEBVTT\n\n00:00.500 --> 00:01.000\nWhere is he?\n", encoding="utf-8")
    page.goto(f"{live_server}{reverse('videos:video_detail', args=[video.public_id])}")
    expect(page.locator("#video-transcript")).to_contain_text("No transcript yet")
    page.get_by_label("Upload a transcript").set_input_files(path)
    page.locator("#video-transcript").get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator("#video-transcript")).to_contain_text("Where is he?")
    expect(page.locator("#video-transcript")).to_contain_text("From the file walk.vtt")
    assert faults(page) == []
    assert overflows(page) == []
    page.get_by_role("link", name="Remove it").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator("#video-transcript")).to_contain_text("No transcript yet")
