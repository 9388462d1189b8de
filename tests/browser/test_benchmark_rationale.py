"""A rationale with inventions is audited against a real clip: labels, the tree, from a leaf to its frame and sound."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from auditing.models import AuditRun, BenchmarkItem, ModelAnswer, Reference
from auditing.services import execution
from auditing.services.anchor import answers, benchmarks
from reasonaudit.lib.canonical import sha256_of
from tests.browser.conftest import faults, overflows
from tests.browser.steps import in_a_thread
from tests.browser.videos import bring_in
from tests.videos import factories as videos
from videos.core.cot import cot_json
from videos.core.document import empty_document
from videos.models import Transcript

READY = "[data-island='rationale-audit'][data-ready]"
PLANTED = "A policeman with a gun stands at the door."

REFERENCE = """\
Visual Cue:
- Timeframe: 00:00.000 - 00:06.133
- Description: A woman in a tall hat leans on a counter and talks to two seated women.
- Analysis: The talk is between the women.
Audio Cue:
- Timeframe: 00:04.450 - 00:06.090
- Description: Somebody says that the crown jewels must have been stolen.
- Analysis: That is the reason for the bad humor.
Final Answer: the crown jewels
"""
RATIONALE = f"""\
Visual Cue:
- Timeframe: 00:00.500 - 00:03.000
- Description: A woman in a tall hat is in the picture. {PLANTED}
- Analysis: A woman wears a hat.
Audio Cue:
- Timeframe: 00:04.000 - 00:06.000
- Description: Somebody says that the crown jewels must have been stolen. A dog barks.
- Analysis: The stolen crown jewels explain the bad humor.
Final Answer: the crown jewels
"""
SAID = [
    [1_310_000, 2_730_000, "Tell me, is the lord of the universe in?", None],
    [2_740_000, 4_440_000, "Yes, he's in - in a bad humor.", None],
    [4_450_000, 6_090_000, "Somebody must've stolen the crown jewels.", None],
]


def seen(
    label: str, box: tuple[float, ...], first: int, end: int, to: tuple[float, ...] = ()
) -> dict[str, Any]:
    """An object that is seen from one frame to another, and moves to a place if one is given."""
    frames = {str(first): videos.keyframe(list(box))}
    if to:
        frames[str(end - 1)] = videos.keyframe(list(to))
    return videos.track(label, keyframes=frames, visible=[[first, end]])


def document(text: str, *tracks: dict[str, Any], events: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    made = {**empty_document("woman"), "cot": cot_json(text)}
    made["tracks"] = {row["id"]: row for row in tracks}
    made["events"] = {row["id"]: row for row in events}
    return made


@pytest.fixture
def item(shared_data: Path, transactional_db: None) -> BenchmarkItem:
    of = videos.video_set("Friday")
    clip = bring_in(shared_data / "media" / "real" / "friday_dialogue.mp4", of)
    Transcript.objects.create(video=clip, source="file", words=SAID)
    videos.question(clip, text="What must have been stolen?", answer="the crown jewels", document={})
    made = benchmarks.create(name="Real clips", video_set=of)
    row = made.items.select_related("benchmark", "question__video").get()
    end = clip.picture_count or 100
    content = document(
        REFERENCE,
        seen("woman in a tall hat", (385, 15, 195, 250), 0, end),
        seen("seated woman with curly hair", (60, 150, 200, 200), 0, end, (80, 150, 200, 200)),
        seen("wall clock", (300, 10, 60, 60), 20, 90),
        events=(
            {
                "id": "00000000-0000-4000-8000-000000000009",
                "label": "knock",
                "start_us": 200_000,
                "end_us": 600_000,
                "note": "",
                "source": "human",
                "run": None,
            },
        ),
    )
    Reference.objects.create(
        item=row, source="human", kind="refined", document=content, sha256=sha256_of(content)
    )
    return row


@pytest.fixture
def answer(item: BenchmarkItem) -> ModelAnswer:
    row, _ = answers.put(item, role="chain", model="model-a", text=RATIONALE, source="tests")
    mine = seen("woman", (360, 30, 200, 240), 10, 80)
    content = {**(row.document or {}), "tracks": {mine["id"]: mine}}
    ModelAnswer.objects.filter(pk=row.pk).update(document=content)
    row.refresh_from_db()
    return row


def shot(page: Page, name: str) -> None:
    """A picture for people, where a folder for them is given."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_inventions_stand_without_support_and_a_leaf_leads_to_its_frame(
    logged_in: Page, live_server: object, item: BenchmarkItem, answer: ModelAnswer
) -> None:
    page = logged_in
    page.goto(f"{live_server}/benchmarks/{item.benchmark.slug}/items/{item.pk}/audit/?answer={answer.pk}")
    page.wait_for_selector(READY)
    expect(page.get_by_text("Not audited yet")).to_be_visible()
    shot(page, "rationale-before")

    page.get_by_role("button", name="Audit", exact=True).click()
    page.wait_for_selector(READY)
    run = AuditRun.objects.get()
    in_a_thread(lambda: execution.execute(run.pk))
    page.reload()
    page.wait_for_selector(READY)

    # The planted sentence has no support, the quoted one rests on what is said.
    step = page.locator(".rationale-step", has_text=PLANTED)
    expect(step.locator(".chip.orphan")).to_be_visible()
    said = page.locator(".rationale-step", has_text="crown jewels must have been stolen")
    expect(said.locator(".chip.supported")).to_be_visible()
    expect(page.locator("[data-summary]")).to_contain_text("7 steps")
    shot(page, "rationale-audited")

    # A step unfolds; its leaf plays what is said, and stops at the end of it.
    said.locator(".rationale-go").click()
    expect(said.locator(".tree")).to_be_visible()
    shot(page, "rationale-unfolded")
    said.locator(".rests-on [data-leaf]").first.click()
    expect(page.locator("[data-receipt]")).to_contain_text("frame", timeout=20_000)
    page.wait_for_function("() => !document.querySelector('.film video').paused")
    page.wait_for_function("() => document.querySelector('.film video').paused", timeout=20_000)

    # An object: the clip stops where the step cites it, with the box in the light.
    hat = page.locator(".rationale-step", has_text="A woman in a tall hat is in the picture.")
    hat.locator(".rests-on [data-leaf]").first.click()
    page.wait_for_selector("[data-receipt][data-exact='true']")
    expect(page.locator(".film .box.is-selected")).to_have_count(1)
    expect(page.locator(".film-overlap")).to_contain_text("IoU")
    shot(page, "rationale-box")

    # Keys.
    page.locator("body").click(position={"x": 5, "y": 300})
    page.keyboard.press("ArrowDown")
    expect(page.locator(".rationale-step.is-on")).to_contain_text(PLANTED)
    expect(page.locator(".rationale-step.is-on .rationale-tree")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".rationale-tree")).to_have_count(0)
    before = int(page.locator("[data-receipt]").get_attribute("data-frame") or 0)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"[data-receipt][data-frame='{before + 1}'][data-exact='true']")

    assert overflows(page) == []
    assert faults(page) == []
