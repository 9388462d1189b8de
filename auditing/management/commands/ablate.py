"""`manage.py ablate`: how other settings would change the audit. No web server, database or login."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from auditing.management import cli
from auditing.services.offline.errors import UsageError

DESCRIPTION = """\
Audit the same labelled relations under other settings and list the labels that change: the
gap filter (tau, gap_op, gap_enabled, span_threshold, d_max_threshold), the premise size
(m_max), the pattern rules (degraded_rule, weak_cluster, dominance_basis, unstable_policy) and
contradictions (scope, policy, blocks). With gold labels also TPR, TNR and balanced F1.

Relations are labelled once, or come with the file; no setting makes a call of its own. FILE is
a trace file or the audits.jsonl of `audit --out`. --grid replaces the list of settings.
"""


class Command(cli.OfflineCommand):
    """Re-audit stored relations under other settings."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        cli.add_input_arguments(parser)
        cli.add_labeller_arguments(parser)
        cli.add_audit_arguments(parser)
        group = parser.add_argument_group("ablation")
        group.add_argument("--grid", action="append", default=[], metavar="PARAM=V1,V2",
                           help="values of a parameter, one setting each; may be repeated")  # fmt: skip
        group.add_argument("--cross", action="store_true", help="every combination of the grid's values")
        group.add_argument("--changes", type=cli.whole, default=5, metavar="N",
                           help="list up to N changed labels of each setting (default 5)")  # fmt: skip
        group.add_argument("--json", action="store_true", help="print one JSON object, with every changed label")

    def work(self, options: dict[str, Any]) -> int:
        from auditing.formats.canonical import json_line
        from auditing.services.offline.ablation import DEFAULT_GRID, ablate, settings_of, widened
        from auditing.services.offline.report_tables import ablation_text

        if options["cross"] and not options["grid"]:
            raise UsageError("--cross goes with --grid PARAM=V1,V2.")
        settings = cli.audit_settings(options)
        grid: dict[str, Any] = {
            name: tuple(cli.value_of(name, value) for value in values.split(","))
            for name, values in cli.pairs(options["grid"], "--grid").items()
        }
        if not grid:
            # Larger premise sets than were asked for would have to be labelled; that is done only on request.
            sizes = tuple(size for size in DEFAULT_GRID["m_max"] if size < settings.parameters.m_max)
            grid = {**DEFAULT_GRID, "m_max": sizes}
        chosen = settings_of(grid, settings.parameters, cross=options["cross"])
        traces, base = cli.labelled_from_files(self, options, settings, widened(settings, chosen))
        result = ablate(traces, chosen, base=base)
        if options["json"]:
            self.out_bytes(json_line(result))
        else:
            self.out(ablation_text(result, listed=options["changes"]))
        return 0
