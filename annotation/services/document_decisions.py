"""Decisions on video questions, made by an adjudicator who knows those who refined them as letters only.

What is decided is a document of its own, which starts from what all agree on and is changed by operations like any
other. A final decision keeps its content as it was; opening a question again copies it, so that what was decided is
never touched. The version of a question's decisions grows with every save of any of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.labels import has_word
from annotation.core.states import Part, State
from annotation.models import DocumentDecision, StudyItem, StudyMember
from annotation.selectors.document_sides import (
    Decisions,
    decisions_of,
    documents_wait,
    submissions_of,
)
from annotation.selectors.guidelines import newest
from annotation.selectors.handed_in import HandedIn, active_assignments, handed_in
from annotation.selectors.refinements import missing_parts
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.core.comparison import Matches
from videos.selectors.documents import document_json
from videos.services.documents import document_create, operations_apply

from .adjudications import item_lock, item_settle
from .decisions import REASON_LIMIT, check_note, labeller_return, not_ready
from .editing import WorkRefused
from .moves import assignment_move
from .refinements import active_time_keep, check_count


@dataclass
class _Work:
    """A locked item, what people handed in on it, and what was decided."""

    item: StudyItem
    handed: HandedIn
    decisions: Decisions

    @property
    def is_open(self) -> bool:
        return documents_wait(self.handed, self.decisions)


@transaction.atomic
def document_decision_save(
    *, item: StudyItem, by: Any, operations: Sequence[Mapping[str, Any]], active_ms: int = 0
) -> dict[str, Any]:
    """Apply operations to the document that is to be decided; the first ones make it, from what all agree on.

    Several people, or windows, may do so at once: an operation that does not fit what is stored is refused.

    Returns
    -------
    ``{"version": operations so far, "saved_at", "applied": ids, "assignment": {"state", "version"}}``, the last version
    being that of the decision.

    Raises
    ------
    UserError
        409 ``version_conflict`` (an `OperationConflict`, with both sides), ``decided``, ``not_ready``, ``released``;
        422 ``invalid_operation``, ``too_many_operations``; 404 where the item is no video question.
    """
    check_count(operations)
    work = _open(item)
    row = _draft(work)
    done = operations_apply(document=row.document, operations=operations, by=by)
    if done["applied"] or row.pk is None:
        _sign(row, work, by)
        row.version = work.decisions.version + 1
        row.save()
    active_time_keep(row.document, active_ms)
    if done["applied"]:
        data = {"operations": done["applied"], "version": done["version"]}
        _record(work, by, "decision.draft", row, data=data)
    return {
        "version": done["version"],
        "saved_at": timezone.now().isoformat(),
        "applied": done["applied"],
        "assignment": {"state": State.DRAFT.value, "version": row.version},
    }


@transaction.atomic
def document_decision_make(*, item: StudyItem, by: Any, base_version: int, note: str) -> DocumentDecision:
    """Decide a question for good, by the document as it is now; the work on it is settled with that.

    Raises
    ------
    WorkRefused
        409 ``version_conflict``, with ``current``: somebody saved meanwhile.
    UserError
        409 as for a save; 422 ``incomplete`` with what the document lacks, ``note_too_long``, and ``note_required``
        where the document matches nobody in some difference.
    """
    work = _open(item)
    if base_version != work.decisions.version:
        raise WorkRefused(
            "version_conflict",
            "Somebody else, or you in another window, changed this decision meanwhile.",
            "Load the page again and look it over before you decide.",
            current={"version": work.decisions.version},
        )
    row, previous = _draft(work), work.decisions.final
    content = document_json(row.document)
    comparison = work.handed.comparison
    matches = comparison.matches(content)
    _check_final(content, note, matches)
    _sign(row, work, by)
    row.number = 1 if previous is None else previous.number + 1
    row.version = work.decisions.version + 1
    row.note, row.matches = note, matches.overall
    row.differences = [
        {**_without_sides(place.to_json()), "matches": matches.differences[place.id]}
        for place in comparison.differences
    ]
    row.sides, row.content, row.content_sha256 = submissions_of(work.handed), content, sha256_of(content)
    row.decided_at = timezone.now()
    row.save()
    item_settle(work.item, by)
    _record(
        work,
        by,
        "decision.save" if previous is None else "decision.change",
        row,
        data={
            "number": row.number,
            "note": note,
            "matches": row.matches,
            "differences": dict(matches.differences),
            "content_sha256": row.content_sha256,
        },
    )
    return row


@transaction.atomic
def document_decision_reopen(*, item: StudyItem, by: Any, part: Part, reason: str) -> DocumentDecision:
    """Have a decided question decided again, from a copy of what was decided; earlier decisions stay.

    Raises `UserError`: 409 ``not_decided``, ``not_ready``, ``released``; 422 ``reason_required``.
    """
    reason = _reason(reason, "Say why the question is opened again.")
    work = _ready(item)
    final = work.decisions.final
    if final is None or work.is_open:
        raise UserError("not_decided", "This question is not decided.", "Load the page again.", status=409)
    for assignment in active_assignments(work.item, lock=True):
        if assignment.state == State.ADJUDICATED:
            assignment.item = work.item
            assignment_move(assignment, State.IN_ADJUDICATION, part=part, by=by, reason=reason)
    draft = work.decisions.draft or DocumentDecision(item=work.item)
    draft.document = document_create(question=work.item.question, content=final.content)
    draft.note, draft.reason, draft.version = final.note, reason, work.decisions.version + 1
    _sign(draft, work, by)
    draft.save()
    _record(work, by, "decision.reopen", draft)
    return draft


@transaction.atomic
def document_give_back(*, item: StudyItem, letter: str, by: Any, reason: str) -> None:
    """Give the work back to the person behind a letter; the others' waits as submitted, and the draft stays.

    Raises `UserError`: 409 ``decided``, ``not_ready``, ``released``; 422 ``unknown_letter``, ``reason_required``.
    """
    work = _open(item)
    labeller_return(item=work.item, letter=letter, by=by, reason=reason)


def _ready(item: StudyItem) -> _Work:
    """Lock the item and see that everybody has handed in and nothing is released."""
    item = item_lock(item.pk)
    if item.question_id is None:
        raise UserError("not_found", "This item is no video question.", status=404)
    handed = handed_in(item)
    if not handed.is_complete:
        raise not_ready()
    if any(row.state == State.RELEASED for row in handed.people.values()):
        raise UserError("released", "This question is released and stays as it is.", status=409)
    return _Work(item, handed, decisions_of(item))


def _open(item: StudyItem) -> _Work:
    """The same, of a question that waits for a decision."""
    work = _ready(item)
    if not work.is_open:
        raise UserError(
            "decided",
            "This question is decided."
            if work.decisions.final
            else "One person refined this question, so there is nothing to decide.",
            "Open it again with a reason to change that." if work.decisions.final else "",
            status=409,
        )
    return work


def _draft(work: _Work) -> DocumentDecision:
    """The decision that is being made, not saved where it begins now."""
    if work.decisions.draft is not None:
        return work.decisions.draft
    seed = work.handed.comparison.seed()
    document = document_create(question=work.item.question, content=seed)
    return DocumentDecision(item=work.item, document=document)


def _sign(row: DocumentDecision, work: _Work, by: Any) -> None:
    """Say whose the decision is now, under which guideline. Leads who are no members have no pseudonym."""
    member = StudyMember.objects.filter(study=work.item.study_id, user=by).first()
    row.adjudicator, row.pseudonym = by, "" if member is None else member.pseudonym
    row.guideline = newest(work.item.study)


def _check_final(content: Mapping[str, Any], note: str, matches: Matches) -> None:
    check_note(note)
    if missing := missing_parts(content):
        raise UserError(
            "incomplete",
            f"Not complete yet: {' '.join(missing)}",
            "Fill in what is missing, then decide.",
            status=422,
            fields={"parts": missing},
        )
    own = [key for key, letters in matches.differences.items() if not letters]
    if own and not has_word(note):
        count = f"{len(own)} difference{'' if len(own) == 1 else 's'}"
        raise UserError(
            "note_required",
            f"The decision matches nobody in {count}, so it needs a note.",
            "Say in a word why.",
            status=422,
            fields={"note": "Needed.", "differences": own},
        )


def _reason(text: str, question: str) -> str:
    if not has_word(text) or len(text) > REASON_LIMIT:
        raise UserError(
            "reason_required",
            question,
            f"A sentence of at most {REASON_LIMIT:,} characters.",
            status=422,
            fields={"reason": "Needed."},
        )
    return text.strip()


def _without_sides(place: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if name != "sides"}


def _record(
    work: _Work, by: Any, action: str, row: DocumentDecision, data: Mapping[str, Any] | None = None
) -> None:
    record_event(
        stream=f"study:{work.item.study_id}",
        actor=by,
        action=action,
        subject_type="decision",
        subject_id=work.item.public_id,
        version=row.version,
        reason=row.reason,
        data=data,
    )
