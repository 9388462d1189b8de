"""A transcript from a file of cues: WebVTT, or SubRip, which is read with a remark."""

import hashlib
from typing import Any

from django.db import transaction

from reasonaudit.lib.errors import UserError
from videos.core.timebase import PictureIndex
from videos.formats import webvtt
from videos.formats.log import check_size
from videos.formats.scene import FormatError, Media
from videos.models import Transcript, Video
from videos.services import transcripts
from videos.services.uploads import clean_name

MAX_FILE_BYTES = 4 * 2**20
"""Six hours of speech are half a megabyte as cues."""
MOST_CUES = 50_000
LONGEST_CUE = 2000
# What the reader says of every cue without a speaker: here a cue is its text, so there is nothing to look at.
_NO_VOICE = "cues without a voice"


def from_file(*, video: Video, data: bytes, file_name: str, by: Any) -> tuple[Transcript, list[str]]:
    """Store the cues of a file as the clip's transcript; returns it and what was odd about the file.

    Raises
    ------
    UserError
        409 ``clip_not_ready``; 422 ``bad_transcript`` for a file that is no list of cues, or holds none for this clip.
    """
    if not video.is_ready or video.picture_index is None:
        raise UserError("clip_not_ready", "The clip is not prepared yet.", "Wait until it is.", status=409)
    if len(data) > MAX_FILE_BYTES:
        raise _bad(f"The file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}.", "Split it.")
    index = PictureIndex.from_bytes(bytes(video.picture_index))
    try:
        check_size(data)
        loaded = webvtt.read(data, Media(index=index))
    except FormatError as error:
        raise _bad(f"The transcript cannot be read. {error}", "Save it as WebVTT (.vtt).") from None
    notes = [
        *loaded.report.dropped,
        *(words for words in loaded.report.warnings if _NO_VOICE not in words),
    ]
    words, late = [], 0
    for cue in loaded.scene.events:
        text = " ".join(f"{cue.label + ': ' if cue.label else ''}{cue.note}".split())[:LONGEST_CUE]
        if not text:
            continue
        if cue.start_us >= (video.duration_us or 0):
            late += 1
            continue
        words.append([cue.start_us, max(cue.end_us, cue.start_us + 1), text, None])
    if late:
        notes.append(f"{late:,} cues begin after the end of the clip and were left out.")
    if len(words) > MOST_CUES:
        raise _bad(f"The file has {len(words):,} cues; the limit is {MOST_CUES:,}.", "Split it.")
    if not words:
        raise _bad(
            "The file holds no cue with text in the time of this clip.", "Choose the file of this clip."
        )
    version = {"file_name": clean_name(file_name), "sha256": hashlib.sha256(data).hexdigest()}
    with transaction.atomic():
        row = transcripts.store(
            video=video, source=Transcript.Source.FILE, words=words, version=version, by=by
        )
    return row, notes


def _bad(message: str, remedy: str) -> UserError:
    return UserError("bad_transcript", message, remedy, status=422, fields={"file": [f"{message} {remedy}"]})
