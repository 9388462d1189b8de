"""What is said in a clip, and how far the making of its transcript is."""

from typing import Any

from django.db.models import QuerySet

from reasonaudit.lib.models import RunState
from videos.core.speech import pieces
from videos.models import MediaRun, Transcript, Video
from videos.selectors.videos import newest_run
from videos.speech.factory import why_not

MOST_PIECES = 500
"""Pieces that a clip's page shows."""


def newest_transcript(video: Video) -> Transcript | None:
    """The transcript that counts; None where there is none. No query where `newest_transcripts` were read ahead."""
    return next(iter(video.transcripts.all()[:1]), None)


def newest_transcripts() -> QuerySet[Transcript]:
    """The transcripts that count of all clips, to be read ahead for many."""
    return Transcript.objects.order_by("video_id", "-pk").distinct("video_id").only("video", "words")


def transcript_of(video: Video) -> list[dict[str, Any]]:
    """What is said in a clip by time, ``{"start_us", "end_us", "text"}`` each, clip times; [] without a transcript.

    One entry a word where a recogniser made it, one a cue where it came from a file.
    """
    row = newest_transcript(video)
    if row is None:
        return []
    return [{"start_us": start, "end_us": end, "text": text} for start, end, text, _ in row.words]


def transcript_state(video: Video) -> dict[str, Any]:
    """All that a clip's page says of its transcript.

    `row` is the one that counts or None, `pieces` its first pieces of `total`, `older` how many there are behind it.
    `run` is the newest making of one where that says something now: it waits or goes on, or it gave nothing.
    `why_not` says why the recogniser cannot make one, "" where it can.
    """
    row = newest_transcript(video)
    found = pieces(row.words) if row is not None else []
    run = newest_run(video, MediaRun.Kind.SPEECH)
    if run is not None and run.state == RunState.DONE:
        run = None
    return {
        "row": row,
        "pieces": found[:MOST_PIECES],
        "total": len(found),
        "older": max(0, video.transcripts.count() - 1),
        "run": run,
        "percent": None if run is None or not run.total else min(100, 100 * run.done // run.total),
        "why_not": "This clip has no sound to listen to." if video.audio_offset_us is None else why_not(),
    }
