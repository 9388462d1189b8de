"""Questions about videos that could go into a study."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.models import Study, StudyItem
from videos.models import Video, VideoQuestion

NOT_SAID = "Not said"
# More clips than this are found by search rather than by a list to tick.
MOST_CLIPS = 40


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """Filters of the page that puts questions into a study. `videos` are public ids of clips."""

    videos: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    search: str = ""

    @property
    def active(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.videos or self.difficulties or self.categories or self.search)


def free_questions(study: Study, choice: QuestionChoice) -> QuerySet[VideoQuestion, Any]:
    """Questions of the study's set of videos that are not in it, by clip and number, with their clip."""
    rows = _free(study)
    if choice.videos:
        rows = rows.filter(video__public_id__in=choice.videos)
    if choice.difficulties:
        rows = rows.filter(difficulty__in=choice.difficulties)
    if choice.categories:
        rows = rows.filter(category__in=choice.categories)
    if choice.search:
        found = Q(text__icontains=choice.search) | Q(video__title__icontains=choice.search)
        rows = rows.filter(found | Q(external_id__icontains=choice.search))
    return (
        rows.select_related("video")
        .defer("document", "meta", "video__picture_index", "video__facts")
        .order_by("video__title", "video_id", "number")
    )


def question_facets(study: Study) -> dict[str, list[tuple[str, str, int]]]:
    """What the filters offer, with the numbers of questions that are not in the study; three queries."""
    free = _free(study).order_by()
    clips = free.values_list("video__public_id", "video__title").annotate(n=Count("pk"))
    found = {
        "clip": [
            (str(pk), title, n) for pk, title, n in clips.order_by("video__title", "video")[: MOST_CLIPS + 1]
        ]
    }
    if len(found["clip"]) > MOST_CLIPS:
        found["clip"] = []
    for name in ("difficulty", "category"):
        rows = free.order_by(name).values_list(name).annotate(n=Count("pk"))
        found[name] = [(value, value[:1].upper() + value[1:] or NOT_SAID, n) for value, n in rows]
    return found


def clips_to_make_playable(questions: Iterable[int]) -> list[Video]:
    """Prepared clips of these questions (primary keys) that need a playback file and have none."""
    rows = Video.objects.filter(questions__in=list(questions), state=Video.State.READY, proxy={})
    return list(rows.exclude(needs_proxy="").defer("picture_index").order_by("pk").distinct())


def clips_not_ready(questions: Iterable[int]) -> int:
    """How many clips of these questions are not prepared."""
    rows = Video.objects.filter(questions__in=list(questions)).exclude(state=Video.State.READY)
    return rows.distinct().count()


def _free(study: Study) -> QuerySet[VideoQuestion, Any]:
    there = StudyItem.objects.filter(study=study, question__isnull=False).values("question")
    return VideoQuestion.objects.filter(video_set=study.video_set_id).exclude(pk__in=there)
