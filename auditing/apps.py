"""Django app configuration."""

from django.apps import AppConfig


class AuditingConfig(AppConfig):
    """See the README of the project for what belongs here."""

    name = "auditing"

    def ready(self) -> None:
        """Say what users are to this app's rows."""
        from auditing.selectors.benchmark_access import register_all

        register_all()
