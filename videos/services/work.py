"""Carrying out long work on a video: one way to take it up, watch over it and leave it, for each kind of work."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.models import RunState
from reasonaudit.lib.runs import LeaseLost, lease_name
from videos.media.errors import MediaCancelled, MediaFailed, MediaRefused
from videos.models import MediaRun, Video
from videos.services import runs
from videos.services.runs import Heartbeat, Lease
from videos.services.sets import stream_of

logger = logging.getLogger(__name__)
StopAsked = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Task:
    """What the body of a piece of work is given: its video, and how to tell and ask while it goes on.

    `step(done, total)` tells how far it is; `is_cancelled` is true once the work should end, because the worker is
    told to stop or another one has the run.
    """

    video: Video
    step: Callable[[int, int], None]
    is_cancelled: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the work: values for fields of the video, written in one go with the end of the run."""

    fields: dict[str, Any] = field(default_factory=dict)


def never() -> bool:
    """Do not stop before the end."""
    return False


def execute(run_id: int, body: Callable[[Task], Outcome], should_stop: StopAsked = never) -> str | None:
    """Take a run up, let `body` do it, write what came of it.

    Returns the state the run is left in; None when another worker has it or nothing is to be done. A file that is at
    fault (`MediaRefused`) makes the video refused, anything else failed; both may be tried again.
    """
    lease = runs.claim(run_id, lease_name())
    if lease is None:
        return None
    run = MediaRun.objects.select_related("video__video_set").get(pk=run_id)
    prepares = run.kind == MediaRun.Kind.PREPARE
    if prepares:
        Video.objects.filter(pk=run.video_id).update(state=Video.State.PREPARING, message="")
    try:
        with Heartbeat(lease) as heart:
            task = Task(run.video, heart.progress, lambda: heart.lost.is_set() or should_stop())
            outcome = body(task)
        total = heart.total
        runs.finish(lease, RunState.DONE, change=lambda row: _write(row, outcome.fields, total))
        return str(RunState.DONE)
    except LeaseLost:
        logger.warning("%s was taken over by another worker; this one leaves it.", run)
        return None
    except MediaCancelled:
        return _give_back(lease, run)
    except MediaRefused as error:
        return _end(lease, run, Video.State.REFUSED, str(error))
    except MediaFailed as error:
        return _end(lease, run, Video.State.FAILED if prepares else "", str(error))
    except Exception as error:
        logger.exception("%s failed", run)
        return _end(lease, run, Video.State.FAILED if prepares else "", fault(error))


def fault(error: Exception) -> str:
    """What is said of work that nobody expected to fail like this."""
    return (
        f"The work stopped by a fault of the program ({type(error).__name__}). "
        "The worker's log says more; it may be tried again."
    )


def _write(row: MediaRun, fields: dict[str, Any], total: int) -> None:
    row.total = row.done = max(total, row.total)
    if fields:
        Video.objects.filter(pk=row.video_id).update(**fields, updated_at=timezone.now())


def _give_back(lease: Lease, run: MediaRun) -> str | None:
    try:
        runs.finish(lease, RunState.QUEUED, "The worker was stopped; another one will go on.")
    except LeaseLost:
        logger.warning("%s was taken over by another worker; this one leaves it.", run)
        return None
    return str(RunState.QUEUED)


def _end(lease: Lease, run: MediaRun, state: str, message: str) -> str | None:
    """End a run that gave nothing; `state` is the video's from now on, "" where it stays as it is."""

    def change(row: MediaRun) -> None:
        if not state:
            return
        Video.objects.filter(pk=row.video_id).update(state=state, message=message, updated_at=timezone.now())
        record_event(
            stream=stream_of(run.video.video_set),
            actor=None,
            action="video.refuse" if state == Video.State.REFUSED else "video.fail",
            subject_type="video",
            subject_id=run.video.public_id,
            to_state=state,
            reason=message,
        )

    try:
        runs.finish(lease, RunState.FAILED, message, change)
    except LeaseLost:
        logger.warning("%s failed here, but another worker has it.", run)
        return None
    return str(RunState.FAILED)
