"""What people do with a clip's transcript; it is shown on the clip's page."""

import uuid

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from reasonaudit.lib.errors import UserError
from videos import tasks
from videos.models import Transcript
from videos.services import transcript_files, transcripts
from videos.views.videos import video_by

SHOWN_NOTES = 5


class TranscriptFileForm(forms.Form):
    """A file of cues."""

    file = forms.FileField(max_length=2000)


@require_POST
def transcript_make(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Have the speech recogniser make a transcript."""
    row = video_by(video)
    try:
        tasks.enqueue_transcript(row, request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("videos:video_detail", row.public_id)


@require_POST
def transcript_stop(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Have the making of a transcript stopped."""
    row = video_by(video)
    transcripts.cancel(video=row, by=request.user)
    return redirect("videos:video_detail", row.public_id)


@require_POST
def transcript_upload(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Take a transcript from a file."""
    row = video_by(video)
    form = TranscriptFileForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "No transcript was uploaded. Choose a WebVTT file (.vtt) that is not empty.")
        return redirect("videos:video_detail", row.public_id)
    file = form.cleaned_data["file"]
    try:
        made, notes = transcript_files.from_file(
            video=row,
            data=file.read(transcript_files.MAX_FILE_BYTES + 1),
            file_name=file.name,
            by=request.user,
        )
    except UserError as error:
        messages.error(request, str(error))
    else:
        count = len(made.words)
        messages.success(request, f"The transcript was taken in: {count:,} cue{'' if count == 1 else 's'}.")
        for note in notes[:SHOWN_NOTES]:
            messages.warning(request, note)
    return redirect("videos:video_detail", row.public_id)


def transcript_remove(request: HttpRequest, video: uuid.UUID, transcript: uuid.UUID) -> HttpResponse:
    """Ask, then remove a transcript; the one before it counts again."""
    row = video_by(video)
    found = get_object_or_404(Transcript, public_id=transcript, video=row)
    if request.method == "POST":
        transcripts.remove(transcript=found, by=request.user)
        messages.success(request, "The transcript was removed.")
        return redirect("videos:video_detail", row.public_id)
    context = {
        "section": "videos",
        "video": row,
        "video_set": row.video_set,
        "transcript": found,
        "others": row.transcripts.exclude(pk=found.pk).count(),
    }
    return render(request, "videos/transcript_remove.html", context)
