"""`manage.py audit`: audit reasoning traces from files. No web server, database or login."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from auditing.management import arguments, cli
from auditing.services.offline.errors import LabellerError, UsageError

DESCRIPTION = """\
Audit reasoning traces: label the relations between segments, build the NLI hypergraph,
search support trees, and label every segment supported, unsupported, orphan or contradicted.

With --json one object goes to standard output, everything else to standard error:
  {"schema", "manifest", "summary", "traces": [{"id", "domain", "calls", "segments": [...]}]}
A segment has index (1-based), text, label, search_label, y_hat (1 = supported), contradicted,
unstable, gold, best_tree ([i, premises, label, [sub-trees]] or [1]), root_breakpoint and more.
All segments are listed; those of the context are given, not audited: their label is null.
"calls" counts the relations put to a labeller, whether it or the cache answered.

With --out a folder gets audits.jsonl (with every relation), segments.csv, relations.csv,
summary.json, manifest.json, SHA256SUMS and run.json (times, cache hits).

Exit codes: 0 fine; 1 the data have problems; 2 wrong use; 3 the labeller failed, or with
--strict left relations without a label. A server's key is read from LLM_API_KEY only.
"""


class Command(cli.OfflineCommand):
    """Audit traces from files."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        arguments.add_input_arguments(parser)
        arguments.add_labeller_arguments(parser)
        arguments.add_audit_arguments(parser)
        parser.add_argument(
            "--order",
            choices=("eager", "lazy"),
            default="eager",
            help="eager: every relation; lazy: only what the labels need (same labels, fewer calls)",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="only say how many calls it would take, and how many are known",
        )
        group = parser.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print one JSON object on standard output")
        group.add_argument(
            "--explain", action="store_true", help="print the reason and support tree of each segment"
        )
        group.add_argument("--out", type=Path, metavar="DIR", help="write the result files into this folder")
        group.add_argument(
            "--graphml", action="store_true", help="with --out: the hypergraphs for graph tools too"
        )
        group.add_argument("--strict", action="store_true", help="exit code 3 if any relation has no label")

    def work(self, options: dict[str, Any]) -> int:
        if options["json"] and options["explain"]:
            raise UsageError("--json and --explain both write to standard output; give one of them.")
        if options["graphml"] and options["out"] is None:
            raise UsageError("--graphml goes with --out DIR.")
        settings = arguments.audit_settings(options)
        started = time.monotonic()
        loaded = cli.read_traces(self, options)
        if options["dry_run"]:
            return self._dry_run(options, settings, loaded.traces)
        from auditing.services.offline import auditing, documents, output, report

        if options["out"] is not None:
            output.require_usable_folder(options["out"])
        from auditing.services.offline.manifest import manifest

        found = cli.labelled_set(self, options, settings, loaded.traces)
        audits = auditing.audited(found.traces, with_relations=options["out"] is not None)
        summary = documents.summary(audits)
        described = manifest(loaded.inputs, found.identity, settings, counts=output.counts(summary))
        cached = sum(trace.cached for trace in found.traces)
        seconds = time.monotonic() - started
        if options["out"] is not None:
            times = output.run_times(seconds, calls=summary["calls"] - cached, cached=cached)
            output.write(options["out"], audits, summary, described, times, graphml=options["graphml"])
            self.say(f"Written to {options['out']}.")
        if options["json"]:
            self.out_bytes(output.json_object(audits, summary, described))
        else:
            if options["explain"]:
                for trace in found.traces:
                    self.out(report.explanation(trace) + "\n")
            self.out(
                report.summary_table(
                    summary, new_calls=summary["calls"] - cached, cached=cached, seconds=seconds
                )
            )
        coverage = summary["coverage"]
        if coverage["labelled"] < coverage["total"]:
            gap = coverage["total"] - coverage["labelled"]
            sentence = f"{gap:,} of {coverage['total']:,} relations have no label and count as Neutral."
            if options["strict"] or not coverage["labelled"]:
                raise LabellerError(f"{sentence} {output.why(found.traces)}")
            self.say(f"{sentence} {output.why(found.traces)}")
        return 0

    def _dry_run(self, options: dict[str, Any], settings: Any, traces: list[Any]) -> int:
        from auditing.formats.canonical import json_line
        from auditing.services.offline.dry_run import dry_run, dry_run_text

        choice, fit = cli.chosen(self, options, settings, traces)
        found = dry_run(fit, choice, settings)
        if options["json"]:
            self.out_bytes(json_line(found))
        else:
            self.out(dry_run_text(found))
        return 0
