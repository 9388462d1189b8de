"""Pages of one video: what is known of it, a player to check it, changing, trying again, removing."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from reasonaudit.lib.errors import UserError
from videos import tasks
from videos.core.timebase import PictureIndex
from videos.models import MediaRun, Video
from videos.selectors.transcripts import transcript_state
from videos.selectors.videos import newest_run, playback, rows_of
from videos.services import videos
from videos.views.forms import VideoForm

STRIP = {"count": 16, "lines": 72}
MOST_QUESTIONS = 200


def video_by(public_id: uuid.UUID) -> Video:
    """The video of this public id with its set; 404 where there is none."""
    return get_object_or_404(Video.objects.select_related("video_set"), public_id=public_id)


@require_GET
def video_detail(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Facts, times of the pictures, a player; asks itself again while work goes on."""
    row = video_by(video)
    how = playback(row)
    context: dict[str, Any] = {
        **_context(row),
        "row": rows_of([row])[0],
        "run": newest_run(row, MediaRun.Kind.PREPARE),
        "playback": how,
        "going_on": row.is_waiting or how["state"] in {"waiting", "making"},
        "times": _times(row),
        "strip": STRIP,
        "speech": transcript_state(row) if row.is_ready else None,
        "questions": list(row.questions.order_by("number")[:MOST_QUESTIONS]),
        "question_total": row.questions.count(),
    }
    return render(request, "videos/video_detail.html", context)


def video_change(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Change title, licence or attribution."""
    row = video_by(video)
    form = VideoForm(request.POST) if request.method == "POST" else VideoForm.of(row)
    if request.method == "POST" and form.is_valid():
        try:
            videos.video_change(video=row, by=request.user, **form.cleaned_data)
            return redirect("videos:video_detail", row.public_id)
        except UserError as error:
            form.add_user_error(error)
    return render(
        request,
        "videos/video_change.html",
        {**_context(row), "form": form},
        status=422 if form.errors else 200,
    )


@require_POST
def video_again(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Prepare a refused or failed video anew."""
    row = video_by(video)
    try:
        tasks.enqueue_again(row, request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("videos:video_detail", row.public_id)


@require_POST
def video_playback(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Have the playback file made."""
    row = video_by(video)
    try:
        tasks.enqueue_proxy(row, request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("videos:video_detail", row.public_id)


def video_remove(request: HttpRequest, video: uuid.UUID) -> HttpResponse:
    """Ask, then remove the video; refused where people's work hangs on it."""
    row = video_by(video)
    if request.method == "POST":
        try:
            videos.remove(video=row, by=request.user, reason=request.POST.get("reason", "").strip()[:1000])
        except UserError as error:
            context = {**_context(row), "refused": str(error)}
            return render(request, "videos/video_remove.html", context, status=error.status)
        messages.success(request, f"{row.title} was removed.")
        return redirect("videos:set_detail", row.video_set.slug)
    context = {**_context(row), "question_total": row.questions.count()}
    return render(request, "videos/video_remove.html", context)


def _context(row: Video) -> dict[str, Any]:
    return {"section": "videos", "video": row, "video_set": row.video_set}


def _times(row: Video) -> dict[str, Any] | None:
    """How the pictures lie in time, None until that is known."""
    if row.picture_index is None:
        return None
    index = PictureIndex.from_bytes(bytes(row.picture_index))
    gaps = index.ticks[1:] - index.ticks[:-1]
    per_tick = 1_000_000 * index.num / index.den
    return {
        "n": index.n,
        "rate": float(index.mean_rate),
        "constant": index.is_constant,
        "time_base": f"{index.num}/{index.den}",
        "shortest_us": int(gaps.min() * per_tick) if len(gaps) else None,
        "longest_us": int(gaps.max() * per_tick) if len(gaps) else None,
        "last_us": index.clip_us(index.n - 1),
        "duration_us": index.duration_us,
    }
