"""Benchmarks as files: download one with all that was said in it, import one that was downloaded."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from annotation.views.forms import ServiceForm
from auditing.models import Benchmark, GroundingScore, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_people import by_people
from auditing.selectors.reasoning_words import counted
from auditing.services.anchor import bundle_import, exports
from auditing.views import prepared
from auditing.views.benchmark_blind import open_after_rating
from auditing.views.benchmark_parts import find, frame
from auditing.views.uploads import MAX_BYTES
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.kept_files import Kept, KeptFiles
from videos.models import Video, VideoSet
from videos.services.uploads import clean_name

CLIPS_LISTED = 50
SHOWN_PROBLEMS = 100
FILES = KeptFiles("uploads-bundles")
GONE = "This file is no longer there: it was imported, or it is older than two hours."


class BundleForm(forms.Form):
    """The archive of an exported benchmark, and the clips that it is about."""

    file = forms.FileField(
        label="Archive of an exported benchmark",
        help_text="The ZIP file that an export gave you. Its checksums are checked before anything is stored.",
    )
    video_set = forms.ModelChoiceField(
        label="Set of videos",
        queryset=VideoSet.objects.order_by("name"),
        empty_label="Choose a set",
        help_text="It must have the clips: they are found by their SHA-256, else by their title. Questions that it "
        "does not have are made.",
    )

    def clean_file(self) -> Any:
        """Refuse what is too long for a page."""
        file = self.cleaned_data["file"]
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MAX_BYTES:,}. Use `manage.py benchmark restore`."
            )
        return file


class NameForm(ServiceForm):
    """What the imported benchmark is called."""

    name = forms.CharField(label="Name of the benchmark", max_length=200)


@open_after_rating("export")
def benchmark_export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the archive will hold, and under which licences its clips are; POST makes it and sends it."""
    benchmark = find(slug)
    if request.method != "POST":
        return _export_page(request, benchmark)

    def make(folder: Path) -> dict[str, Any]:
        return {"counts": exports.export_benchmark(benchmark, folder, by=request.user).manifest["counts"]}

    try:
        # Below nought, so that no page of a study finds it.
        name = prepared.prepare(
            user=int(request.user.pk or 0), study=-benchmark.pk, filename=f"{slug}.zip", make=make
        )
    except UserError as error:
        return _export_page(request, benchmark, error)
    return FileResponse(
        prepared.path_of(name).open("rb"),
        as_attachment=True,
        filename=f"{benchmark.slug}.zip",
        content_type="application/zip",
    )


def benchmark_bundle(request: HttpRequest) -> HttpResponse:
    """Choose an archive and a set of videos; an archive that is whole goes on to its preview."""
    form = BundleForm(request.POST, request.FILES) if request.method == "POST" else BundleForm()
    problems: list[str] = []
    if request.method == "POST" and form.is_valid():
        file, video_set = form.cleaned_data["file"], form.cleaned_data["video_set"]
        data = file.read()
        try:
            with bundle_import.opened(data):
                pass
        except UserError as error:
            form.add_error("file", str(error))
            problems = [str(problem) for problem in error.fields.get("files", [])]
        else:
            upload = FILES.keep(
                data,
                user=int(request.user.pk or 0),
                filename=clean_name(file.name),
                about={"video_set": str(video_set.pk)},
            )
            return redirect("auditing:benchmark_bundle_confirm", upload)
    context = {"section": "benchmarks", "form": form, "problems": problems}
    return render(request, "auditing/benchmark_bundle.html", context, status=422 if form.errors else 200)


def benchmark_bundle_confirm(request: HttpRequest, upload: uuid.UUID) -> HttpResponse:
    """What the archive holds for the set, and every problem; POST makes the benchmark."""
    kept = FILES.find(upload, int(request.user.pk or 0))
    video_set = None if kept is None else VideoSet.objects.filter(pk=kept.about.get("video_set", "")).first()
    if kept is None or video_set is None:
        return _gone(request)
    try:
        data = FILES.content(upload)
    except FileNotFoundError:
        return _gone(request)
    form = NameForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return _preview(request, upload, kept, video_set, data, form)
    if not FILES.claim(upload):
        return _gone(request)
    try:
        with bundle_import.opened(data) as folder:
            made = bundle_import.commit(folder, video_set, name=form.cleaned_data["name"], by=request.user)
    except Exception as error:
        FILES.release(upload)
        if not isinstance(error, UserError):
            raise
        form.add_user_error(error)
        return _preview(request, upload, kept, video_set, data, form)
    FILES.forget(upload)
    messages.success(
        request, f"The benchmark “{made.name}” was imported with {counted(made.items.count(), 'item')}."
    )
    return redirect("auditing:benchmark_detail", made.slug)


def _export_page(request: HttpRequest, benchmark: Benchmark, error: UserError | None = None) -> HttpResponse:
    clips = (
        Video.objects.filter(questions__benchmark_items__benchmark=benchmark)
        .select_related("video_set")
        .only("title", "licence", "attribution", "video_set__licence", "video_set__attribution")
        .order_by("title", "pk")
        .distinct()
    )
    unlicensed = clips.filter(licence="", video_set__licence="").count()
    total = clips.count()
    context = frame(
        request,
        benchmark,
        "export",
        refused="" if error is None else str(error),
        counts=list(_counts(benchmark).items()),
        clips=clips[:CLIPS_LISTED],
        more_clips=max(0, total - CLIPS_LISTED),
        unlicensed=unlicensed,
    )
    return render(
        request, "auditing/benchmark_export.html", context, status=200 if error is None else error.status
    )


def _counts(benchmark: Benchmark) -> Mapping[str, int]:
    answers = ModelAnswer.objects.filter(item__benchmark=benchmark)
    ratings = Rating.objects.filter(answer__item__benchmark=benchmark)
    people = by_people()
    return {
        "items": benchmark.items.count(),
        "references": Reference.objects.filter(item__benchmark=benchmark).count(),
        "answers": answers.filter(role="chain").count(),
        "rollouts": answers.filter(role="rollout").count(),
        "ratings of judges": ratings.exclude(people).count(),
        "ratings of people": ratings.filter(people).count(),
        "grounding scores": GroundingScore.objects.filter(answer__item__benchmark=benchmark).count(),
    }


def _preview(
    request: HttpRequest,
    upload: uuid.UUID,
    kept: Kept,
    video_set: VideoSet,
    data: bytes,
    form: NameForm | None,
) -> HttpResponse:
    refused, found = "", bundle_import.Found(None)
    try:
        with bundle_import.opened(data) as folder:
            found = bundle_import.preview(folder, video_set)
    except UserError as error:
        refused = str(error)
    context = {
        "section": "benchmarks",
        "upload": upload,
        "filename": kept.filename,
        "video_set": video_set,
        "refused": refused,
        "found": found,
        "counts": list(found.counts.items()),
        "problems": found.problems[:SHOWN_PROBLEMS],
        "form": form or NameForm(initial={"name": (found.head or {}).get("name", "")}),
    }
    bad = bool(refused or found.problem_count or (form and form.errors))
    return render(request, "auditing/benchmark_bundle_confirm.html", context, status=422 if bad else 200)


def _gone(request: HttpRequest) -> HttpResponse:
    messages.error(request, GONE)
    return redirect("auditing:benchmark_bundle")
