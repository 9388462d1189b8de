"""Files of videos: where they lie, and how they come and go whole.

A folder for each content, named by its SHA-256: the clip as it was uploaded (`source`) and what was made from it. Two
videos of the same content share it. Nothing is ever written under its final name: a file is made under a temporary
name beside it, forced to disk and then renamed, so that a killed process leaves no half file.
"""

import contextlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

from django.conf import settings

from reasonaudit.lib.errors import UserError

SOURCE = "source"
PEAKS = "peaks.bin"
PROXY = "proxy.mp4"
SPECTROGRAM = "spectrogram"
INCOMING = "incoming"
TEMPORARY = ".tmp-"
STALE_SECONDS = 24 * 3600
COPY_BYTES = 1024 * 1024
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")


def root() -> Path:
    """Folder of everything, made when it is not there; only the application's user may enter it."""
    folder = Path(settings.MEDIA_FOLDER)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def content_folder(sha256: str) -> Path:
    """Folder of one content. ValueError for anything but a hash: no path is made from what a user wrote."""
    if not _HASH.fullmatch(sha256):
        raise ValueError("not a SHA-256")
    return root() / sha256[:2] / sha256


def path_of(sha256: str, name: str = SOURCE) -> Path:
    """Path of one file of a content, there or not."""
    if not _NAME.fullmatch(name):
        raise ValueError("not a name of a media file")
    return content_folder(sha256) / name


def incoming_path(name: uuid.UUID) -> Path:
    """Path of a file that is on its way in."""
    folder = root() / INCOMING
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{name}.part"


def check_room(needed: int) -> None:
    """Raise `UserError` 507 unless so many bytes fit on the disk and leave what must stay free."""
    free = shutil.disk_usage(root()).free
    if free - needed < settings.MEDIA_KEEP_FREE_BYTES:
        raise UserError(
            "disk_full",
            f"The server's disk has no room for this file: it needs {needed:,} bytes, "
            f"{max(0, free - settings.MEDIA_KEEP_FREE_BYTES):,} may still be used.",
            "Tell an administrator, or remove videos that nobody needs.",
            status=507,
        )


def adopt(part: Path, sha256: str) -> Path:
    """Move a complete file to its place; where the same content is there already, that one stays."""
    place = path_of(sha256)
    _make_folder(place.parent)
    if place.is_file() and place.stat().st_size == part.stat().st_size:
        part.unlink()
        return place
    part.chmod(0o600)
    _force(part)
    os.replace(part, place)
    _force(place.parent)
    return place


def make(sha256: str, name: str, write: Callable[[Path], None]) -> Path:
    """Let `write` make a file of a content under a temporary name, then give it its own.

    Whatever `write` raises goes on to the caller; the temporary file is removed.
    """
    place = path_of(sha256, name)
    _make_folder(place.parent)
    # The ending stays: writers of films and pictures go by it.
    temporary = place.with_name(f"{TEMPORARY}{uuid.uuid4().hex}{place.suffix}")
    try:
        write(temporary)
        temporary.chmod(0o600)
        _force(temporary)
        os.replace(temporary, place)
        _force(place.parent)
    finally:
        temporary.unlink(missing_ok=True)
    return place


def make_folder(sha256: str, name: str, write: Callable[[Path], None]) -> Path:
    """Let `write` fill a folder of a content; it replaces the one of that name once it is whole. See `make`."""
    place = path_of(sha256, name)
    _make_folder(place.parent)
    temporary = place.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    temporary.mkdir(mode=0o700)
    try:
        write(temporary)
        for path in temporary.iterdir():
            path.chmod(0o600)
            _force(path)
        shutil.rmtree(place, ignore_errors=True)
        os.replace(temporary, place)
        _force(place.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place


def forget(sha256: str) -> None:
    """Remove a content and everything made from it. The caller holds its lock and knows that no row needs it."""
    folder = content_folder(sha256)
    if not folder.is_dir():
        return
    # Renamed first: a removal that is cut short leaves nothing that looks like a content.
    doomed = root() / INCOMING / f"{uuid.uuid4()}.removed"
    doomed.parent.mkdir(mode=0o700, exist_ok=True)
    os.replace(folder, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def contents() -> Iterable[str]:
    """Hashes of everything that lies there."""
    for shelf in root().iterdir():
        if len(shelf.name) == 2 and shelf.is_dir():
            for folder in shelf.iterdir():
                if _HASH.fullmatch(folder.name):
                    yield folder.name


def sweep(is_expected: Callable[[str], bool]) -> int:
    """Remove leftovers of killed processes that are older than a day; returns how many.

    `is_expected` says of the name of an incoming file (a UUID) whether its upload still goes on.
    """
    oldest, removed = time.time() - STALE_SECONDS, 0
    waiting = [path for path in _entries(root() / INCOMING) if not is_expected(path.stem)]
    temporary = [path for sha256 in contents() for path in content_folder(sha256).glob(".*")]
    for path in waiting + temporary:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                removed += 1
    return removed


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _make_folder(folder: Path) -> None:
    for each in (folder.parent, folder):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)


def _force(path: Path) -> None:
    """Have the system put a file, or the entries of a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
