"""Pages of video sets: the list, making one, one with its videos and questions, changing it."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from reasonaudit.lib.errors import UserError
from videos.models import VideoSet
from videos.selectors.sets import question_counts, set_rows
from videos.selectors.videos import questions_of, rows_of, videos_of, waiting_count
from videos.services import server_folder, sets
from videos.views.forms import VideoSetForm

PAGE_SIZE = 50
TABS = ("videos", "questions")


@require_GET
def set_list(request: HttpRequest) -> HttpResponse:
    """All sets, or what to do when there is none."""
    questions = question_counts()
    rows = [(row, questions.get(row.pk, 0)) for row in set_rows()]
    return render(request, "videos/set_list.html", {"section": "videos", "rows": rows})


def set_create(request: HttpRequest) -> HttpResponse:
    """Make a set; its page asks for videos next."""
    form = VideoSetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = sets.set_create(by=request.user, **form.cleaned_data)
            return redirect("videos:set_detail", made.slug)
        except UserError as error:
            form.add_user_error(error)
    context = {"section": "videos", "form": form}
    return render(request, "videos/set_new.html", context, status=422 if form.errors else 200)


@require_GET
def set_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Videos of a set with their state, or its questions (`?tab=questions`); asks itself again while work goes on."""
    video_set = get_object_or_404(VideoSet, slug=slug)
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "videos"
    context: dict[str, Any] = {
        "section": "videos",
        "video_set": video_set,
        "tab": tab,
        "video_total": video_set.videos.count(),
        "question_total": video_set.questions.count(),
        "waiting": waiting_count(video_set),
        "server_folder": server_folder.import_folder() is not None,
    }
    number = request.GET.get("page")
    if tab == "videos":
        videos = Paginator(videos_of(video_set), PAGE_SIZE).get_page(number)
        context |= {"page": videos, "rows": rows_of(list(videos.object_list))}
    else:
        questions = Paginator(questions_of(video_set), PAGE_SIZE).get_page(number)
        context |= {"page": questions, "rows": list(questions.object_list)}
    return render(request, "videos/set_detail.html", context)


def set_change(request: HttpRequest, slug: str) -> HttpResponse:
    """Change name, description, licence or attribution of a set."""
    video_set = get_object_or_404(VideoSet, slug=slug)
    form = VideoSetForm(request.POST) if request.method == "POST" else VideoSetForm.of(video_set)
    if request.method == "POST" and form.is_valid():
        try:
            sets.set_change(video_set=video_set, by=request.user, **form.cleaned_data)
            return redirect("videos:set_detail", video_set.slug)
        except UserError as error:
            form.add_user_error(error)
    context = {"section": "videos", "video_set": video_set, "form": form}
    return render(request, "videos/set_change.html", context, status=422 if form.errors else 200)
