"""`manage.py grapheval_study`: the data-set level of GraphEVAL, of files or of a study in the database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from auditing.management import cli, grapheval_arguments
from auditing.management.arguments import add_bootstrap_arguments
from auditing.services.offline.errors import OfflineError, UsageError

DESCRIPTION = """\
Statistics over all questions: accuracy of vote and medoid with McNemar's test, correlations of every
uncertainty score with faithfulness and their bootstrap intervals, topology map, signs of collapse,
how chains were decomposed, and with --sweep the sensitivity to alpha, beta and gamma.

Give files with chains, which are scored first (see `grapheval`; no database), or --study SLUG for a
study in the database, as it was scored there. A dash is a value that cannot be computed.

With --json one object goes to standard output, with --out FILE the same is written to a file:
  {"schema": "reasonaudit.grapheval-study/1", ..., "sweep"}

Exit codes: 0 fine; 1 the data have problems; 2 wrong use; 3 the facts could not be embedded.
"""


class Command(cli.OfflineCommand):
    """GraphEVAL over a data set."""

    help = DESCRIPTION

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files with chains")
        parser.add_argument("--study", metavar="SLUG", help="a study in the database, instead of files")
        grapheval_arguments.add_chain_arguments(parser)
        add_bootstrap_arguments(parser)
        group = parser.add_argument_group("sensitivity")
        group.add_argument("--sweep", action="store_true", help="also under other weights")
        group = parser.add_argument_group("output")
        group.add_argument("--json", action="store_true", help="print one JSON object on standard output")
        group.add_argument("--out", type=Path, metavar="FILE", help="write the JSON object to a new file")

    def work(self, options: dict[str, Any]) -> int:
        from auditing.core.grapheval.study_document import (
            ALPHAS,
            BETAS,
            GAMMAS,
            study_document,
            sweep_document,
        )
        from auditing.formats.canonical import json_document, json_line
        from auditing.services.offline import grapheval_report, grapheval_study_report

        started = time.monotonic()
        if bool(options["files"]) == bool(options["study"]):
            raise UsageError("Give files with chains, or --study SLUG; one of the two.")
        if (out := options["out"]) is not None:
            # Asked before minutes of work.
            if out.exists():
                raise UsageError(f"{out} is there already. Give another file, or remove it.")
            if not out.parent.is_dir():
                raise UsageError(f"There is no folder {out.parent}. Make it, or give another file.")
        material, manifest = self._of_study(options) if options["study"] else self._of_files(options)
        document = study_document(material, seed=options["seed"], resamples=options["resamples"])
        document["manifest"] = manifest
        document["votes"] = grapheval_report.votes_cast(one.document for one in material.questions)
        if options["sweep"]:
            own = material.parameters
            document["sweep"] = sweep_document(
                material,
                sorted({*ALPHAS, own.consensus.alpha}),
                sorted({*BETAS, own.distance.beta}),
                sorted({*GAMMAS, own.distance.gamma}),
            )
        if out is not None:
            try:
                out.write_bytes(json_document(document))
            except OSError as error:
                raise UsageError(f"{out} cannot be written: {error.strerror}.") from None
            self.say(f"Written to {out}.")
        if options["json"]:
            self.out_bytes(json_line(document))
        else:
            self.out(grapheval_study_report.text(document, seconds=time.monotonic() - started))
        return 0

    def _of_files(self, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        from auditing.services.offline import grapheval, grapheval_report

        settings = grapheval_arguments.chain_settings(options)
        scored, loaded = grapheval_arguments.scored_files(self, options, settings)
        name = ", ".join(path.name for path in options["files"])
        manifest = grapheval_report.manifest(scored, settings, loaded)
        return grapheval.material_of(scored, settings, name), manifest

    def _of_study(self, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        from django.db import Error

        from auditing.models import ReasoningStudy
        from auditing.services.grapheval import results_reading
        from auditing.services.manifest import code_version

        try:
            study = ReasoningStudy.objects.select_related("dataset").filter(slug=options["study"]).first()
            if study is None:
                raise OfflineError(
                    f"There is no study {options['study']!r}. Its slug is the last part of its page's address."
                )
            material = results_reading.read(study)
        except Error:
            raise OfflineError(
                "The database does not answer. Start it (make serve), or give files."
            ) from None
        if not material.questions:
            raise OfflineError("No question of the study is scored. Score it on its page first.")
        return material, {"code": dict(code_version()), "parameters": study.parameters}
