"""`manage.py ablate`: how other settings would change the audit. No web server, database or login."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from auditing.management import arguments, cli
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
        arguments.add_input_arguments(parser)
        arguments.add_labeller_arguments(parser)
        arguments.add_audit_arguments(parser)
        group = parser.add_argument_group("ablation")
        group.add_argument("--grid", action="append", default=[], metavar="PARAM=V1,V2",
                           help="values of a parameter, one setting each; may be repeated")  # fmt: skip
        group.add_argument("--cross", action="store_true", help="every combination of the grid's values")
        group.add_argument("--changes", type=arguments.whole, default=5, metavar="N",
                           help="list up to N changed labels of each setting (default 5)")  # fmt: skip
        group.add_argument(
            "--json", action="store_true", help="print one JSON object, with every changed label"
        )

    def work(self, options: dict[str, Any]) -> int:
        from auditing.formats.canonical import json_line
        from auditing.services.offline.ablation import ablate, default_grid, settings_of
        from auditing.services.offline.report_tables import ablation_text

        if options["cross"] and not options["grid"]:
            raise UsageError("--cross goes with --grid PARAM=V1,V2.")
        settings = arguments.audit_settings(options)
        grid: dict[str, Any] = {
            name: tuple(arguments.value_of(name, value) for value in values.split(","))
            for name, values in arguments.pairs(options["grid"], "--grid").items()
        }
        chosen = settings_of(grid, settings.parameters, cross=options["cross"])
        traces = cli.labelled_from_files(self, options, settings, chosen)
        if not grid:
            largest = max((trace.parameters.m_max for trace in traces), default=1)
            chosen = settings_of(default_grid(largest), settings.parameters)
        result = ablate(traces, chosen)
        if options["json"]:
            self.out_bytes(json_line(result))
        else:
            self.out(ablation_text(result, listed=options["changes"]))
        return 0
