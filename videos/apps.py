"""Django app configuration."""

from django.apps import AppConfig


class VideosConfig(AppConfig):
    """See the README of the project for what belongs here."""

    name = "videos"

    def ready(self) -> None:
        """Say what users are to this app's rows."""
        from videos.selectors.access import register_all

        register_all()
