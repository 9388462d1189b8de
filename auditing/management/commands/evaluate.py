"""`manage.py evaluate`: audits against gold labels. No web server, database or login."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from auditing.management import arguments, cli

DESCRIPTION = """\
Compare audit labels with gold labels: TPR, TNR, F1 of class 0, balanced F1 with bootstrap
intervals by trace, confusion counts, coverage of gold labels; by domain.

FILE is a trace file, which is audited first (as `audit` does, with the same arguments), or the
result of `audit --json` or `audit --out` (audits.jsonl), which is taken as it is.

Supported counts as 1; gold "correct" as 1, "incorrect" and "uncertain" as 0. Segments of the
context and segments without a gold label are left out. Where the data name the kind of error
(PARC), Unsupported is compared with inherited errors: accumulation recall and precision.
"""


class Command(cli.OfflineCommand):
    """Metrics against gold labels."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        arguments.add_input_arguments(parser)
        arguments.add_labeller_arguments(parser)
        arguments.add_audit_arguments(parser)
        arguments.add_bootstrap_arguments(parser)
        group = parser.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print one JSON object on standard output")

    def work(self, options: dict[str, Any]) -> int:
        audits = cli.audits_from_files(self, options)
        from auditing.formats.canonical import json_line
        from auditing.services.offline.evaluation import evaluate
        from auditing.services.offline.report_tables import evaluation_text

        result = evaluate(audits, seed=options["seed"], resamples=options["resamples"])
        if options["json"]:
            self.out_bytes(json_line(result))
        else:
            self.out(evaluation_text(result))
        return 0
