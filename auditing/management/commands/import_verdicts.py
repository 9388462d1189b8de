"""`manage.py import_verdicts`: stored verdicts of judges into a data set, all of them or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import Q

from annotation.formats.records import Problem
from annotation.models import Dataset
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.services.judging import imports
from auditing.services.offline.loading import read_bytes
from reasonaudit.lib.errors import UserError

DESCRIPTION = """\
Import verdicts of direct judges into a data set of the database: JSON lines, one segment a line,
  {"case", "trace", "segment", "judge", "verdict": "trustworthy" | "problematic" | null}
or with the judge's raw "reply" instead of "verdict", which is then read by the strict rules of our
own calls. Segments count from 1, the case text included. Every problem is printed with file, line,
field and remedy; if there is one, nothing is imported. Each judge of a file becomes a run.
"""


class Command(BaseCommand):
    """Import verdicts."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of verdicts")
        parser.add_argument(
            "--data-set", required=True, metavar="NAME", help="name (or slug) of the data set with the traces"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["data_set"]
        dataset = Dataset.objects.filter(Q(name=name) | Q(slug=name)).first()
        if dataset is None:
            raise Error(f"There is no data set {name!r}. Import its traces first, with import_traces.")
        previews = []
        problems: list[Problem] = []
        for path in options["files"]:
            data = read_bytes(path)
            if isinstance(data, Problem):
                problems.append(data)
                continue
            preview = imports.read(data, str(path), dataset)
            problems += preview.problems
            previews.append(preview)
        for problem in problems:
            self.stderr.write(str(problem), style_func=str)
        if problems:
            words = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
            raise Error(f"{words}; nothing was imported. Correct the data and import again.")
        try:
            with transaction.atomic():
                runs = [run for preview in previews for run in imports.commit(preview, dataset)]
        except UserError as error:
            raise Error(str(error)) from None
        for run in runs:
            missing = run.total - run.done
            self.stdout.write(
                f"{run.judge_words}: {run.done:,} verdicts on {run.run_traces.count():,} traces"
                f"{f', {missing:,} without a verdict' if missing else ''} imported into {dataset.slug}."
            )
