"""`manage.py grapheval`: GraphEVAL of sampled chains in files. No web server, database or login."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from auditing.management import cli, grapheval_arguments

DESCRIPTION = """\
For each question of the files: the reasoning graphs of its chains, their distances (SS-GED), GRCS and
the other uncertainty scores, the majority vote, and the medoid with its parts. Then a summary.

Files are those that hold several chains for a question, such as model samples; a question with one
chain has a vote and a medoid, but no distance. Facts that came with the chains are taken; else each
sentence of a step is a fact ("sentences"). Where nothing says what steps depend on, each depends on
the one before (warning "assumed_dependencies"). A dash is a value that cannot be computed; the reason
stands beside it.

With --json one object goes to standard output:
  {"schema", "manifest", "questions": [...], "summary"}

Exit codes: 0 fine; 1 the data have problems; 2 wrong use; 3 the facts could not be embedded. A
server's key is read from LLM_API_KEY only.
"""


class Command(cli.OfflineCommand):
    """GraphEVAL of files."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files with chains")
        grapheval_arguments.add_chain_arguments(parser)
        group = parser.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print one JSON object on standard output")

    def work(self, options: dict[str, Any]) -> int:
        from auditing.formats.canonical import json_line
        from auditing.services.offline import grapheval_report

        started = time.monotonic()
        settings = grapheval_arguments.chain_settings(options)
        scored, loaded = grapheval_arguments.scored_files(self, options, settings)
        name = ", ".join(path.name for path in options["files"])
        document = grapheval_report.result_document(scored, settings, loaded, name)
        if options["json"]:
            self.out_bytes(json_line(document))
        else:
            self.out(grapheval_report.text(document, seconds=time.monotonic() - started))
        return 0
