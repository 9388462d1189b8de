"""The demonstration's study of videos: one clip drawn by code, three questions with reasoning that needs refining."""

import uuid
from typing import Any

from annotation.models import Study, StudyItem, StudyMember
from annotation.services import guidelines, studies
from annotation.services.assignments import assignments_make
from annotation.services.items import questions_add
from annotation.services.members import member_add
from reasonaudit import demo_clip
from reasonaudit.accounts.models import User
from reasonaudit.lib import embedded
from reasonaudit.lib.models import RunState
from videos import tasks
from videos.models import MediaRun, VideoQuestion, VideoSet
from videos.services import preparation, question_imports, sets, uploads

FILE = embedded.ROOT / "fixtures" / "demo" / "video_questions.json"
SET = "Clips (demo)"
CLIP = "Dog, ball and whistle (demo)"
# Pictures at which the "model" boxed the dog: too few, so that the boxes between them are off, and not to the end.
MODEL_FRAMES = (100, 150, 190, 215)
MODEL_RUN = "demonstration"


def load(*, lead: User, annotator: User) -> Study:
    """Make set, clip, questions and study where they are missing."""
    video_set = VideoSet.objects.filter(name=SET).first() or _video_set(lead)
    study = studies.study_create(
        video_set=video_set,
        name="Refine video questions (demo)",
        by=lead,
        description="Invented questions about a clip that was drawn by code.",
        overlap=1,
    )
    guidelines.guideline_publish(study=study, by=lead)
    member_add(study=study, user=annotator, part=StudyMember.Part.PHYSICIAN, by=lead)
    questions = list(VideoQuestion.objects.filter(video_set=video_set).order_by("number"))
    questions_add(study=study, questions=questions, kind=StudyItem.Kind.MAIN, by=lead)
    assignments_make(study, lead)
    studies.study_open(study=study, by=lead)
    return study


def prepare_clip() -> None:
    """Prepare the clip now if no worker did; the job that waits for it then finds nothing left to do."""
    run = MediaRun.objects.filter(
        video__video_set__name=SET, kind=MediaRun.Kind.PREPARE, state=RunState.QUEUED
    ).first()
    if run is not None:
        preparation.prepare(run.pk)


def _video_set(lead: User) -> VideoSet:
    video_set = sets.set_create(
        name=SET,
        by=lead,
        description="A clip drawn and sounded by code for this demonstration.",
        licence="MIT, with the program",
    )
    path = embedded.var_dir() / "demo-clip.mp4"
    demo_clip.draw(path)
    try:
        tasks.take_in(
            video_set=video_set,
            pieces=uploads.pieces_of(path),
            file_name="dog-ball-whistle.mp4",
            by=lead,
            title=CLIP,
        )
    finally:
        path.unlink(missing_ok=True)
    found = question_imports.preview(video_set=video_set, data=FILE.read_bytes())
    for question in question_imports.commit(video_set=video_set, found=found, by=lead):
        if question.target_label == "dog":
            question.document = {**question.document, "tracks": _dog()}
            question.save(update_fields=["document"])
    return video_set


def _dog() -> dict[str, Any]:
    """Boxes of the dog as a careless model would give them."""
    track = str(uuid.UUID(int=20261130, version=4))
    keyframes = {
        str(frame): {
            "box": [round(value, 2) for value in demo_clip.dog_box(frame)],
            "occluded": False,
            "source": "model",
            "run": MODEL_RUN,
        }
        for frame in MODEL_FRAMES
    }
    return {
        track: {
            "id": track,
            "label": "dog",
            "color": None,
            "attributes": {},
            "source": "model",
            "run": MODEL_RUN,
            "keyframes": keyframes,
            "visible": [[MODEL_FRAMES[0], MODEL_FRAMES[-1] + 1]],
            "external": {},
        }
    }
