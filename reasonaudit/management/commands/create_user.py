"""`manage.py create_user NAME --role R`: make an account."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reasonaudit.accounts.models import Role
from reasonaudit.accounts.services import one_time_password, set_password_path, user_create
from reasonaudit.lib.errors import UserError


class Command(BaseCommand):
    """Makes an account and prints a link, good for one use, where its owner sets the password."""

    help = "Make an account. There is no sign-up and no account comes with the program."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--password", action="store_true", help="print a random password instead of a link to set one"
        )
        parser.add_argument("--base-url", default="", help="address of the server, to print a whole link")

    def handle(self, *args: Any, **options: Any) -> None:
        password = one_time_password() if options["password"] else None
        try:
            user = user_create(
                username=options["username"], role=options["role"], email=options["email"], password=password
            )
        except UserError as error:
            raise CommandError(str(error)) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stderr.write(f"Made {user.username} ({user.get_role_display()}).")
        if password is not None:
            self.stderr.write("Password, shown only now. Change it after the first login:")
            self.stdout.write(password)
            return
        days = settings.PASSWORD_RESET_TIMEOUT // 86400
        self.stderr.write(f"Link to set the password, good for one use within {days} days:")
        self.stdout.write(options["base_url"].rstrip("/") + set_password_path(user))
