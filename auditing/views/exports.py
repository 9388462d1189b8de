"""Downloads: the audits of a data set and the manifest of a run."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.models import Dataset
from auditing.models import AuditRun
from auditing.selectors import datasets
from auditing.services import exports
from auditing.views.datasets import chosen_run
from reasonaudit.lib.errors import UserError


def dataset_export(request: HttpRequest, slug: str) -> HttpResponse:
    """The audits shown of a data set as one archive: JSON lines, tables, manifest and checksums."""
    dataset = get_object_or_404(Dataset, slug=slug)
    run = chosen_run(request.GET, list(datasets.runs_of(dataset)))
    with tempfile.TemporaryDirectory(prefix="export-") as made:
        folder = Path(made) / "audits"
        try:
            if run is None:
                exports.export_dataset(dataset, folder)
            else:
                exports.export_run(run, folder)
        except UserError as error:
            messages.error(request, str(error))
            return redirect("auditing:dataset_detail", slug)
        content = archive(folder)
    name = dataset.slug if run is None else f"{dataset.slug}-run-{run.pk}"
    return download(content, f"{name}-audits.zip", "application/zip")


def run_manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything needed to repeat a run, as JSON."""
    run = get_object_or_404(AuditRun, pk=pk)
    text = json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return download(text.encode(), f"run-{run.pk}-manifest.json", "application/json")


def archive(folder: Path) -> bytes:
    """The files below a folder as a ZIP archive."""
    buffer = io.BytesIO()
    pack(folder, buffer)
    return buffer.getvalue()


def pack(folder: Path, target: Path | BinaryIO) -> None:
    """Write the files below a folder as a ZIP archive."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())


def download(content: bytes, filename: str, kind: str) -> HttpResponse:
    """An answer that the browser saves under a name of our own making (letters, digits, dots, dashes)."""
    response = HttpResponse(content, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
