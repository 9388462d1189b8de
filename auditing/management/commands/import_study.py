"""`manage.py import_study`: make a study from an export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.services.study_imports import import_study, read_folder
from reasonaudit.lib.errors import UserError

DESCRIPTION = """\
Make the study that was exported into a folder, with a data set of its own.

People come as pseudonyms without an account. --person P1=name gives one of them the account of that user name.
"""


class Command(BaseCommand):
    """Import a study."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="an exported study")
        parser.add_argument("--name", default="", help="name of the new study (default: as exported)")
        parser.add_argument("--data-set", default="", help="name of its data set (default: as exported)")
        parser.add_argument(
            "--person", action="append", default=[], metavar="PSEUDONYM=USER", help="may be repeated"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        people = {}
        for pair in options["person"]:
            pseudonym, separator, username = pair.partition("=")
            if not (separator and pseudonym and username):
                raise Error(f"--person {pair!r}: write the pseudonym, =, and the user name.")
            people[pseudonym] = username
        try:
            made = import_study(
                read_folder(options["folder"]),
                by=None,
                people=people,
                name=options["name"],
                dataset=options["data_set"],
            )
        except UserError as error:
            problems = error.fields.get("files")
            raise Error("\n".join([str(error), *(problems if isinstance(problems, list) else [])])) from None
        self.stdout.write(
            f"Study {made.study.slug}: {made.labels:,} labels and {made.decisions:,} decisions imported."
        )
