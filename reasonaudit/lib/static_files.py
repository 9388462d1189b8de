"""Storage of static files in a deployment: names carry a hash, so that browsers may keep files for ever."""

from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

VITE_FOLDER = "assets/"


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Django's hashed names, save for files that Vite has named by their content already.

    Vite's chunks import each other by those names. Under a second name the entry would be loaded twice, and every
    part of a page would be started twice.
    """

    def hashed_name(self, name: str, content: Any = None, filename: str | None = None) -> str:
        """Name under which a file is served; raises ValueError where the file is missing, as Django's does."""
        hashed = str(super().hashed_name(name, content, filename))
        return name if name.startswith(VITE_FOLDER) else hashed
