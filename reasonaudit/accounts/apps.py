"""Django app of users, roles and permissions."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Who may do what."""

    name = "reasonaudit.accounts"
    label = "accounts"
