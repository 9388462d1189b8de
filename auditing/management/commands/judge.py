"""`manage.py judge`: let a model judge each segment of traces from files. No web server, database or login."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from auditing.management import arguments, cli
from auditing.services.offline.errors import LabellerError, UsageError

DESCRIPTION = """\
Direct judging, the paper's baseline: a model reads the case (or problem), the reasoning so far and
one segment, and says whether that segment is trustworthy or problematic. Prints TPR, TNR, F1 of
class 0 and balanced F1 against the gold labels of the file, by domain, with bootstrap intervals by
trace, and beside them the coverage: a reply that is no verdict is missing, never a label. Segments
without a gold label (as after the first error of ProcessBench and MR-Ben) are in no measure.

With --json one object goes to standard output:
  {"schema", "manifest", "coverage", "evaluation", "traces": [{"id", "segments": [...]}]}
With --verdicts FILE the verdicts are written as JSON lines, which import_verdicts takes.

Clinical cases get the clinical prompt, all others the mathematical one; --prompt-dir DIR with
judge-clinical.txt or judge-mathematical.txt replaces them. Replies are kept in --cache DIR: a
second run asks only what has no verdict, and --judge replay:DIR needs no server at all.

Exit codes: 0 fine; 1 the data have problems; 2 wrong use; 3 the judge failed, or with --strict
left segments without a verdict. A server's key is read from LLM_API_KEY only.
"""


class Command(cli.OfflineCommand):
    """Judge traces from files."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        arguments.add_input_arguments(parser)
        arguments.add_judge_arguments(parser)
        arguments.add_bootstrap_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only say how many calls it would take")
        group = parser.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print one JSON object on standard output")
        group.add_argument("--verdicts", type=Path, metavar="FILE", help="write the verdicts as JSON lines")
        group.add_argument("--strict", action="store_true", help="exit code 3 if any segment has no verdict")

    def work(self, options: dict[str, Any]) -> int:
        from auditing.formats.canonical import json_line
        from auditing.formats.verdicts import write_verdicts
        from auditing.management.progress import Progress
        from auditing.services.offline import judging, judging_report

        if options["verdicts"] is not None and options["verdicts"].exists():
            raise UsageError(f"{options['verdicts']} is there already. Give another file, or remove it.")
        choice = arguments.judge_choice(options)
        started = time.monotonic()
        loaded = cli.read_traces(self, options)
        if options["dry_run"]:
            planned = judging.dry_run(loaded.traces, choice)
            if options["json"]:
                self.out_bytes(json_line(planned))
            else:
                self.out(judging_report.dry_run_text(planned))
            return 0
        progress = Progress(sys.stderr, quiet=options["json"], what="segments")
        try:
            judged = judging.judge_traces(loaded.traces, choice, progress)
        finally:
            progress.close()
        result = judging.result_document(
            judged, loaded.inputs, seed=options["seed"], resamples=options["resamples"]
        )
        if options["verdicts"] is not None:
            name = str(judged.identity["model"])
            try:
                options["verdicts"].write_bytes(write_verdicts(judging.verdict_records(judged, name)))
            except OSError as error:
                raise UsageError(f"{options['verdicts']} cannot be written: {error.strerror}.") from None
            self.say(f"Verdicts written to {options['verdicts']}.")
        if options["json"]:
            self.out_bytes(json_line(result))
        else:
            self.out(judging_report.text(result, judged, seconds=time.monotonic() - started))
        missing = result["coverage"]["segments"] - result["coverage"]["verdicts"]
        if missing:
            sentence = judging_report.missing_sentence(judged)
            if options["strict"] or not result["coverage"]["verdicts"]:
                raise LabellerError(sentence)
            self.say(sentence)
        return 0
