"""Django app that holds the commands which join the others (demo, serve, stop)."""

from django.apps import AppConfig


class ReasonauditConfig(AppConfig):
    """The joining package."""

    name = "reasonaudit"
    label = "reasonaudit"
