"""An adjudicator decides a video question that two people refined: sides taken one by one, and a text of one's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Assignment, DocumentDecision, StudyItem, StudyMember
from annotation.selectors.handed_in import handed_in
from annotation.services.refinements import refinement_save
from annotation.services.submissions import assignment_submit
from reasonaudit import demo_clip, demo_video
from tests.annotation import factories, video_factories
from tests.browser.conftest import faults, overflows
from tests.browser.steps import READY, give_session
from tests.browser.videos import bring_in, saved, settled_frame
from tests.videos import factories as videos
from videos.core.document import empty_document
from videos.selectors.documents import document_json

# The first page of a fresh server imports everything.
FIRST_LOAD_MS = 60_000
SAY = ["cot", "visual", "description"]
EVENT = "00000000-0000-4000-8000-00000000000e"
(DOG,) = demo_video._dog()


@dataclass
class Court:
    """A question that two people refined otherwise, and who decides it."""

    item: StudyItem
    judge: StudyMember
    # Letters of the one who kept the boxes, and of the one who moved them and heard a whistle.
    kept: str
    moved: str

    def draft(self) -> dict[str, Any]:
        return document_json(DocumentDecision.objects.get().document)


def hand_in(row: Assignment, *changes: Any) -> None:
    refinement_save(assignment=row, by=row.member.user, operations=[videos.operation(*changes)])
    row.refresh_from_db()
    assignment_submit(assignment=row, by=row.member.user, base_version=row.version)


def moved_right(pixels: int) -> list[tuple[list[str], Any, Any]]:
    keyframes = demo_video._dog()[DOG]["keyframes"]
    return [
        (
            ["tracks", DOG, "keyframes", frame],
            key,
            {**key, "box": [key["box"][0] + pixels, *key["box"][1:]], "source": "human", "run": None},
        )
        for frame, key in keyframes.items()
    ]


@pytest.fixture
def court(transactional_db: None, tmp_path: Path) -> Court:
    path = tmp_path / "dog.mp4"
    demo_clip.draw(path)
    clip = bring_in(path, videos.video_set())
    content = empty_document("dog")
    content["cot"]["visual"] |= {
        "timeframe": {"whole": False, "intervals": [[5_000_000, 8_000_000]], "raw": "00:05 - 00:08"},
        "description": "The dog moves.",
    }
    content["cot"]["final_answer"] = "The child whistles."
    content["tracks"] = demo_video._dog()
    question = videos.question(clip, document=content, text="Why does the dog run to the bench?")
    study = video_factories.study(questions=0, of=clip, overlap=2)
    item = video_factories.item(study, question)
    rows = [factories.assignment(item, video_factories.annotator(study)) for _ in range(2)]
    hand_in(rows[0], (SAY, "The dog moves.", "The dog runs to the child."))
    whistle = {
        "id": EVENT,
        "label": "whistle",
        "start_us": 5_000_000,
        "end_us": 5_250_000,
        "note": "",
        "source": "human",
        "run": None,
    }
    hand_in(
        rows[1],
        (SAY, "The dog moves.", "A dog sits by the bench."),
        # 84 pixels wide, so the boxes overlap by (84 - 30) / (84 + 30).
        *moved_right(30),
        (["events", EVENT], None, whistle),
    )
    letters = {row.pk: letter for letter, row in handed_in(item).people.items()}
    judge = factories.member(study, part="adjudicator")
    return Court(item, judge, letters[rows[0].pk], letters[rows[1].pk])


@pytest.fixture
def opened(page: Page, live_server: Any, court: Court) -> Page:
    """The question, reached from the queue."""
    assert court.judge.user is not None
    give_session(page, str(live_server), court.judge.user)
    page.goto(f"{live_server}/studies/{court.item.study.slug}/adjudication/", timeout=FIRST_LOAD_MS)
    assert faults(page) == []
    page.locator("table a").first.click()
    page.wait_for_selector(READY)
    return page


def difference(page: Page, name: str) -> Locator:
    return page.locator(".difference").filter(has=page.locator(".difference-title", has_text=name))


def test_a_question_is_decided_from_both_sides(opened: Page, court: Court, screen: tuple[int, int]) -> None:
    page = opened
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    # What only one has is followed by having nothing there.
    expect(page.locator("[data-decided]")).to_have_text("1 of 3 decided")
    dog = difference(page, 'Boxes of "dog"')
    expect(dog.locator(".agreement")).to_have_text("47 %")
    dog.locator(".difference-title").click()
    # The boxes keep their distance, so the first picture that has them is shown.
    expect(page.locator("[data-receipt]")).to_have_attribute("data-frame", "100")
    assert settled_frame(page) == 100
    expect(page.locator("[data-side]")).to_have_count(2)
    expect(page.locator("[data-sides] .side-span")).to_have_count(2)
    assert faults(page) == []
    assert overflows(page) == []

    # One after the other: the other side takes the place of the first.
    dog.get_by_role("button", name=f"Take {court.kept}").click()
    expect(dog.locator("[data-standing]")).to_have_attribute("data-standing", court.kept)
    saved(page)
    assert court.draft()["tracks"] == demo_video._dog()
    dog.get_by_role("button", name=f"Take {court.moved}").click()
    expect(dog.locator("[data-standing]")).to_have_attribute("data-standing", court.moved)
    page.keyboard.press("Control+z")
    expect(dog.locator("[data-standing]")).to_have_attribute("data-standing", court.kept)

    # By keys: on to the sound, and the side that has it.
    page.keyboard.press("Alt+j")
    expect(page.locator(".difference.is-on .difference-title")).to_contain_text("whistle")
    page.keyboard.press(f"Alt+{'AB'.index(court.moved) + 1}")
    expect(difference(page, "whistle").locator("[data-standing]")).to_have_attribute(
        "data-standing", court.moved
    )

    # A text of one's own follows nobody, and needs a note.
    said = difference(page, "Visual cue, description")
    said.get_by_role("button", name=f"Take {court.kept}").click()
    expect(page.locator("#visual-description")).to_have_value("The dog runs to the child.")
    page.locator("#visual-description").fill("The dog runs to the child at the bench.")
    page.locator("#visual-description").blur()
    expect(said.locator("[data-standing]")).to_have_attribute("data-standing", "own")
    expect(page.locator("[data-decided]")).to_have_text("2 of 3 decided")
    saved(page)
    page.locator("#decide").click()
    expect(page.locator("#decide-now")).to_be_disabled()
    assert faults(page) == []
    page.locator("#decide-note").fill("Both are right in part.")
    page.locator("#decide-now").click()
    expect(page.locator("[data-decision]")).to_have_text("Decided")

    row = DocumentDecision.objects.get()
    assert (row.number, row.note, row.adjudicator) == (1, "Both are right in part.", court.judge.user)
    assert row.content is not None
    assert row.content["cot"]["visual"]["description"] == "The dog runs to the child at the bench."
    assert row.content["tracks"] == demo_video._dog()
    assert list(row.content["events"]) == [EVENT]
    assert {place["id"].split(":")[0]: place["matches"] for place in row.differences} == {
        "visual.description": "",
        "track": court.kept,
        "event": court.moved,
    }

    # A second look shows what was decided, and nothing to change.
    page.reload()
    page.wait_for_selector(READY)
    expect(page.locator("[data-decision]")).to_have_text("Decided")
    expect(page.locator("#decision-note")).to_have_value("Both are right in part.")
    expect(difference(page, "whistle").get_by_role("button", name=f"Take {court.kept}")).to_be_disabled()
    assert faults(page) == []
    page.wait_for_load_state("networkidle")
