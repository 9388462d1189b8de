"""A researcher evaluates two models on two questions: a scripted server answers and judges, a person rates.

What the server says follows from its docstring (`tests.evaluation_server`), so every number here was worked out.
"""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from auditing.models import BenchmarkRun, ModelAnswer, Rating
from auditing.services.anchor import execution
from reasonaudit import demo_clip
from reasonaudit.accounts.models import User
from tests.browser.conftest import faults, overflows
from tests.browser.steps import in_a_thread
from tests.browser.videos import bring_in
from tests.evaluation_server import evaluation_server
from tests.videos import factories as videos
from videos.core.cot import cot_json
from videos.core.document import empty_document

RIGHT = {"What runs to the child?": "the dog", "What lies in the grass?": "the ball"}


def reasoning(answer: str) -> dict[str, Any]:
    """A refined document that knows the answer, with times that a model's 0:01 to 0:02 half meets."""
    text = (
        "Visual Cue:\n- Timeframe: 00:01 - 00:03\n- Description: It is seen.\n- Analysis: So it is.\n"
        f"Audio Cue:\n- Timeframe: 00:00 - 00:02\n- Description: Wind.\n- Analysis: None.\nFinal Answer: {answer}"
    )
    return {**empty_document("thing"), "cot": cot_json(text)}


@pytest.fixture
def clip(tmp_path: Path, transactional_db: None) -> None:
    path = tmp_path / "clip.mp4"
    demo_clip.draw(path)
    video = bring_in(path, videos.video_set("Clips"))
    for text, answer in RIGHT.items():
        videos.question(video, text=text, answer=answer, document=reasoning(answer))


def work_off() -> None:
    """Do what a worker would, until nothing waits."""
    while (run := BenchmarkRun.objects.filter(state="queued").first()) is not None:
        in_a_thread(lambda pk=run.pk: execution.execute(pk))


def ask(page: Page, address: str, step: str, model: str, **fields: Any) -> None:
    """Plan a step, read what it would ask, start it, and wait for its end."""
    page.goto(f"{address}plan/?step={step}")
    if model:
        page.get_by_label("Model", exact=True).fill(model)
    for label, value in fields.items():
        field = page.get_by_label(label.replace("_", " "), exact=True)
        if isinstance(value, list) or label == "Cues":
            field.select_option(value)
        else:
            field.fill(str(value))
    page.keyboard.press("Tab")
    if model:
        page.get_by_role("button", name=re.compile("^Ask .* time")).click()  # comes with the numbers
    else:
        page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/benchmarks/runs/*/")
    work_off()


def test_a_benchmark_from_its_questions_to_the_panel_against_people(
    logged_in: Page, researcher: User, clip: None, screen: tuple[int, int], live_server: Any, settings: Any
) -> None:
    page = logged_in
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(f"{live_server}/benchmarks/new/")
    page.get_by_label("Name", exact=True).fill("Two questions")
    page.get_by_label("Set of videos").select_option(label="Clips")
    page.get_by_role("button", name="Make").click()
    page.wait_for_url("**/benchmarks/two-questions/")
    address = page.url
    page.locator("summary", has_text="Take references").click()
    form = page.locator("form", has_text="That came with the questions")
    form.get_by_label("Name of the source").fill("human")
    form.get_by_label("Who wrote it").select_option("refined")
    with page.expect_navigation():
        form.get_by_role("button", name="Take them").click()
    expect(page.locator("main")).to_contain_text("human")

    with evaluation_server() as server:
        settings.LLM_BASE_URL = server.base_url
        settings.LLM_CONCURRENCY = 1  # the first replies all go to the first request
        server.answers = RIGHT
        server.strict = {"judge-b"}
        server.first["answer_rating"] = ["It is fine."] * 3
        ask(page, address, "answer", "seer", Pictures_of_each_clip=4)
        ask(page, address, "answer", "blind", Pictures_of_each_clip=0)
        ask(page, address, "answer", "seer", Pictures_of_each_clip=4, Cues="no_video")
        assert server.asked == {"video_answer": 6}
        assert [one.pictures for one in server.requests] == [4, 4, 0, 0, 0, 0]
        for judge in ("judge-a", "judge-b"):
            ask(page, address, "rate", judge)
        # Final answers differ, the reasoning of both models is the same: a judge is asked 2 + 1 + 1 times an item, and
        # about the first answer (of the model whose name comes first) three times in vain.
        assert server.asked["answer_rating"] == 2 * 2 * 2 + 2
        assert server.asked["divergence_rating"] == server.asked["hallucination_rating"] == 2 * 2
        ask(page, address, "correct", "judge-a")
        ask(page, address, "rollout", "seer", Pictures_of_each_clip=0, Answers_of_this_model_to_each_item=16)
        ask(page, address, "difficulty", "judge-a")
        ask(page, address, "ground", "")
    lacking = BenchmarkRun.objects.exclude(state="done").get()
    assert (lacking.step, lacking.state, lacking.model) == ("rate", "partial", "openai:judge-a")
    assert ModelAnswer.objects.filter(role="chain").count() == 6
    missing = Rating.objects.get(value=None)
    assert (missing.answer.model, missing.facet, missing.status, missing.why) == (
        "blind",
        "answer",
        "invalid",
        "no_json",
    )

    page.goto(f"{address}panel/")
    page.get_by_role("button", name="Chart").first.click()
    page.wait_for_selector("[data-island='benchmark-charts'][data-ready]")
    page.get_by_role("button", name="Table").first.click()
    table = page.locator("table").first
    seer, blind = (table.locator("tr", has_text=name).first for name in ("seer", "blind"))
    # The right answer holds the reference: 5, and 4 by the strict judge. The other does not: 2 and 1, but 1 alone for
    # the item without the first judge's rating.
    expect(seer).to_contain_text("4.50")
    expect(blind).to_contain_text("1.25")
    assert (faults(page), overflows(page)) == ([], [])

    page.goto(f"{address}cues/")
    expect(page.locator("main")).to_contain_text("+100.0")  # without pictures nothing is answered
    page.goto(f"{address}agreement/")
    assert (faults(page), overflows(page)) == ([], [])
    page.goto(f"{address}grounding/")
    # Cited is 1 to 2 s. Of the visual cue's 1 to 3 s that is half, of the audio cue's 0 to 2 s as well.
    expect(page.locator("main")).to_contain_text("0.500")
    assert (faults(page), overflows(page)) == ([], [])

    page.goto(f"{address}difficulty/")
    expect(page.locator("main")).to_contain_text("2 of 2 items are hard by the rule.")
    page.get_by_role("link", name="Review hard items").click()
    page.wait_for_url("**/difficulty/?review=*")
    assert (faults(page), overflows(page)) == ([], [])
    page.keyboard.press("1")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"{address}difficulty/?decision=confirmed")
    expect(page.locator("main")).to_contain_text("Hard indeed")

    page.goto(address)
    page.get_by_role("link", name="What runs to the child?").first.click()
    page.wait_for_selector("[data-island='grounded-video'][data-ready]")
    expect(page.locator(".benchmark-answer").first).to_contain_text("judge-a")
    assert (faults(page), overflows(page)) == ([], [])

    page.goto(f"{address}raters/")
    page.get_by_label("User name").fill("rona")
    with page.expect_navigation():
        page.get_by_role("button", name="Add").click()
    page.goto(f"{address}rate/")
    island = page.locator("[data-island='benchmark-rate']")
    page.wait_for_selector("[data-island='benchmark-rate'][data-ready]")
    assert (faults(page), overflows(page)) == ([], [])
    for _ in range(4):
        said = island.get_by_role("region", name="Answer", exact=True).inner_text()
        for _ in range(3):
            page.keyboard.press("1" if "I cannot tell." in said else "5")
        page.keyboard.press("Enter")
    expect(page.locator("[data-rate-saved]")).to_contain_text("Saved", timeout=20_000)
    assert Rating.objects.filter(user=researcher).count() == 12
    page.goto(f"{address}people/")
    page.wait_for_selector("[data-island='benchmark-charts'][data-ready]")
    assert (faults(page), overflows(page)) == ([], [])

    with page.expect_download() as download:
        page.goto(f"{address}export/")
        page.get_by_role("button", name="Download the archive").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        assert any(name.endswith("ratings.jsonl") for name in archive.namelist())

    page.goto(f"{address}delete/")
    page.get_by_role("link", name="remove a part only").click()
    page.get_by_role("link", name="Remove… answers with reasoning of blind").click()
    assert (faults(page), overflows(page)) == ([], [])
    page.get_by_label("Type “blind”").fill("blind")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("body")).to_contain_text("Answers with reasoning of blind were removed")
    assert Rating.objects.filter(user=researcher).count() == 6
