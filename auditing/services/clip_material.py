"""What a model is given of a clip: pictures, what is said, and where things are. Drafts and benchmarks share it."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from auditing.drafting.protocol import Piece, pieces_of
from auditing.elicitation.anchor_asking import box_line
from auditing.llm.pictures import Frame
from videos.core.timebase import PictureIndex
from videos.core.tracks.model import Track, box_at
from videos.media import client
from videos.media.errors import MediaFailed
from videos.models import Video
from videos.selectors.transcripts import transcript_of
from videos.services import files
from videos.services.pictures import evenly

LONGEST_SIDE = 768
"""Of a picture that is sent: larger ones cost tokens and are made smaller by most models anyway."""

MOST_BOX_LINES = 40
SECOND_US = 1_000_000
NOT_READY = "The clip is not prepared yet, so no picture of it can be sent. Wait until it is."
FILE_GONE = "The clip's file is gone. Tell an administrator; the clip has to be uploaded again."


def index_of(video: Video) -> PictureIndex | None:
    """Return the picture index of a clip; None where it is not prepared."""
    if not video.is_ready or video.picture_index is None:
        return None
    return PictureIndex.from_bytes(bytes(video.picture_index))


def frames_of(video: Video, count: int, is_over: Callable[[], bool]) -> tuple[Frame, ...]:
    """Return `count` evenly spaced pictures of a clip with their clip times, small enough to be sent.

    Raises
    ------
    MediaError
        The pictures cannot be made, or `is_over` said to stop (`MediaCancelled`).
    """
    index = index_of(video)
    if index is None:
        raise MediaFailed(NOT_READY)
    path = files.path_of(video.sha256)
    if not path.is_file():
        raise MediaFailed(FILE_GONE)
    wanted = evenly(index.n, count)
    with tempfile.TemporaryDirectory(prefix="ra-clip-") as folder:
        names = client.save_pictures(
            path, Path(folder), index, wanted, longest_side=LONGEST_SIDE, is_cancelled=is_over
        )
        return tuple(
            Frame(ordinal, int(index.clip_us(ordinal)), name.read_bytes())
            for ordinal, name in zip(wanted, names, strict=True)
        )


def sketched_frames(index: PictureIndex | None, count: int) -> tuple[Frame, ...]:
    """Return the same pictures without their bytes: for estimates, which need their number and times only."""
    if index is None:
        return ()
    return tuple(Frame(ordinal, int(index.clip_us(ordinal)), b"") for ordinal in evenly(index.n, count))


def said_in(video: Video) -> tuple[Piece, ...]:
    """Return what is said in a clip in pieces of a few seconds; () without a transcript."""
    return pieces_of(transcript_of(video))


def box_lines(
    tracks: Mapping[str, Any], index: PictureIndex, size: tuple[float, float], pictures: Sequence[int]
) -> str:
    """Return where things are, a line each, at most `MOST_BOX_LINES`; "" where nothing is drawn.

    Parameters
    ----------
    tracks
        Of a video document, by id, in pixels of the picture as it is displayed.
    size
        Width and height of the picture.
    pictures
        Ordinals of the pictures that the model is shown; without any, a picture a second.

    Of more boxes than fit, whole moments are left out, evenly over the clip, so that every object stays in.
    """
    drawn = [Track.from_json(track) for track in tracks.values()]
    moments = []
    for frame in (pictures or _every_second(index)) if drawn else ():
        lines = list(_at(drawn, frame, index, size))
        if lines:
            moments.append(lines)
    return "\n".join(line for lines in _fitting(moments) for line in lines)


def _every_second(index: PictureIndex) -> list[int]:
    seconds = range(0, index.duration_us, SECOND_US)
    return sorted({index.at_us(us) for us in seconds})


def _at(tracks: Iterable[Track], frame: int, index: PictureIndex, size: tuple[float, float]) -> Iterable[str]:
    width, height = size
    for track in tracks:
        box = box_at(track, frame)
        if box is not None:
            x, y, w, h = box
            part = (100 * x / width, 100 * y / height, 100 * w / width, 100 * h / height)
            yield box_line(track.label or "object", int(index.clip_us(frame)), *part)


def _fitting(moments: list[list[str]]) -> list[list[str]]:
    """Return as many moments, evenly chosen, as fit; of a single one that is too long its first lines."""
    if not moments:
        return []
    count = min(len(moments), MOST_BOX_LINES)  # a moment has a line at least
    kept = [moments[place] for place in evenly(len(moments), count)]
    while sum(map(len, kept)) > MOST_BOX_LINES and count > 1:
        count -= 1
        kept = [moments[place] for place in evenly(len(moments), count)]
    return [lines[:MOST_BOX_LINES] for lines in kept]
