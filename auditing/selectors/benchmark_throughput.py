"""How fast people refined a benchmark's references, and how much of what was proposed they changed.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.4 (about 10 videos an hour).
Only work on questions of the benchmark counts whose main reference is from the study. Choices, in words: time is the
active time that the browser measured, so a pause does not count; work without a known time is in no rate; two people
on one clip are two clips.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from annotation.core.edit_effort import summary
from annotation.core.states import HANDED_IN
from annotation.models import Assignment, Submission
from auditing.models import Benchmark, BenchmarkItem, Reference
from auditing.selectors.benchmark_ratings import main

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class _Work:
    """A handed-in piece of work."""

    study: str
    source: str
    member: int
    video: int
    active_ms: int
    effort: Mapping[str, Any] | None


def study_work(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return what became of each study that main references are from; three queries, whatever the size.

    Returns
    -------
    list of dict
        ``{"study", "name", "total", "by_source"}`` by slug. ``total`` and each value of ``by_source`` (annotation
        source -> the same) have ``work`` (handed in), ``people``, ``timed`` (with a known time), ``hours`` (of these),
        ``items_per_hour``, ``videos_per_hour``, ``median_minutes``, all null without a known time, and ``effort``, the
        core `annotation.core.edit_effort.Summary`.
    """
    of_question: dict[int, tuple[str, str]] = {}
    for question, source, study in Reference.objects.filter(
        item__benchmark=benchmark, source=main(benchmark, "reference"), origin__has_key="study"
    ).values_list("item__question_id", "item__annotation_source", "origin__study"):
        # Where a reference is from came with a file, perhaps.
        if isinstance(study, str):
            of_question[question] = (study, source)
    slugs = {study for study, _ in of_question.values()}
    rows = Assignment.objects.filter(
        item__study__slug__in=slugs, item__question__in=of_question, state__in=HANDED_IN
    ).order_by("pk")
    names: dict[str, str] = {}
    found: dict[int, _Work] = {}
    efforts = _efforts(slugs, of_question)
    for pk, slug, name, question, video, member, active_ms in rows.values_list(
        "pk",
        "item__study__slug",
        "item__study__name",
        "item__question_id",
        "item__question__video_id",
        "member_id",
        "document__active_ms",
    ):
        study, source = of_question[question]
        if study == slug:
            names[slug] = name
            found[pk] = _Work(slug, source, member, video, active_ms or 0, efforts.get(pk))
    return [
        {
            "study": slug,
            "name": names[slug],
            "total": _line(work for work in found.values() if work.study == slug),
            "by_source": {
                source: _line(own)
                for source in BenchmarkItem.Source.values
                if (own := [work for work in found.values() if (work.study, work.source) == (slug, source)])
            },
        }
        for slug in sorted(names)
    ]


def _efforts(slugs: Iterable[str], questions: Iterable[int]) -> dict[int, Mapping[str, Any] | None]:
    """Assignment -> what its last submission changed."""
    rows = Submission.objects.filter(
        assignment__item__study__slug__in=slugs,
        assignment__item__question__in=questions,
        assignment__state__in=HANDED_IN,
        recalled_at=None,
    ).order_by("number")
    return dict(rows.values_list("assignment_id", "effort"))


def _line(rows: Iterable[_Work]) -> dict[str, Any]:
    work = list(rows)
    timed = [row for row in work if row.active_ms > 0]
    hours = sum(row.active_ms for row in timed) / HOUR_MS
    clips = len({(row.member, row.video) for row in timed})
    return {
        "work": len(work),
        "people": len({row.member for row in work}),
        "timed": len(timed),
        "hours": hours if timed else None,
        "items_per_hour": len(timed) / hours if timed else None,
        "videos_per_hour": clips / hours if timed else None,
        "median_minutes": median(row.active_ms for row in timed) / 60_000 if timed else None,
        "effort": asdict(summary(row.effort for row in work)),
    }
