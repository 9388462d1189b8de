"""Django app configuration."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """See the README of the project for what belongs here."""

    name = "annotation"

    def ready(self) -> None:
        """Say what users are to this app's rows."""
        from annotation.selectors.access import register_all

        register_all()
