"""Background jobs of videos: thin wrappers that put the services on the queue, with only a run's id in them."""

import time
import uuid
from collections.abc import Iterable
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from procrastinate import JobContext
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.jobs import Status

from reasonaudit.lib.runs import abandoned
from videos.models import MediaRun, ProposalRun, Video, VideoSet
from videos.services import files, preparation, proposals, runs, server_folder, transcripts, uploads, videos

QUEUE = "videos"
WAITING = (Status.TODO.value, Status.DOING.value)


def lock_of(run_id: int) -> str:
    """Return the queue's lock of a run: two jobs with one lock never run at once.

    All runs share a few locks, so that long films leave the workers room for audits (`MEDIA_JOBS_AT_ONCE`).
    """
    return f"media-{run_id % settings.MEDIA_JOBS_AT_ONCE}"


def lock_of_proposal(run_id: int) -> str:
    """Return the lock of a run that proposes boxes, apart from those of films: somebody waits for it."""
    return f"proposal-{run_id % settings.PROPOSAL_JOBS_AT_ONCE}"


@app.task(name="videos.prepare", queue=QUEUE, pass_context=True)
def prepare_video(context: JobContext, *, run_id: int) -> str | None:
    """Prepare a video."""
    return preparation.prepare(run_id, should_stop=context.should_abort)


@app.task(name="videos.proxy", queue=QUEUE, pass_context=True)
def make_proxy(context: JobContext, *, run_id: int) -> str | None:
    """Make a playback file."""
    return preparation.make_proxy(run_id, should_stop=context.should_abort)


@app.task(name="videos.propose", queue=QUEUE, pass_context=True)
def propose_boxes(context: JobContext, *, run_id: int) -> str | None:
    """Propose boxes."""
    return proposals.execute(run_id, should_stop=context.should_abort)


@app.task(name="videos.transcribe", queue=QUEUE, pass_context=True)
def make_transcript(context: JobContext, *, run_id: int) -> str | None:
    """Make a transcript."""
    return transcripts.execute(run_id, should_stop=context.should_abort)


KINDS: dict[str, Any] = {
    MediaRun.Kind.PREPARE: prepare_video,
    MediaRun.Kind.PROXY: make_proxy,
    MediaRun.Kind.SPEECH: make_transcript,
}


@app.periodic(cron="* * * * *")
@app.task(name="videos.reap", queue=QUEUE, queueing_lock="video-reaper", pass_context=True)
async def reap_periodically(context: JobContext, timestamp: int) -> None:
    """Look after runs that no worker holds every minute."""
    await reap()


@app.periodic(cron="17 3 * * *")
@app.task(name="videos.tidy", queue=QUEUE, queueing_lock="video-tidy", pass_context=True)
def tidy_periodically(context: JobContext, timestamp: int) -> int:
    """Remove once a day what nobody will come back for."""
    return tidy()


def enqueue_run(run: MediaRun) -> None:
    """Make the job of a run, in the transaction of the run."""
    KINDS[run.kind].configure(lock=lock_of(run.pk)).defer(run_id=run.pk)


def enqueue_preparation(video: Video, by: Any = None) -> MediaRun:
    """Have a new video prepared, run and job both or neither."""
    with transaction.atomic():
        run, new = runs.create(video=video, kind=MediaRun.Kind.PREPARE, by=by)
        if new:
            enqueue_run(run)
    return run


def enqueue_again(video: Video, by: Any = None) -> MediaRun:
    """Have a video that was refused or failed prepared anew; raises `UserError` (see `videos.prepare_again`)."""
    with transaction.atomic():
        run, new = videos.prepare_again(video=video, by=by)
        if new:
            enqueue_run(run)
    return run


def enqueue_proxy(video: Video, by: Any = None) -> MediaRun | None:
    """Have a playback file made, None where it is there; raises `UserError` (see `videos.proxy_wanted`)."""
    with transaction.atomic():
        run, new = videos.proxy_wanted(video=video, by=by)
        if run is not None and new:
            enqueue_run(run)
    return run


def enqueue_transcript(video: Video, by: Any = None) -> MediaRun:
    """Have a transcript made, unless one is being made; raises `UserError` (see `transcripts.create`)."""
    with transaction.atomic():
        run, new = transcripts.create(video=video, by=by)
        if new:
            enqueue_run(run)
    return run


def enqueue_proposal(**asked: Any) -> ProposalRun:
    """Have boxes proposed, run and job both or neither; see `proposals.create`."""
    with transaction.atomic():
        run = proposals.create(**asked)
        propose_boxes.configure(lock=lock_of_proposal(run.pk)).defer(run_id=run.pk)
    return run


def finish_upload(*, upload: uuid.UUID, by: Any, sha256: str = "") -> tuple[Video, bool]:
    """Make a video of a whole upload and have it prepared; see `uploads.finish`."""
    return uploads.finish(upload=upload, by=by, sha256=sha256, on_new=lambda video: _prepare_new(video, by))


def take_in(
    *, video_set: VideoSet, pieces: Iterable[bytes], file_name: str, by: Any = None, **about: str
) -> tuple[Video, bool]:
    """Make a video of a stream of bytes and have it prepared; see `uploads.take_in`."""
    return uploads.take_in(
        video_set=video_set,
        pieces=pieces,
        file_name=file_name,
        by=by,
        on_new=lambda video: _prepare_new(video, by),
        **about,
    )


@app.task(name="videos.bring_in", queue=QUEUE)
def bring_in(*, set_id: int, name: str, user_id: int | None) -> str:
    """Copy a file of the server's folder into a set; returns the video's public id."""
    user = None if user_id is None else get_user_model().objects.filter(pk=user_id).first()
    path = server_folder.path_of(name)
    files.check_room(path.stat().st_size)
    video, _ = take_in(
        video_set=VideoSet.objects.get(pk=set_id), pieces=uploads.pieces_of(path), file_name=name, by=user
    )
    return str(video.public_id)


def enqueue_server_file(video_set: VideoSet, name: str, by: Any = None) -> int:
    """Have a worker copy a file of the server's folder; raises `UserError` for a name that is not in it."""
    server_folder.path_of(name)
    return bring_in.configure(lock=lock_of(video_set.pk)).defer(
        set_id=video_set.pk, name=name, user_id=None if by is None else by.pk
    )


def _prepare_new(video: Video, by: Any) -> None:
    enqueue_preparation(video, by)


async def reap() -> list[int]:
    """Give a job to each run that no worker holds and that has none; returns the ids put on the queue.

    Jobs of dead workers are put back by the reaper of audits, which looks at every queue.
    """
    enqueued = []
    for run_id, task, lock in await sync_to_async(_runs_without_job, thread_sensitive=False)():
        await task.configure(lock=lock).defer_async(run_id=run_id)
        enqueued.append(run_id)
    return enqueued


def _runs_without_job() -> list[tuple[int, Any, str]]:
    """Runs that no worker holds and that have no job: id, task and lock."""
    try:
        films = MediaRun.objects.filter(pk__in=abandoned(MediaRun)).order_by("pk")
        waiting = [(pk, KINDS[kind], lock_of(pk)) for pk, kind in films.values_list("pk", "kind")]
        waiting += [(pk, propose_boxes, lock_of_proposal(pk)) for pk in abandoned(ProposalRun)]
        return [
            (run_id, task, lock)
            for run_id, task, lock in waiting
            if not ProcrastinateJob.objects.filter(
                task_name=task.name, args__run_id=run_id, status__in=WAITING
            ).exists()
        ]
    finally:
        connection.close()  # this thread is borrowed from a pool and would keep its connection for ever


def tidy() -> int:
    """Remove uploads that were given up and contents without a row; returns how many."""
    oldest = time.time() - files.STALE_SECONDS

    def is_old(sha256: str) -> bool:
        return files.content_folder(sha256).stat().st_mtime < oldest

    return uploads.expire() + videos.forget_orphans(is_old)
