"""Pages of what people work on in a study: the items, choosing traces or questions, and one item."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.models import Assignment, Gold, ItemGold, Problem, Segment, Study, StudyItem, Trace
from annotation.selectors.guidelines import SHOWN_ORDER
from annotation.selectors.study_progress import item_rows, items_of
from annotation.selectors.study_questions import (
    QuestionChoice,
    clips_not_ready,
    clips_to_make_playable,
    free_questions,
    question_facets,
)
from annotation.selectors.study_traces import TraceChoice, facets, free_traces
from annotation.services import items as services
from annotation.views.forms import OverlapForm, QuestionsForm, TracesForm
from annotation.views.query import whole_number
from annotation.views.studies import study_context, study_of
from reasonaudit.lib.errors import UserError
from videos.models import VideoQuestion
from videos.tasks import enqueue_proxy

PAGE_SIZE = 50


@require_GET
def study_items(request: HttpRequest, slug: str) -> HttpResponse:
    """The items with everybody's state and how far they agree."""
    study = study_of(request)
    kinds = [kind for kind in request.GET.getlist("kind") if kind in StudyItem.Kind.values]
    search = request.GET.get("q", "").strip()[:200]
    problems = [problem for problem in request.GET.getlist("problem") if problem in Problem.values]
    page = Paginator(items_of(study, kinds, search, problems), PAGE_SIZE).get_page(request.GET.get("page"))
    context = study_context(study, "items") | {
        "page": page,
        "rows": item_rows(page.object_list),
        "kinds": StudyItem.Kind.choices,
        "chosen": kinds,
        "search": search,
        "problems": Problem.choices,
        "reported": problems,
    }
    return render(request, "annotation/study_items.html", context)


def study_items_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Traces, or questions, that are not in the study; the ticked ones, or all that match, are added."""
    if study_of(request).is_video:
        return _questions_page(request, study_of(request))
    study, status, form = study_of(request), 200, TracesForm()
    if request.method == "POST":
        form = TracesForm(request.POST)
        if form.is_valid() and _add(request, study, form):
            return redirect("annotation:study_items", study.slug)
        status = 422
    choice = read_choice(request.POST if request.method == "POST" else request.GET)
    page = Paginator(free_traces(study, choice), PAGE_SIZE).get_page(request.GET.get("page"))
    context = study_context(study, "items") | {
        "form": form,
        "choice": choice,
        "page": page,
        "facets": facets(study),
        "labelled": (("", "Any"), ("all", "Every segment"), ("some", "Some"), ("none", "None")),
    }
    return render(request, "annotation/study_items_add.html", context, status=status)


def study_item(request: HttpRequest, item: UUID) -> HttpResponse:
    """One item. POST `action` is `gold` (expected labels), `overlap` or `remove`."""
    row: StudyItem = request.access.object  # type: ignore[attr-defined]
    status, wrong = 200, {}
    form = OverlapForm(initial={"overlap": row.overlap}, videos=row.study.is_video)
    if request.method == "POST":
        try:
            response = _change(request, row)
        except UserError as error:
            messages.error(request, str(error))
            wrong, status = error.fields, 409 if error.status == 409 else 422
        else:
            return response
    work = Assignment.objects.filter(item=row).select_related("member").order_by("member")
    context = study_context(row.study, "items") | {
        "item": row,
        "work": list(work),
        "form": form,
        "wrong": wrong,
    }
    if row.question_id is not None:
        return render(request, "annotation/study_question.html", context, status=status)
    context |= {"trace": row.trace, "segments": _segments(request, row, wrong), "labels": SHOWN_ORDER}
    return render(request, "annotation/study_item.html", context, status=status)


def read_choice(query: QueryDict) -> TraceChoice:
    """The filters that the address, or the form of the list, asks for."""
    labelled = query.get("labelled", "")
    return TraceChoice(
        domains=tuple(query.getlist("domain")),
        generators=tuple(query.getlist("generator")),
        labelled=labelled if labelled in {"all", "some", "none"} else "",
        search=query.get("q", "").strip()[:200],
    )


def read_questions(query: QueryDict) -> QuestionChoice:
    """The filters of questions that the address, or the form of the list, asks for."""
    clips = []
    for word in query.getlist("clip"):
        try:
            clips.append(str(UUID(word)))
        except ValueError:
            continue  # no clip has such an address
    return QuestionChoice(
        videos=tuple(clips),
        difficulties=tuple(query.getlist("difficulty")),
        categories=tuple(query.getlist("category")),
        search=query.get("q", "").strip()[:200],
    )


def _questions_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Questions of the set of videos that are not in the study; the ticked ones, or all that match, are added."""
    status, form = 200, QuestionsForm()
    choice = read_questions(request.POST if request.method == "POST" else request.GET)
    if request.method == "POST":
        form = QuestionsForm(request.POST)
        if form.is_valid() and _add_questions(request, study, choice, form):
            return redirect("annotation:study_items", study.slug)
        status = 422
    page = Paginator(free_questions(study, choice), PAGE_SIZE).get_page(request.GET.get("page"))
    context = study_context(study, "items") | {
        "form": form,
        "choice": choice,
        "page": page,
        "facets": question_facets(study),
    }
    return render(request, "annotation/study_questions_add.html", context, status=status)


def _add_questions(request: HttpRequest, study: Study, choice: QuestionChoice, form: QuestionsForm) -> bool:
    if request.POST.get("all"):
        questions = list(free_questions(study, choice)[: services.MOST_ITEMS + 1])
    else:
        ticked = [pk for word in request.POST.getlist("question") if (pk := whole_number(word)) is not None]
        questions = list(
            VideoQuestion.objects.filter(pk__in=ticked, video_set=study.video_set_id).only(
                "pk", "video_set_id"
            )
        )
    if not questions:
        form.add_error(None, "Tick the questions that you want to add.")
        return False
    try:
        added = services.questions_add(study=study, questions=questions, by=request.user)
    except UserError as error:
        form.add_user_error(error)
        return False
    words = "question" if len(added) == 1 else "questions"
    messages.success(request, f"{len(added):,} {words} added.{_have_clips_played(request, added)}")
    return True


def _have_clips_played(request: HttpRequest, items: list[StudyItem]) -> str:
    """Ask for the playback files that the new items need; a sentence on what is still to come, "" for nothing.

    Only once the items are stored: a clip that cannot be played yet keeps nobody from setting the study up.
    """
    ids = [item.question_id for item in items if item.question_id is not None]
    asked = 0
    for video in clips_to_make_playable(ids):
        try:
            asked += enqueue_proxy(video, request.user) is not None
        except UserError:
            continue  # it is being prepared anew; its own page says how far it is
    said = ""
    if asked:
        said += f" Playback files of {asked:,} clip{'' if asked == 1 else 's'} are being made."
    if unready := clips_not_ready(ids):
        said += f" {unready:,} clip{' is' if unready == 1 else 's are'} not prepared yet."
    return said


def _add(request: HttpRequest, study: Study, form: TracesForm) -> bool:
    if request.POST.get("all"):
        traces = list(free_traces(study, read_choice(request.POST))[: services.MOST_ITEMS + 1])
    else:
        ticked = [
            number for word in request.POST.getlist("trace") if (number := whole_number(word)) is not None
        ]
        traces = list(Trace.objects.filter(pk__in=ticked, case__dataset=study.dataset_id))
    if not traces:
        form.add_error(None, "Tick the traces that you want to add.")
        return False
    try:
        added = services.items_add(study=study, traces=traces, by=request.user, **form.cleaned_data)
    except UserError as error:
        form.add_user_error(error)
        return False
    words = StudyItem.Kind(form.cleaned_data["kind"]).label.lower()
    messages.success(request, f"{len(added):,} {words} item{'' if len(added) == 1 else 's'} added.")
    return True


def _change(request: HttpRequest, row: StudyItem) -> HttpResponse:
    action = request.POST.get("action")
    if action == "gold":
        services.item_gold_set(item=row, labels=_read_gold(request.POST), by=request.user)
        messages.success(request, "The expected labels were saved, in your name.")
    elif action == "overlap":
        form = OverlapForm(request.POST)
        if not form.is_valid():
            raise UserError(
                "bad_overlap",
                "1 to 10 people work on an item.",
                "Leave it empty for as many as the study says.",
            )
        services.item_overlap_set(item=row, overlap=form.cleaned_data["overlap"], by=request.user)
        messages.success(request, "Saved. Give work out again, so that the item gets its people.")
    elif action == "remove":
        services.item_remove(item=row, by=request.user)
        messages.success(request, f"{row} is no longer in the study.")
        return redirect("annotation:study_items", row.study.slug)
    else:
        what = "people" if row.question_id else "expected labels, people"
        raise UserError("bad_change", f"Choose what to change: {what}, or whether it stays.")
    return redirect("annotation:study_item", row.public_id)


def _read_gold(data: QueryDict) -> dict[int, tuple[str, str]]:
    found = {}
    for name, label in data.items():
        index = whole_number(name.removeprefix("label_")) if name.startswith("label_") else None
        if index is not None and label:
            found[index] = (str(label), data.get(f"note_{index}", ""))
    return found


def _segments(request: HttpRequest, row: StudyItem, wrong: dict[str, Any]) -> list[dict[str, Any]]:
    """Segments with the expected label: as typed where the form was refused, else as stored, else as imported."""
    expected = {
        gold.segment_id: gold for gold in ItemGold.objects.filter(item=row).select_related("signed_off_by")
    }
    typed = request.POST if wrong and request.POST.get("action") == "gold" else None
    found = []
    for segment in Segment.objects.filter(trace=row.trace_id, segmentation=row.segmentation).order_by(
        "index"
    ):
        gold = expected.get(segment.pk)
        label, note = (gold.label, gold.note) if gold else ("", "")
        if typed is not None:
            label, note = typed.get(f"label_{segment.index}", ""), typed.get(f"note_{segment.index}", "")
        found.append(
            {
                "row": segment,
                "context": segment.index <= row.trace.context_segments,
                "label": label if label in Gold.values else "",
                "note": note,
                "gold": gold,
                "problem": wrong.get(f"label_{segment.index}") or wrong.get(f"note_{segment.index}"),
            }
        )
    return found
