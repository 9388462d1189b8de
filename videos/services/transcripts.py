"""Making a transcript of a clip, taking one from a file, removing one.

A recogniser works in the confined child process (`speech_child`); its words so far are kept with the run, so a worker
that is stopped loses one window of sound.
"""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES, RunState
from reasonaudit.lib.runs import lease_is_alive, set_state
from videos.media import sandbox
from videos.media.errors import MediaFailed
from videos.media.sandbox import Limits
from videos.models import MediaRun, Transcript, Video
from videos.services import files, runs, windows
from videos.services.runs import Heartbeat, Lease
from videos.services.sets import stream_of
from videos.services.work import StopAsked, never
from videos.speech.factory import why_not
from videos.speech.protocol import LONGEST_WORD

TASK = "videos.services.speech_child:transcribe_task"
MOST_WORDS = 300_000
"""Twelve words a second for as long as a clip's sound may be."""
WINDOW_BYTES = 16 * 2**20
# Six hours of sound are 660 MiB on the disk; the recogniser itself needs half a gigabyte.
LIMITS = Limits(cpu_seconds=24 * 3600, wall_seconds=12 * 3600, memory_bytes=8 * 2**30, file_bytes=2**30)


def create(*, video: Video, by: Any) -> tuple[MediaRun, bool]:
    """Store a request for a transcript; returns the run and whether it is new. Needs a transaction, for its job.

    Raises
    ------
    UserError
        409 ``clip_not_ready``, ``no_sound``; 422 ``recogniser_unavailable``.
    """
    if not video.is_ready:
        raise UserError("clip_not_ready", "The clip is not prepared yet.", "Wait until it is.", status=409)
    if video.audio_offset_us is None:
        raise UserError(
            "no_sound",
            "This clip has no sound to listen to.",
            "Upload a transcript if there is one.",
            status=409,
        )
    missing = why_not()
    if missing:
        raise UserError("recogniser_unavailable", missing, status=422)
    run, new = runs.create(video=video, kind=MediaRun.Kind.SPEECH, by=by)
    if new:
        _tell(video, by, "transcript.ask")
    return run, new


def cancel(*, video: Video, by: Any) -> None:
    """Have the making of a transcript stopped, where one is being made. What was heard so far is thrown away."""
    with transaction.atomic():
        rows = MediaRun.objects.select_for_update()
        row = rows.filter(video=video, kind=MediaRun.Kind.SPEECH, state__in=ACTIVE_STATES).first()
        if row is None:
            return
        if lease_is_alive(row):
            row.cancel_requested_at = row.cancel_requested_at or timezone.now()
        else:
            set_state(row, RunState.CANCELLED, "Stopped.")
            row.manifest = {}
        row.save()
        _tell(video, by, "transcript.stop")


def remove(*, transcript: Transcript, by: Any) -> None:
    """Remove a transcript; the one before it, if there is one, counts again."""
    with transaction.atomic():
        row = Transcript.objects.select_for_update().filter(pk=transcript.pk).first()
        if row is None:
            return
        about = _about(row)
        row.delete()
        _tell(transcript.video, by, "transcript.remove", about)


def store(
    *, video: Video, source: str, words: list[list[Any]], version: dict[str, Any], language: str = "", by: Any
) -> Transcript:
    """Store a transcript, which from now on counts, with its event. Needs a transaction."""
    row = Transcript.objects.create(
        video=video, source=source, language=language, words=words, version=version, created_by=by
    )
    _tell(
        video, by, "transcript.upload" if source == Transcript.Source.FILE else "transcript.make", _about(row)
    )
    return row


def _about(row: Transcript) -> dict[str, Any]:
    # Of the words only their number and hash: an event is kept for ever, a transcript may have to go.
    return {
        "transcript": str(row.public_id),
        "source": row.source,
        "entries": len(row.words),
        "sha256": sha256_of(row.words),
    }


def _tell(video: Video, by: Any, action: str, data: dict[str, Any] | None = None) -> None:
    record_event(
        stream=stream_of(video.video_set),
        actor=by,
        action=action,
        subject_type="video",
        subject_id=video.public_id,
        data=data,
    )


def execute(run_id: int, *, should_stop: StopAsked = never) -> str | None:
    """Take a run up, go on behind what is stored of it, make the transcript of it.

    Returns the state that it is left in; None when another worker has it or nothing is to be done.
    """
    return windows.execute(
        run_id,
        MediaRun,
        video="video__video_set",
        watch=_Watch,
        work=_listen,
        end=_end,
        should_stop=should_stop,
    )


def _listen(run: MediaRun, folder: Path, heart: Heartbeat, watch: "_Watch") -> None:
    video = run.video
    source = windows.checked_file(files.path_of(video.sha256))
    if video.audio_offset_us is None:
        raise MediaFailed("This clip has no sound to listen to.")
    total = run.total or -(-(video.duration_us or 0) // 1_000_000)
    heart.progress(run.done, total)
    sandbox.run(
        TASK,
        limits=LIMITS,
        on_progress=lambda share, words: heart.progress(
            int(share * (watch.total or total)), watch.total or total
        ),
        is_cancelled=watch.is_over,
        path=str(source.absolute()),
        out=str(folder),
        offset_us=video.audio_offset_us,
        state={name: run.manifest[name] for name in ("version", "next") if name in run.manifest},
    )


class _Watch(windows.Watch):
    unreadable = "The recogniser gave an answer that could not be read. Try again."
    most_bytes = WINDOW_BYTES

    def __init__(
        self, lease: Lease, run: MediaRun, folder: Path, heart: Heartbeat, should_stop: StopAsked
    ) -> None:
        super().__init__(lease, run, folder, heart, should_stop)
        self._words: list[list[Any]] = list(run.manifest.get("words", []))

    def read(self, window: Any) -> dict[str, Any]:
        heard = [checked_line(line) for line in window["words"]]
        self._words = heard if window["fresh"] else [*self._words, *heard]
        if len(self._words) > MOST_WORDS:
            raise ValueError("too many words")
        about = {
            "version": dict(window["version"]),
            "language": str(window["language"])[:16],
            "next": int(window["next"]),
        }
        return {"manifest": {**about, "words": self._words}}


def checked_line(line: Any) -> list[Any]:
    """Return [start_us, end_us, text, probability] or raise ValueError or TypeError."""
    start, end, text, sure = line
    if type(start) is not int or type(end) is not int or not 0 <= start < end < 2**53:
        raise ValueError("times of a word")
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_WORD or "\x00" in text:
        raise ValueError("text of a word")
    text.encode("utf-8")  # half of a surrogate pair is a ValueError, and no database takes it
    if sure is not None and not 0 <= float(sure) <= 1:
        raise ValueError("probability of a word")
    return [start, end, text, None if sure is None else float(sure)]


def _end(lease: Lease, run: MediaRun, state: str, message: str = "") -> str | None:
    """Write the end of a run; the words go to the transcript, or are thrown away unless the run only waits again."""

    def change(row: MediaRun) -> None:
        found = row.manifest
        if state == RunState.DONE:
            row.done = row.total
            store(
                video=run.video,
                source=Transcript.Source.RECOGNISER,
                words=found["words"],
                version=found["version"],
                language=found["language"],
                by=row.created_by,
            )
        if state != RunState.QUEUED:
            row.manifest = {name: found[name] for name in ("version", "language") if name in found}

    if state == RunState.DONE and not _has_words(lease):
        message = "No speech was found in the sound."
    return windows.finish(lease, run, state, message, change)


def _has_words(lease: Lease) -> bool:
    return bool(MediaRun.objects.get(pk=lease.run_id).manifest["words"])
