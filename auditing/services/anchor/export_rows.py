"""The rows of an exported benchmark, some items at a time, in an order that follows from their content.

What `formats.benchmark_bundle` describes. Rows of one file are sorted here and not by the database, whose order of
letters depends on its locale.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Model, QuerySet

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.anchor.taxonomy import HAND
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    DifficultyJudgement,
    GroundingScore,
    ModelAnswer,
    Rating,
    Reference,
    TaxonomyLabel,
)
from auditing.selectors.benchmark_people import IMPORTED_PERSON, Person, people_numbers
from auditing.selectors.benchmark_ratings import current
from videos.models import Video

from . import difficulty, grounding

Row = dict[str, Any]
AT_ONCE = 100
"""Items whose rows are in memory together."""

_ANSWER = ("role", "model", "setting", "take")
_RATING = (
    "answer__item_id", "answer__role", "answer__model", "answer__setting", "answer__take", "facet", "reference__source",
    "user_id", "source", "value", "status", "why", "words", "fresh", "answer_sha256", "reference_sha256",
)  # fmt: skip


class BenchmarkRows:
    """Everything of one benchmark as rows; each method goes through the database anew."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._people = {one: f"rater-{number}" for one, number in people_numbers(benchmark).items()}
        self._match_from = BenchmarkParameters.from_dict(benchmark.parameters).match_from
        items = benchmark.items.order_by("number").values_list("pk", "question__external_id")
        self._ids = dict(items)

    @property
    def has_items(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._ids)

    def head(self) -> Row:
        """What the benchmark is."""
        of = self._benchmark.video_set
        return {
            "schema": "reasonaudit.benchmark/1",
            "name": self._benchmark.name,
            "description": self._benchmark.description,
            "parameters": self._benchmark.parameters,
            "video_set": {
                "name": of.name,
                "description": of.description,
                "licence": of.licence,
                "attribution": of.attribution,
            },
        }

    def items(self) -> Iterator[Row]:
        """Questions with their clips, and what is in force of each: category, level, decision."""
        for keys in self._chunks():
            labellers = self._hand_labels(keys)
            rows = BenchmarkItem.objects.filter(pk__in=keys).select_related(
                "question__video__video_set", "review"
            )
            rows = rows.defer("question__video__picture_index", "question__video__spectrogram")
            for item in rows.order_by("number"):
                yield {
                    "number": item.number,
                    "item": item.question.external_id,
                    "question": _question(item),
                    "video": _video(item.question.video),
                    "annotation_source": item.annotation_source,
                    "category": item.category,
                    "subcategory": item.subcategory,
                    "category_by": self._category_by(item, labellers),
                    "difficulty": item.difficulty,
                    "verdict": _verdict(item.verdict),
                    "review": self._review(item),
                }

    def references(self) -> Iterator[Row]:
        """References with their whole documents."""
        for row in self._sorted(Reference.objects.all(), "item", lambda row: row.source):
            yield {
                "item": self._ids[row.item_id],
                "source": row.source,
                "kind": row.kind,
                "writer": row.writer,
                "version": row.version,
                "document": row.document,
                "origin": row.origin,
            }

    def answers(self) -> Iterator[Row]:
        """Answers of both roles, with what was read out of them."""
        for row in self._sorted(ModelAnswer.objects.all(), "item", _answer_order):
            yield {
                **self._answer(row),
                "text": row.text,
                "final_answer": row.final_answer,
                "document": row.document,
                "warnings": row.warnings,
                "source": row.source,
            }

    def ratings(self) -> Iterator[Row]:
        """Ratings by judges, rules and people."""
        fresh = ExpressionWrapper(current(), output_field=BooleanField())
        for keys in self._chunks():
            rows = Rating.objects.filter(answer__item__in=keys).annotate(fresh=fresh).order_by()
            found = [self._rating(row) for row in rows.values_list(*_RATING).iterator(2000)]
            place = {self._ids[key]: number for number, key in enumerate(keys)}
            yield from sorted(found, key=lambda row: _rating_order(row, place))

    def _rating(self, row: tuple[Any, ...]) -> Row:
        item, role, model, setting, take, facet, reference, user, source, *said = row
        value, status, why, words, is_fresh, answer_sha256, reference_sha256 = said
        person = self._person(user, source)
        about = {"answer_sha256": answer_sha256, "reference_sha256": reference_sha256}
        return {
            "item": self._ids[item],
            "role": role,
            "model": model,
            "setting": setting,
            "take": take,
            "facet": facet,
            "reference": reference,
            "judge": None if person else source,
            "person": person,
            "value": value,
            "status": status,
            "why": why,
            "words": words,
            "about": None if is_fresh else about,
        }

    def judgements(self) -> Iterator[Row]:
        """What judges say of the rollouts."""
        now: dict[int, str] = {}
        for row in self._sorted(DifficultyJudgement.objects.all(), "item", lambda row: row.source, now):
            yield {
                "item": self._ids[row.item_id],
                "judge": row.source,
                "matches": row.matches,
                "similarity": row.similarity,
                "explanation": row.explanation,
                "problem": row.problem,
                "about": None if row.answers_sha256 == now[row.item_id] else row.answers_sha256,
            }

    def labels(self) -> Iterator[Row]:
        """Where items belong, by models and people; of one item the label in force last."""
        for row in self._sorted(TaxonomyLabel.objects.all(), "item", label_order):
            person = self._person(row.user_id, row.source)
            yield {
                "item": self._ids[row.item_id],
                "source": None if person else row.source,
                "person": person,
                "category": row.category,
                "subcategory": row.subcategory,
                "confidence": row.confidence,
                "note": row.note,
            }

    def scores(self) -> Iterator[Row]:
        """How well what answers cite meets the references."""
        rows = GroundingScore.objects.select_related("answer__item__question__video", "reference")
        rows = rows.defer(
            "answer__document",
            "answer__text",
            "reference__document",
            "answer__item__question__document",
            "answer__item__question__video__picture_index",
        )
        for row in self._sorted(
            rows, "answer__item", lambda row: (*_answer_order(row.answer), row.reference.source)
        ):
            now = grounding.inputs_sha256(
                row.answer.sha256,
                row.reference.sha256,
                grounding.duration_of(row.answer.item.question.video),
                self._match_from,
            )
            yield {
                **self._answer(row.answer),
                "reference": row.reference.source,
                "document": row.document,
                "about": None if row.inputs_sha256 == now else row.inputs_sha256,
            }

    def _chunks(self) -> Iterator[list[int]]:
        keys = list(self._ids)
        for start in range(0, len(keys), AT_ONCE):
            yield keys[start : start + AT_ONCE]

    def _sorted(
        self,
        rows: QuerySet[Any],
        of: str,
        order: Callable[[Any], Any],
        hashes: dict[int, str] | None = None,
    ) -> Iterator[Any]:
        """Rows of some items at a time, by item and `order`; `hashes` gets those of the items' rollouts."""
        for keys in self._chunks():
            place = {key: number for number, key in enumerate(keys)}
            if hashes is not None:
                hashes.update(difficulty.hashes_of(keys))
            found = list(rows.filter(**{f"{of}__in": keys}).order_by())
            yield from sorted(found, key=lambda row: (place[_item_of(row)], order(row)))

    def _answer(self, row: ModelAnswer) -> Row:
        return {"item": self._ids[row.item_id], **{name: getattr(row, name) for name in _ANSWER}}

    def _person(self, user: int | None, source: str) -> str | None:
        """The pseudonym of a person; None for a judge."""
        person: Person = source if user is None else user
        is_person = user is not None or source.startswith(IMPORTED_PERSON)
        return self._people[person] if is_person else None

    def _hand_labels(self, keys: Sequence[int]) -> dict[int, str | None]:
        """Item -> who said last by hand where it belongs."""
        rows = TaxonomyLabel.objects.filter(item__in=keys, user__isnull=False).order_by("updated_at", "pk")
        return {item: self._people[user] for item, user in rows.values_list("item", "user") if user}

    def _category_by(self, item: BenchmarkItem, hand: Mapping[int, str | None]) -> Row | None:
        by = item.category_by
        if not by:
            return None
        if by == HAND:
            return {"source": None, "person": hand.get(item.pk)}
        person = self._person(None, by)
        return {"source": None if person else by, "person": person}

    def _review(self, item: BenchmarkItem) -> Row | None:
        found = getattr(item, "review", None)
        if found is None:
            return None
        return {
            "decision": found.decision,
            "fault": found.fault,
            "level": found.level,
            "note": found.note,
            "version": found.version,
            "person": self._people[found.user_id or found.source],
        }


def label_order(row: TaxonomyLabel) -> tuple[Any, ...]:
    """Sort labels of an item so that the one in force comes last."""
    rank = 2 if row.user_id is not None else 1 if row.source.startswith(IMPORTED_PERSON) else 0
    return rank, row.updated_at, row.pk


def _item_of(row: Model) -> int:
    return int(row.item_id if hasattr(row, "item_id") else row.answer.item_id)  # type: ignore[attr-defined]


def _answer_order(row: ModelAnswer) -> tuple[Any, ...]:
    return row.role, row.model, row.setting, row.take


def _rating_order(row: Row, place: Mapping[str, int]) -> tuple[Any, ...]:
    who = row["judge"] or "", row["person"] or ""
    return place[row["item"]], *(row[name] for name in _ANSWER), row["facet"], row["reference"] or "", *who


def _question(item: BenchmarkItem) -> Row:
    question = item.question
    names = (
        "text", "answer", "options", "category", "question_type", "difficulty", "target_label", "source", "meta",
        "document",
    )  # fmt: skip
    return {name: getattr(question, name) for name in names}


def _video(video: Video) -> Row:
    facts = video.facts or {}
    return {
        "title": video.title,
        "sha256": video.sha256,
        "duration_us": video.duration_us,
        "pictures": video.picture_count,
        "rate": facts.get("mean_rate"),
        "width": facts.get("width"),
        "height": facts.get("height"),
        "licence": video.licence or video.video_set.licence or None,
        "attribution": video.attribution or video.video_set.attribution or None,
    }


def _verdict(verdict: Mapping[str, Any] | None) -> Row | None:
    """How the level came about, without what difficulty.jsonl has."""
    if verdict is None:
        return None
    return {name: value for name, value in verdict.items() if name != "by_judge"}
