"""`manage.py export_video_study`: what annotators handed in on a study of videos, as files of one format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.models import Study
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.services.video_exports import export_video_study
from reasonaudit.lib.errors import UserError
from videos.formats.registry import FORMATS

DESCRIPTION = """\
Write one file for each handed-in question of a study of videos, and manifest.json: whose work it is (by pseudonym),
which clip, guideline version and submission, what the format could not hold, which picture each frame number means,
and the SHA-256 of every file.

Check it with `python DIR/verify.py`. Exporting twice gives the same bytes.
"""


class Command(BaseCommand):
    """Export the documents of a study."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="SLUG", help="the study's name in its address")
        parser.add_argument(
            "--format",
            default="native",
            choices=sorted(FORMATS),
            metavar="F",
            help=f"one of {', '.join(FORMATS)} (default: native, which loses nothing)",
        )
        parser.add_argument("--dense", action="store_true", help="a box on every picture, not keyframes")
        parser.add_argument(
            "--decided-only", action="store_true", help="decisions alone, not what single people handed in"
        )
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="an empty folder, or an earlier export"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).select_related("video_set").first()
        if study is None:
            rows = Study.objects.exclude(video_set=None).order_by("slug")
            known = ", ".join(rows.values_list("slug", flat=True)[:20])
            raise Error(f"There is no study {options['study']!r}. Studies of videos: {known or 'none'}.")
        try:
            done = export_video_study(
                study,
                options["out"],
                name=options["format"],
                dense=options["dense"],
                decided_only=options["decided_only"],
                by=None,
            )
        except UserError as error:
            raise Error(str(error)) from None
        counts = done.manifest["counts"]
        self.stdout.write(
            f"{counts['questions']:,} questions in {options['out']}; {counts['refused']:,} refused by the format; "
            "read back and checked."
        )
