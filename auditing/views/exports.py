"""Downloads: a data set's audits and the manifest of a run."""

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from annotation.models import Dataset
from auditing.models import AuditRun
from auditing.selectors import datasets
from auditing.services import exports
from auditing.views.datasets import chosen_run


def dataset_export(request: HttpRequest, slug: str) -> HttpResponse:
    """The audits shown of a data set as JSON lines, one trace a line."""
    dataset = get_object_or_404(Dataset, slug=slug)
    run = chosen_run(request.GET, list(datasets.runs_of(dataset)))
    return _download(exports.audits_jsonl(dataset, run), f"{dataset.slug}-audits.jsonl", "application/x-ndjson")


def run_manifest(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything needed to repeat a run, as JSON."""
    run = get_object_or_404(AuditRun, pk=pk)
    text = json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return _download(text.encode(), f"run-{run.pk}-manifest.json", "application/json")


def _download(content: bytes, filename: str, kind: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
