"""Studies of videos for the tests: plain ORM, like `factories`."""

import uuid
from typing import Any

from annotation.models import Assignment, Study, StudyItem, StudyMember
from tests.annotation import factories
from tests.videos import factories as videos
from videos.models import Video, VideoQuestion


def study(*, questions: int = 2, of: Video | None = None, **fields: Any) -> Study:
    """An open study with questions about one clip, and a published guideline."""
    clip = of or videos.video()
    number = next(factories.NUMBERS)
    made = Study.objects.create(
        name=fields.pop("name", f"Video study {number}"),
        slug=f"video-study-{number}",
        video_set=clip.video_set,
        stage=fields.pop("stage", Study.Stage.OPEN),
        overlap=fields.pop("overlap", 1),
        seed=fields.pop("seed", 1000 + number),
        **fields,
    )
    factories.guideline(made)
    for _ in range(questions):
        item(made, videos.question(clip))
    return made


def item(of: Study, question: VideoQuestion, **fields: Any) -> StudyItem:
    """A question as an item of the study."""
    number = StudyItem.objects.filter(study=of).count() + 1
    return StudyItem.objects.create(study=of, question=question, number=number, **fields)


def annotator(of: Study, **fields: Any) -> StudyMember:
    """A member with the role of an annotator."""
    return factories.member(of, factories.user("annotator"), **fields)


def work(**fields: Any) -> Assignment:
    """The first question of a new study, given to an annotator."""
    made = study(**fields)
    person = annotator(made)
    rows = [factories.assignment(row, person) for row in made.items.order_by("number")]
    return rows[0]


def work_with_boxes() -> Assignment:
    """A question with a dog on pictures 0 to 10, which moves by a pixel each, and a whistle."""
    row = work(questions=1)
    content, track = videos.generated(), videos.track()
    event = {
        "id": str(uuid.uuid4()), "label": "whistle", "start_us": 500_000, "end_us": 900_000, "note": "",
        "source": "human", "run": None,
    }  # fmt: skip
    content["tracks"], content["events"] = {track["id"]: track}, {event["id"]: event}
    VideoQuestion.objects.filter(pk=row.item.question_id).update(document=content)
    row.item.question.refresh_from_db()
    return row
