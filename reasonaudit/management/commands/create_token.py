"""`manage.py create_token NAME`: make an API token for a user."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reasonaudit.accounts.forms import LONGEST_TOKEN_DAYS
from reasonaudit.accounts.models import ApiToken, User
from reasonaudit.accounts.services import token_issue


class Command(BaseCommand):
    """Makes a token and prints it, this once, on standard output."""

    help = "Make an API token for a user and print it; it is stored as a hash only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="what will use it")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.READ)
        parser.add_argument("--days", type=int, default=90, help="days until it expires, at most 365")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= LONGEST_TOKEN_DAYS:
            raise CommandError(f"--days must be 1 to {LONGEST_TOKEN_DAYS}.")
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(
                f"There is no active user {options['username']!r}. Make one with `manage.py create_user`."
            )
        row, token = token_issue(
            user, name=options["name"], scope=options["scope"], days=options["days"], by=None
        )
        self.stderr.write(
            f"Token for {user.username} ({row.get_scope_display().lower()}), until {row.expires_at:%Y-%m-%d}:"
        )
        self.stdout.write(token)
