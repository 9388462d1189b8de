"""Fixtures of the app, and real workers."""

from tests.auditing.tasks.conftest import start_worker  # noqa: F401
from tests.videos.app_fixtures import _own_reasons_and_counts, film, media_folder  # noqa: F401
