"""`manage.py import_traces`: traces from files into a data set, all of them or none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Q

from annotation.formats.records import Problem, ReadOptions
from annotation.models import Dataset
from auditing.management import arguments
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.services import imports
from auditing.services.offline.loading import read_bytes
from reasonaudit.lib.errors import UserError

DESCRIPTION = """\
Import traces into a data set of the database. Every problem is printed with file, line, field
and remedy; if there is one, nothing is imported. A data set of that name is added to.
"""


class Command(BaseCommand):
    """Import traces."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="trace files")
        parser.add_argument(
            "--data-set", required=True, metavar="NAME", help="name (or slug) of the data set"
        )
        parser.add_argument(
            "--format", metavar="F", help="format of the files; recognised from the content if not given"
        )
        parser.add_argument(
            "--index-base", type=int, choices=(0, 1), help="number of the first segment in the files"
        )
        parser.add_argument(
            "--domain", choices=("clinical", "mathematical", "general"), help="for traces that name none"
        )
        parser.add_argument(
            "--limit", type=arguments.positive, metavar="N", help="import at most N traces of each file"
        )
        parser.add_argument("--licence", default="", help="of a new data set")
        parser.add_argument("--attribution", default="", help="of a new data set: whom to name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            preview = self._read(options)
            target = Dataset.objects.filter(Q(name=options["data_set"]) | Q(slug=options["data_set"])).first()
            if target is None:
                fields = {"licence": options["licence"], "attribution": options["attribution"]}
                outcome = imports.commit(preview, dataset=options["data_set"], **fields)
            else:
                outcome = imports.commit(preview, dataset=target)
        except UserError as error:
            raise Error(str(error)) from None
        counts = preview.counts
        self.stdout.write(
            f"{counts['traces']:,} traces of {counts['cases']:,} cases with {counts['segments']:,} segments, "
            f"{counts['gold']:,} gold labels and {counts['relations']:,} relations "
            f"imported into {outcome.dataset.slug}."
        )

    def _read(self, options: dict[str, Any]) -> imports.ImportPreview:
        """Read every file before anything is stored, and put what they hold together."""
        reading = ReadOptions(options["index_base"], options["domain"], options["limit"])
        previews = []
        problems = []
        for path in options["files"]:
            data = read_bytes(path)
            if isinstance(data, Problem):
                problems.append(data)
            else:
                previews.append(imports.read_upload(data, str(path), options["format"], reading))
        problems += [problem for preview in previews for problem in preview.problems]
        notes = dict.fromkeys(note for preview in previews for note in preview.notes)
        for line in list(notes) + [str(problem) for problem in problems]:
            self.stderr.write(line, style_func=str)
        if problems:
            words = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
            raise Error(f"{words}; nothing was imported. Correct the data and import again.")
        counts: Counter[str] = Counter()
        for preview in previews:
            counts.update(preview.counts)
        records = [record for preview in previews for record in preview.records]
        formats = sorted({preview.format for preview in previews})
        return imports.ImportPreview(", ".join(formats), records, [], [], counts)
