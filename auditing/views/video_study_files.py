"""A study of videos as files: choose the format, see what it keeps and loses, then download."""

import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.core.states import HANDED_IN
from annotation.models import Assignment, Study
from annotation.views.studies import study_context, study_of
from auditing.services.video_export_files import clips_of, summary_of
from auditing.services.video_exports import export_video_study
from auditing.views import prepared
from reasonaudit.lib.errors import UserError
from videos.formats.registry import BOTH, DENSE, FORMATS, Format

LISTED = 20
CLIPS_LISTED = 50


class ExportForm(forms.Form):
    """In which form the documents are written."""

    whose = forms.ChoiceField(
        label="Whose work",
        choices=[
            ("everybody", "Everybody's, and decisions"),
            ("decided", "Decisions only"),
        ],
        initial="everybody",
        help_text="Decisions are made where several people refined the same question.",
    )
    format = forms.ChoiceField(
        label="Format",
        choices=[],
        help_text="The first loses nothing and can be imported again as it was. Sounds go into those for sounds.",
    )
    boxes = forms.ChoiceField(
        label="Boxes",
        choices=[("keyframes", "Keyframes only"), ("every frame", "On every frame")],
        initial="keyframes",
        help_text="VidAT and MOT know boxes on every frame only, ELAN, WebVTT and Audacity none.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            (entry.name, f"{entry.title} ({_holds(entry)})") for entry in FORMATS.values()
        ]

    def chosen(self) -> dict[str, Any]:
        """Arguments of the export; a format that has one kind of boxes, or none, leaves no choice."""
        entry = FORMATS[self.cleaned_data["format"]]
        dense = entry.modes == BOTH and self.cleaned_data["boxes"] in DENSE
        return {"name": entry.name, "dense": dense, "decided_only": self.cleaned_data["whose"] == "decided"}


def export_page(request: HttpRequest, study: Study, form: ExportForm | None = None) -> HttpResponse:
    """What can be exported, and the choice; nothing is made yet."""
    clips = list(clips_of(study))
    context = study_context(study, "export") | {
        "form": form or ExportForm(),
        "handed_in": Assignment.objects.filter(item__study=study, state__in=HANDED_IN).count(),
        "clips": clips[:CLIPS_LISTED],
        "more_clips": max(0, len(clips) - CLIPS_LISTED),
        "unlicensed": sum(clip["licence"] is None for clip in clips),
    }
    return render(
        request, "auditing/video_study_export.html", context, status=422 if form and form.errors else 200
    )


@require_POST
def study_export_make(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the archive, then show what is in it."""
    study = study_of(request)
    if not study.is_video:
        raise UserError(
            "not_found",
            f"{study.name} is a study of traces, which has one kind of export.",
            "Download it from the study's page.",
            status=404,
        )
    form = ExportForm(request.POST)
    if not form.is_valid():
        return export_page(request, study, form)
    choice = form.chosen()

    def make(folder: Path) -> dict[str, Any]:
        written = export_video_study(study, folder, by=request.user, **choice).manifest
        return {"format": written["format"], **asdict(summary_of(written)), "files": len(written["files"])}

    try:
        name = prepared.prepare(
            user=int(request.user.pk or 0),
            study=study.pk,
            filename=f"{study.slug}-{choice['name']}.zip",
            make=make,
        )
    except UserError as error:
        form.add_error(None, str(error))
        return export_page(request, study, form)
    return redirect("auditing:study_export_ready", study.slug, name)


@require_safe
def study_export_ready(request: HttpRequest, slug: str, prepared_id: uuid.UUID) -> HttpResponse:
    """What the archive holds and lacks, and its link."""
    study = study_of(request)
    found = _find(request, study, prepared_id)
    if found is None:
        messages.error(request, "This export is no longer there: it is older than two hours. Make it again.")
        return redirect("auditing:study_export", study.slug)
    report = found.report
    context = study_context(study, "export") | {
        "name": prepared_id,
        "report": report,
        "bytes": prepared.path_of(prepared_id).stat().st_size,
        "shown": {kind: report[kind][:LISTED] for kind in ("dropped", "warnings", "refused")},
        "more": {kind: max(0, len(report[kind]) - LISTED) for kind in ("dropped", "warnings", "refused")},
    }
    return render(request, "auditing/video_study_export_ready.html", context)


@require_safe
def study_export_file(request: HttpRequest, slug: str, prepared_id: uuid.UUID) -> HttpResponseBase:
    """The archive itself, sent from the disk."""
    study = study_of(request)
    found = _find(request, study, prepared_id)
    if found is None:
        messages.error(request, "This export is no longer there: it is older than two hours. Make it again.")
        return redirect("auditing:study_export", study.slug)
    return FileResponse(
        prepared.path_of(prepared_id).open("rb"),
        as_attachment=True,
        filename=found.filename,
        content_type="application/zip",
    )


def _find(request: HttpRequest, study: Study, name: uuid.UUID) -> prepared.Prepared | None:
    return prepared.find(name, user=int(request.user.pk or 0), study=study.pk)


def _holds(entry: Format) -> str:
    kinds = [(entry.boxes, "boxes"), (entry.events, "sounds"), (entry.texts, "texts")]
    return ", ".join(what for holds, what in kinds if holds)
