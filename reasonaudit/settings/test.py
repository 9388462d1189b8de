"""Settings of the tests: throw-away services that end with the test process."""

import atexit
import os
import tempfile
from pathlib import Path

# pytest-django reads the settings before any fixture runs, so the server must be up by then. Worker processes of a
# parallel run share the first one's server.
if "REASONAUDIT_TEST_VAR" not in os.environ:
    _short = Path("/tmp")  # noqa: S108 (mkdtemp makes a private folder; a socket's path must be short)
    _folder = Path(tempfile.mkdtemp(prefix="ra-test-", dir=_short if _short.is_dir() else None))
    _folder.chmod(0o755)
    os.environ["REASONAUDIT_TEST_VAR"] = str(_folder)
    os.environ["REASONAUDIT_VAR"] = str(_folder)
    os.environ["SECRET_KEY"] = "only-for-tests-" + "x" * 40
    from reasonaudit.lib import embedded

    if not os.environ.get("DATABASE_URL"):
        _server = embedded.start_postgres(_folder / "postgres", cleanup="stop")
        # Nothing of it outlives the machine. A killed process loses nothing all the same: commits reach the system.
        _server.psql(
            "ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf();"
        )
    _valkey = embedded.start_valkey_unless_external()
    _owner = os.getpid()

    def _remove() -> None:
        import shutil

        if os.getpid() == _owner:
            if _valkey is not None:
                _valkey.terminate()
            if not os.environ.get("DATABASE_URL"):
                _server.cleanup()
            shutil.rmtree(_folder, ignore_errors=True)

    atexit.register(_remove)

from .base import *  # noqa: F403

ALLOWED_HOSTS = ["*"]
LLM_ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = True
