"""An annotator refines a question about the demonstration's clip, by mouse and keys, and over a lost network."""

import pytest
from playwright.sync_api import expect

from annotation.models import Submission
from reasonaudit import demo_clip, demo_video
from tests.browser.conftest import faults, overflows
from tests.browser.videos import Desk, drag, go, on_picture, saved
from videos.core.geometry import iou
from videos.core.tracks import Track, box_at


@pytest.fixture
def desk(refine_desk: Desk) -> Desk:
    return refine_desk


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


def test_the_workspace_fits_and_axe_finds_nothing(desk: Desk, screen: tuple[int, int]) -> None:
    page = desk.open()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    go(page, 150)
    assert overflows(page) == []
    assert faults(page) == []
