"""Django app of the shared helpers."""

from django.apps import AppConfig


class LibConfig(AppConfig):
    """Helpers that know no other app."""

    name = "reasonaudit.lib"
    label = "lib"
