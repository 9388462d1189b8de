"""Archives that were made for a download: kept under `var/exports`, bound to their user and study, for two hours.

Making one may take long, so it is done once: what its page reports is what the file holds.
"""

import json
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from auditing.views.exports import pack
from reasonaudit.lib.errors import UserError

LIFETIME_SECONDS = 2 * 3600
_at_work = threading.Lock()


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known of an archive; `report` is what its page shows."""

    user: int
    study: int
    filename: str
    created: float
    report: dict[str, Any]


def folder() -> Path:
    """Folder of the archives, made when it is not there; only the application's user may read it."""
    path = Path(settings.VAR) / "exports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def prepare(*, user: int, study: int, filename: str, make: Callable[[Path], dict[str, Any]]) -> uuid.UUID:
    """Let `make` write into an empty folder, pack that, and remember the report which it returns.

    Raises
    ------
    UserError
        What `make` raises; 429 ``exports_busy``: another export is being made.
    """
    if not _at_work.acquire(blocking=False):
        raise UserError("exports_busy", "Another export is being made.", "Try again in a moment.", status=429)
    try:
        _remove_expired()
        name = uuid.uuid4()
        with tempfile.TemporaryDirectory(prefix="making-", dir=folder()) as made:
            report = make(Path(made) / "files")
            pack(Path(made) / "files", folder() / f"{name}.zip")
        known = Prepared(user, study, filename, time.time(), report)
        (folder() / f"{name}.json").write_text(json.dumps(asdict(known)), encoding="utf-8")
    finally:
        _at_work.release()
    return name


def find(name: uuid.UUID, *, user: int, study: int) -> Prepared | None:
    """The archive of that name, or None where it has expired or is of another user or study."""
    try:
        known = Prepared(**json.loads((folder() / f"{name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    fresh = time.time() - known.created < LIFETIME_SECONDS
    return known if (known.user, known.study) == (user, study) and fresh and path_of(name).is_file() else None


def path_of(name: uuid.UUID) -> Path:
    """Where the archive lies."""
    return folder() / f"{name}.zip"


def _remove_expired() -> None:
    oldest = time.time() - LIFETIME_SECONDS
    for path in folder().iterdir():
        if path.stat().st_mtime >= oldest:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
