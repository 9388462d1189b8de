"""Settings of a checkout: local addresses only, key made once and kept under `var/`."""

import secrets

from .base import *  # noqa: F403
from .base import VAR


def local_secret_key() -> str:
    """The checkout's own key, so that a restart keeps sessions alive and no key stands in the code."""
    path = VAR / "secret_key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50), encoding="ascii")
    return path.read_text(encoding="ascii")


SECRET_KEY = local_secret_key()
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
LLM_ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *LLM_ALLOWED_HOSTS]  # noqa: F405
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
