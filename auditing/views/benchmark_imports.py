"""Import into a benchmark: choose a file, look at what was read, then store all of it, or what has no problem."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from auditing.models import Benchmark
from auditing.selectors.benchmark_ratings import REASONS
from auditing.selectors.benchmark_words import warning_code_words
from auditing.selectors.reasoning_words import counted
from auditing.services.anchor import imports
from auditing.views.benchmark_forms import RowsFileForm
from auditing.views.benchmark_parts import find, frame
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.kept_files import Kept, KeptFiles
from videos.services.uploads import clean_name

SHOWN_PROBLEMS = 100
SHOWN_NOTES = 20
FILES = KeptFiles("uploads-benchmarks")
GONE = "This file is no longer there: it was imported, or it is older than two hours."


def benchmark_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose a file. One that can be opened goes on to its preview, whatever is in it."""
    benchmark = find(slug)
    form = RowsFileForm(request.POST, request.FILES) if request.method == "POST" else RowsFileForm()
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        upload = FILES.keep(
            file.read(),
            user=_user_id(request),
            filename=clean_name(file.name),
            about={"benchmark": str(benchmark.pk)},
        )
        return redirect("auditing:benchmark_import_confirm", slug, upload)
    context = frame(request, benchmark, "import", form=form)
    return render(request, "auditing/benchmark_import.html", context, status=422 if form.errors else 200)


def benchmark_import_confirm(request: HttpRequest, slug: str, upload: uuid.UUID) -> HttpResponse:
    """What was read from the file; POST stores it. With `skip` rows with a problem are left out and counted."""
    benchmark = find(slug)
    kept = FILES.find(upload, _user_id(request))
    if kept is None or kept.about != {"benchmark": str(benchmark.pk)}:
        return _gone(request, slug)
    try:
        rows = imports.read(FILES.content(upload), kept.filename)
    except FileNotFoundError:
        return _gone(request, slug)
    except UserError as error:
        return _preview(request, benchmark, upload, kept, None, str(error))
    if request.method != "POST":
        return _preview(request, benchmark, upload, kept, rows)
    if not FILES.claim(upload):
        return _gone(request, slug)
    try:
        report = imports.commit(benchmark, rows, request.user, skip=bool(request.POST.get("skip")))
    except Exception as error:
        FILES.release(upload)
        if not isinstance(error, UserError):
            raise
        return _preview(request, benchmark, upload, kept, rows, str(error))
    FILES.forget(upload)
    messages.success(request, report_words(report, kept.filename))
    for said in doubts(report):
        messages.warning(request, said)
    return redirect("auditing:benchmark_detail", slug)


def report_words(report: imports.Report, filename: str) -> str:
    """What an import did, in one or two sentences."""
    stored = ", ".join(f"{number:,} {kind}" for kind, number in report.stored.items() if number)
    said = f"From {filename}: {stored or 'nothing new'}."
    if there := sum(report.unchanged.values()):
        said += f" {there:,} {'was' if there == 1 else 'were'} there already, word for word."
    if report.rated_by_rule:
        said += f" {counted(report.rated_by_rule, 'answer')} to questions with options compared with the right one."
    return said


def doubts(report: imports.Report) -> list[str]:
    """What of an import counts as missing or could not be read, in sentences."""
    said = []
    if report.left_out:
        said.append(f"Left out because of a problem: {counted(report.left_out, 'row')}.")
    if report.missing_ratings:
        reasons = ", ".join(
            f"{number:,} {REASONS.get(why, why.removeprefix('invalid:').replace('_', ' '))}"
            for why, number in report.missing_ratings.items()
        )
        said.append(f"Ratings without a value, which count as missing: {reasons}.")
    if report.warnings:
        codes = ", ".join(
            f"{number:,} {warning_code_words(code)}" for code, number in report.warnings.items()
        )
        said.append(f"Answers that could not be read in full: {codes}.")
    return said


def _preview(
    request: HttpRequest,
    benchmark: Benchmark,
    upload: uuid.UUID,
    kept: Kept,
    rows: imports.Rows | None,
    refused: str = "",
) -> HttpResponse:
    found: Any = None if rows is None else imports.preview(benchmark, rows)
    problems = [] if found is None else found.problems
    notes = [] if found is None else found.notes
    context = frame(
        request,
        benchmark,
        "import",
        upload=upload,
        filename=kept.filename,
        refused=refused,
        counts={} if found is None else found.counts,
        total=0 if found is None else sum(found.counts.values()),
        problems=problems[:SHOWN_PROBLEMS],
        problem_count=len(problems),
        notes=notes[:SHOWN_NOTES],
        more_notes=max(0, len(notes) - SHOWN_NOTES),
    )
    status = 422 if refused else 200
    return render(request, "auditing/benchmark_import_confirm.html", context, status=status)


def _gone(request: HttpRequest, slug: str) -> HttpResponse:
    messages.error(request, GONE)
    return redirect("auditing:benchmark_import", slug)


def _user_id(request: HttpRequest) -> int:
    # The permission matrix lets nobody in who is not logged in.
    return int(request.user.pk or 0)
