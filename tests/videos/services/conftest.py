"""Fixtures of the app."""

from tests.videos.app_fixtures import (  # noqa: F401
    _own_reasons_and_counts,
    clean_queue,
    film,
    media_folder,
    researcher,
    visitor,
)
