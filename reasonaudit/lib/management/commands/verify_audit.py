"""Checks the chains of events from their first link to their head."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reasonaudit.lib.chain import verify_all


class Command(BaseCommand):
    """`manage.py verify_audit`: exit status 1 and the first broken event where a chain does not hold."""

    help = "Check the append-only record of events; names the first broken event of each chain."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the options."""
        parser.add_argument(
            "--expect",
            action="append",
            default=[],
            metavar="STREAM=HEAD",
            help="a head that was noted earlier and must still be part of its chain (may be given often)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check every chain, print its length and head."""
        noted: dict[str, list[str]] = {}
        for pair in options["expect"]:
            name, separator, head = pair.partition("=")
            if not separator or not head:
                raise CommandError(f"--expect {pair!r}: write the stream, =, and the head that was printed.")
            noted.setdefault(name, []).append(head)
        problems = []
        for stream, problem in verify_all():
            if problem is not None:
                problems.append(f"{problem.stream}: event {problem.number}: {problem.problem}.")
                continue
            self.stdout.write(f"{stream.name}: {stream.length} events, head {stream.head}")
            gone = [
                head for head in noted.pop(stream.name, []) if not stream.events.filter(hash=head).exists()
            ]
            problems += [
                f"{stream.name}: the head {head} that was noted is not in the chain." for head in gone
            ]
        problems += [f"{name}: the stream that was noted is gone." for name in noted]
        if problems:
            raise CommandError("The record does not hold.\n" + "\n".join(problems))
        self.stdout.write(self.style.SUCCESS("Every chain holds."))
