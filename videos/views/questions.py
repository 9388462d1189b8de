"""Pages of questions: choosing a file, looking at what was read, importing it; one question."""

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.kept_files import Kept, KeptFiles
from videos.core.cot import format_cot
from videos.models import VideoQuestion, VideoSet
from videos.services import question_imports
from videos.services.question_items import SHAPES
from videos.services.uploads import clean_name
from videos.views.forms import QuestionFileForm, QuestionReadingForm

SHOWN_QUESTIONS = 10
SHOWN_PROBLEMS = 100
SHOWN_NOTES = 20
FILES = KeptFiles("uploads-questions")


def questions_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose a file. One that can be opened goes on to its preview, whatever is in it."""
    video_set = get_object_or_404(VideoSet, slug=slug)
    form = QuestionFileForm(request.POST, request.FILES) if request.method == "POST" else QuestionFileForm()
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        name = FILES.keep(
            file.read(),
            user=_user_id(request),
            filename=clean_name(file.name),
            about={"video_set": str(video_set.pk)},
        )
        return redirect("videos:questions_confirm", video_set.slug, name)
    context = {"section": "videos", "video_set": video_set, "form": form}
    return render(request, "videos/questions_import.html", context, status=422 if form.errors else 200)


def questions_confirm(request: HttpRequest, slug: str, upload: uuid.UUID) -> HttpResponse:
    """What was read from the file; POST stores it, all or nothing, or with `action` "read" reads it another way.

    What is stored is what was looked at: how the file is read is kept beside it, not sent with the import.
    """
    video_set = get_object_or_404(VideoSet, slug=slug)
    kept = _kept(request, video_set, upload)
    if kept is None:
        messages.error(
            request, "This file is no longer there: it was imported, or it is older than two hours."
        )
        return redirect("videos:questions_import", video_set.slug)
    about, data = kept
    if request.method == "POST" and request.POST.get("action") == "read":
        form = QuestionReadingForm(request.POST)
        if form.is_valid():
            FILES.note(upload, replace(about, about=_noted(video_set, form.cleaned_data)))
            return redirect("videos:questions_confirm", video_set.slug, upload)
    else:
        form = QuestionReadingForm(initial=_choices(about))
    found = question_imports.preview(video_set=video_set, data=data, name=about.filename, **_choices(about))
    refused = ""
    if request.method == "POST" and not form.is_bound:
        try:
            made = question_imports.commit(video_set=video_set, found=found, by=request.user)
        except UserError as error:
            refused = str(error)
        else:
            FILES.forget(upload)
            words = "1 question" if len(made) == 1 else f"{len(made):,} questions"
            without = f", {len(found.left_out):,} left out" if found.left_out else ""
            messages.success(request, f"Imported {words} from {about.filename}{without}.")
            return redirect(f"{_set_address(video_set)}?tab=questions")
    context: dict[str, Any] = {
        "section": "videos",
        "video_set": video_set,
        "upload": upload,
        "filename": about.filename,
        "found": found,
        "form": form,
        "first": found.placed[:SHOWN_QUESTIONS],
        "problems": found.problems[:SHOWN_PROBLEMS],
        "left_out": found.left_out[:SHOWN_PROBLEMS],
        "notes": found.notes[:SHOWN_NOTES],
        "more_notes": max(0, len(found.notes) - SHOWN_NOTES),
        "refused": refused,
        "can_import": bool(found.placed) and not found.problems,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "videos/questions_confirm.html", context, status=status)


@require_GET
def question_detail(request: HttpRequest, question: uuid.UUID) -> HttpResponse:
    """One question with its answer and the reasoning that came with it."""
    row = get_object_or_404(
        VideoQuestion.objects.select_related("video__video_set").defer("video__picture_index"),
        public_id=question,
    )
    context = {
        "section": "videos",
        "question": row,
        "video": row.video,
        "video_set": row.video.video_set,
        "reasoning": format_cot(row.document["cot"]) if "cot" in row.document else "",
    }
    return render(request, "videos/question_detail.html", context)


def _kept(request: HttpRequest, video_set: VideoSet, upload: uuid.UUID) -> tuple[Kept, bytes] | None:
    """The file of that name with its bytes; None where it has expired or belongs elsewhere."""
    kept = FILES.find(upload, _user_id(request))
    if kept is None or kept.about.get("video_set") != str(video_set.pk):
        return None
    try:
        return kept, FILES.content(upload)
    except FileNotFoundError:
        return None


def _noted(video_set: VideoSet, chosen: dict[str, Any]) -> dict[str, str]:
    """What is kept beside a file: its set, and how it is read."""
    left_out = "yes" if chosen["leave_out"] else ""
    return {"video_set": str(video_set.pk), "shape": chosen["shape"], "leave_out": left_out}


def _choices(kept: Kept) -> dict[str, Any]:
    """How a kept file is read. A shape that this version does not know is recognised anew."""
    shape = kept.about.get("shape", "")
    return {"shape": shape if shape in SHAPES else "", "leave_out": kept.about.get("leave_out") == "yes"}


def _set_address(video_set: VideoSet) -> str:
    return reverse("videos:set_detail", args=[video_set.slug])


def _user_id(request: HttpRequest) -> int:
    # The permission matrix lets nobody in who is not logged in.
    return int(request.user.pk or 0)
