"""`manage.py export_audits`: results of a run or of a data set as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from annotation.models import Dataset
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.models import AuditRun
from auditing.services.exports import export_dataset, export_run
from reasonaudit.lib.errors import UserError

DESCRIPTION = """\
Write audits from the database into a folder: audits.jsonl (every segment and relation),
segments.csv and relations.csv (views; cells that a spreadsheet would run are marked with an
apostrophe), traces.jsonl (to import again), summary.json, manifest.json, SHA256SUMS.

Check an export with `sha256sum -c SHA256SUMS`, or, extra files too, with
`python -m auditing.formats.bundle DIR` (standard library only).
"""


class Command(BaseCommand):
    """Export audits."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--run", type=int, metavar="ID", help="the results of one run")
        source.add_argument(
            "--data-set", metavar="SLUG", help="the newest result of every trace of a data set"
        )
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="an empty folder, or an earlier export"
        )
        parser.add_argument("--graphml", action="store_true", help="the hypergraphs for graph tools too")
        parser.add_argument(
            "--unfinished", action="store_true", help="with --run: also if the run has not ended"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder, graphml = options["out"], options["graphml"]
        try:
            if options["run"] is not None:
                run = AuditRun.objects.filter(pk=options["run"]).select_related("dataset").first()
                if run is None:
                    raise Error(
                        f"There is no run {options['run']}. `manage.py help export_audits` says more."
                    )
                done = export_run(run, folder, graphml=graphml, unfinished=options["unfinished"])
            else:
                dataset = Dataset.objects.filter(slug=options["data_set"]).first()
                if dataset is None:
                    known = ", ".join(Dataset.objects.order_by("slug").values_list("slug", flat=True)[:20])
                    raise Error(
                        f"There is no data set {options['data_set']!r}. There are: {known or 'none'}."
                    )
                done = export_dataset(dataset, folder, graphml=graphml)
        except UserError as error:
            raise Error(str(error)) from None
        counts = done.manifest["counts"]
        files = len(done.manifest["files"])
        self.stdout.write(
            f"{counts['traces']:,} traces, {counts['segments']:,} segments and "
            f"{counts['relations']['total']:,} relations in {files} files in {folder}; read back and checked."
        )
