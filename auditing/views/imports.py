"""Import pages: choose a file, look at what was read, then import all of it or nothing."""

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.formats.records import ReadOptions
from annotation.formats.registry import FORMATS
from annotation.models import Dataset
from auditing.services import imports
from auditing.views.forms import ImportForm
from auditing.views.uploads import FILES, MAX_BYTES
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.kept_files import Kept

PREVIEW_TRACES = 5
PREVIEW_PROBLEMS = 100


def import_file(request: HttpRequest) -> HttpResponse:
    """Choose a file. A file that can be opened goes on to its preview, whatever is in it."""
    if request.method != "POST":
        chosen = Dataset.objects.filter(slug=request.GET.get("dataset", "")).first()
        return _form_page(request, ImportForm(initial={"dataset": chosen}))
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form_page(request, form)
    file = form.cleaned_data["file"]
    if file.size > MAX_BYTES:
        form.add_error("file", f"The file has {file.size:,} bytes; the limit is {MAX_BYTES:,}. Split it.")
        return _form_page(request, form)
    upload = FILES.keep(
        file.read(), user=_user_id(request), filename=file.name[:200], about=_choices(request)
    )
    return redirect("auditing:import_confirm", upload)


def import_confirm(request: HttpRequest, upload: uuid.UUID) -> HttpResponse:
    """What was read from the file. POST `action` is `read` (with other choices) or `import`."""
    kept = FILES.find(upload, _user_id(request))
    if kept is None:
        messages.error(
            request, "This upload is no longer there: it was imported, or it is older than two hours."
        )
        return redirect("auditing:import")
    if request.method == "POST":
        kept = replace(kept, about=_choices(request))
        FILES.note(upload, kept)
    form = ImportForm(kept.about, with_file=False)
    if not form.is_valid():
        return _preview_page(request, upload, kept, form, None)
    choice = form.cleaned_data
    options = ReadOptions(
        index_base=int(choice["index_base"]) if choice["index_base"] else None,
        domain=choice["domain"] or None,
    )
    try:
        data = FILES.content(upload)
        preview = imports.read_upload(data, kept.filename, choice["format"] or None, options)
    except FileNotFoundError:
        return _taken(request)
    except UserError as error:
        form.add_error(None, str(error))
        return _preview_page(request, upload, kept, form, None)
    if request.method == "POST" and request.POST.get("action") == "import" and not preview.problems:
        return _import(request, upload, kept, form, preview)
    return _preview_page(request, upload, kept, form, preview)


def _import(
    request: HttpRequest,
    upload: uuid.UUID,
    kept: Kept,
    form: ImportForm,
    preview: imports.ImportPreview,
) -> HttpResponse:
    if not FILES.claim(upload):
        return _taken(request)
    where = form.cleaned_data["dataset"] or form.cleaned_data["name"].strip()
    try:
        outcome = imports.commit(preview, dataset=where, by=request.user)
    except Exception as error:
        FILES.release(upload)
        if not isinstance(error, UserError):
            raise
        form.add_error(None, str(error))
        return _preview_page(request, upload, kept, form, preview)
    FILES.forget(upload)
    messages.success(request, f"Imported {len(outcome.traces)} traces from {kept.filename}.")
    return redirect("auditing:dataset_detail", outcome.dataset.slug)


def _taken(request: HttpRequest) -> HttpResponse:
    messages.error(request, "This upload is being imported already.")
    return redirect("auditing:dataset_list")


def _user_id(request: HttpRequest) -> int:
    # The permission matrix lets nobody in who is not logged in.
    return int(request.user.pk or 0)


def _choices(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "") for name in ImportForm(with_file=False).fields}


def _form_page(request: HttpRequest, form: ImportForm) -> HttpResponse:
    context = {"section": "data", "form": form, "formats": FORMATS.values()}
    return render(request, "auditing/import.html", context, status=422 if form.errors else 200)


def _preview_page(
    request: HttpRequest, upload: uuid.UUID, kept: Kept, form: ImportForm, preview: Any
) -> HttpResponse:
    records = [] if preview is None else preview.records
    context = {
        "section": "data",
        "upload": upload,
        "filename": kept.filename,
        "form": form,
        "preview": preview,
        "format": FORMATS.get(preview.format) if preview is not None and preview.format else None,
        "first": records[:PREVIEW_TRACES],
        "facts": _facts(records),
        "problems": [] if preview is None else preview.problems[:PREVIEW_PROBLEMS],
        "can_import": preview is not None and bool(records) and not preview.problems and not form.errors,
    }
    refused = bool(form.errors) or preview is None or bool(preview.problems)
    status = 422 if request.method == "POST" and refused else 200
    return render(request, "auditing/import_confirm.html", context, status=status)


def _facts(records: list[Any]) -> list[tuple[str, int]]:
    reasoning = [segment for record in records for segment in record.segments[record.context_segments :]]
    return [
        ("Traces", sum(1 for record in records if len(record.segments) > record.context_segments)),
        ("Cases", len({record.case_id for record in records})),
        (
            "Cases without a trace",
            sum(1 for record in records if len(record.segments) <= record.context_segments),
        ),
        ("Reasoning segments", len(reasoning)),
        ("Segments with a gold label", sum(1 for segment in reasoning if segment.gold)),
        ("Stored relations", sum(len(record.relations) for record in records)),
    ]
