"""`manage.py benchmark`: make a benchmark of a video set, import rows, take references, print, export and restore."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from annotation.formats.records import Problem
from annotation.models import Study
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.models import Benchmark, Reference
from auditing.services.anchor import benchmarks, bundle_import, exports, imports, references
from auditing.services.offline.loading import read_bytes
from reasonaudit.lib.errors import UserError
from videos.models import VideoSet

DESCRIPTION = """\
ANCHOR's evaluation from the command line.

  benchmark make --set SLUG --name NAME      all questions of a video set as items
  benchmark add SLUG                         questions that are new in the set
  benchmark references SLUG --study SLUG     what people refined, --questions what came with the
                                             questions, --generated MODEL what a model wrote
  benchmark import SLUG FILE [FILE ...]      answers, rollouts, ratings, references, categories and what
                                             judges say of the difficulty as JSON lines
                                             (reasonaudit.benchmark-rows/1), or stored answers
                                             {"id", "model", "response"}; --skip leaves out bad rows
  benchmark show SLUG                        counts; --json as one JSON object
  benchmark export SLUG --out DIR            everything as files, with checksums, schema and data card
  benchmark restore DIR --set SLUG           the same benchmark from such files, over a set that has
                                             the clips; --name NAME calls it otherwise

Every problem of a file is printed with file, line, field and remedy; if there is one, nothing is
imported. The same file again changes nothing.

Exit codes: 0 fine; 1 the data have problems, or what was named is not there.
"""


class Command(BaseCommand):
    """Benchmarks."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the description."""
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Define what can be done."""
        steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
        made: ArgumentParser = steps.add_parser("make", help="make a benchmark of a video set")
        made.add_argument("--set", required=True, metavar="SLUG", dest="video_set", help="the video set")
        made.add_argument("--name", required=True, help="of the benchmark")
        made.add_argument("--description", default="", help="of the benchmark")
        made.add_argument("--parameters", default="{}", metavar="JSON", help="other than the defaults")
        for name, words in (
            ("add", "take questions that are new in the set"),
            ("references", "take references"),
            ("import", "import rows"),
            ("show", "print counts"),
            ("export", "write everything as files"),
        ):
            step = steps.add_parser(name, help=words)
            step.add_argument("benchmark", metavar="SLUG", help="last part of the address of its page")
            if name == "references":
                of = step.add_mutually_exclusive_group(required=True)
                of.add_argument("--study", metavar="SLUG", help="what people refined in this study")
                of.add_argument("--questions", action="store_true", help="what came with the questions")
                of.add_argument("--generated", metavar="MODEL", help="what this model wrote")
                step.add_argument("--source", metavar="NAME", help="name of the references' source")
                step.add_argument("--kind", choices=Reference.Kind.values, help="with --questions")
                step.add_argument(
                    "--writer", default="", metavar="MODEL", help="with --questions: who wrote it"
                )
            elif name == "import":
                step.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, or a list")
                step.add_argument("--skip", action="store_true", help="leave out rows with a problem")
            elif name == "show":
                step.add_argument("--json", action="store_true", help="one JSON object")
            elif name == "export":
                words = "an empty folder, or an earlier export"
                step.add_argument("--out", type=Path, required=True, metavar="DIR", help=words)
        restored: ArgumentParser = steps.add_parser("restore", help="make a benchmark from an export")
        restored.add_argument("folder", type=Path, metavar="DIR", help="an exported benchmark")
        restored.add_argument("--set", required=True, metavar="SLUG", dest="video_set", help="the video set")
        restored.add_argument("--name", default="", help="of the benchmark (default: as exported)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do one step; what cannot be done is one sentence on standard error."""
        try:
            getattr(self, f"_{options['step']}")(options)
        except UserError as error:
            raise Error(str(error)) from None

    def _make(self, options: dict[str, Any]) -> None:
        videos = _video_set(options)
        try:
            parameters = json.loads(options["parameters"])
        except ValueError as error:
            raise Error(f"--parameters is no JSON: {error}.") from None
        if not isinstance(parameters, dict):
            raise Error('--parameters is no JSON object. Write it like \'{"reference": "human"}\'.')
        row = benchmarks.create(
            name=options["name"],
            video_set=videos,
            description=options["description"],
            parameters=parameters,
        )
        self.stdout.write(f"Made {row.slug}: {row.items.count():,} items of {videos.name}.")

    def _add(self, options: dict[str, Any]) -> None:
        row = _benchmark(options)
        self.stdout.write(f"{benchmarks.add_questions(row, by=None):,} new items in {row.slug}.")

    def _references(self, options: dict[str, Any]) -> None:
        row = _benchmark(options)
        source = options["source"]
        if options["study"]:
            study = Study.objects.filter(slug=options["study"]).first()
            if study is None:
                raise Error(f"There is no study {options['study']!r}.")
            taken = references.take_from_study(row, study, source=source or "human", by=None)
        elif options["generated"]:
            if not source:
                raise Error("Name the source of the references: --source generated.")
            taken = references.take_generated(row, model=options["generated"], source=source, by=None)
        else:
            if not source or not options["kind"]:
                raise Error("Say whose the references are: --source NAME --kind refined or generated.")
            taken = references.take_questions(
                row, source=source, kind=options["kind"], writer=options["writer"], by=None
            )
        for number, why in taken.left_out:
            self.stderr.write(f"Item {number}: {why}", style_func=str)
        self.stdout.write(
            f"{taken.taken:,} references taken, {taken.unchanged:,} unchanged, {len(taken.left_out):,} left out."
        )

    def _import(self, options: dict[str, Any]) -> None:
        row = _benchmark(options)
        read, problems = [], []
        for path in options["files"]:
            data = read_bytes(path)
            if isinstance(data, Problem):
                problems.append(data)
                continue
            read.append(imports.read(data, str(path)))
        for problem in problems:
            self.stderr.write(str(problem), style_func=str)
        if problems:
            raise Error("Nothing was imported. Correct the names of the files and import again.")
        with transaction.atomic():
            for rows in read:
                self._commit(row, rows, skip=options["skip"])

    def _commit(self, row: Benchmark, rows: imports.Rows, *, skip: bool) -> None:
        found = imports.preview(row, rows)
        for note in found.notes:
            self.stderr.write(f"{rows.filename}: {note}", style_func=str)
        for problem in found.problems:
            self.stderr.write(str(problem), style_func=str)
        if found.problems and not skip:
            words = "1 problem" if len(found.problems) == 1 else f"{len(found.problems)} problems"
            raise Error(
                f"{words}; nothing was imported. Correct the data, or leave such rows out with --skip."
            )
        report = imports.commit(row, rows, skip=skip)
        self.stdout.write(f"{rows.filename}: {_counted(report.stored) or 'nothing'} new or changed.")
        for words, counts in (
            ("unchanged", report.unchanged),
            ("ratings without a value", report.missing_ratings),
            ("warnings of answers", report.warnings),
        ):
            if counts:
                self.stdout.write(f"  {words}: {_counted(counts)}")
        if report.rated_by_rule:
            self.stdout.write(f"  right or wrong by the rule for options: {report.rated_by_rule:,}")
        if report.left_out:
            self.stdout.write(f"  left out: {report.left_out:,}")

    def _show(self, options: dict[str, Any]) -> None:
        row = _benchmark(options)
        document = benchmarks.counts(row)
        if options["json"]:
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=1))
            return
        self.stdout.write(f"{row.name} ({row.slug}), revision {row.revision}, {document['items']:,} items")
        for name in ("references", "answers", "rollouts", "ratings", "warnings"):
            for place, count in document[name].items():
                self.stdout.write(f"  {name}: {place}: {count:,}")

    def _export(self, options: dict[str, Any]) -> None:
        done = exports.export_benchmark(_benchmark(options), options["out"], by=None)
        self.stdout.write(f"{_counted(done.manifest['counts'])} in {options['out']}; read back and checked.")

    def _restore(self, options: dict[str, Any]) -> None:
        videos = _video_set(options)
        bundle_import.check(options["folder"])
        found = bundle_import.preview(options["folder"], videos)
        for problem in found.problems:
            self.stderr.write(str(problem), style_func=str)
        for note in found.notes:
            self.stderr.write(note, style_func=str)
        made = bundle_import.commit(options["folder"], videos, name=options["name"])
        self.stdout.write(f"Made {made.slug}: {_counted(found.counts)}.")


def _video_set(options: dict[str, Any]) -> VideoSet:
    row = VideoSet.objects.filter(slug=options["video_set"]).first()
    if row is None:
        raise Error(f"There is no video set {options['video_set']!r}. Import its videos first.")
    return row


def _benchmark(options: dict[str, Any]) -> Benchmark:
    row = Benchmark.objects.filter(slug=options["benchmark"]).first()
    if row is None:
        raise Error(
            f"There is no benchmark {options['benchmark']!r}. Its slug is the last part of its page's address."
        )
    return row


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
