"""Proposals in the workspace: asked for, watched, taken over and taken back; and the answer as a file, out and in."""

import json
import uuid
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reasonaudit import demo_clip, demo_video
from tests.browser.conftest import faults, overflows
from tests.browser.steps import in_a_thread
from tests.browser.videos import Desk, go, saved
from videos.core.geometry import iou
from videos.core.tracks import Track, box_at
from videos.models import ProposalRun
from videos.services import proposals

(DOG,) = demo_video._dog()


@pytest.fixture
def desk(refine_desk: Desk) -> Desk:
    return refine_desk


def carry_out() -> None:
    """Do what waits, as a worker would."""

    def work() -> None:
        for run in ProposalRun.objects.filter(state="queued"):
            proposals.execute(run.pk)

    in_a_thread(work)


def ask(page: Page) -> None:
    """Open the proposals with the keyboard at the dog's box on frame 190, and ask for 30 more."""
    page.locator(f"[data-row='{DOG}'] .track-name").click()
    go(page, 190)
    page.keyboard.press("w")
    expect(page.locator("#proposals-title")).to_be_focused()
    page.locator("[data-proposals] input[type=number]").fill("30")
    page.locator("[data-proposals]").get_by_role("button", name="Propose", exact=True).click()
    expect(page.locator("[data-run]")).to_have_count(1)


def test_a_proposal_is_taken_over_and_back(desk: Desk) -> None:
    page = desk.open()
    ask(page)
    expect(page.locator("[data-run] .chip")).to_have_text("waits for its turn")
    carry_out()
    accept = page.locator("[data-run]").get_by_role("button", name="Accept", exact=True)
    expect(accept).to_be_visible(timeout=10_000)
    before = desk.row.item.question.document["tracks"]
    assert page.locator(".box-proposal").count() == 1
    assert overflows(page) == []
    assert faults(page) == []
    accept.click()
    saved(page)
    run = ProposalRun.objects.get()
    track = Track.from_json(desk.document()["tracks"][DOG])
    found = desk.document()["tracks"][DOG]["keyframes"]
    assert [key for key in found.values() if key["run"] == str(run.public_id)]
    for frame in (195, 205, 215):
        box = box_at(track, frame)
        assert box is not None
        assert iou(box, demo_clip.dog_box(frame)) > 0.6
    assert page.locator(".box-proposal").count() == 0
    page.locator("body").press("Control+z")
    saved(page)
    assert desk.document()["tracks"] == before
    expect(page.locator(".box-proposal")).to_have_count(1)


def test_a_proposal_is_cancelled_and_rejected(desk: Desk) -> None:
    page = desk.open()
    ask(page)
    page.locator("[data-run]").get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-run] .chip")).to_have_text("cancelled")
    page.locator("[data-run]").get_by_role("button", name="Reject").click()
    expect(page.locator("[data-run] .chip")).to_have_text("rejected")
    page.locator("[data-proposals] select").first.select_option("sam3")
    assert page.locator("[data-proposals]").get_by_role("button", name="Propose", exact=True).is_disabled()


def test_the_gap_between_keyframes_is_filled_on_a_chosen_stretch(desk: Desk, screen: tuple[int, int]) -> None:
    page = desk.open()
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.locator(f"[data-row='{DOG}'] .track-name").click()
    go(page, 170)
    page.get_by_role("button", name="Propose boxes").click()
    page.locator(".ask select").nth(1).select_option("gap")
    expect(page.locator(".ask [role=status]")).to_have_text("dog: frames 150 to 190, from its boxes on both.")
    page.locator("[data-proposals]").get_by_role("button", name="Propose", exact=True).click()
    expect(page.locator("[data-run]")).to_have_count(1)
    carry_out()
    part = page.locator("[data-run]").get_by_role("button", name="Accept range")
    expect(part).to_be_disabled(timeout=10_000)
    # From frame 160 to frame 179, with the keys.
    go(page, 160)
    page.keyboard.press("[")
    go(page, 179)
    page.keyboard.press("]")
    expect(part).to_have_text("Accept range 160\N{EN DASH}179")
    assert overflows(page) == []
    assert faults(page) == []
    before = Track.from_json(desk.row.item.question.document["tracks"][DOG])
    part.click()
    saved(page)
    after = Track.from_json(desk.document()["tracks"][DOG])
    for frame in (150, 159, 180, 190):
        assert box_at(after, frame) == pytest.approx(box_at(before, frame)), frame
    for frame in (165, 170, 175):
        box = box_at(after, frame)
        assert box is not None
        assert iou(box, demo_clip.dog_box(frame)) > 0.6, frame
    assert after.visible == before.visible
    # The rest is still there to be accepted.
    expect(page.locator("[data-run]").get_by_role("button", name="Accept", exact=True)).to_be_visible()


def test_a_new_object_that_was_found_has_a_row_of_its_own(desk: Desk) -> None:
    # As a model that reads text would leave it behind; there is none on this machine.
    track = str(uuid.uuid4())
    run = ProposalRun.objects.create(
        video=desk.row.item.question.video,
        question=desk.row.item.question,
        asked_in=desk.row.public_id,
        proposer="sam3",
        prompt={
            "proposer": "sam3",
            "label": "child",
            "track": None,
            "frame": 100,
            "box": None,
            "box_end": None,
            "text": "child",
            "start": 100,
            "end": 141,
            "direction": "forward",
        },
        start=100,
        end=141,
        direction="forward",
        state="done",
        created_by=desk.row.member.user,
    )
    keyframes = {
        str(frame): {
            "box": [510.0, 140.0, 50.0, 105.0],
            "occluded": False,
            "source": "model",
            "run": str(run.public_id),
        }
        for frame in (100, 140)
    }
    run.result = {
        "tracks": [
            {
                "id": track,
                "label": "child",
                "color": None,
                "attributes": {},
                "source": "model",
                "run": str(run.public_id),
                "keyframes": keyframes,
                "visible": [[100, 141]],
                "external": {},
            }
        ],
        "flags": {"120": ["jump"], "121": ["jump"]},
    }
    run.save()
    page = desk.open()
    expect(page.locator(f"[data-proposed='{track}']")).to_be_visible()
    go(page, 120)
    expect(page.locator(".box-proposal")).to_have_text("child · proposed · jump")
    page.locator(f"[data-proposed='{track}'] button").click()
    expect(page.locator("[data-run]").get_by_role("button", name="Frames 120 to 121")).to_be_visible()
    assert overflows(page) == []
    assert faults(page) == []
    page.locator("[data-run]").get_by_role("button", name="Accept", exact=True).click()
    saved(page)
    assert desk.document()["tracks"][track]["keyframes"] == keyframes
    expect(page.locator(f"[data-row='{track}']")).to_be_visible()
    expect(page.locator(f"[data-proposed='{track}']")).to_have_count(0)


def test_the_answer_goes_out_as_a_file_and_comes_in(desk: Desk, tmp_path: Path) -> None:
    page = desk.open()
    page.locator(".more-menu summary").click()
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    page.locator("#export-format").select_option("cvat")
    expect(page.locator(".file-report")).to_be_visible()
    assert faults(page) == []
    page.locator("#export-format").select_option("native")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    path = tmp_path / "answer.json"
    waiting.value.save_as(path)
    json.loads(path.read_bytes())
    page.keyboard.press("Escape")

    page.locator(".more-menu summary").click()
    page.get_by_role("button", name="Import").click()
    page.locator("#import-file").set_input_files(path)
    expect(page.locator("#import-now")).to_be_enabled()
    assert faults(page) == []
    before = desk.row.item.question.document["tracks"]
    page.locator("#import-now").click()
    saved(page)
    expect(page.locator("[data-row]")).to_have_count(2 * len(before))
    page.locator("body").press("Control+z")
    saved(page)
    assert desk.document()["tracks"] == before

    page.locator("#final-answer").fill("Another answer.")
    page.locator("#final-answer").blur()
    page.locator(".more-menu summary").click()
    page.get_by_role("button", name="Versions").click()
    expect(page.locator("dialog .text-diff ins")).to_have_text(["Another", "answer"])
    assert faults(page) == []
