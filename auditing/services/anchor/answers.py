"""Answers of models as rows: what was sampled or imported, read once and kept with what could not be read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from auditing.core.anchor.answer_reading import (
    AnswerReading,
    ClipFacts,
    read_chain,
    read_rollout,
    reasoning_of,
)
from auditing.core.anchor.option_answers import option_named, options_by_letter
from auditing.models import Benchmark, BenchmarkItem, BenchmarkRun, Facet, ModelAnswer, Rating
from reasonaudit.lib.canonical import sha256_of
from videos.core.timebase import PictureIndex
from videos.models import Video
from videos.selectors.documents import limits_of

from .changes import changed, hold
from .ratings import NewRating, store

RULE = "rule:option"
"""Source of ratings that compare options."""


def put(
    item: BenchmarkItem,
    *,
    role: str,
    model: str,
    setting: str = "full",
    take: int = 1,
    text: str,
    tracks: Mapping[str, Any] | None = None,
    events: Mapping[str, Any] | None = None,
    source: str,
    run: BenchmarkRun | None = None,
) -> tuple[ModelAnswer, bool]:
    """Store what a model answered, in place of its earlier answer to the same.

    Parameters
    ----------
    role
        ``chain`` or ``rollout``.
    model
        The name that tables show.
    setting, take
        Which cues it was given (`Setting`), and which try this is, from 1.
    text
        As it came.
    tracks, events
        Parts of a video document by id, valid for the clip, that came beside the text (`place_boxes`).
    source
        Where it is from, in words: a server and model, or a file.
    run
        That asked for it.

    Returns
    -------
    The row, and whether anything in it is new: the same answer again changes nothing, and its ratings stay current.
    """
    reading = read(text, role=role, clip=clip_facts(item.question.video), tracks=tracks, events=events)
    fields = fields_of(reading)
    with transaction.atomic():
        hold(item.benchmark_id)
        row, created = ModelAnswer.objects.select_for_update(of=("self",)).get_or_create(
            item=item,
            role=role,
            model=model,
            setting=setting,
            take=take,
            defaults={**fields, "source": source[:300], "run": run},
        )
        is_new = created or row.sha256 != fields["sha256"]
        if not created and is_new:
            for name, value in {**fields, "source": source[:300], "run": run}.items():
                setattr(row, name, value)
            row.save()
        if is_new:
            changed(Benchmark(pk=item.benchmark_id))
    return row, is_new


def read(
    text: str,
    *,
    role: str,
    clip: ClipFacts,
    tracks: Mapping[str, Any] | None = None,
    events: Mapping[str, Any] | None = None,
) -> AnswerReading:
    """Read an answer of either role."""
    if role == ModelAnswer.Role.ROLLOUT:
        return read_rollout(text)
    return read_chain(text, clip, tracks=tracks, events=events)


def fields_of(reading: AnswerReading) -> dict[str, Any]:
    """Return what a row holds of a reading."""
    return {
        "text": reading.text,
        "final_answer": reading.final_answer,
        "document": reading.document,
        "warnings": reading.warnings,
        "sha256": sha256_of({"text": reading.text, "document": reading.document}),
    }


def clip_facts(video: Video) -> ClipFacts:
    """Return what is known of a clip, for reading answers about it."""
    index = None if video.picture_index is None else PictureIndex.from_bytes(bytes(video.picture_index))
    return ClipFacts(index, limits_of(video))


def answer_text(answer: ModelAnswer) -> str:
    """Return the answer to the question as judges read it: all that was written where no final answer was found."""
    return answer.final_answer or answer.text.strip()


def reasoning_text(answer: ModelAnswer) -> str:
    """Return the chain as judges of the reasoning read it: without its final answer and its boxes."""
    return reasoning_of(answer.text)


def rule_ratings(answers: Iterable[ModelAnswer]) -> int:
    """Rate by the rule whether answers to questions with options are right; returns how many were rated.

    An answer that names no option, or several, gets no rating: what it says is for a judge to decide. Neither does one
    whose question has no options, or whose own answer names none of them. An earlier rating by the rule that holds no
    more is removed.
    """
    rows = list(answers)
    of = sorted({row.item.benchmark_id for row in rows})
    with transaction.atomic():
        for pk in of:
            hold(pk)
        before = Rating.objects.filter(answer__in=rows, facet=Facet.CORRECT, source=RULE).count()
        count = rate_by_rule(rows)
        if count or before:
            for pk in of:
                changed(Benchmark(pk=pk))
    return count


def rate_by_rule(answers: Sequence[ModelAnswer]) -> int:
    """Do what `rule_ratings` does without saying that the benchmark changed."""
    rated: list[NewRating] = []
    unrated: list[int] = []
    for answer in answers:
        question = answer.item.question
        options = options_by_letter(question.options)
        right = option_named(question.answer, options)
        said = option_named(answer.final_answer, options)
        if right is None or said is None:
            unrated.append(answer.pk)
            continue
        words = f"The answer names option {said}; {right} is right."
        rated.append(
            NewRating(answer, Facet.CORRECT, None, source=RULE, value=int(said == right), words=words)
        )
    Rating.objects.filter(answer__in=unrated, facet=Facet.CORRECT, source=RULE).delete()
    return store(rated)
