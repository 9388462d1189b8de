"""Files of questions between preview and import: in a folder of their own, bound to user and set, for two hours."""

import json
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

LIFETIME_SECONDS = 2 * 3600


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a kept file."""

    user: int
    video_set: int
    filename: str
    created: float


def folder() -> Path:
    """Folder of the files, made when it is not there; only the application's user may read it."""
    path = Path(settings.VAR) / "uploads-questions"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep(data: bytes, *, user: int, video_set: int, filename: str) -> uuid.UUID:
    """Store a file under a random name and remove what has expired."""
    oldest = time.time() - LIFETIME_SECONDS
    for path in folder().iterdir():
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
    name = uuid.uuid4()
    (folder() / f"{name}.data").write_bytes(data)
    kept = Kept(user, video_set, filename, time.time())
    (folder() / f"{name}.json").write_text(json.dumps(asdict(kept)), encoding="utf-8")
    return name


def find(name: uuid.UUID, *, user: int, video_set: int) -> tuple[Kept, bytes] | None:
    """The file of that name with its bytes; None where it has expired or belongs elsewhere."""
    try:
        kept = Kept(**json.loads((folder() / f"{name}.json").read_text(encoding="utf-8")))
        data = (folder() / f"{name}.data").read_bytes()
    except (OSError, ValueError, TypeError):
        return None
    is_mine = (kept.user, kept.video_set) == (user, video_set)
    return (kept, data) if is_mine and time.time() - kept.created < LIFETIME_SECONDS else None


def forget(name: uuid.UUID) -> None:
    """Remove a file."""
    for ending in ("data", "json"):
        (folder() / f"{name}.{ending}").unlink(missing_ok=True)
