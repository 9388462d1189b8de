"""Django app configuration."""

from django.apps import AppConfig


class AuditingConfig(AppConfig):
    """See the README of the project for what belongs here."""

    name = "auditing"
