"""`manage.py export_study`: a study with everything that people did, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.models import Study
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.services.study_exports import export_study
from reasonaudit.lib.errors import UserError

DESCRIPTION = """\
Write a study into a folder: guidelines, people by pseudonym, cases, labels, submissions, decisions, reference
labels, the cases with reference labels as gold (uroreason.jsonl), audits, events, a table for spreadsheets, a data
card, schema, manifest and checksums.

Check it with `python DIR/verify.py`; `manage.py import_study DIR` makes the same study from it.
"""


class Command(BaseCommand):
    """Export a study."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="SLUG", help="the study's name in its address")
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="an empty folder, or an earlier export"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).select_related("dataset").first()
        if study is None:
            known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20])
            raise Error(f"There is no study {options['study']!r}. There are: {known or 'none'}.")
        try:
            done = export_study(study, options["out"], by=None)
        except UserError as error:
            raise Error(str(error)) from None
        counts = done.manifest["counts"]
        self.stdout.write(
            f"{counts['items']:,} cases, {counts['labels']:,} labels, {counts['decisions']:,} decisions in "
            f"{options['out']}; read back and checked."
        )
