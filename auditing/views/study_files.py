"""Studies as files: download one, import one that was downloaded."""

import tempfile
import uuid
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.formats import study_bundle
from annotation.views.studies import study_of
from auditing.services import study_imports
from auditing.services.study_exports import export_study
from auditing.views.exports import archive, download
from auditing.views.uploads import FILES, MAX_BYTES
from auditing.views.video_study_files import export_page
from reasonaudit.lib.errors import UserError

PEOPLE_PREFIX = "person-"
PROBLEMS_SHOWN = 100


def study_export(request: HttpRequest, slug: str) -> HttpResponse:
    """The whole study as one archive, with checksums, schema and data card; of videos, the choice of a format."""
    study = study_of(request)
    if study.is_video:
        return export_page(request, study)
    with tempfile.TemporaryDirectory(prefix="export-") as made:
        folder = Path(made) / "study"
        export_study(study, folder, by=request.user)
        content = archive(folder)
    return download(content, f"{study.slug}.zip", "application/zip")


class StudyArchiveForm(forms.Form):
    """The archive of an exported study."""

    file = forms.FileField(
        label="Archive of an exported study",
        help_text="The ZIP file that an export gave you. Its checksums are checked before anything is stored.",
    )


class StudyNamesForm(forms.Form):
    """Where the imported study goes."""

    name = forms.CharField(label="Name of the study", max_length=200)
    dataset = forms.CharField(label="Name of its new data set", max_length=200)


def study_import(request: HttpRequest) -> HttpResponse:
    """Choose an archive; one that can be read goes on to its preview."""
    form = StudyArchiveForm(request.POST or None, request.FILES or None)
    problems: list[str] = []
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            if file.size > MAX_BYTES:
                raise UserError(
                    "too_large",
                    f"The file has {file.size:,} bytes; the limit is {MAX_BYTES:,}.",
                    "Use `manage.py import_study` for larger ones.",
                )
            data = file.read()
            study_imports.read_archive(data)
        except UserError as error:
            form.add_error("file", str(error))
            problems = [str(problem) for problem in error.fields.get("files", [])]
        else:
            upload = FILES.keep(data, user=int(request.user.pk or 0), filename=file.name[:200], about={})
            return redirect("auditing:study_import_confirm", upload)
    context = {"section": "studies", "form": form, "problems": problems}
    return render(request, "auditing/study_import.html", context, status=422 if form.errors else 200)


def study_import_confirm(request: HttpRequest, upload: uuid.UUID) -> HttpResponse:
    """What the archive holds and who its people are here; POST imports it."""
    kept = FILES.find(upload, int(request.user.pk or 0))
    if kept is None:
        messages.error(
            request, "This upload is no longer there: it was imported, or it is older than two hours."
        )
        return redirect("auditing:study_import")
    try:
        files = study_imports.read_archive(FILES.content(upload))
    except FileNotFoundError:
        messages.error(request, "This upload is being imported already.")
        return redirect("annotation:study_list")
    bundle, problems = study_bundle.read(files)
    context: dict[str, Any] = {
        "section": "studies",
        "filename": kept.filename,
        "problems": problems[:PROBLEMS_SHOWN],
        "problem_count": len(problems),
    }
    if bundle is None:
        return render(request, "auditing/study_import_confirm.html", context, status=422)
    initial = {"name": bundle.study["name"], "dataset": bundle.study["dataset"]["name"]}
    form = StudyNamesForm(request.POST or None, initial=initial)
    members = [
        {
            **row,
            "field": f"{PEOPLE_PREFIX}{number}",
            "value": request.POST.get(f"{PEOPLE_PREFIX}{number}", ""),
        }
        for number, row in enumerate(bundle.rows["members.jsonl"])
    ]
    if request.method == "POST" and form.is_valid():
        people = {row["pseudonym"]: row["value"].strip() for row in members if row["value"].strip()}
        if (made := _import(request, upload, files, people, form)) is not None:
            return made
    counts = [(name.removesuffix(".jsonl"), len(rows)) for name, rows in bundle.rows.items()]
    context |= {"form": form, "members": members, "study": bundle.study, "counts": counts}
    return render(request, "auditing/study_import_confirm.html", context, status=422 if form.errors else 200)


def _import(
    request: HttpRequest,
    upload: uuid.UUID,
    files: dict[str, bytes],
    people: dict[str, str],
    form: StudyNamesForm,
) -> HttpResponse | None:
    """Import and go to the study; None where the form says what to change."""
    if not FILES.claim(upload):
        messages.error(request, "This upload is being imported already.")
        return redirect("annotation:study_list")
    try:
        made = study_imports.import_study(
            files,
            by=request.user,
            people=people,
            name=form.cleaned_data["name"],
            dataset=form.cleaned_data["dataset"],
        )
    except Exception as error:
        FILES.release(upload)
        if not isinstance(error, UserError):
            raise
        form.add_error(None, str(error))
        return None
    FILES.forget(upload)
    messages.success(request, f"Imported {made.labels:,} labels and {made.decisions:,} decisions.")
    return redirect("annotation:study_detail", made.study.slug)
