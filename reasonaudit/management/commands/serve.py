"""Run the app on this machine with the data it already has."""

from typing import Any

from django.core.management import BaseCommand, CommandParser, call_command

from reasonaudit import launcher


class Command(BaseCommand):
    """`manage.py serve`: database, messages, worker and web server until Ctrl-C."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8080, help="port to listen on; the next free one if it is taken"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        launcher.run(
            port=options["port"],
            prepare=self.prepare,
            announce=self.announce,
        )

    def prepare(self) -> None:
        """Bring the database up to date."""
        call_command("migrate", verbosity=0)

    def announce(self, address: str) -> None:
        """Say where the app is and how to get the first account."""
        self.stdout.write(
            f"\nreasonaudit runs at {address}\n"
            "New here? Make an account in another terminal: .venv/bin/python manage.py create_user NAME --role admin\n"
            "End it with Ctrl-C.\n"
        )
        self.stdout.flush()
