"""Decisions on single segments, made by an adjudicator who knows labellers as letters only.

A segment has at most one draft (number 0) and any number of final decisions, which never change: what is decided later
is a new record with a reason. The version of a segment grows with every save of any of its records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.core.adjudication import NOTE_LIMIT, SCALE, matches
from annotation.core.labels import has_word
from annotation.core.states import Part, State
from annotation.models import AdjudicationDecision, GuidelineVersion, Segment, Study, StudyItem, StudyMember
from annotation.selectors.adjudication import current_decision, said
from annotation.selectors.decisions import Decisions
from annotation.selectors.handed_in import (
    HandedIn,
    active_assignments,
    handed_in,
    judged_segment,
    open_segments,
)
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .adjudications import item_lock, item_settle
from .assignments import assignment_return
from .moves import assignment_move

REASON_LIMIT = 2_000


class DecisionConflict(UserError):
    """Somebody else saved a decision on this segment meanwhile; `current` is what stands now."""

    def __init__(self, index: int, current: Mapping[str, Any]) -> None:
        super().__init__(
            "version_conflict",
            f"The decision on S{index} was saved by somebody else, or in another window, meanwhile.",
            "Compare the two and choose one; nothing was overwritten.",
            status=409,
        )
        self.current = dict(current)


@dataclass(frozen=True)
class Draft:
    """What an adjudicator says of a segment.

    `reason` tells why a final decision is changed and is kept with the final one only; `guideline` is the number of
    the version that the page showed, None for the newest.
    """

    label: str = ""
    reasons: Sequence[str] = ()
    note: str = ""
    reason: str = ""
    guideline: int | None = None


@dataclass
class _Work:
    """A locked item on which something is decided."""

    item: StudyItem
    segment: Segment
    handed: HandedIn
    decisions: Decisions[AdjudicationDecision]


@transaction.atomic
def decision_save(
    *, item: StudyItem, index: int, by: Any, base_version: int, says: Draft, final: bool
) -> AdjudicationDecision:
    """Save what an adjudicator says of segment `index`: as the draft, or for good.

    The last final decision of an item ends its adjudication. A decision after the first final one was made when the
    audit could be seen, unless the study hides it from everybody: it is marked `after_audit`.

    Raises
    ------
    DecisionConflict
        409: `base_version` is not the segment's version.
    UserError
        409 ``not_ready`` (somebody has not handed in), ``released``, ``not_queued`` (all agree on the segment),
        ``decided`` (a draft on a decided segment that was not opened again);
        422 ``unknown_reason``, ``unknown_label``, ``unknown_guideline``, ``note_too_long``, and, for a final decision,
        ``no_label``, ``note_required`` (it matches nobody), ``reason_required`` (it changes a final one).
    """
    work = _open(item, index)
    if base_version != work.decisions.version:
        raise DecisionConflict(index, current_decision(work.decisions.rows))
    if work.decisions.final and not final and not work.decisions.reopened:
        raise UserError(
            "decided", f"S{index} is decided.", "Open it again with a reason to change that.", status=409
        )
    guideline = _guideline(work.item.study, says.guideline)
    _check_words(guideline, says)
    agreeing = matches(says.label, work.handed.given(index)) if says.label else ""
    row = work.decisions.draft or AdjudicationDecision(item=work.item, segment=work.segment)
    reason = (says.reason if final else "").strip() or row.reason
    if final:
        _check_final(index, says, agreeing)
        if work.decisions.final:
            _reason(reason, f"S{index} was decided before: say why the decision changes.")
    member = StudyMember.objects.get(study=work.item.study_id, user=by)
    previous = work.decisions.final
    before = previous or work.decisions.draft
    old = None if before is None else said(before)
    row.adjudicator, row.pseudonym, row.guideline = by, member.pseudonym, guideline
    row.label, row.reasons, row.note = says.label, list(says.reasons), says.note
    row.reason, row.matches = reason, agreeing
    row.version = work.decisions.version + 1
    row.after_audit = previous is not None and work.item.study.blinding != Study.Blinding.BLIND
    if final:
        row.number = 1 if previous is None else previous.number + 1
        row.decided_at = timezone.now()
    row.save()
    if final:
        item_settle(work.item, by)
    record_event(
        stream=f"study:{work.item.study_id}",
        actor=by,
        action="decision.draft" if not final else "decision.change" if previous else "decision.save",
        subject_type="decision",
        subject_id=f"{work.item.public_id}:{index}",
        version=row.version,
        reason=row.reason,
        data={"segment": row.segment_id, "index": index, "number": row.number, "old": old, "new": said(row)},
    )
    return row


@transaction.atomic
def decision_reopen(*, item: StudyItem, index: int, by: Any, part: Part, reason: str) -> AdjudicationDecision:
    """Have a segment decided (again), whatever was said of it: its item is in adjudication until that is done.

    Earlier decisions stay. Raises `UserError` like `decision_save`, and 422 ``reason_required``.
    """
    reason = _reason(reason, f"Say why S{index} is opened again.")
    work = _open(item, index, queued=False)
    for row in active_assignments(work.item, lock=True):
        if row.state == State.ADJUDICATED:
            row.item = work.item
            assignment_move(row, State.IN_ADJUDICATION, part=part, by=by, reason=reason)
    draft = work.decisions.draft
    if draft is None:
        member = StudyMember.objects.filter(study=work.item.study_id, user=by).first()
        draft = AdjudicationDecision(
            item=work.item,
            segment=work.segment,
            adjudicator=by,
            pseudonym="" if member is None else member.pseudonym,
            guideline=_guideline(work.item.study, None),
        )
    draft.reason, draft.version = reason, work.decisions.version + 1
    draft.save()
    record_event(
        stream=f"study:{work.item.study_id}",
        actor=by,
        action="decision.reopen",
        subject_type="decision",
        subject_id=f"{work.item.public_id}:{index}",
        version=draft.version,
        reason=reason,
        data={"segment": work.segment.pk, "index": index},
    )
    return draft


@transaction.atomic
def labeller_return(
    *, item: StudyItem, letter: str, by: Any, reason: str, remarks: Mapping[int, str] | None = None
) -> None:
    """Give the work back to the person behind a letter, with a reason and remarks on single segments.

    The others' work waits as submitted. Raises `UserError`: 409 ``not_ready``, ``wrong_state``; 422
    ``unknown_letter``, ``reason_required``; 400 ``bad_remarks``.
    """
    reason = _reason(reason, "Say why the work goes back.")
    item = item_lock(item.pk)
    work = handed_in(item, active_assignments(item, lock=True))
    _check_ready(work)
    chosen = work.people.get(letter)
    if chosen is None:
        raise UserError("unknown_letter", "Nobody has this letter on this item.", status=422)
    assignment_return(assignment=chosen, by=by, reason=reason, remarks=remarks, part=Part.ADJUDICATOR)


@transaction.atomic
def clause_flag(*, item: StudyItem, index: int, by: Any, flagged: bool, note: str = "") -> None:
    """Tell the study's lead that the guideline is not clear on a segment, or take that back.

    It is kept as an event; `annotation.selectors.adjudication.flagged_clauses` reads it.
    """
    work = _open(item, index, queued=False, decided=True)
    check_note(note)
    record_event(
        stream=f"study:{work.item.study_id}",
        actor=by,
        action="decision.flag",
        subject_type="decision",
        subject_id=f"{work.item.public_id}:{index}",
        data={
            "index": index,
            "flagged": flagged,
            "note": note,
            "guideline": _guideline(work.item.study, None).number,
        },
    )


def _open(item: StudyItem, index: int, *, queued: bool = True, decided: bool = False) -> _Work:
    """Lock the item and see that segment `index` may be decided on (`queued`: only one that needs it)."""
    item = item_lock(item.pk)
    segment = judged_segment(item, index)
    if segment is None or item.kind != StudyItem.Kind.MAIN:
        raise UserError("bad_segment", f"S{index} is no judged segment of this case.", status=404)
    work = handed_in(item)
    _check_ready(work)
    if not decided and any(row.state == State.RELEASED for row in work.people.values()):
        raise UserError("released", "The labels of this case are released and stay as they are.", status=409)
    decisions = AdjudicationDecision.objects.filter(item=item, segment=segment).select_related("guideline")
    rows = list(decisions.order_by("number"))
    if queued and not rows and index not in open_segments(item, work):
        raise UserError(
            "not_queued",
            f"Everybody agrees on S{index}, so there is nothing to decide.",
            "Open it again with a reason if the label has to be looked at.",
            status=409,
        )
    return _Work(item, segment, work, Decisions(rows))


def not_ready() -> UserError:
    """Why nothing of an item is shown or decided yet."""
    return UserError(
        "not_ready",
        "Not everybody who labels this case has handed in, so there is nothing to decide yet.",
        "It comes into the queue by itself.",
        status=409,
    )


def _check_ready(work: HandedIn) -> None:
    if not work.is_complete:
        raise not_ready()


def _guideline(study: Study, number: int | None) -> GuidelineVersion:
    rows = GuidelineVersion.objects.filter(study=study).exclude(published_at=None)
    found = rows.order_by("-number").first() if number is None else rows.filter(number=number).first()
    if found is None:
        raise UserError(
            "unknown_guideline", "There is no such published version of the guideline.", status=422
        )
    return found


def _check_words(guideline: GuidelineVersion, says: Draft) -> None:
    if says.label and says.label not in SCALE:
        raise UserError("unknown_label", "There is no such label.", status=422, fields={"label": "Unknown."})
    known = {chip["code"] for chips in guideline.reasons.values() for chip in chips}
    if unknown := [code for code in says.reasons if code not in known]:
        raise UserError(
            "unknown_reason",
            f"The guideline's version {guideline.number} has no reason {unknown[0]!r}.",
            "Load the page again: the guideline may have changed.",
            status=422,
            fields={"reasons": unknown},
        )
    check_note(says.note)
    if len(says.reason) > REASON_LIMIT:
        raise UserError(
            "reason_too_long",
            f"The reason has {len(says.reason):,} characters; the limit is {REASON_LIMIT:,}.",
            status=422,
        )


def check_note(note: str) -> None:
    """Raise 422 ``note_too_long`` where the note on a decision is longer than it may be."""
    if len(note) > NOTE_LIMIT:
        raise UserError(
            "note_too_long",
            f"The note has {len(note):,} characters; the limit is {NOTE_LIMIT:,}.",
            "Shorten it; what you wrote is still in the field.",
            status=422,
            fields={"note": "Too long."},
        )


def _check_final(index: int, says: Draft, agreeing: str) -> None:
    if not says.label:
        raise UserError(
            "no_label",
            f"S{index} has no decision yet.",
            "Choose correct, uncertain or incorrect.",
            status=422,
        )
    if not agreeing and not has_word(says.note):
        raise UserError(
            "note_required",
            "The decision matches nobody's label, so it needs a note.",
            "Say in a word why.",
            status=422,
            fields={"note": "Needed."},
        )


def _reason(text: str, question: str) -> str:
    if not has_word(text):
        raise UserError("reason_required", question, status=422, fields={"reason": "Needed."})
    if len(text) > REASON_LIMIT:
        raise UserError(
            "reason_too_long",
            f"The reason has {len(text):,} characters; the limit is {REASON_LIMIT:,}.",
            status=422,
            fields={"reason": "Too long."},
        )
    return text.strip()
