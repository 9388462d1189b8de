"""Files on their way in: in pieces, within limits, and a video once they are whole.

A piece says at which byte it begins, so that an upload goes on where it stopped: after a reload, a lost connection, a
killed server. Nothing of the file is looked into here; that is done by the sandbox, later.
"""

import contextlib
import errno
import hashlib
import os
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.models import Video, VideoSet, VideoUpload
from videos.services import files
from videos.services.locks import lock_content
from videos.services.sets import stream_of

MAX_PIECE_BYTES = 16 * 1024 * 1024
LONGEST_NAME = 300
READ_BYTES = 1024 * 1024
# Direction marks and the like make one name look like another.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def clean_name(name: str) -> str:
    """What is kept of a file's name, for people to read: no folder that leads upwards, nothing invisible.

    The name is never used as a path.
    """
    text = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8"))
    text = "".join(char for char in text if unicodedata.category(char) not in _INVISIBLE)
    parts = [part.strip() for part in re.split(r"[/\\]+", text)]
    kept = "/".join(part for part in parts if part not in {"", ".", ".."})
    if len(kept) > LONGEST_NAME:
        ending = PurePosixPath(kept).suffix[:20]
        kept = kept[: LONGEST_NAME - len(ending)] + ending
    return kept or "unnamed"


def check_size(size: int, name: str) -> None:
    """Raise `UserError` for an empty file and for one over the limit."""
    if size <= 0:
        raise UserError("empty_file", f"{name} has no content (0 bytes).", "Choose the video itself.")
    if size > settings.MEDIA_MAX_BYTES:
        raise UserError(
            "file_too_large",
            f"{name} has {size:,} bytes; the limit is {settings.MEDIA_MAX_BYTES:,}.",
            "Cut it into parts or encode it smaller; an administrator may raise MEDIA_MAX_BYTES.",
            status=413,
        )


def begin(*, video_set: VideoSet, file_name: str, size: int, by: Any) -> VideoUpload:
    """Announce a file of `size` bytes. The same file that the same person began before goes on where it stopped.

    Raises `UserError`: too large, too much of this person on the way, no room.
    """
    name = clean_name(file_name)
    check_size(size, name)
    with transaction.atomic():
        # One announcement for a set at a time, so that the sum is right.
        VideoSet.objects.select_for_update().get(pk=video_set.pk)
        mine = VideoUpload.objects.filter(created_by=by)
        earlier = mine.filter(video_set=video_set, file_name=name, bytes=size).first()
        if earlier is not None:
            return earlier
        waiting = mine.aggregate(total=Sum("bytes"))["total"] or 0
        if waiting + size > settings.MEDIA_MAX_INCOMING_BYTES:
            raise UserError(
                "too_much_incoming",
                f"{waiting:,} bytes of yours are on their way already; with {name} the limit of "
                f"{settings.MEDIA_MAX_INCOMING_BYTES:,} would be passed.",
                "Let the other uploads end first, or remove those that you gave up.",
                status=413,
            )
        files.check_room(size)
        return VideoUpload.objects.create(video_set=video_set, file_name=name, bytes=size, created_by=by)


def find(name: uuid.UUID, by: Any) -> VideoUpload:
    """The upload of this person. `UserError` 404 where there is none: it ended, expired, or is another's."""
    row = VideoUpload.objects.select_related("video_set").filter(public_id=name, created_by=by).first()
    if row is None:
        raise UserError(
            "no_such_upload",
            "This upload is not there (any more): it ended, was given up, or waited too long.",
            "Choose the file again.",
            status=404,
        )
    return row


def add_piece(*, upload: uuid.UUID, by: Any, offset: int, data: bytes) -> VideoUpload:
    """Write the piece that begins at byte `offset`, which must be the first byte that is missing.

    Raises
    ------
    UserError
        409 `wrong_offset` with `received` in its fields: the page goes on from there. 413: longer than announced.
    """
    with transaction.atomic():
        row = _locked(upload, by)
        if offset != row.received:
            raise UserError(
                "wrong_offset",
                f"{row.received:,} bytes of {row.file_name} are here; this piece begins at byte {offset:,}.",
                "Go on from the byte that is missing.",
                status=409,
                fields={"received": row.received},
            )
        if not data or len(data) > MAX_PIECE_BYTES or offset + len(data) > row.bytes:
            raise UserError(
                "bad_piece",
                f"A piece of {len(data):,} bytes at byte {offset:,} does not fit into a file of {row.bytes:,} bytes.",
                f"Send 1 to {MAX_PIECE_BYTES:,} bytes at a time and announce the file with its true size.",
                status=413,
            )
        path = files.incoming_path(row.public_id)
        with no_room():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                written = 0
                while written < len(data):
                    written += os.pwrite(handle, data[written:], offset + written)
            finally:
                os.close(handle)
        row.received = offset + len(data)
        row.save(update_fields=["received", "updated_at"])
    return row


def finish(
    *, upload: uuid.UUID, by: Any, sha256: str = "", on_new: Callable[[Video], None] = lambda video: None
) -> tuple[Video, bool]:
    """Make a video of an upload that is whole; returns it and whether it is new to its set.

    `sha256` is what the sender says the content hashes to, if it knows; `on_new` runs in the same transaction.

    Raises
    ------
    UserError
        409 where bytes are missing; 422 where the content is not what the sender says. It stays and may be sent anew.
    """
    with transaction.atomic():
        row = _locked(upload, by)
        path = files.incoming_path(row.public_id)
        there = path.stat().st_size if path.is_file() else 0
        if there < row.received:
            # The file is shorter than the row: a disk that lost it. Go on from what is there.
            VideoUpload.objects.filter(pk=row.pk).update(received=there)
            row.received = there
        if row.received == row.bytes:
            digest = hash_file(path)
            if sha256 and sha256.lower() != digest:
                raise UserError(
                    "wrong_hash",
                    f"{row.file_name} arrived with the SHA-256 {digest}, not with the one announced.",
                    "Give this upload up and send the file again.",
                    status=422,
                )
            video, new = keep(
                video_set=row.video_set,
                part=path,
                digest=digest,
                file_name=row.file_name,
                by=by,
                on_new=on_new,
            )
            row.delete()
            return video, new
    # Raised outside the transaction: what was found of the file's true length stays written.
    raise UserError(
        "upload_incomplete",
        f"{row.received:,} of {row.bytes:,} bytes of {row.file_name} are here.",
        "Send the rest first.",
        status=409,
        fields={"received": row.received},
    )


def give_up(*, upload: uuid.UUID, by: Any) -> None:
    """Remove an upload and what is here of it."""
    with transaction.atomic():
        row = _locked(upload, by)
        path = files.incoming_path(row.public_id)
        row.delete()
        transaction.on_commit(lambda: path.unlink(missing_ok=True))


def take_in(
    *,
    video_set: VideoSet,
    pieces: Iterable[bytes],
    file_name: str,
    by: Any = None,
    on_new: Callable[[Video], None] = lambda video: None,
    **about: str,
) -> tuple[Video, bool]:
    """Make a video of a file that is at hand as a stream of pieces (a form, a folder of the server).

    `about` are title, licence and attribution. Returns the video and whether it is new to the set; raises `UserError`.
    """
    name = clean_name(file_name)
    part = files.incoming_path(uuid.uuid4())
    digest, size = hashlib.sha256(), 0
    try:
        with no_room(), open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for piece in pieces:
                size += len(piece)
                check_size(max(1, size), name)
                digest.update(piece)
                file.write(piece)
        check_size(size, name)
        with transaction.atomic():
            return keep(
                video_set=video_set,
                part=part,
                digest=digest.hexdigest(),
                file_name=name,
                by=by,
                on_new=on_new,
                **about,
            )
    finally:
        part.unlink(missing_ok=True)


def pieces_of(path: Path) -> Iterable[bytes]:
    """The bytes of a file, piece by piece."""
    with path.open("rb") as file:
        while piece := file.read(READ_BYTES):
            yield piece


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(
    *,
    video_set: VideoSet,
    part: Path,
    digest: str,
    file_name: str,
    by: Any,
    on_new: Callable[[Video], None],
    title: str = "",
    licence: str = "",
    attribution: str = "",
) -> tuple[Video, bool]:
    """Put a complete file in its place and make its row, unless the set has this content already. In a transaction."""
    lock_content(digest)
    known = Video.objects.filter(video_set=video_set, sha256=digest).first()
    if known is not None:
        part.unlink(missing_ok=True)
        return known, False
    size = part.stat().st_size
    files.adopt(part, digest)
    video = Video.objects.create(
        video_set=video_set,
        title=(title or PurePosixPath(file_name).stem or file_name)[:LONGEST_NAME],
        file_name=file_name,
        sha256=digest,
        bytes=size,
        licence=licence,
        attribution=attribution,
        created_by=by,
    )
    on_new(video)
    record_event(
        stream=stream_of(video_set),
        actor=by,
        action="video.add",
        subject_type="video",
        subject_id=video.public_id,
        to_state=video.state,
        data={"file_name": file_name, "sha256": digest, "bytes": size},
    )
    return video, True


def expire() -> int:
    """Remove uploads to which nobody added for long, and leftovers of killed processes; returns how many."""
    oldest = timezone.now() - timedelta(hours=settings.MEDIA_UPLOAD_HOURS)
    removed = 0
    for row in VideoUpload.objects.filter(updated_at__lt=oldest):
        with transaction.atomic():
            again = VideoUpload.objects.select_for_update().filter(pk=row.pk, updated_at__lt=oldest).first()
            if again is not None:
                again.delete()
                removed += 1
    return removed + files.sweep(_is_on_its_way)


def _is_on_its_way(stem: str) -> bool:
    with contextlib.suppress(ValueError):
        return VideoUpload.objects.filter(public_id=uuid.UUID(stem)).exists()
    return False


def _locked(name: uuid.UUID, by: Any) -> VideoUpload:
    find(name, by)
    row = (
        VideoUpload.objects.select_for_update(of=("self",))
        .select_related("video_set")
        .filter(public_id=name, created_by=by)
        .first()
    )
    return row if row is not None else find(name, by)


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    """Say of a full disk that it is full, with an answer that tells what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        raise UserError(
            "disk_full",
            "The server's disk is full, so this part of the file was not kept.",
            "Tell an administrator; the upload goes on from the last part that was kept.",
            status=507,
        ) from error
