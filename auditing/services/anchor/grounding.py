"""How well what an answer cites meets a reference: boxes on pictures, times of both cues, sounds.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", appendix A.6 (spec D5). Choices where
the paper is open, in words:

- All tracks of the reference and all boxes of the answer are compared, whatever their labels say, on every picture on
  which a track is visible, interpolated boxes included. Two measures stand side by side: over visible pictures, as the
  paper has it, and box by box, as trackers are evaluated.
- The times of a cue are compared with the times of the same cue of the reference. "Throughout" is the whole clip.
- The times of the audio cue are also compared with the refined sounds: those that an evidence link names, or all where
  none is named.
- Where one side has nothing there is no number but the reason: an answer that was never asked for boxes would
  otherwise count as one whose boxes are all wrong. How many answers have a number stands beside every mean.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.grounding import grounding, match_boxes, match_times, visible_boxes
from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, GroundingScore, ModelAnswer, Reference
from auditing.selectors.benchmark_ratings import chains, main
from auditing.services import work
from auditing.services.anchor.changes import changed
from auditing.services.pipeline import Ending
from auditing.services.work import Counts, Lease
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.models import RunState
from videos.core.intervals import Interval
from videos.core.tracks import Track
from videos.models import Video

SCHEMA = "reasonaudit.grounding-score/1"
CANCELLED = "Cancelled. Answers that were compared keep their scores; resuming compares the rest."

WHY: Mapping[str, str] = {
    "no_video": "The clip is missing or not prepared.",
    "unreadable": "The answer could not be read.",
    "no_boxes": "The answer cites no boxes.",
    "no_tracks": "The reference has no tracks.",
    "no_times": "The answer cites no times.",
    "no_reference_times": "The reference names no times.",
    "no_sounds": "The reference has no sounds.",
    "points_only": "Only points in time are named, which have no length.",
    "beyond_clip": "Every cited time lies beyond the end of the clip.",
}
"""Why a part of a score is missing, in the words of pages."""

PARTS = ("boxes", "visual", "audio", "sounds")


def inputs_sha256(answer_sha256: str, reference_sha256: str, duration: int | None, match_from: float) -> str:
    """Return the hash of all that a score follows from; `duration` is that of the clip, None until it is prepared."""
    return sha256_of([SCHEMA, answer_sha256, reference_sha256, match_from, duration])


def score(answer: ModelAnswer, reference: Reference, *, match_from: float | None = None) -> dict[str, Any]:
    """Compare what an answer cites with a reference of the same item (appendix A.6).

    Parameters
    ----------
    match_from : float, optional
        IoU from which a pair of boxes counts; by default that of the benchmark.

    Returns
    -------
    dict
        ``{"schema", "match_from", "boxes", "visual", "audio", "sounds"}``. Every part has ``why``, a key of `WHY` or
        "", and what could not be computed is null. ``boxes``: ``pictures`` is the core `Grounding`, ``single`` the core
        `BoxMatch`; ``cited`` and ``reference`` count tracks. The other parts are the core `TimeMatch` with the times
        that were compared, ``cited`` and ``reference``, lists of [start, end] in microseconds of the clip.
    """
    benchmark = answer.item.benchmark
    video = answer.item.question.video
    limit = (
        BenchmarkParameters.from_dict(benchmark.parameters).match_from if match_from is None else match_from
    )
    duration = duration_of(video)
    return {
        "schema": SCHEMA,
        "match_from": limit,
        "boxes": _boxes(answer.document, reference.document, duration, limit),
        **{step: _step(answer.document, reference.document, duration, step) for step in ("visual", "audio")},
        "sounds": _sounds(answer.document, reference.document, duration),
    }


def store(answer: ModelAnswer, reference: Reference, match_from: float) -> bool:
    """Score an answer and keep it, unless it is scored already; returns whether it was scored now. In a transaction."""
    length = duration_of(answer.item.question.video)
    now = inputs_sha256(answer.sha256, reference.sha256, length, match_from)
    row = GroundingScore.objects.filter(answer=answer, reference=reference).first()
    if row is not None and row.inputs_sha256 == now:
        return False
    row = row or GroundingScore(answer=answer, reference=reference)
    row.document = score(answer, reference, match_from=match_from)
    row.inputs_sha256 = now
    row.save()
    return True


def pairs(
    benchmark: Benchmark, items: Sequence[BenchmarkItem], choices: Mapping[str, Any]
) -> dict[int, list[tuple[ModelAnswer, Reference]]]:
    """Return which answers a run compares with which references, by item; all items given are there.

    Parameters
    ----------
    choices : mapping
        ``models`` (a list, or None for all), ``setting`` and ``references`` (sources); without them the main ones.
    """
    found: dict[int, list[tuple[ModelAnswer, Reference]]] = {item.pk: [] for item in items}
    answers, wanted = _compared(benchmark, items, choices)
    references: dict[int, list[Reference]] = {}
    for reference in wanted.order_by("item", "source"):
        references.setdefault(reference.item_id, []).append(reference)
    for answer in answers.select_related("item__benchmark", "item__question__video"):
        found[answer.item_id] += [(answer, reference) for reference in references.get(answer.item_id, ())]
    return found


def count_pairs(
    benchmark: Benchmark, items: Sequence[BenchmarkItem], choices: Mapping[str, Any]
) -> dict[int, int]:
    """Return how many `pairs` there are of each item; items without one are left out."""
    answers, references = (
        Counter(rows.values_list("item_id", flat=True)) for rows in _compared(benchmark, items, choices)
    )
    return {pk: count * references[pk] for pk, count in answers.items() if references[pk]}


def _compared(
    benchmark: Benchmark, items: Sequence[BenchmarkItem], choices: Mapping[str, Any]
) -> tuple[QuerySet[ModelAnswer], QuerySet[Reference]]:
    answers = chains(benchmark, choices.get("setting") or None).filter(item__in=items)
    if (models := choices.get("models")) is not None:
        answers = answers.filter(model__in=models)
    sources = choices.get("references") or [main(benchmark, "reference")]
    return answers, Reference.objects.filter(item__in=items, source__in=sources)


def carry_out(lease: Lease, run: BenchmarkRun, should_stop: Callable[[], bool]) -> Ending:
    """Compare the answers of a run's open items with their references; the body of its step "ground".

    An item's count is its pairs of answer and reference; those that were compared before count as cached. An item
    without a pair is done at once: it lacks nothing that a run could make.
    """
    rows = work.open_rows(lease, lambda items: items.select_related("item"))
    match_from = BenchmarkParameters.from_dict(run.benchmark.parameters).match_from
    for row in rows:
        if should_stop():
            return Ending(RunState.QUEUED)
        with transaction.atomic():
            touched = work.touch(lease)
        if touched.cancel_requested:
            return Ending(RunState.CANCELLED, CANCELLED)
        wanted = pairs(run.benchmark, [row.item], run.choices)[row.item_id]
        with transaction.atomic():
            lease.locked_run()
            made = sum(store(answer, reference, match_from) for answer, reference in wanted)
            n = len(wanted)
            work.touch(lease, {row.pk: Counts(cached=n - made - row.cached)})
            work.settle(lease, row, n, {}, n, words=str)
            if made:
                changed(run.benchmark)
    return Ending(RunState.DONE)


def duration_of(video: Video) -> int | None:
    """Length of a clip in microseconds; None where it is not prepared."""
    return video.duration_us if video.is_ready else None


def _tracks(document: Mapping[str, Any]) -> list[Track]:
    return [Track.from_json(track) for track in document["tracks"].values()]


def _boxes(
    answer: Mapping[str, Any] | None, reference: Mapping[str, Any], duration: int | None, match_from: float
) -> dict[str, Any]:
    cited = [] if answer is None else _tracks(answer)
    wanted = _tracks(reference)
    missing = _first(
        no_video=duration is None, unreadable=answer is None, no_tracks=not wanted, no_boxes=not cited
    )
    found, single = None, None
    if not missing:
        sides = visible_boxes(cited), visible_boxes(wanted)
        found, single = asdict(grounding(*sides)), asdict(match_boxes(*sides, match_from))
    return {
        "why": missing,
        "cited": len(cited),
        "reference": len(wanted),
        "pictures": found,
        "single": single,
    }


def _step(
    answer: Mapping[str, Any] | None, reference: Mapping[str, Any], duration: int | None, step: str
) -> dict[str, Any]:
    return _times(
        _stated(answer, step, duration), _stated(reference, step, duration), duration, answer is None
    )


def _sounds(
    answer: Mapping[str, Any] | None, reference: Mapping[str, Any], duration: int | None
) -> dict[str, Any]:
    linked = {link["target"] for link in reference["links"].values() if link["kind"] == "event"}
    events = [entry for key, entry in reference["events"].items() if not linked or key in linked]
    spans = sorted((entry["start_us"], entry["end_us"]) for entry in events)
    cited = _stated(answer, "audio", duration)
    return _times(cited, spans, duration, answer is None, nothing="no_sounds")


def _stated(document: Mapping[str, Any] | None, step: str, duration: int | None) -> list[Interval]:
    """The times of a cue in their order; the whole clip where the cue says so."""
    if document is None:
        return []
    timeframe = document["cot"][step]["timeframe"]
    spans = [(start, end) for start, end in timeframe["intervals"]]
    return [*spans, (0, duration)] if timeframe["whole"] and duration else spans


def _times(
    cited: Sequence[Interval],
    wanted: Sequence[Interval],
    duration: int | None,
    unreadable: bool,
    nothing: str = "no_reference_times",
) -> dict[str, Any]:
    missing = _first(
        no_video=duration is None,
        unreadable=unreadable,
        **{nothing: not wanted},
        no_times=not cited,
        beyond_clip=duration is not None
        and not any(start < duration or start == end == duration for start, end in cited),
    )
    found = asdict(match_times(cited, wanted, duration))
    if not missing and found["precision"] is None:
        missing = "points_only"
    if missing:
        found.update(tiou=None, precision=None, recall=None, f1=None)
    return {"why": missing, **found, "cited": _lists(cited), "reference": _lists(wanted)}


def _first(**reasons: bool) -> str:
    """The first reason that holds, "" without one."""
    return next((name for name, holds in reasons.items() if holds), "")


def _lists(spans: Iterable[Interval]) -> list[list[int]]:
    return [list(span) for span in spans]
