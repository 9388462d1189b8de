"""What the page of a rater starts with, and the texts of some answers: question, clip, reference, answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.urls import reverse

from auditing.models import Benchmark, BenchmarkItem, ModelAnswer, Reference
from auditing.selectors.benchmark_rating import (
    LONGEST_NOTE,
    earlier_ratings,
    is_complete,
    own_ratings,
    pool,
    rating_object,
    shown_version,
)
from auditing.selectors.benchmark_rating_words import facet_objects
from auditing.selectors.benchmark_ratings import main
from videos.core.cot import STEPS, format_timeframe
from videos.models import Video
from videos.selectors.access import sees_everything

# Answers whose texts come with one reply; a page asks for the next ones while somebody reads.
AT_ONCE = 20


def rating_payload(benchmark: Benchmark, user: Any, order: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Everything the page starts with: the whole `queue`, own ratings, and the texts of the first open answers."""
    ids = [pk for pk, _ in order]
    own = own_ratings(benchmark, user, ids)
    first = next((place for place, pk in enumerate(ids) if not is_complete(own.get(pk, {}))), 0)
    start = max(first - 1, 0)  # one may look back at once
    address = reverse("api:benchmark-ratings", args=[benchmark.slug])
    return {
        "benchmark": {"slug": benchmark.slug, "name": benchmark.name},
        "facets": facet_objects(),
        "user": {"id": user.pk, "username": user.get_username()},
        "queue": [list(row) for row in order],
        "said": {
            str(pk): {facet: rating_object(row) for facet, row in given.items()} for pk, given in own.items()
        },
        # Rated before, but answer or reference are others now: asked again, and the page says why.
        "earlier": sorted(earlier_ratings(benchmark, user, ids)),
        "limits": {"note": LONGEST_NOTE, "at_once": AT_ONCE},
        "urls": {
            "save": address,
            "texts": address,
            "relogin": reverse("accounts:relogin"),
            # Where ratings of others may be seen; nothing for those who cannot open pages of items.
            "items": reverse("auditing:benchmark_item", args=[benchmark.slug, 0])
            if sees_everything(user)
            else "",
        },
        **answer_texts(benchmark, ids[start : start + AT_ONCE]),
    }


def answer_texts(benchmark: Benchmark, answer_ids: Iterable[int]) -> dict[str, Any]:
    """The texts of some answers and of their items: ``{"answers": {id: …}, "items": {id: …}}``.

    Models are not told. Answers that people are not asked about (`pool`) are left out.
    """
    answers = list(
        pool(benchmark)
        .filter(pk__in=list(answer_ids))
        .only("item_id", "text", "final_answer", "document", "sha256")
    )
    references = {
        one.item_id: one
        for one in Reference.objects.filter(
            item__in={answer.item_id for answer in answers}, source=main(benchmark, "reference")
        )
    }
    items = (
        BenchmarkItem.objects.filter(pk__in=references)
        .select_related("question__video")
        .defer("question__document", "question__meta", "question__video__picture_index", "verdict")
    )
    return {
        "answers": {
            str(answer.pk): answer_object(answer, references[answer.item_id])
            for answer in answers
            if answer.item_id in references
        },
        "items": {str(item.pk): item_object(item, references[item.pk]) for item in items},
    }


def answer_object(answer: ModelAnswer, reference: Reference) -> dict[str, Any]:
    """An answer as a rater reads it: its cues where it has some, and the text as it came."""
    cot = (answer.document or {}).get("cot")
    return {
        "cues": [] if cot is None else cues(cot),
        "final_answer": answer.final_answer,
        "text": answer.text,
        "shown": shown_version(answer, reference),
    }


def item_object(item: BenchmarkItem, reference: Reference) -> dict[str, Any]:
    """A question with its clip, the right answer and the reference's cues."""
    cot = reference.document["cot"]
    question = item.question
    return {
        "number": item.number,
        "question": question.text,
        "options": [str(option) for option in question.options or []],
        "final_answer": cot["final_answer"] or question.answer,
        "cues": cues(cot),
        "clip": clip_object(question.video),
    }


def cues(cot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cues of a chain that say anything: kind, times in microseconds, description, analysis."""
    found = []
    for step in STEPS:
        cue = cot[step]
        when = format_timeframe(cue["timeframe"])
        if when or cue["description"] or cue["analysis"]:
            found.append(
                {
                    "kind": step,
                    "timeframe": when,
                    "intervals": [list(pair) for pair in cue["timeframe"]["intervals"]],
                    "description": cue["description"],
                    "analysis": cue["analysis"],
                }
            )
    return found


def clip_object(video: Video) -> dict[str, Any]:
    """What is needed to play a clip; `why` says why it cannot be played, "" where it can."""
    why = ""
    if not video.is_ready:
        why = f"The clip cannot be played: {video.get_state_display().lower()}. {video.message}".strip()
    elif video.needs_proxy and not video.proxy:
        why = "The clip is being prepared for playing."
    return {
        "title": video.title,
        "media": reverse("api:video-play", args=[video.public_id]),
        "playback": reverse("api:video-playback", args=[video.public_id]),
        "duration_us": video.duration_us or 0,
        "has_audio": bool(video.facts.get("has_audio")),
        "preparing": video.is_ready and bool(why),
        "why": why,
    }
