"""Bringing videos into a set: from this computer, or from the server's folder."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from reasonaudit.lib.errors import UserError
from videos import tasks
from videos.models import VideoSet
from videos.services import server_folder
from videos.services.uploads import MAX_PIECE_BYTES
from videos.views.forms import UploadForm

PIECE_BYTES = min(8 * 1024 * 1024, MAX_PIECE_BYTES)


def set_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose videos. With scripts each file goes up in pieces by the API; without, the form sends them all."""
    video_set = get_object_or_404(VideoSet, slug=slug)
    if request.method != "POST":
        return _page(request, video_set, UploadForm())
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, video_set, form)
    taken = 0
    for file in form.cleaned_data["videos"]:
        try:
            video, new = tasks.take_in(
                video_set=video_set, pieces=file.chunks(), file_name=file.name or "", by=request.user
            )
        except UserError as error:
            form.add_user_error(error)
            continue
        taken += new
        if not new:
            messages.info(request, f"{file.name} is in the set already, as {video.title}.")
    if taken:
        messages.success(
            request, f"{taken} video{'' if taken == 1 else 's'} received; the server prepares them now."
        )
    return _page(request, video_set, form) if form.errors else redirect("videos:set_detail", video_set.slug)


@require_POST
def set_from_server(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring in files of the server's folder that are ticked (`name`); each is copied by a worker."""
    video_set = get_object_or_404(VideoSet, slug=slug)
    names = list(dict.fromkeys(request.POST.getlist("name")))[: server_folder.MOST_LISTED]
    if not names:
        messages.error(request, "No file was ticked, so nothing was brought in.")
        return redirect("videos:set_upload", video_set.slug)
    try:
        for name in names:
            server_folder.path_of(name)
        for name in names:
            tasks.enqueue_server_file(video_set, name, request.user)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("videos:set_upload", video_set.slug)
    words = "1 video is" if len(names) == 1 else f"{len(names)} videos are"
    messages.success(request, f"{words} copied from the server's folder and appear here one after another.")
    return redirect("videos:set_detail", video_set.slug)


def _page(request: HttpRequest, video_set: VideoSet, form: UploadForm) -> HttpResponse:
    context: dict[str, Any] = {
        "section": "videos",
        "video_set": video_set,
        "form": form,
        "piece_bytes": PIECE_BYTES,
        "largest": settings.MEDIA_MAX_BYTES,
        "server_files": server_folder.listed(),
        "has_server_folder": server_folder.import_folder() is not None,
    }
    return render(request, "videos/set_upload.html", context, status=422 if form.errors else 200)
