"""Every page of videos and of a study of them, with long names and texts, at both window sizes.

axe finds nothing, and nothing is wider than its place.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from annotation.models import Assignment, Study, StudyItem
from annotation.services.submissions import assignment_submit
from reasonaudit import demo_clip, demo_video
from reasonaudit.accounts.models import User
from tests.annotation import factories, video_factories
from tests.browser.conftest import PASSWORD, SIZES, faults, overflows
from tests.browser.steps import READY, give_session
from tests.browser.videos import bring_in
from tests.videos import factories as videos
from videos.models import MediaRun, Video, VideoSet
from videos.services import runs

LONG = "A very long title of a clip that somebody took over from a page of the web, with everything that stood there "
UNBROKEN = "clip_" + "0123456789abcdef" * 6
ASKED = (
    "Why does the dog run to the bench, and what is heard before it, when nobody in the picture says a word? "
    * 3
)


@dataclass
class Scene:
    """What the pages are about; `people` by the part they have."""

    video_set: VideoSet
    empty: VideoSet
    clip: Video
    others: dict[str, Video]
    study: Study
    draft: Study
    item: StudyItem
    work: list[Assignment]
    people: dict[str, User]


@pytest.fixture
def scene(transactional_db: None, tmp_path: Path) -> Scene:
    path = tmp_path / f"{UNBROKEN}.mp4"
    demo_clip.draw(path)
    video_set = videos.video_set(
        "Street scenes of several cities, taken in summer and in winter, first collection"
    )
    VideoSet.objects.filter(pk=video_set.pk).update(
        licence="CC BY-SA 4.0",
        attribution="Everybody who took part, " * 8,
        description="What is in it. " * 30,
    )
    clip = bring_in(path, video_set)
    Video.objects.filter(pk=clip.pk).update(title=LONG.strip())
    clip.refresh_from_db()
    others = {
        state: videos.video(video_set, title=f"{UNBROKEN}_{state}", state=state, message=message)
        for state, message in (
            ("waiting", ""),
            ("preparing", ""),
            (
                "refused",
                "The file ends in the middle of a picture. Copy it again from where it came from. " * 2,
            ),
        )
    }
    run, _ = runs.create(video=others["preparing"], kind=MediaRun.Kind.PREPARE, by=None)
    MediaRun.objects.filter(pk=run.pk).update(state="running", done=40, total=100)
    content = videos.generated()
    content["tracks"] = demo_video._dog()
    content["cot"]["visual"] |= {"description": ASKED * 2, "analysis": UNBROKEN}
    study = video_factories.study(questions=0, of=clip, overlap=2, name="A study with a long name " * 6)
    items = [
        video_factories.item(
            study,
            videos.question(
                clip, document=content, text=text, answer=ASKED, category="Information Query",
                options=options, difficulty="hard", external_id=f"{UNBROKEN}-{number}",
            ),
        )
        for number, (text, options) in enumerate(((ASKED, None), ("Who whistles?", [ASKED, "The child", UNBROKEN])))
    ]  # fmt: skip
    annotators = [video_factories.annotator(study) for _ in range(2)]
    work = [factories.assignment(item, person) for person in annotators for item in items]
    for row in work[::2]:
        assignment_submit(assignment=row, by=row.member.user, base_version=row.version)
    lead = User.objects.create_user("rona", password=PASSWORD, role="researcher")
    factories.member(study, lead, part="lead")
    judge = factories.member(study, part="adjudicator")
    draft = video_factories.study(questions=0, of=clip, stage=Study.Stage.DRAFT)
    factories.member(draft, lead, part="lead")
    people = {"lead": lead, "annotator": work[0].member.user, "adjudicator": judge.user}
    return Scene(video_set, videos.video_set("Empty"), clip, others, study, draft, items[0], work, people)


def of_videos(scene: Scene) -> Iterator[tuple[str, str]]:
    """Pages of a researcher about sets, clips and questions: name, address."""
    slug, empty = scene.video_set.slug, scene.empty.slug
    yield "set-list", reverse("videos:set_list")
    yield "set-new", reverse("videos:set_create")
    for name in ("set_detail", "set_change", "set_upload", "questions_import"):
        yield name, reverse(f"videos:{name}", args=[slug])
    yield "set-questions", reverse("videos:set_detail", args=[slug]) + "?tab=questions"
    yield "set-empty", reverse("videos:set_detail", args=[empty])
    yield "set-empty-questions", reverse("videos:set_detail", args=[empty]) + "?tab=questions"
    for name in ("video_detail", "video_change", "video_remove"):
        yield name, reverse(f"videos:{name}", args=[scene.clip.public_id])
    for state, video in scene.others.items():
        yield f"video-{state}", reverse("videos:video_detail", args=[video.public_id])
    yield "video-remove-free", reverse("videos:video_remove", args=[scene.others["refused"].public_id])
    yield "question", reverse("videos:question_detail", args=[scene.item.question.public_id])


def of_the_study(scene: Scene) -> Iterator[tuple[str, str]]:
    """Pages of its lead."""
    slug = scene.study.slug
    yield "study-list", reverse("annotation:study_list")
    yield "study-new", reverse("annotation:study_create") + f"?video_set={scene.video_set.slug}"
    names = ("detail", "items", "items_add", "members", "assignments", "events", "settings")
    for name in names:
        yield f"study-{name}", reverse(f"annotation:study_{name}", args=[slug])
    yield "study-guideline", reverse("annotation:guideline_edit", args=[slug])
    yield "study-export", reverse("auditing:study_export", args=[slug])
    yield "study-item", reverse("annotation:study_item", args=[scene.item.public_id])
    for name, row in (("handed-in", scene.work[0]), ("open", scene.work[1])):
        yield f"work-{name}", reverse("annotation:assignment_manage", args=[row.public_id])
    for name in ("detail", "items", "items_add", "members", "assignments"):
        yield f"draft-{name}", reverse(f"annotation:study_{name}", args=[scene.draft.slug])
    yield "draft-export", reverse("auditing:study_export", args=[scene.draft.slug])


def of_an_annotator(scene: Scene) -> Iterator[tuple[str, str]]:
    yield "my-work", reverse("annotation:work")
    yield "guideline", reverse("annotation:guideline", args=[scene.study.slug])
    yield "workspace", reverse("annotation:workspace", args=[scene.work[1].public_id])
    yield "workspace-done", reverse("annotation:workspace", args=[scene.work[0].public_id])


def of_the_adjudicator(scene: Scene) -> Iterator[tuple[str, str]]:
    yield "queue", reverse("annotation:adjudication", args=[scene.study.slug])
    yield "adjudication", reverse("annotation:video_adjudication", args=[scene.item.public_id])


def previews(page: Page, scene: Scene, base: str, folder: Path) -> Iterator[str]:
    """The preview of a good file of questions and of one with many mistakes: they have no address of their own."""
    good = {"id": "one", "video": scene.clip.title, "question": ASKED, "answer": ASKED}
    wrong = [{"id": UNBROKEN, "video": UNBROKEN * 2, "question": ""} for _ in range(30)]
    for name, items in (("preview", [good]), ("preview-problems", wrong)):
        path = folder / f"{UNBROKEN}.json"
        path.write_text(json.dumps(items), "utf-8")
        page.goto(base + reverse("videos:questions_import", args=[scene.video_set.slug]))
        page.get_by_label("File", exact=True).set_input_files(path)
        page.get_by_role("button", name="Read and preview").click()
        page.wait_for_url("**/import/*-*/")
        yield name


def wrong_with(page: Page, name: str) -> list[str]:
    """What is wrong with the page that is open: what does not fit at either size, and what axe finds at the smaller."""
    found = overflows(page)
    page.set_viewport_size({"width": SIZES[-1][0], "height": SIZES[-1][1]})
    return [f"{name}: {line}" for line in (*found, *faults(page))]


PAGES: dict[str, tuple[str, Callable[[Scene], Iterator[tuple[str, str]]]]] = {
    "videos": ("lead", of_videos),
    "study": ("lead", of_the_study),
    "annotator": ("annotator", of_an_annotator),
    "adjudicator": ("adjudicator", of_the_adjudicator),
}


@pytest.mark.parametrize("which", PAGES)
def test_pages_of_videos_fit_and_axe_finds_nothing(
    page: Page, live_server: Any, scene: Scene, which: str, tmp_path: Path, expected_faults: list[str]
) -> None:
    # Clips that have no file behind them have no picture either.
    expected_faults.append("404 (Not Found)")
    base = str(live_server)
    who, pages = PAGES[which]
    give_session(page, base, scene.people[who])
    found: list[str] = []
    for name, address in pages(scene):
        answer = page.goto(base + address, timeout=30_000)
        assert answer is not None
        assert answer.status == 200, name
        if page.locator("[data-island='video-refine']").count():
            page.wait_for_selector(READY, timeout=30_000)
            page.wait_for_selector("[data-receipt][data-exact='true']:not(.is-off)", timeout=30_000)
        found += wrong_with(page, name)
    if which == "videos":
        for name in previews(page, scene, base, tmp_path):
            found += wrong_with(page, name)
    assert not found, "\n".join(found)
