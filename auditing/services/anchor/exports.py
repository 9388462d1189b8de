"""A benchmark as a folder of files with checksums: items, references, answers, ratings, and what follows from them.

What is written follows from the database alone, so exporting twice gives the same bytes. People stand in it by
pseudonym. `bundle_import` makes the same benchmark from it. Results are not in it: they are computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from auditing.formats import benchmark_bundle as bundle
from auditing.formats import verify_bundle
from auditing.formats.bundle import BundleError, require_usable, verify, write_bundle
from auditing.formats.canonical import json_document
from auditing.formats.csv_view import Cell, write_csv
from auditing.models import Benchmark
from auditing.services.exports import Export
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .changes import hold
from .data_card import Counted, data_card
from .export_rows import BenchmarkRows, Row

SCHEMA = "reasonaudit.benchmark-export/1"
VERIFIER = Path(verify_bundle.__file__)
ANSWER_COLUMNS = ("item", "model", "role", "setting", "take", "final_answer", "text", "warnings", "source")
RATING_COLUMNS = (
    "item", "model", "role", "setting", "take", "facet", "reference", "by", "rater", "value", "status", "why",
    "current", "words",
)  # fmt: skip


def export_benchmark(benchmark: Benchmark, folder: Path, *, by: Any) -> Export:
    """Write a benchmark; the export is done only when it was read back.

    Raises
    ------
    UserError
        Nothing to export, a folder that cannot be used, or files that do not read back as written.
    """
    try:
        require_usable(folder)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    counted = Counted()
    with transaction.atomic():
        # Every change updates the benchmark's row (`changes.changed`), so that none is seen in half while it is held.
        hold(benchmark.pk)
        rows = BenchmarkRows(Benchmark.objects.select_related("video_set").get(pk=benchmark.pk))
        if not rows.has_items:
            raise UserError(
                "nothing_to_export", f"{benchmark.name} has no item.", "Take questions into it first."
            )
        head = rows.head()
        files, escaped = _files(rows, counted)
    counts = {name: files[name].count(b"\n") for name in bundle.LINES}
    files[bundle.BENCHMARK] = json_document(head)
    files["data-card.md"] = data_card(head, counted, counts).encode("utf-8")
    files["benchmark.schema.json"] = bundle.SCHEMA_FILE.read_bytes()
    files["verify.py"] = VERIFIER.read_bytes()
    short = {name.removesuffix(".jsonl"): number for name, number in counts.items()}
    manifest = {"schema": SCHEMA, "benchmark": head["name"], "counts": short}
    try:
        written = write_bundle(folder, files, manifest, escaped=escaped)
    except BundleError as error:
        raise UserError("folder_unusable", str(error)) from None
    _check(folder)
    with transaction.atomic():
        record_event(
            stream="exports",
            actor=by,
            action="export",
            subject_type="benchmark",
            subject_id=benchmark.pk,
            data={"slug": benchmark.slug, "counts": short},
        )
    return Export(folder, written)


def _files(rows: BenchmarkRows, counted: Counted) -> tuple[dict[str, bytes], list[str]]:
    """The files of lines, and the two of them that are tables as well, with those that were escaped."""

    def encoded(name: str, found: Iterable[Row], lines: list[bytes]) -> Iterator[Row]:
        for row in found:
            counted.count(name, row)
            lines.append(bundle.json_line(row))
            yield row

    sources: dict[str, Callable[[], Iterator[Row]]] = {
        bundle.ITEMS: rows.items,
        bundle.REFERENCES: rows.references,
        bundle.ANSWERS: rows.answers,
        bundle.RATINGS: rows.ratings,
        bundle.DIFFICULTY: rows.judgements,
        bundle.TAXONOMY: rows.labels,
        bundle.GROUNDING: rows.scores,
    }
    tables = {
        bundle.ANSWERS: ("answers.csv", ANSWER_COLUMNS, _answer_cells),
        bundle.RATINGS: ("ratings.csv", RATING_COLUMNS, _rating_cells),
    }
    files: dict[str, bytes] = {}
    escaped = []
    for name, source in sources.items():
        lines: list[bytes] = []
        passing = encoded(name, source(), lines)
        if name in tables:
            table, columns, cells = tables[name]
            view = write_csv(columns, map(cells, passing))
            files[table] = view.data
            escaped += [table] if view.escaped else []
        else:
            for _ in passing:
                pass
        files[name] = b"".join(lines)
    return files, escaped


def _answer_cells(row: Row) -> list[Cell]:
    codes = " ".join(warning["code"] for warning in row["warnings"])
    return [*(row[name] for name in ANSWER_COLUMNS[:7]), codes, row["source"]]


def _rating_cells(row: Row) -> list[Cell]:
    return [
        *(row[name] for name in RATING_COLUMNS[:7]),
        "person" if row["person"] else "judge",
        row["person"] or row["judge"],
        *(row[name] for name in ("value", "status", "why")),
        row["about"] is None,
        row["words"],
    ]


def _check(folder: Path) -> None:
    problems: list[Any] = list(verify(folder))
    if not problems:
        reader = bundle.BundleReader(folder)
        reader.items()
        for _ in reader.others():
            pass
        problems = list(reader.problems)
    if problems:
        raise UserError(
            "export_failed",
            f"The export in {folder} is not whole: {problems[0]}",
            "Export again.",
            status=409,
        )
