"""Videos that lie on the server already: in a folder that the operator named, and in no other."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from reasonaudit.lib.errors import UserError

# What the sandbox may open at all; the ending only says what is worth trying.
ENDINGS = frozenset({".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".ts", ".mts", ".mpg", ".mpeg", ".3gp"})
MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the folder. `name` is its path inside it, with slashes."""

    name: str
    bytes: int


def import_folder() -> Path | None:
    """The folder of the settings, None where there is none."""
    named = str(settings.MEDIA_IMPORT_FOLDER)
    folder = Path(named) if named else None
    return folder if folder is not None and folder.is_dir() else None


def videos_in(folder: Path) -> Iterator[Path]:
    """Files below a folder that are called like videos, by name; links and hidden files are left out."""
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            is_video = path.suffix.lower() in ENDINGS and not name.startswith(".")
            if is_video and not path.is_symlink() and path.is_file():
                yield path


def listed() -> list[FoundFile]:
    """What can be brought in from the server's folder, at most `MOST_LISTED` files."""
    folder = import_folder()
    if folder is None:
        return []
    found = []
    for path in videos_in(folder):
        found.append(FoundFile(path.relative_to(folder).as_posix(), path.stat().st_size))
        if len(found) == MOST_LISTED:
            break
    return found


def path_of(name: str) -> Path:
    """Path of a file that `listed` names. `UserError` for any other name: nothing is read that was not offered."""
    folder = import_folder()
    if folder is not None and any(name == found.name for found in listed()):
        return folder / name
    raise UserError(
        "no_such_server_file",
        f"The server's folder has no video called {name[:200]!r} (any more).",
        "Load the page again and choose from its list.",
        fields={"name": "Not in the folder."},
    )
