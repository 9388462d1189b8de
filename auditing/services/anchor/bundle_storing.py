"""Storing what a bundle holds, file by file and in bulk, in the transaction of `bundle_import.commit`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import Max, Model

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.anchor.taxonomy import IMPORTED
from auditing.formats import benchmark_bundle as bundle
from auditing.formats.benchmark_bundle import AnswerKey, answer_key
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    DifficultyJudgement,
    DifficultyReview,
    GroundingScore,
    ModelAnswer,
    Reference,
    TaxonomyLabel,
)
from auditing.selectors.benchmark_people import IMPORTED_PERSON
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from videos.models import Video, VideoQuestion
from videos.services.sets import stream_of

from . import difficulty, grounding, ratings, references, taxonomy

Row = dict[str, Any]
T = TypeVar("T")
BATCH = 500
MANY = 2_000
MOST_IDS = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """An item of a bundle with its clip, and with its question where the set has it."""

    row: Row
    video: Video
    question: VideoQuestion | None


@dataclass(slots=True)
class _Stored:
    """Keys and hashes of what was stored, by what names it in lines."""

    items: dict[str, int] = field(default_factory=dict)
    references: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    answers: dict[AnswerKey, tuple[int, str]] = field(default_factory=dict)
    durations: dict[str, int | None] = field(default_factory=dict)


def store(benchmark: Benchmark, folder: Path, places: Sequence[Place], by: Any) -> int:
    """Write everything into a benchmark without items; returns how many questions were made."""
    questions, made = _questions(benchmark, places, by)
    stored = _Stored(durations={place.row["item"]: place.row["video"]["duration_us"] for place in places})
    items = [
        BenchmarkItem(
            benchmark=benchmark,
            question=(question := questions[place.row["item"]]),
            number=place.row["number"],
            category=question.category,
            category_by=IMPORTED if question.category else "",
        )
        for place in places
    ]
    BenchmarkItem.objects.bulk_create(items, batch_size=BATCH)
    stored.items = {item.question.external_id: item.pk for item in items}
    _references(folder, stored)
    _answers(folder, stored)
    ratings.write(_ratings(folder, stored))
    _judgements(folder, stored)
    _bulk(TaxonomyLabel, _labels(folder, stored))
    _bulk(GroundingScore, _scores(benchmark, folder, stored))
    references.set_annotation_sources(benchmark)
    labelled = set(TaxonomyLabel.objects.filter(item__benchmark=benchmark).values_list("item", flat=True))
    taxonomy.put_in_force(item for item in items if item.pk in labelled)
    _levels(benchmark, items, places)
    return made


def _questions(
    benchmark: Benchmark, places: Sequence[Place], by: Any
) -> tuple[dict[str, VideoQuestion], int]:
    """Questions of the items by id; those that the set does not have are made, after the others of their clips."""
    found = {place.row["item"]: place.question for place in places if place.question is not None}
    videos = VideoQuestion.objects.filter(video_set=benchmark.video_set_id).order_by().values("video")
    numbers = defaultdict(int, {row["video"]: row["last"] for row in videos.annotate(last=Max("number"))})
    new = []
    for place in places:
        if place.question is None:
            numbers[place.video.pk] += 1
            new.append(
                VideoQuestion(
                    video_set_id=benchmark.video_set_id,
                    video=place.video,
                    external_id=place.row["item"],
                    number=numbers[place.video.pk],
                    **place.row["question"],
                )
            )
    VideoQuestion.objects.bulk_create(new, batch_size=BATCH)
    if new:
        record_event(
            stream=stream_of(benchmark.video_set),
            actor=by,
            action="video_questions.import",
            subject_type="video_set",
            subject_id=benchmark.video_set_id,
            data={
                "questions": len(new),
                "shape": "benchmark",
                "left_out": 0,
                "ids": [row.external_id for row in new][:MOST_IDS],
            },
        )
    return {**found, **{row.external_id: row for row in new}}, len(new)


def _references(folder: Path, stored: _Stored) -> None:
    for rows in _batches(bundle.lines(folder, bundle.REFERENCES), BATCH):
        made = [
            Reference(
                item_id=stored.items[row["item"]],
                sha256=sha256_of(row["document"]),
                **{name: row[name] for name in ("source", "kind", "writer", "version", "document", "origin")},
            )
            for row in rows
        ]
        Reference.objects.bulk_create(made)
        for row, one in zip(rows, made, strict=True):
            stored.references[row["item"], row["source"]] = one.pk, one.sha256


def _answers(folder: Path, stored: _Stored) -> None:
    names = (
        "role", "model", "setting", "take", "text", "final_answer", "document", "warnings", "source",
    )  # fmt: skip
    for rows in _batches(bundle.lines(folder, bundle.ANSWERS), BATCH):
        made = [
            ModelAnswer(
                item_id=stored.items[row["item"]],
                sha256=sha256_of({"text": row["text"], "document": row["document"]}),
                **{name: row[name] for name in names},
            )
            for row in rows
        ]
        ModelAnswer.objects.bulk_create(made)
        for row, one in zip(rows, made, strict=True):
            stored.answers[answer_key(row)] = one.pk, one.sha256


def _ratings(folder: Path, stored: _Stored) -> Iterator[tuple[Any, ...]]:
    """Rows of `ratings.write`: no model instance is made of them, they are too many."""
    for row in bundle.lines(folder, bundle.RATINGS):
        answer, answer_sha256 = stored.answers[answer_key(row)]
        reference, reference_sha256 = _reference(row, stored)
        about = row["about"] or {"answer_sha256": answer_sha256, "reference_sha256": reference_sha256}
        values = {
            "answer_id": answer,
            "facet": row["facet"],
            "reference_id": reference,
            "user_id": None,
            "source": _who(row["judge"], row["person"]),
            "value": row["value"],
            "status": row["status"],
            "why": row["why"],
            "words": row["words"],
            "run_id": None,
            **about,
        }
        yield tuple(values[name] for name in ratings.COLUMNS)


def _judgements(folder: Path, stored: _Stored) -> None:
    now = difficulty.hashes_of(stored.items.values())
    rows = (
        DifficultyJudgement(
            item_id=(item := stored.items[row["item"]]),
            source=row["judge"],
            matches=row["matches"],
            similarity=row["similarity"],
            explanation=row["explanation"],
            problem=row["problem"],
            answers_sha256=row["about"] or now[item],
        )
        for row in bundle.lines(folder, bundle.DIFFICULTY)
    )
    _bulk(DifficultyJudgement, rows)


def _labels(folder: Path, stored: _Stored) -> Iterator[TaxonomyLabel]:
    for row in bundle.lines(folder, bundle.TAXONOMY):
        yield TaxonomyLabel(
            item_id=stored.items[row["item"]],
            source=_who(row["source"], row["person"]),
            **{name: row[name] for name in ("category", "subcategory", "confidence", "note")},
        )


def _scores(benchmark: Benchmark, folder: Path, stored: _Stored) -> Iterator[GroundingScore]:
    match_from = BenchmarkParameters.from_dict(benchmark.parameters).match_from
    for row in bundle.lines(folder, bundle.GROUNDING):
        answer, answer_sha256 = stored.answers[answer_key(row)]
        reference, reference_sha256 = stored.references[row["item"], row["reference"]]
        # With the clip's length as exported: over another clip the score is known to be of other inputs.
        now = grounding.inputs_sha256(
            answer_sha256, reference_sha256, stored.durations[row["item"]], match_from
        )
        yield GroundingScore(
            answer_id=answer,
            reference_id=reference,
            document=row["document"],
            inputs_sha256=row["about"] or now,
        )


def _levels(benchmark: Benchmark, items: Sequence[BenchmarkItem], places: Sequence[Place]) -> None:
    """Assess the difficulty, and store what people decided beside it; who they are is not known here."""
    decided, reviews = [], []
    for item, place in zip(items, places, strict=True):
        if review := place.row["review"]:
            item.decision = review["decision"]
            decided.append(item)
            names = ("decision", "fault", "level", "note", "version")
            source = IMPORTED_PERSON + (review["person"] or "somebody")
            reviews.append(
                DifficultyReview(item=item, source=source, **{name: review[name] for name in names})
            )
    BenchmarkItem.objects.bulk_update(decided, ["decision"], batch_size=BATCH)
    DifficultyReview.objects.bulk_create(reviews, batch_size=BATCH)
    bare = ModelAnswer.objects.filter(item__benchmark=benchmark, role=ModelAnswer.Role.ROLLOUT).order_by()
    judged = DifficultyJudgement.objects.filter(item__benchmark=benchmark).order_by()
    touched = {pk for rows in (bare, judged) for pk in rows.values_list("item", flat=True)}
    difficulty.assess_many(benchmark, [item for item in items if item.pk in touched])


def _reference(row: Row, stored: _Stored) -> tuple[int | None, str]:
    if row["reference"] is None:
        return None, ""
    return stored.references[row["item"], row["reference"]]


def _who(judge: str | None, person: str | None) -> str:
    return IMPORTED_PERSON + person if person else str(judge)


def _bulk(model: type[Model], rows: Iterator[Model]) -> None:
    for batch in _batches(rows, MANY):
        model._default_manager.bulk_create(batch)


def _batches(rows: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(rows, size)):
        yield batch
