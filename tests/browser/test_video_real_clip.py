"""The whole refinement of a question about a real clip, with mouse and keys; then out to two programs and in again.

The clip (an animated rabbit that yawns, with sound; 132 pictures of 1280 x 720, 25 a second) is no part of the project:
without ../shared this test skips.
"""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Submission
from tests.annotation import factories, video_factories
from tests.browser.steps import in_a_thread, log_in
from tests.browser.videos import Desk, bring_in, drag, go, saved
from tests.browser.videos import on_picture as on_picture_of
from tests.videos import factories as videos
from videos.core.geometry import Box, iou
from videos.core.tracks import Track, box_at
from videos.models import ProposalRun
from videos.services import proposals

WIDTH, HEIGHT, RATE, PICTURES = 1280, 720, 25, 132
# What a person drew on the picture at 3.2 s, roughly: the rabbit.
SEED: Box = (150.0, 72.0, 470.0, 555.0)
FIRST = 80
YAWN = (69, 105)

on_picture = partial(on_picture_of, size=(WIDTH, HEIGHT))


@pytest.fixture
def desks(context: BrowserContext, live_server: object, shared_data: Path) -> tuple[Desk, Desk]:
    """Two questions about the clip, both given to the annotator who is logged in."""
    path = shared_data / "media" / "real" / "bunny_5_1.mp4"
    if not path.is_file():
        pytest.skip(f"no {path.name} under ../shared")
    clip = bring_in(path, videos.video_set())
    assert (clip.picture_count, clip.facts["has_audio"]) == (PICTURES, True)
    study = video_factories.study(questions=0, of=clip)
    person = video_factories.annotator(study)
    made = []
    for text in ("What does the rabbit do when it is loudest?", "Where is the rabbit at the end?"):
        content = videos.generated()
        content["target_label"] = "rabbit"
        question = videos.question(clip, document=content, text=text, target_label="rabbit")
        row = factories.assignment(video_factories.item(study, question), person)
        made.append(Desk(row, f"{live_server}/my-cases/{row.public_id}/", context))
    context.set_default_timeout(15_000)
    page = context.new_page()
    log_in(page, str(live_server), person.user.username, factories.PASSWORD, timeout=60_000)
    page.close()
    return made[0], made[1]


def on_sound(page: Page, frame: int) -> tuple[float, float]:
    """Where the beginning of a picture lies on the outline of the sound, the timelines showing the whole clip."""
    lane = page.locator(".lane.wave").bounding_box()
    assert lane is not None
    length = page.evaluate("() => document.querySelector('[data-stage] video').duration")
    return lane["x"] + lane["width"] * frame / RATE / length, lane["y"] + lane["height"] / 2


def only_of(document: dict[str, Any]) -> Track:
    (track,) = document["tracks"].values()
    return Track.from_json(track)


def only_track(desk: Desk) -> Track:
    return only_of(desk.document())


def shown(track: Track) -> set[int]:
    return {frame for start, end in track.visible for frame in range(start, end)}


def box(track: Track, frame: int) -> Box:
    found = box_at(track, frame)
    assert found is not None, frame
    return found


def draw_and_propose(page: Page, desk: Desk) -> None:
    """The rabbit's box drawn at one picture, followed by the tracker for the second that a new box lives."""
    go(page, FIRST)
    page.keyboard.press("n")
    x, y, w, h = SEED
    drag(page, on_picture(page, x, y), on_picture(page, x + w, y + h))
    saved(page)
    # A pixel of the window is two of the clip or so.
    assert box(only_track(desk), FIRST) == pytest.approx(SEED, abs=3)
    page.keyboard.press("w")
    page.locator("[data-proposals] input[type=number]").fill(str(RATE - 1))
    page.locator("[data-proposals]").get_by_role("button", name="Propose", exact=True).click()
    expect(page.locator("[data-run]")).to_have_count(1)
    (run,) = ProposalRun.objects.all()
    in_a_thread(lambda: proposals.execute(run.pk))
    page.locator("[data-run]").get_by_role("button", name="Accept", exact=True).click(timeout=20_000)
    saved(page)
    track = only_track(desk)
    assert shown(track) == set(range(FIRST, FIRST + RATE))
    assert str(run.public_id) in {key.run for key in track.keyframes if key.frame > FIRST}
    assert iou(box(track, FIRST + 10), SEED) > 0.5
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close the proposals").click()


def correct_and_interpolate(page: Page, desk: Desk) -> None:
    """Two boxes by hand; what lies between them follows, and one of those is kept."""
    page.locator(".track-name").click()
    last = FIRST + RATE - 1
    go(page, last)
    page.keyboard.press("p")
    saved(page)
    assert max(shown(only_track(desk))) == PICTURES - 1
    later = last + 20
    go(page, later)
    x, y, w, h = box(only_track(desk), later)
    middle = on_picture(page, x + w / 2, y + h / 2)
    page.mouse.click(*middle)
    drag(page, middle, on_picture(page, x + w / 2 - 40, y + h / 2))
    saved(page)
    track = only_track(desk)
    moved = box(track, later)
    assert moved[0] == pytest.approx(x - 40, abs=3)
    assert next(key for key in track.keyframes if key.frame == later).source == "human"
    # From the keyframe before it at constant speed.
    half = last + 10
    before = max(key.frame for key in track.keyframes if key.frame < later)
    assert before <= last
    between = box(track, half)
    start = box(track, before)[0]
    assert between[0] == pytest.approx(
        start + (moved[0] - start) * (half - before) / (later - before), abs=0.01
    )
    go(page, half)
    page.locator("body").press("Enter")
    saved(page)
    pinned = only_track(desk)
    assert half in {key.frame for key in pinned.keyframes}
    assert box(pinned, half) == pytest.approx(between, abs=0.01)


def mark_the_sound(page: Page, desk: Desk) -> None:
    """A stretch dragged on the outline of the sound, kept as a sound, and named."""
    drag(page, on_sound(page, YAWN[0]), on_sound(page, YAWN[1]))
    page.locator("body").press("Enter")
    saved(page)
    name = page.get_by_label("Name of the sound")
    name.fill("yawn")
    name.press("Enter")
    saved(page)
    (event,) = desk.document()["events"].values()
    # To within two pictures: a pixel of the lane is 4 ms.
    for edge, frame in zip(("start_us", "end_us"), YAWN, strict=True):
        assert event[edge] == pytest.approx(frame * 1_000_000 / RATE, abs=80_000)
    assert (event["label"], event["source"]) == ("yawn", "human")


def reason(page: Page, desk: Desk) -> None:
    """Texts, times and what they rest on."""
    visual, audio = page.locator("[data-step=visual]"), page.locator("[data-step=audio]")
    visual.get_by_label("Visual cue: description").fill("The rabbit stretches and opens its mouth.")
    visual.get_by_label("Analysis").fill("Nothing else moves.")
    visual.get_by_label("End of the visual cue").fill("00:04.20")
    visual.get_by_label("End of the visual cue").press("Enter")
    visual.get_by_label("Start of the visual cue").fill("00:03.20")
    visual.get_by_label("Start of the visual cue").press("Enter")
    # What was typed is shown.
    expect(page.locator("[data-receipt]")).to_have_attribute("data-frame", str(FIRST))
    visual.get_by_text("Link evidence").click()
    visual.locator(".link-menu").get_by_role("button", name="rabbit").click()
    audio.get_by_label("Audio cue: description").fill("A falling tone.")
    # The time of the sound, by the sound.
    page.locator("[data-span^='event:'] .span-body").click()
    audio.get_by_label("Set to the selection").click()
    audio.get_by_text("Link evidence").click()
    audio.locator(".link-menu").get_by_role("button", name="yawn").click()
    page.locator("#final-answer").fill("It yawns.")
    page.locator("#final-answer").blur()
    saved(page)
    document = desk.document()
    cot, (event,) = document["cot"], document["events"].values()
    assert cot["visual"]["timeframe"]["intervals"] == [[3_200_000, 4_200_000]]
    assert cot["audio"]["timeframe"]["intervals"] == [[event["start_us"], event["end_us"]]]
    assert cot["visual"]["analysis"] == "Nothing else moves."
    links = {(link["step"], link["kind"], link["target"]) for link in document["links"].values()}
    assert links == {("visual", "track", only_track(desk).id), ("audio", "event", event["id"])}


def menu(page: Page, name: str) -> None:
    page.locator(".more-menu summary").click()
    page.locator(".more-menu").get_by_role("button", name=name).click()


def export(page: Page, name: str, to: Path) -> str:
    """Save the answer in a format; what the dialog says of it."""
    menu(page, "Export")
    with page.expect_response(lambda answer: f"/{name}/" in answer.url and "report=1" in answer.url):
        page.locator("#export-format").select_option(name)
    link = page.get_by_role("link", name="Download")
    expect(link).to_have_attribute("href", re.compile(f"/{name}/"))
    report = page.locator(".file-report")
    expect(report).to_be_visible()
    words = report.inner_text()
    with page.expect_download() as waiting:
        link.click()
    waiting.value.save_as(to)
    page.keyboard.press("Escape")
    return words


def bring_back(page: Page, desk: Desk, path: Path) -> dict[str, Any]:
    """Take the file in, texts and all, and undo it; the document as it was in between."""
    given = desk.row.item.question.document
    menu(page, "Import")
    page.locator("#import-file").set_input_files(path)
    expect(page.locator("#import-now")).to_be_enabled()
    texts = page.get_by_label("Replace the texts")
    if texts.count():
        texts.check()
    page.locator("#import-now").click()
    saved(page)
    found = desk.document()
    page.locator("body").press("Control+z")
    saved(page)
    after = desk.document()
    assert {name: after[name] for name in given} == given
    return found


def test_a_real_clip_from_the_first_box_to_two_other_programs_and_back(
    desks: tuple[Desk, Desk], tmp_path: Path
) -> None:
    desk, other = desks
    page = desk.open()
    draw_and_propose(page, desk)
    correct_and_interpolate(page, desk)
    mark_the_sound(page, desk)
    reason(page, desk)
    page.locator("#submit-question").click()
    page.locator("#submit-now").click()
    expect(page.locator("#submit-question")).to_be_hidden(timeout=10_000)
    (entry,) = Submission.objects.get().labels
    document = desk.document()
    assert entry["content"] == document
    mine = only_track(desk)

    # Out, from what was handed in, and the dialog says what stays behind.
    vidat, cvat = tmp_path / "answer.json", tmp_path / "answer.xml"
    words = export(page, "vidat", vidat)
    assert f"{len(shown(mine))} boxes" in words
    assert "2 links between reasoning and evidence." in words
    assert "keyframes are not marked: VidAT stores dense boxes." in words
    words = export(page, "cvat", cvat)
    assert f"{len(mine.keyframes)} keyframes" in words
    assert "1 events: the format holds boxes only." in words
    assert "2 cue timeframes: the format has no reasoning." in words
    assert "2 links between reasoning and evidence." in words
    page.close()
    stored = json.loads(vidat.read_bytes())["annotation"]
    assert set(map(int, stored["objectAnnotationListMap"])) == shown(mine)
    (element,) = ElementTree.parse(cvat).getroot().iter("track")
    written = {int(one.get("frame", "")) for one in element.iter("box") if one.get("outside") == "0"}
    assert written == {key.frame for key in mine.keyframes}

    # In again, into the other question, each by itself.
    page = other.open()
    back = bring_back(page, other, vidat)
    assert_same_boxes(only_of(back), mine)
    assert texts_of(back) == texts_of(document)
    (event,), (sound,) = back["events"].values(), document["events"].values()
    assert (event["label"], event["source"]) == ("yawn", "import")
    assert [event["start_us"], event["end_us"]] == pytest.approx([sound["start_us"], sound["end_us"]], abs=1)
    back = bring_back(page, other, cvat)
    assert_same_boxes(only_of(back), mine)
    assert back["events"] == {}


def assert_same_boxes(found: Track, mine: Track) -> None:
    """The same pictures, and on one that a model found and one between two by hand the same box (two decimals)."""
    assert shown(found) == shown(mine)
    assert found.label == mine.label
    for frame in (FIRST + 10, FIRST + RATE + 9):
        assert box(found, frame) == pytest.approx(box(mine, frame), abs=0.02), frame


def texts_of(document: dict[str, Any]) -> list[Any]:
    cot = document["cot"]
    cues = [(cot[step]["description"], cot[step]["analysis"]) for step in ("visual", "audio")]
    return [*cues, [cot[step]["timeframe"]["intervals"] for step in ("visual", "audio")], cot["final_answer"]]
