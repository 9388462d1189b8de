"""Django app of users, roles and permissions."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Who may do what."""

    name = "reasonaudit.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Connect signal handlers and checks."""
        from . import checks, signals  # noqa: F401
