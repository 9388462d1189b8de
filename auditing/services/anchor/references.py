"""References of a benchmark's items: what a right rationale says, taken from where it was written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.states import HANDED_IN
from annotation.models import DocumentDecision, Study, Submission
from annotation.selectors.document_sides import Decisions
from auditing.core.anchor.parameters import is_source
from auditing.models import Benchmark, BenchmarkItem, Reference
from auditing.selectors.benchmark_ratings import main
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError
from videos.core.document import validate
from videos.core.values import InvalidChange
from videos.models import GeneratedDocument
from videos.selectors.documents import limits_of

from .changes import changed, event, hold, many_stored

Kind = Reference.Kind
BATCH = 500


@dataclass(slots=True)
class Taken:
    """What taking references did.

    Attributes
    ----------
    taken, unchanged : int
        References that are new or other than before, and those that were there already.
    left_out : list of (int, str)
        Item number, and why it got none.
    """

    taken: int = 0
    unchanged: int = 0
    left_out: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NewReference:
    """A reference to store; its document is valid for the item's clip (`check_document`)."""

    item: BenchmarkItem
    source: str
    kind: str
    writer: str
    version: str
    document: Mapping[str, Any]
    origin: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Found:
    """A document for an item, before it is stored."""

    document: Mapping[str, Any]
    version: str
    origin: dict[str, Any]


def put(
    item: BenchmarkItem,
    *,
    source: str,
    kind: str,
    writer: str = "",
    version: str = "",
    document: Mapping[str, Any],
    origin: Mapping[str, Any] | None = None,
) -> Reference:
    """Store a reference, in place of the one that the source had for the item.

    With another document, ratings of the old one count as missing from then on.

    Parameters
    ----------
    source
        Short name in the letters of an address, such as ``human`` or ``generated``.
    kind
        ``refined`` by people or ``generated`` by a model.
    writer, version
        The model that wrote it, "" for people; which state of the source it is, in words.
    document
        Schema of video documents, valid for the item's clip.
    origin
        Where it is from, as JSON; ``annotation_source`` in it says who wrote a refined one (``human``, ``human_ai``).

    Raises
    ------
    UserError
        400 ``bad_source``; 422 ``invalid_document`` with the place that is wrong.
    """
    check_source(source)
    check_document(item, document)
    with transaction.atomic():
        hold(item.benchmark_id)
        if store([NewReference(item, source, kind, writer, version, document, origin or {})]):
            set_annotation_sources(item.benchmark, [item.pk])
            changed(item.benchmark)
    return Reference.objects.get(item=item, source=source)


def take_from_study(benchmark: Benchmark, study: Study, *, source: str = "human", by: Any) -> Taken:
    """Take what people made of the items' questions in a study of videos.

    What was decided comes first, then the only submission, then the newest one. Of work that was taken back or returned
    nothing is taken, and neither is a decision that was opened again.

    Raises
    ------
    UserError
        400 ``bad_source``, ``not_a_video_study``; 409 ``study_damaged``; 422 ``nothing_to_take``.
    """
    if not study.is_video:
        raise UserError(
            "not_a_video_study",
            f"{study.name} is a study of traces, not of videos.",
            "Choose a study in which questions about videos are refined.",
        )
    found = {**_submitted(study), **_decided(study)}
    return _take(
        benchmark,
        found,
        source=source,
        kind=Kind.REFINED,
        writer="",
        why="Nobody has handed in anything about this question in the study.",
        about={"study": study.slug},
        by=by,
    )


def take_questions(benchmark: Benchmark, *, source: str, kind: str, writer: str = "", by: Any) -> Taken:
    """Take the reasoning that came with the questions, where some came. Raises `UserError` as `put`."""
    found = {}
    for item in benchmark.items.select_related("question"):
        document = item.question.document
        if document and _says_something(document):
            origin = {"from": "question", "question": item.question.external_id}
            if kind == Kind.REFINED:
                origin["annotation_source"] = BenchmarkItem.Source.HUMAN
            version = f"as imported {item.question.created_at:%Y-%m-%d}"
            found[item.question_id] = _Found(document, version, origin)
    return _take(
        benchmark,
        found,
        source=source,
        kind=kind,
        writer=writer,
        why="No reasoning came with this question.",
        about={"from": "questions"},
        by=by,
    )


def take_generated(benchmark: Benchmark, *, model: str, source: str, by: Any) -> Taken:
    """Take the newest reasoning that a model wrote for everybody, of each item. Raises `UserError` as `put`."""
    rows = GeneratedDocument.objects.filter(
        question__benchmark_items__benchmark=benchmark,
        kind=GeneratedDocument.Kind.REASONING,
        asked_in=None,
        source__model=model,
    ).order_by("question", "number")
    found = {
        row.question_id: _Found(
            row.document,
            f"version {row.number}",
            {"from": "generated", "id": str(row.public_id), "number": row.number},
        )
        for row in rows
    }
    return _take(
        benchmark,
        found,
        source=source,
        kind=Kind.GENERATED,
        writer=model,
        why=f"{model} has written no reasoning for this question.",
        about={"from": "generated", "model": model},
        by=by,
    )


def store(rows: Sequence[NewReference]) -> list[int]:
    """Write references in bulk, each in place of the one that its source had for the item.

    Returns the items (primary keys) of those that are new or other than before; does not say that the benchmark
    changed.
    """
    pairs = {(row.item.pk, row.source) for row in rows}
    there = {
        (row.item_id, row.source): row
        for row in Reference.objects.select_for_update(no_key=True).filter(
            item__in={item for item, _ in pairs}, source__in={source for _, source in pairs}
        )
    }
    new, others = [], []
    for row in rows:
        fields = {
            "kind": row.kind,
            "writer": row.writer[:200],
            "version": row.version[:80],
            "document": row.document,
            "sha256": sha256_of(row.document),
            "origin": dict(row.origin),
        }
        known = there.get((row.item.pk, row.source))
        if known is None:
            new.append(Reference(item=row.item, source=row.source, **fields))
        elif any(getattr(known, name) != value for name, value in fields.items()):
            for name, value in fields.items():
                setattr(known, name, value)
            known.updated_at = timezone.now()
            others.append(known)
    names = ["kind", "writer", "version", "document", "sha256", "origin", "updated_at"]
    Reference.objects.bulk_create(new, batch_size=BATCH)
    Reference.objects.bulk_update(others, names, batch_size=BATCH)
    return [row.item_id for row in (*new, *others)]


def check_source(source: str) -> None:
    """Raise `UserError` (400 ``bad_source``) for what cannot name a source of references."""
    if not is_source(source):
        remedy = "Use up to 80 small letters, digits, hyphens and underscores."
        said = f"{source[:80]!r} cannot name a source of references."
        raise UserError("bad_source", said, remedy, fields={"source": remedy})


def check_document(item: BenchmarkItem, document: Any) -> None:
    """Raise `UserError` (422 ``invalid_document``) for a document that is not valid for the item's clip."""
    try:
        validate(document, limits_of(item.question.video))
    except InvalidChange as error:
        raise UserError(
            "invalid_document",
            f"The reference of item {item.number} cannot be used: {error}",
            "Correct it where it was written, and take it again.",
            status=422,
        ) from None


def set_annotation_sources(benchmark: Benchmark, items: Iterable[int] | None = None) -> None:
    """Write to items who wrote their main reference; "" where they have none."""
    rows = benchmark.items.all() if items is None else benchmark.items.filter(pk__in=list(items))
    references = Reference.objects.filter(item__in=rows, source=main(benchmark, "reference"))
    sources = {
        pk: _annotation_source(kind, origin)
        for pk, kind, origin in references.values_list("item", "kind", "origin")
    }
    stale: dict[str, list[int]] = {}
    for pk, present in rows.values_list("pk", "annotation_source"):
        if present != (wanted := sources.get(pk, "")):
            stale.setdefault(wanted, []).append(pk)
    for wanted, pks in stale.items():
        BenchmarkItem.objects.filter(pk__in=pks).update(annotation_source=wanted)


def _annotation_source(kind: str, origin: Mapping[str, Any]) -> str:
    if kind == Kind.GENERATED:
        return BenchmarkItem.Source.AI
    said = origin.get("annotation_source")
    return str(said) if said in BenchmarkItem.Source.values else BenchmarkItem.Source.HUMAN


def _take(
    benchmark: Benchmark,
    found: Mapping[int, _Found],
    *,
    source: str,
    kind: str,
    writer: str,
    why: str,
    about: Mapping[str, Any],
    by: Any,
) -> Taken:
    """Store what was found for the items' questions, in one transaction."""
    check_source(source)
    taken = Taken()
    with transaction.atomic():
        row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        new = []
        for item in row.items.select_related("question__video").defer("question__video__picture_index"):
            one = found.get(item.question_id)
            if one is None:
                taken.left_out.append((item.number, why))
                continue
            try:
                check_document(item, one.document)
            except UserError as error:
                taken.left_out.append((item.number, error.message))
                continue
            new.append(NewReference(item, source, kind, writer, one.version, one.document, one.origin))
        if not new:
            first = taken.left_out[0][1] if taken.left_out else "it has none."
            said = f"No item of {row.name} got a reference: {first}"
            remedy = "Choose another source, or finish the work there first."
            raise UserError("nothing_to_take", said, remedy, status=422)
        fresh = store(new)
        if fresh:
            set_annotation_sources(row, fresh)
            changed(row)
            many_stored()
        taken.taken, taken.unchanged = len(fresh), len(new) - len(fresh)
        counts = {"taken": taken.taken, "unchanged": taken.unchanged, "left_out": len(taken.left_out)}
        event(row, by, "benchmark.take_references", {"source": source, "kind": kind, **about, **counts})
    return taken


def _decided(study: Study) -> dict[int, _Found]:
    """Question -> what was decided last; what was opened again stands no more."""
    by_item: dict[int, list[DocumentDecision]] = {}
    made = DocumentDecision.objects.filter(item__study=study).select_related("item").order_by("number")
    for one in made:
        by_item.setdefault(one.item_id, []).append(one)
    finals = [each.final for each in map(Decisions, by_item.values()) if not each.reopened]
    standing = [row for row in finals if row is not None and row.content is not None]
    work = {side["submission"] for row in standing for side in row.sides.values()}
    efforts = dict(Submission.objects.filter(pk__in=work).values_list("pk", "effort"))
    found = {}
    for row in standing:
        if row.content is None or row.item.question_id is None:
            continue
        if sha256_of(row.content) != row.content_sha256:
            raise _damaged(f"The decision {row.number} on question {row.item.number}")
        people = [efforts.get(side["submission"]) for side in row.sides.values()]
        origin = {
            "from": "study",
            "study": study.slug,
            "item": row.item.number,
            "decision": row.number,
            "annotation_source": _by_whom(people),
        }
        found[row.item.question_id] = _Found(row.content, f"decision {row.number}", origin)
    return found


def _submitted(study: Study) -> dict[int, _Found]:
    """Question -> the newest submission that counts."""
    rows = (
        Submission.objects.filter(
            assignment__item__study=study, assignment__state__in=HANDED_IN, recalled_at=None
        )
        .select_related("assignment__item", "assignment__member")
        .order_by("submitted_at", "pk")
    )
    found = {}
    for row in rows:
        item, name = row.assignment.item, row.assignment.member.pseudonym
        if item.question_id is None:
            continue
        if sha256_of(row.labels) != row.labels_sha256:
            raise _damaged(f"The submission {row.number} of {name} for question {item.number}")
        origin = {
            "from": "study",
            "study": study.slug,
            "item": item.number,
            "submission": row.number,
            "annotator": name,
            "labels_sha256": row.labels_sha256,
            "active_ms": row.labels[0]["active_ms"],
            "annotation_source": _by_whom([row.effort]),
        }
        version = f"submission {row.number} of {name}"
        found[item.question_id] = _Found(row.labels[0]["content"], version, origin)
    return found


def _by_whom(efforts: Iterable[Mapping[str, Any] | None]) -> str:
    """Whether anything was proposed to those who handed in (`annotation.core.edit_effort.compared`)."""
    proposed = any(
        effort["texts"]
        or any(effort[name] is not None for name in ("box_iou", "event_tiou"))
        or any(share is not None for share in effort["timeframe_tiou"].values())
        for effort in efforts
        if effort is not None
    )
    return BenchmarkItem.Source.HUMAN_AI if proposed else BenchmarkItem.Source.HUMAN


def _says_something(document: Mapping[str, Any]) -> bool:
    """Whether a document holds reasoning; the final answer alone is the question's own."""
    cot = document.get("cot") or {}
    steps = [cot.get(step) or {} for step in ("visual", "audio")]
    return any(step.get("description") or step.get("analysis") for step in steps) or bool(
        document.get("tracks") or document.get("events")
    )


def _damaged(what: str) -> UserError:
    remedy = "Run verify_audit and look for damage."
    return UserError("study_damaged", f"{what} is not what it was.", remedy, status=409)
