"""Drafts in the workspace: asked for, written by a scripted model, compared, taken over and taken back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from auditing.drafting.llm import LLMDrafter
from auditing.llm.providers.scripted import Scripted
from auditing.models import DraftRun
from auditing.services.drafts.execution import execute
from tests.auditing.drafting.test_reading import PLAIN
from tests.browser.conftest import faults, overflows
from tests.browser.steps import in_a_thread
from tests.browser.videos import Desk, saved
from videos.models import GeneratedDocument


@pytest.fixture
def desk(refine_desk: Desk, settings) -> Desk:
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"  # nothing listens there; the tests bring their own model
    settings.LLM_DRAFT_MODELS = ["writer", "seer"]
    settings.LLM_IMAGE_MODELS = ["seer"]
    settings.LLM_DRAFT_PICTURES = 4
    return refine_desk


@pytest.fixture
def write() -> Callable[[str], None]:
    """Do what waits, as a worker would, with a model that says this."""

    def work(reply: str) -> None:
        for run in DraftRun.objects.filter(state="queued"):
            drafter = LLMDrafter(Scripted(lambda request: reply), "writer", takes_pictures=run.pictures > 0)
            execute(run.pk, drafter=drafter)

    return lambda reply: in_a_thread(lambda: work(reply))


def test_a_draft_is_compared_and_taken_over_and_back(desk: Desk, write, screen) -> None:
    page = desk.open()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    before = desk.row.item.question.document
    page.locator(".more-menu summary").click()
    page.get_by_role("button", name="Versions").click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("Nothing is changed.")
    dialog.get_by_label("Model").select_option("seer")
    dialog.locator("#draft-anew").click()
    expect(dialog).to_contain_text("Waits for its turn")
    assert faults(page) == []
    write(PLAIN)
    expect(dialog.locator(".draft-version")).to_have_count(2)
    version = GeneratedDocument.objects.get()
    assert len(version.source["pictures"]) == 4
    expect(dialog.get_by_label("Version 1, reasoning")).to_be_checked()
    expect(dialog.locator(".text-diff del").first).to_be_visible()
    expect(dialog.locator(".notice")).to_contain_text("The clip has no transcript")
    assert overflows(page) == []
    assert faults(page) == []
    dialog.locator("#take-version").click()
    saved(page)
    assert desk.document()["cot"] == version.document["cot"]
    assert desk.document()["target_label"] == before["target_label"]
    page.keyboard.press("Escape")
    page.locator("body").press("Control+z")
    saved(page)
    assert desk.document()["cot"] == before["cot"]


def test_a_suggested_label_changes_nothing_until_it_is_taken_over(desk: Desk, write, screen) -> None:
    page = desk.open()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    before = desk.row.item.question.document["target_label"]
    page.locator("#suggest-label").click()
    expect(page.locator("[data-suggest]")).to_contain_text("Waits")
    write("small brown dog")
    take = page.get_by_role("button", name="Take over the suggested label small brown dog")
    expect(take).to_be_focused()
    expect(page.locator("#target-label")).to_have_value(before)
    assert overflows(page) == []
    assert faults(page) == []
    page.keyboard.press("Enter")
    saved(page)
    expect(page.locator("#target-label")).to_have_value("small brown dog")
    expect(page.locator("#target-label")).to_be_focused()
    assert desk.document()["target_label"] == "small brown dog"
