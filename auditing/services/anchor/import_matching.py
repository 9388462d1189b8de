"""Finding the items, answers and references that rows of a file are about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats.records import Problem
from auditing.core.anchor.answer_reading import read_chain
from auditing.formats.benchmark_files import BenchmarkRows
from auditing.formats.benchmark_rows import (
    MAIN_REFERENCE,
    AnswerRow,
    AnyRow,
    CategoryRow,
    DifficultyRow,
    RatingRow,
    ReferenceRow,
)
from auditing.models import Benchmark, BenchmarkItem, Facet, ModelAnswer, Reference, Setting
from auditing.selectors.benchmark_ratings import main
from reasonaudit.lib.errors import UserError
from videos.core.document import empty_document, validate
from videos.core.values import InvalidChange
from videos.models import Video
from videos.selectors.documents import limits_of

from . import answers, references

Said = tuple[str, str, str]
"""Field, message and remedy of a problem."""

_OF_REFERENCES = (Facet.HALLUCINATION, Facet.DIVERGENCE)

_LOST = frozenset(
    {"no_clip", "unreadable_boxes", "boxes_beyond_clip", "field_does_not_fit", "not_storable", "too_long"}
)
"""Warnings that say that part of a text was left out: an answer may be like that, a reference may not."""


@dataclass(slots=True)
class Matched:
    """Rows whose item, answer and reference are there, or come with the same file."""

    items: dict[str, BenchmarkItem]
    references: list[tuple[ReferenceRow, dict[str, Any]]] = field(default_factory=list)
    answers: list[AnswerRow] = field(default_factory=list)
    ratings: list[RatingRow] = field(default_factory=list)
    categories: list[CategoryRow] = field(default_factory=list)
    judgements: list[DifficultyRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def notes(self) -> list[str]:
        """Say what is stored and shows in no table."""
        n = sum(row.reference is None and row.facet in _OF_REFERENCES for row in self.ratings)
        if not n:
            return []
        said = (
            "1 rating of hallucination or divergence is"
            if n == 1
            else f"{n:,} ratings of hallucination or divergence are"
        )
        return [f"{said} about no reference, so no table counts them. Import or take the references first."]

    def counts(self) -> dict[str, int]:
        """Count by what rows are."""
        bare = sum(row.role == ModelAnswer.Role.ROLLOUT for row in self.answers)
        return {
            "references": len(self.references),
            "answers": len(self.answers) - bare,
            "rollouts": bare,
            "ratings": len(self.ratings),
            "categories": len(self.categories),
            "judgements of the difficulty": len(self.judgements),
        }


def match(benchmark: Benchmark, rows: BenchmarkRows) -> Matched:
    """Find what each row is about; problems of reading and of matching come back in the order of lines.

    The reference of a matched rating is the source of one that is there, or None: `MAIN_REFERENCE` is resolved.
    """
    found = Matched(_items(benchmark, rows.rows))
    look = _Look(
        benchmark,
        found.items,
        answers=_known_answers(benchmark),
        sources=_known_references(benchmark),
        rollouts=_rollouts(benchmark, rows),
    )
    problems = []
    # References and answers first: a rating cannot stand on one that has a problem itself.
    for row in sorted(rows.rows, key=lambda row: not isinstance(row, ReferenceRow | AnswerRow)):
        said = look.place(row, found) if row.item in found.items else _no_item(benchmark, row)
        if said is not None:
            problems.append(Problem(rows.filename, row.line, *said))
    found.problems = sorted([*rows.problems, *problems], key=lambda problem: problem.line or 0)
    return found


@dataclass(slots=True)
class _Look:
    """What rows can be about, and those that were placed so far."""

    benchmark: Benchmark
    items: Mapping[str, BenchmarkItem]
    answers: set[tuple[Any, ...]]
    sources: set[tuple[str, str]]
    rollouts: Mapping[str, set[tuple[str, int]]]
    refused: set[tuple[str, str]] = field(default_factory=set)
    rated: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def place(self, row: AnyRow, found: Matched) -> Said | None:
        """Put a row whose item is there to its like, or return what is wrong with it."""
        if isinstance(row, ReferenceRow):
            return self._reference(row, found)
        if isinstance(row, RatingRow):
            return self._rating(row, found)
        if isinstance(row, AnswerRow):
            return self._answer(row, found)
        if isinstance(row, DifficultyRow):
            said = _other_number(row, len(self.rollouts.get(row.item, ())))
            if said is None:
                found.judgements.append(row)
            return said
        found.categories.append(row)
        return None

    def _reference(self, row: ReferenceRow, found: Matched) -> Said | None:
        try:
            references.check_source(row.source)
        except UserError as error:
            return "source", error.message, error.remedy
        document = _document(row, self.items[row.item])
        if isinstance(document, str):
            self.refused.add((row.item, row.source))
            return "text" if row.document is None else "document", document, "Correct the reference."
        self.sources.add((row.item, row.source))
        found.references.append((row, document))
        return None

    def _rating(self, row: RatingRow, found: Matched) -> Said | None:
        if _answer_key(row) not in self.answers:
            said = f"there is no answer of {row.model[:80]!r} to this item with the setting {row.setting}"
            return "model", said, "Import the answer first, or with the same file."
        is_main = row.reference == MAIN_REFERENCE
        source = main(self.benchmark, "reference") if is_main else row.reference
        there = source is None or (row.item, source) in self.sources
        if not there and (not is_main or (row.item, source) in self.refused):
            said = f"this item has no reference {source!r}"
            return "reference", said, "Import the reference first, or with the same file."
        measure = source if there else None
        key = (*_answer_key(row), row.facet, row.source, measure)
        if key in self.rated:
            said = f"the same is said in line {self.rated[key]} already, about the same reference"
            return "reference", said, "Give each rating once."
        self.rated[key] = row.line
        found.ratings.append(row if row.reference == measure else replace(row, reference=measure))
        return None

    def _answer(self, row: AnswerRow, found: Matched) -> Said | None:
        said = self._parts(row)
        if said is None:
            found.answers.append(row)
        if _is_chain(row):
            # Ratings in the file are about this text, and not about an earlier one.
            (self.answers.add if said is None else self.answers.discard)(_answer_key(row))
        return said

    def _parts(self, row: AnswerRow) -> Said | None:
        if not row.tracks and not row.events:
            return None
        document = {**empty_document(), "tracks": dict(row.tracks), "events": dict(row.events)}
        try:
            validate(document, limits_of(self.items[row.item].question.video))
        except InvalidChange as error:
            return ".".join(error.path)[:80], error.sentence, "Correct it, or give boxes and sounds instead."
        return None


def _items(benchmark: Benchmark, rows: Sequence[AnyRow]) -> dict[str, BenchmarkItem]:
    """Items by the ids of their questions; only those that texts are read for come with the pictures of their clip."""
    found = {
        item.question.external_id: item
        for item in benchmark.items.filter(question__external_id__in={row.item for row in rows})
        .select_related("question__video")
        .defer("question__document", "question__video__spectrogram", "question__video__picture_index")
    }
    read = {row.item for row in rows if isinstance(row, ReferenceRow) or _is_chain(row)} & set(found)
    videos = {found[name].question.video_id for name in read}
    pictures = dict(Video.objects.filter(pk__in=videos).values_list("pk", "picture_index"))
    for name in read:
        video = found[name].question.video
        video.picture_index = pictures[video.pk]
    return found


def _no_item(benchmark: Benchmark, row: AnyRow) -> Said:
    said = f"{benchmark.name} has no item {row.item[:80]!r}"
    return "item", said, "Use the id that the question was imported under, or import the question first."


def _is_chain(row: AnyRow) -> bool:
    return isinstance(row, AnswerRow) and row.role == ModelAnswer.Role.CHAIN


def _answer_key(row: Any) -> tuple[Any, ...]:
    return row.item, row.model, row.setting, row.take


def _known_answers(benchmark: Benchmark) -> set[tuple[Any, ...]]:
    rows = ModelAnswer.objects.filter(item__benchmark=benchmark, role=ModelAnswer.Role.CHAIN)
    return set(rows.order_by().values_list("item__question__external_id", "model", "setting", "take"))


def _known_references(benchmark: Benchmark) -> set[tuple[str, str]]:
    rows = Reference.objects.filter(item__benchmark=benchmark).order_by()
    return set(rows.values_list("item__question__external_id", "source"))


def _rollouts(benchmark: Benchmark, rows: BenchmarkRows) -> dict[str, set[tuple[str, int]]]:
    """Model and take of the rollouts that items will have, by item; nothing where no row is about them."""
    found: dict[str, set[tuple[str, int]]] = {}
    if not any(isinstance(row, DifficultyRow) for row in rows.rows):
        return found
    stored = ModelAnswer.objects.filter(
        item__benchmark=benchmark, role=ModelAnswer.Role.ROLLOUT, setting=Setting.FULL
    ).order_by()
    for item, model, take in stored.values_list("item__question__external_id", "model", "take"):
        found.setdefault(item, set()).add((model, take))
    for row in rows.rows:
        is_rollout = isinstance(row, AnswerRow) and row.role == ModelAnswer.Role.ROLLOUT
        if is_rollout and isinstance(row, AnswerRow) and row.setting == Setting.FULL:
            found.setdefault(row.item, set()).add((row.model, row.take))
    return found


def _other_number(row: DifficultyRow, rollouts: int) -> Said | None:
    if len(row.matches) == rollouts:
        return None
    said = f"it is about {len(row.matches)} rollouts, and this item has {rollouts} with all cues"
    return "matches", said, "Import the rollouts first, or with the same file."


def _document(row: ReferenceRow, item: BenchmarkItem) -> dict[str, Any] | str:
    """Return the document of a reference, or what is wrong with it."""
    document = row.document
    if document is None:
        reading = read_chain(row.text, answers.clip_facts(item.question.video))
        if any(warning["code"] == "no_cues" for warning in reading.warnings) or reading.document is None:
            return "the text has neither a visual nor an audio cue"
        if lost := [warning["message"] for warning in reading.warnings if warning["code"] in _LOST]:
            return " ".join(lost)
        document = {**reading.document, "target_label": item.question.target_label}
    try:
        references.check_document(item, document)
    except UserError as error:
        return error.message
    return dict(document)
