"""Uploaded files between preview and import: kept under `var/uploads`, bound to their user, for two hours."""

import json
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

LIFETIME_SECONDS = 2 * 3600
MAX_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """What is known of an uploaded file. `choices` is the form as it was filled in, by field name."""

    user: int
    filename: str
    choices: dict[str, str]
    created: float


def folder() -> Path:
    """Folder of the uploads, made when it is not there; only the application's user may read it."""
    path = Path(settings.VAR) / "uploads"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep(data: bytes, upload: Upload) -> uuid.UUID:
    """Store a file under a random name and remove what has expired."""
    _remove_expired()
    name = uuid.uuid4()
    (folder() / f"{name}.data").write_bytes(data)
    update(name, upload)
    return name


def update(name: uuid.UUID, upload: Upload) -> None:
    """Write what is known of an upload."""
    (folder() / f"{name}.json").write_text(json.dumps(asdict(upload)), encoding="utf-8")


def find(name: uuid.UUID, user: int) -> Upload | None:
    """The upload of that name, or None where it has expired or is another user's."""
    try:
        upload = Upload(**json.loads((folder() / f"{name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return upload if upload.user == user and time.time() - upload.created < LIFETIME_SECONDS else None


def content(name: uuid.UUID) -> bytes:
    """The bytes of an upload that `find` found."""
    return (folder() / f"{name}.data").read_bytes()


def claim(name: uuid.UUID) -> bool:
    """Take an upload for its import; False where another request (a second click) has taken it already."""
    try:
        (folder() / f"{name}.data").rename(folder() / f"{name}.taken")
    except FileNotFoundError:
        return False
    return True


def release(name: uuid.UUID) -> None:
    """Give a claimed upload back after an import that was refused."""
    (folder() / f"{name}.taken").rename(folder() / f"{name}.data")


def forget(name: uuid.UUID) -> None:
    """Remove an upload."""
    for ending in ("data", "taken", "json"):
        (folder() / f"{name}.{ending}").unlink(missing_ok=True)


def _remove_expired() -> None:
    oldest = time.time() - LIFETIME_SECONDS
    for path in folder().iterdir():
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
