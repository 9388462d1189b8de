"""What happened in a study, and its progress as a table."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.edit_effort import Mean
from annotation.selectors.qualification import Score
from annotation.selectors.study_events import event_lines, events_of, groups_of
from annotation.selectors.study_progress import (
    MemberProgress,
    RefinerProgress,
    member_progress,
    refiner_progress,
)
from annotation.views.studies import study_context, study_of
from reasonaudit.lib.csv_view import Cell, write_csv

PAGE_SIZE = 50
COLUMNS = (
    "pseudonym", "seniority", "active", "assigned", "handed_in", "begun", "returned", "withdrawn", "labels",
    "timed_labels", "median_seconds_per_segment", "labels_under_2_s", "flagged", "cannot_judge",
    "training_right", "training_judged", "gold_right", "gold_judged", "gold_share", "gold_low", "gold_high",
)  # fmt: skip
VIDEO_COLUMNS = (
    "pseudonym", "seniority", "active", "assigned", "handed_in", "begun", "returned", "withdrawn",
    "timed_questions", "median_minutes_per_question", "operations", "problems", "effort_questions",
    "effort_not_computed", "box_iou", "box_iou_questions", "event_tiou", "event_tiou_questions",
    "timeframe_tiou", "timeframe_tiou_questions", "proposed_texts", "changed_texts", "changed_text_share",
    "word_change", "word_change_questions",
)  # fmt: skip


@require_GET
def study_events(request: HttpRequest, slug: str) -> HttpResponse:
    """The study's record, the newest first, from its chain of events."""
    study, group = study_of(request), request.GET.get("group", "")
    groups = groups_of(study)
    page = Paginator(events_of(study, group), PAGE_SIZE).get_page(request.GET.get("page"))
    context = study_context(study, "events") | {
        "page": page,
        "lines": event_lines(study, page.object_list),
        "groups": [(name, words) for name, (words, _) in groups.items()],
        "group": group if group in groups else "",
    }
    return render(request, "annotation/study_events.html", context)


@require_GET
def study_progress_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Progress person by person, by pseudonym, for a spreadsheet."""
    study = study_of(request)
    if study.is_video:
        table = write_csv(VIDEO_COLUMNS, [_refiner_row(person) for person in refiner_progress(study)])
    else:
        table = write_csv(COLUMNS, [_row(person) for person in member_progress(study)])
    response = HttpResponse(table.data, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{study.slug}-progress.csv"'
    return response


def _row(person: MemberProgress) -> list[Cell]:
    median = person.median_seconds
    return [
        person.member.pseudonym, person.member.seniority, person.member.active, person.assigned,
        person.handed_in, person.begun, person.returned, person.withdrawn, person.labels, person.timed,
        None if median is None else round(median, 3), person.fast, person.flagged, person.cannot_judge,
        person.training.right, person.training.judged, *_gold(person.gold),
    ]  # fmt: skip


def _refiner_row(person: RefinerProgress) -> list[Cell]:
    minutes, effort = person.median_minutes, person.effort
    return [
        person.member.pseudonym, person.member.seniority, person.member.active, person.assigned,
        person.handed_in, person.begun, person.returned, person.withdrawn, person.timed,
        None if minutes is None else round(minutes, 3), person.operations, person.problems,
        effort.n, effort.missing, *_mean(effort.box_iou), *_mean(effort.event_tiou),
        *_mean(effort.timeframe_tiou), effort.texts, effort.changed, _rounded(effort.changed_share),
        *_mean(effort.words),
    ]  # fmt: skip


def _mean(mean: Mean) -> list[Cell]:
    return [_rounded(mean.value), mean.n]


def _rounded(value: float | None) -> Cell:
    return None if value is None else round(value, 4)


def _gold(score: Score) -> list[Cell]:
    low, high = score.interval or (None, None)
    return [
        score.right,
        score.judged,
        *(_rounded(x) for x in (score.share, low, high)),
    ]
