"""Rows of a benchmark that came in a file: read, matched with its items, stored all or none.

References are stored before answers and ratings, so that ratings are about the versions of the same file. What a row
says again changes nothing. A rating on no scale is stored as a missing one with its reason; an answer that cannot be
read in full is stored with warnings. Anything else that does not fit is a problem with its line, and then nothing is
imported, unless whoever imports says that such rows shall be left out.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.formats.records import Problem
from auditing.formats.benchmark_files import MAX_FILE_BYTES, BenchmarkRows, read_rows
from auditing.models import Benchmark, ModelAnswer
from reasonaudit.lib.errors import UserError

from . import answers
from .changes import changed, event, many_stored
from .import_matching import match
from .import_storing import (
    Report,
    store_answers,
    store_categories,
    store_judgements,
    store_ratings,
    store_references,
)

__all__ = ["MAX_FILE_BYTES", "Preview", "Report", "Rows", "commit", "preview", "read"]

Rows = BenchmarkRows
MOST_NAMED = 200
"""Problems in the reply to an import that was refused; a preview has all."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file holds for a benchmark.

    Attributes
    ----------
    counts : dict of str to int
        Rows that can be imported, by what they are: references, answers, rollouts, ratings, categories,
        judgements of the difficulty.
    problems : list of Problem
        Of reading and of matching, by line; with any of them nothing is imported.
    notes : list of str
        Worth knowing; they stop nothing.
    """

    counts: dict[str, int]
    problems: list[Problem]
    notes: list[str]


def read(data: bytes, filename: str = "file") -> Rows:
    """Read a file (see `auditing.formats.benchmark_files`); stores nothing."""
    return read_rows(data, filename)


def preview(benchmark: Benchmark, rows: Rows) -> Preview:
    """Match rows with the benchmark; stores nothing."""
    found = match(benchmark, rows)
    return Preview(found.counts(), found.problems, [*rows.notes, *found.notes()])


def commit(benchmark: Benchmark, rows: Rows, by: Any = None, *, skip: bool = False) -> Report:
    """Store rows in one transaction: all of them, or none.

    Parameters
    ----------
    skip
        Leave out rows with a problem, and count them, instead of refusing the file.

    Raises
    ------
    UserError
        400 ``import_has_problems``; 422 ``nothing_to_import``.
    """
    with transaction.atomic():
        row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        found = match(row, rows)
        problems = found.problems
        if problems and not skip:
            n = len(problems)
            raise UserError(
                "import_has_problems",
                f"Nothing was imported: the file has {n} problem{'' if n == 1 else 's'}. {problems[0]}",
                "Correct the file and import it again.",
                fields={"file": [str(problem) for problem in problems[:MOST_NAMED]]},
            )
        if not any(found.counts().values()):
            raise UserError(
                "nothing_to_import",
                f"Nothing was imported: no row of the file can be used. {problems[0] if problems else ''}".strip(),
                "Choose another file, or correct this one.",
                status=422,
            )
        report = Report(left_out=len(problems))
        store_references(row, found, report)
        stored = store_answers(row, found, report)
        store_ratings(row, found, report)
        store_categories(row, found, report)
        store_judgements(row, found, stored, report)
        chains = [answer for answer in stored if answer.role == ModelAnswer.Role.CHAIN]
        report.rated_by_rule = answers.rate_by_rule(chains)
        if any(report.stored.values()) or report.rated_by_rule:
            changed(row)
            many_stored()
        about = {"stored": report.stored, "unchanged": report.unchanged, "left_out": report.left_out}
        event(row, by, "benchmark.import", {**about, "missing_ratings": report.missing_ratings})
    return report
