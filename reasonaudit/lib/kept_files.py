"""Files between their preview and their import: kept on the disk, bound to whoever sent them, for two hours."""

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

LIFETIME_SECONDS = 2 * 3600


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a kept file. `about` is whatever its pages note of it, by name."""

    user: int
    filename: str
    about: dict[str, str]
    created: float


class KeptFiles:
    """The kept files of some pages, in a folder of their own; only the application's user may read it."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def folder(self) -> Path:
        """Folder of the files, made when it is not there."""
        path = Path(settings.VAR) / self._name
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def keep(self, data: bytes, *, user: int, filename: str, about: Mapping[str, str]) -> uuid.UUID:
        """Store a file under a random name and remove what has expired."""
        self._remove_expired()
        name = uuid.uuid4()
        (self.folder / f"{name}.data").write_bytes(data)
        self.note(name, Kept(user, filename, dict(about), time.time()))
        return name

    def note(self, name: uuid.UUID, kept: Kept) -> None:
        """Write what is known of a file."""
        (self.folder / f"{name}.json").write_text(json.dumps(asdict(kept)), encoding="utf-8")

    def find(self, name: uuid.UUID, user: int) -> Kept | None:
        """What is known of the file of that name; None where it has expired or is another user's."""
        try:
            kept = Kept(**json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return kept if kept.user == user and time.time() - kept.created < LIFETIME_SECONDS else None

    def content(self, name: uuid.UUID) -> bytes:
        """The bytes of a file that `find` found; FileNotFoundError where it is being imported or was."""
        return (self.folder / f"{name}.data").read_bytes()

    def claim(self, name: uuid.UUID) -> bool:
        """Take a file for its import; False where another request (a second click) has taken it already."""
        try:
            (self.folder / f"{name}.data").rename(self.folder / f"{name}.taken")
        except FileNotFoundError:
            return False
        return True

    def release(self, name: uuid.UUID) -> None:
        """Give a claimed file back after an import that was refused."""
        (self.folder / f"{name}.taken").rename(self.folder / f"{name}.data")

    def forget(self, name: uuid.UUID) -> None:
        """Remove a file."""
        for ending in ("data", "taken", "json"):
            (self.folder / f"{name}.{ending}").unlink(missing_ok=True)

    def _remove_expired(self) -> None:
        oldest = time.time() - LIFETIME_SECONDS
        for path in self.folder.iterdir():
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
