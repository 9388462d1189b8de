"""An annotator goes from question to question of one clip, marks sounds while it plays, and sees all of it."""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from reasonaudit import demo_clip
from tests.annotation import factories, video_factories
from tests.browser.conftest import faults, overflows
from tests.browser.steps import READY
from tests.browser.videos import Desk, go, saved, settled_frame
from tests.videos import factories as videos
from videos.selectors.documents import document_json

FIRST, SECOND = "Why does the dog run to the bench?", "What does the child do?"


@dataclass
class TwoQuestions:
    desk: Desk
    second: Assignment

    def document(self, row: Assignment) -> dict[str, Any]:
        row.refresh_from_db()
        return {} if row.document is None else document_json(row.document)


@pytest.fixture
def two(refine_desk: Desk) -> TwoQuestions:
    first = refine_desk.row.item
    question = videos.question(first.question.video, text=SECOND)
    item = video_factories.item(first.study, question)
    return TwoQuestions(refine_desk, factories.assignment(item, refine_desk.row.member))


def question_of(page: Page) -> Any:
    return page.locator(".question-text")


def test_the_next_question_comes_without_loading_and_back_goes_back(two: TwoQuestions) -> None:
    page = two.desk.open()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    settled_frame(page)
    page.evaluate("() => { window.kept = document.querySelector('[data-stage] video'); }")
    field = page.get_by_label("Visual cue: description")
    field.fill("The dog runs to the bench.")
    page.get_by_role("link", name="Q2").click()
    expect(question_of(page)).to_have_text(SECOND)
    expect(page.locator("[data-question-crumb]")).to_have_text("Question 2")
    assert page.evaluate("() => window.kept === document.querySelector('[data-stage] video')")
    assert page.url.endswith(f"/my-cases/{two.second.public_id}/")
    # The picture is there and exact, and boxes can be changed on it.
    go(page, 12)
    page.get_by_label("Visual cue: description").fill("The child whistles.")
    saved(page)
    page.go_back()
    expect(question_of(page)).to_have_text(FIRST)
    expect(field).to_have_value("The dog runs to the bench.")
    saved(page)
    assert two.document(two.desk.row)["cot"]["visual"]["description"] == "The dog runs to the bench."
    assert two.document(two.second)["cot"]["visual"]["description"] == "The child whistles."
    assert not [url for url in asked if url.endswith("/index/") or url.endswith("/peaks/")]
    page.reload()
    page.wait_for_selector(READY)
    expect(question_of(page)).to_have_text(FIRST)


def test_a_lost_network_loses_nothing_over_a_change_of_question(two: TwoQuestions) -> None:
    page = two.desk.open()
    settled_frame(page)
    page.wait_for_load_state("networkidle")
    two.desk.context.set_offline(True)
    page.get_by_label("Visual cue: description").fill("Written offline.")
    page.get_by_role("link", name="Q2").click()
    expect(question_of(page)).to_have_text(SECOND)
    notices = page.locator("[data-video-notices]")
    expect(notices).to_contain_text("1 change of Q1 is kept in this browser")
    two.desk.context.set_offline(False)
    expect(notices).not_to_contain_text("Q1", timeout=15_000)
    assert two.document(two.desk.row)["cot"]["visual"]["description"] == "Written offline."


def test_a_sound_is_recorded_while_the_clip_plays(two: TwoQuestions) -> None:
    page = two.desk.open()
    settled_frame(page)
    reaction = page.get_by_label("Reaction time in milliseconds")
    assert reaction.input_value() == "200"
    page.locator(".picture").click(position={"x": 5, "y": 5})
    page.keyboard.press(" ")
    page.wait_for_function(
        "() => Number(document.querySelector('[data-receipt]').dataset.frame) > 30", polling=20
    )
    page.keyboard.down("b")
    expect(page.locator("[data-recording]")).to_be_visible()
    page.wait_for_timeout(900)
    page.keyboard.up("b")
    page.keyboard.press(" ")
    saved(page)
    (event,) = two.document(two.desk.row)["events"].values()
    pressed = 31 * 1_000_000 // demo_clip.RATE
    assert pressed - 200_000 <= event["start_us"] <= pressed + 800_000
    assert 300_000 <= event["end_us"] - event["start_us"] <= 2_500_000
    page.keyboard.press("Control+z")
    saved(page)
    assert two.document(two.desk.row)["events"] == {}


def test_the_whole_clip_and_all_crops_of_an_object(two: TwoQuestions, screen: tuple[int, int]) -> None:
    page = two.desk.open()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    settled_frame(page)
    window = page.locator("[data-overview]")
    page.get_by_role("button", name="Zoom timelines in").click()
    page.get_by_role("button", name="Zoom timelines in").click()
    box = window.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 2000, box["y"] + 8)
    page.mouse.up()
    assert window.get_attribute("aria-valuenow") == "0"
    window.focus()
    page.keyboard.press("End")
    assert int(window.get_attribute("aria-valuenow") or 0) > 0
    assert overflows(page) == []
    page.locator(".track-name").first.click()
    page.keyboard.press("c")
    page.locator("#sheet-every").fill("1")
    page.locator("#sheet-every").press("Tab")
    expect(page.locator("[data-sheet-loaded]")).not_to_contain_text("0 of", timeout=20_000)
    page.locator('.crops [tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator('.crops [tabindex="0"]')).to_contain_text("keyframe")
    assert faults(page) == []
    page.keyboard.press("Escape")
    saved(page)
