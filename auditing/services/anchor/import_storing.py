"""Storing matched rows of a file, in bulk: what is there already is left alone and counted."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.utils import timezone

from auditing.core.anchor.answer_boxes import Placed, place_boxes, place_sounds
from auditing.core.anchor.answer_reading import ClipFacts
from auditing.core.anchor.difficulty import Judgement
from auditing.core.anchor.judge_reply import RatingReading, read_rating
from auditing.elicitation.anchor_reading import correctness_of
from auditing.formats.benchmark_rows import PERSON, AnswerRow, RatingRow
from auditing.models import Benchmark, BenchmarkItem, Facet, ModelAnswer, Rating, Reference, TaxonomyLabel

from . import answers, difficulty, ratings, references, taxonomy
from .import_matching import Matched

BATCH = 1_000
MOST_REASONS = 20
_ANSWER_KEY = ["item", "role", "model", "setting", "take"]
_ANSWER_REST = ["text", "final_answer", "document", "warnings", "source", "sha256", "run", "updated_at"]


@dataclass(slots=True)
class Report:
    """What an import did.

    Attributes
    ----------
    stored : dict of str to int
        New or changed rows by what they are.
    unchanged : dict of str to int
        Rows that were there already, word for word.
    missing_ratings : dict of str to int
        Ratings that hold no value, by reason; they are among the stored ones.
    warnings : dict of str to int
        Answers by what could not be read in them.
    rated_by_rule : int
        Answers to questions with options that were compared with the right one.
    left_out : int
        Rows with a problem.
    """

    stored: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)
    missing_ratings: dict[str, int] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    rated_by_rule: int = 0
    left_out: int = 0


def store_references(benchmark: Benchmark, found: Matched, report: Report) -> None:
    """Write references, and to items who wrote their main one."""
    if not found.references:
        return
    touched = references.store(
        [
            references.NewReference(
                found.items[row.item],
                row.source,
                row.kind,
                row.writer,
                row.version,
                document,
                row.origin or {"from": "file"},
            )
            for row, document in found.references
        ]
    )
    references.set_annotation_sources(benchmark, touched)
    _count(report, "references", len(touched), len(found.references))


def store_answers(benchmark: Benchmark, found: Matched, report: Report) -> list[ModelAnswer]:
    """Write answers; returns those that are new or changed."""
    if not found.answers:
        return []
    there: dict[tuple[Any, ...], str] = {
        tuple(key): sha256
        for *key, sha256 in ModelAnswer.objects.filter(item__benchmark=benchmark)
        .order_by()
        .values_list("item_id", "role", "model", "setting", "take", "sha256")
    }
    clip_of = _Clips()
    made: dict[str, list[ModelAnswer]] = {"answers": [], "rollouts": []}
    warnings: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    now = timezone.now()
    for row in found.answers:
        item = found.items[row.item]
        fields = _answer_fields(row, clip_of(item, row.role))
        warnings.update(warning["code"] for warning in fields["warnings"])
        what = "rollouts" if row.role == ModelAnswer.Role.ROLLOUT else "answers"
        totals[what] += 1
        key = (item.pk, row.role, row.model, row.setting, row.take)
        if there.get(key) != fields["sha256"]:
            answer = ModelAnswer(
                item=item,
                role=row.role,
                model=row.model,
                setting=row.setting,
                take=row.take,
                source=row.source or "file",
                updated_at=now,
                **fields,
            )
            made[what].append(answer)
    for what, rows in made.items():
        ModelAnswer.objects.bulk_create(
            rows,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=_ANSWER_KEY,
            update_fields=_ANSWER_REST,
        )
        _count(report, what, len(rows), totals[what])
    report.warnings = _most(warnings)
    return [*made["answers"], *made["rollouts"]]


class _Clips(dict[int, ClipFacts]):
    """What is known of clips, each read once; `match` has their pictures. Bare answers name no time and no box."""

    def __call__(self, item: BenchmarkItem, role: str) -> ClipFacts:
        if role == ModelAnswer.Role.ROLLOUT:
            return ClipFacts()
        video = item.question.video
        if video.pk not in self:
            self[video.pk] = answers.clip_facts(video)
        return self[video.pk]


def _answer_fields(row: AnswerRow, clip: ClipFacts) -> dict[str, Any]:
    """Read an answer with the boxes and sounds that came beside its text."""
    tracks, sounds, more = Placed({}), Placed({}), []
    width, height = clip.limits.width, clip.limits.height
    if row.boxes and (clip.index is None or not width or not height):
        more.append(
            {
                "code": "no_clip",
                "message": "The boxes were left out: the clip is not prepared, so its pictures are not known.",
            }
        )
    elif row.boxes and clip.index is not None and width and height:
        tracks = place_boxes(row.boxes, clip.index, width, height)
    if row.sounds:
        sounds = place_sounds(row.sounds, clip.limits.duration_us)
    for code, placed, total, what in (
        ("boxes_beyond_clip", tracks, len(row.boxes), "boxes lie beyond the clip or its picture"),
        ("sounds_beyond_clip", sounds, len(row.sounds), "sounds begin after the end of the clip"),
    ):
        if placed.beyond:
            said = f"{placed.beyond} of {total} {what} and were left out."
            more.append({"code": code, "message": said})
    reading = answers.read(
        row.text,
        role=row.role,
        clip=clip,
        tracks={**row.tracks, **tracks.parts},
        events={**row.events, **sounds.parts},
    )
    fields = answers.fields_of(reading)
    known = {warning["code"] for warning in fields["warnings"]}
    fields["warnings"] = [*fields["warnings"], *(one for one in more if one["code"] not in known)]
    return fields


def store_ratings(benchmark: Benchmark, found: Matched, report: Report) -> None:
    """Write ratings; their answers and references are stored by now."""
    if not found.ratings:
        return
    answer_rows = ModelAnswer.objects.filter(item__benchmark=benchmark, role=ModelAnswer.Role.CHAIN)
    by_key = {
        (row.item_id, row.model, row.setting, row.take): row
        for row in answer_rows.only("item", "model", "setting", "take", "sha256").order_by()
    }
    by_source = {
        (row.item_id, row.source): row
        for row in Reference.objects.filter(item__benchmark=benchmark).only("item", "source", "sha256")
    }
    made = []
    for row in found.ratings:
        item = found.items[row.item].pk
        reference = None if row.reference is None else by_source[item, row.reference]
        value, status, why, words = _said(row)
        made.append(
            ratings.NewRating(
                answer=by_key[item, row.model, row.setting, row.take],
                facet=row.facet,
                reference=reference,
                source=row.source,
                value=value,
                status=status,
                why=why,
                words=row.words or words,
            )
        )
    report.missing_ratings = _most(Counter(one.why or one.status for one in made if one.value is None))
    new = _new_ratings(benchmark, made)
    ratings.store(new)
    _count(report, "ratings", len(new), len(made))


def _new_ratings(benchmark: Benchmark, made: list[ratings.NewRating]) -> list[ratings.NewRating]:
    """Leave out ratings that are stored word for word, about the same versions."""
    names = ("answer", "facet", "reference", "source", "value", "status", "why", "words")
    rows = Rating.objects.filter(answer__item__benchmark=benchmark, user=None).order_by()
    there = set(rows.values_list(*names, "answer_sha256", "reference_sha256"))
    return [
        one
        for one in made
        if (
            one.answer.pk,
            one.facet,
            one.reference and one.reference.pk,
            one.source,
            one.value,
            one.status,
            one.why,
            one.words,
            one.answer.sha256,
            "" if one.reference is None else one.reference.sha256,
        )
        not in there
    ]


def _said(row: RatingRow) -> tuple[int | None, str, str, str]:
    """Return (value, status, why, words) of a rating; never a number that was not given."""
    if row.error is not None:
        return None, Rating.Status.ERROR, row.error, ""
    if row.facet == Facet.CORRECT:
        value, words = _correct(row)
        why, status = "not_a_verdict", str(Rating.Status.STRICT)
    else:
        reading = _rating(row)
        value, status, why = reading.rating, reading.status, reading.why
        words = "" if row.reply is None else reading.justification
    if value is None:
        return None, Rating.Status.INVALID, row.why or why, words
    if row.source.startswith((PERSON, "rule:")):
        return value, Rating.Status.GIVEN, "", words
    return value, row.status or status, "", words


def _rating(row: RatingRow) -> RatingReading:
    if row.reply is not None:
        return read_rating(row.reply)
    if not _is_plain(row.value):
        return RatingReading(None, "", "invalid", "not_a_number")
    return _rating_of(row.value)


@lru_cache(maxsize=32, typed=True)
def _rating_of(value: str | int | float | bool | None) -> RatingReading:
    """Read a bare value by the rules for replies; a file has few different ones."""
    return read_rating(json.dumps({"rating": value}))


def _correct(row: RatingRow) -> tuple[int | None, str]:
    """Return a verdict and its words; a raw reply is read as those of our own judges are."""
    value, words = row.value, ""
    if row.reply is not None:
        value, words = correctness_of(row.reply)
        words = row.reply if value is None else words
    is_verdict = isinstance(value, int | float) and value in (0, 1)
    return int(value) if is_verdict else None, words


def _is_plain(value: Any) -> bool:
    """Whether a value is one that a judge could have written in its JSON: a number, a text, true, or null."""
    return value is None or isinstance(value, str | int | float | bool)


def store_categories(benchmark: Benchmark, found: Matched, report: Report) -> None:
    """Write labels, and to items the one that is in force."""
    if not found.categories:
        return
    now = timezone.now()
    stored = TaxonomyLabel.objects.filter(item__benchmark=benchmark, user=None).order_by()
    there = set(stored.values_list("item", "source", "category", "subcategory", "confidence"))
    rows = [
        TaxonomyLabel(
            item=found.items[row.item],
            source=row.source,
            category=row.category,
            subcategory=row.subcategory,
            confidence=row.confidence,
            updated_at=now,
        )
        for row in found.categories
        if (found.items[row.item].pk, row.source, row.category, row.subcategory, row.confidence) not in there
    ]
    TaxonomyLabel.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["item", "user", "source"],
        update_fields=["category", "subcategory", "confidence", "updated_at"],
    )
    taxonomy.put_in_force(_unique(row.item for row in rows))
    _count(report, "categories", len(rows), len(found.categories))


def store_judgements(
    benchmark: Benchmark, found: Matched, stored: Sequence[ModelAnswer], report: Report
) -> None:
    """Write what judges say of the rollouts as they are now, and to items the level that follows.

    Items whose rollouts came anew (`stored`) are assessed, too: what was said of the others counts no more.
    """
    said = [
        (found.items[row.item], row.judge, Judgement(row.matches, row.similarity, row.explanation))
        for row in found.judgements
    ]
    new = difficulty.judge_many(benchmark, said)
    touched = [item for item, *_ in said]
    touched += [answer.item for answer in stored if answer.role == ModelAnswer.Role.ROLLOUT]
    difficulty.assess_many(benchmark, _unique(touched))
    _count(report, "judgements of the difficulty", new, len(said))


def _unique(items: Iterable[BenchmarkItem]) -> list[BenchmarkItem]:
    return list({item.pk: item for item in items}.values())


def _most(counts: Counter[str]) -> dict[str, int]:
    """Return the most frequent; the reasons of a file may be as many as its rows, and go into an event and a page."""
    found = dict(counts.most_common(MOST_REASONS))
    if rest := counts.total() - sum(found.values()):
        found["other reasons"] = rest
    return found


def _count(report: Report, what: str, stored: int, total: int) -> None:
    if total:
        report.stored[what] = stored
    if total > stored:
        report.unchanged[what] = total - stored
