"""Videos of a set, how far each is, and what is said of one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from reasonaudit.lib.models import ACTIVE_STATES, RunState
from videos.models import MediaRun, Video, VideoQuestion, VideoSet


@dataclass(frozen=True, slots=True)
class VideoRow:
    """A video in a list, with the work that goes on for it."""

    video: Video
    run: MediaRun | None

    @property
    def percent(self) -> int | None:
        """How far its preparation is (0 to 100), None where nobody has begun."""
        if self.run is None or self.run.state != RunState.RUNNING or not self.run.total:
            return None
        return min(100, 100 * self.run.done // self.run.total)


def videos_of(video_set: VideoSet) -> QuerySet[Video]:
    """Videos of a set in the order of their titles, with `question_count`; without their picture index."""
    return (
        Video.objects.filter(video_set=video_set)
        .defer("picture_index")
        .annotate(question_count=Count("questions"))
        .order_by("title", "pk")
    )


def rows_of(videos: list[Video]) -> list[VideoRow]:
    """The videos, each with its newest preparation."""
    runs: dict[int, MediaRun] = {}
    found = MediaRun.objects.filter(video__in=videos, kind=MediaRun.Kind.PREPARE).order_by("pk")
    for run in found.defer("log", "manifest"):
        runs[run.video_id] = run
    return [VideoRow(video, runs.get(video.pk)) for video in videos]


def waiting_count(video_set: VideoSet) -> int:
    """How many videos of a set are still to be prepared."""
    return video_set.videos.filter(state__in=[Video.State.UPLOADED, Video.State.PREPARING]).count()


def newest_run(video: Video, kind: str) -> MediaRun | None:
    """The last piece of work of a kind on a video."""
    return video.runs.filter(kind=kind).order_by("-pk").first()


def run_state(run: MediaRun | None) -> dict[str, Any] | None:
    """State of a piece of work for pages and API, None where there is none."""
    if run is None:
        return None
    return {
        "state": run.state,
        "done": run.done,
        "total": run.total,
        "message": run.message,
        "sequence": run.sequence,
    }


def playback(video: Video) -> dict[str, Any]:
    """How the video is played: `state` is one of the words below.

    `original`
        The file itself plays exactly.
    `ready`
        A playback file was made, of `width` by `height` pixels.
    `waiting`, `making`
        It was asked for; `done` of `total` pictures are written.
    `failed`
        It could not be made; `message` says why.
    `none`
        It is needed and nobody has asked for it yet.
    `unavailable`
        The video is not ready.
    """
    about: dict[str, Any] = {"reason": video.needs_proxy}
    if not video.is_ready:
        return {"state": "unavailable", **about}
    if video.proxy:
        return {
            "state": "ready",
            "width": video.proxy.get("width"),
            "height": video.proxy.get("height"),
            "bytes": video.proxy.get("bytes"),
            **about,
        }
    run = newest_run(video, MediaRun.Kind.PROXY)
    if run is not None and run.state in ACTIVE_STATES:
        state = "waiting" if run.state == RunState.QUEUED else "making"
        return {"state": state, "done": run.done, "total": run.total, **about}
    if run is not None and run.state == RunState.FAILED:
        return {"state": "failed", "message": run.message, **about}
    return {"state": "none" if video.needs_proxy else "original", **about}


def questions_of(video_set: VideoSet) -> QuerySet[VideoQuestion]:
    """Questions of a set by video and number, with their video (without its picture index)."""
    return (
        VideoQuestion.objects.filter(video_set=video_set)
        .select_related("video")
        .defer("video__picture_index", "video__facts")
        .order_by("video__title", "video_id", "number")
    )
