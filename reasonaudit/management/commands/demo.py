"""Run the app on this machine with demonstration data and freshly made logins."""

from typing import Any

from django.core.management import BaseCommand, CommandParser

from reasonaudit import demo, launcher


class Command(BaseCommand):
    """`manage.py demo`: what `make demo` runs once everything is installed."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8080, help="port to listen on; the next free one if it is taken"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.logins: list[tuple[str, str, str]] = []
        launcher.run(port=options["port"], prepare=self.prepare, announce=self.announce)

    def prepare(self) -> None:
        """Bring the database up to date and fill it where it is empty."""
        self.stdout.write("Preparing the database and the demonstration data …")
        self.logins = demo.prepare()

    def announce(self, address: str) -> None:
        """Print the address and the logins."""
        rows = "\n".join(f"  {name:<12} {password:<22} {what}" for name, password, what in self.logins)
        self.stdout.write(
            f"\nreasonaudit runs at {address}\n\n  {'user':<12} {'password':<22} role\n{rows}\n\n"
            "The traces are being audited by the embedded model now; the page shows the progress.\n"
            "The cases are invented. End the demo with Ctrl-C.\n"
        )
        self.stdout.flush()
