"""Settings of a checkout: local addresses only, key made once and kept under `var/`."""

import contextlib
import os
import secrets
from pathlib import Path

from .base import *  # noqa: F403
from .base import VAR


def local_secret_key() -> str:
    """The checkout's own key, so that a restart keeps sessions alive and no key stands in the code.

    Commands that log nobody in also run where the file can be neither read nor written; theirs lasts as long as they.
    """
    path = VAR / "secret_key"
    fresh = secrets.token_urlsafe(50)
    try:
        if not path.exists() or path.stat().st_size == 0:
            write_key(path, fresh)
        return path.read_text(encoding="ascii")
    except OSError:
        return fresh


def write_key(path: Path, key: str) -> None:
    """Write the file whole or not at all; of two that start at once, the first one's key stays."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    try:
        draft.write_text(key, encoding="ascii")
        if path.exists() and path.stat().st_size == 0:
            path.unlink()
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


SECRET_KEY = local_secret_key()
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
LLM_ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *LLM_ALLOWED_HOSTS]  # noqa: F405
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
