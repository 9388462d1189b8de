"""Settling what people labelled: agreement ends the work on an item, disagreement is decided.

Order of locks, so that two people who hand in at once never wait for each other: the item, its assignments, the
stream of events.
"""

from typing import Any

from django.db import transaction

from annotation.core.states import Part, State
from annotation.models import StudyItem
from annotation.selectors.document_sides import decisions_of
from annotation.selectors.handed_in import active_assignments, handed_in, waits_for_decision

from .document_agreement import agreement_record
from .moves import assignment_move

CHANGED = "The labels of the item are not what they were when it was settled."


def item_lock(item_id: int) -> StudyItem:
    """The item, held until the transaction ends. Take it before any of its assignments is changed."""
    return (
        StudyItem.objects.select_for_update(no_key=True, of=("self",))
        .select_related("study", "trace")
        .get(pk=item_id)
    )


@transaction.atomic
def item_settle(item: StudyItem, by: Any) -> None:
    """Move the item's assignments to where its labels now put them; call it after any of them has changed.

    - Not everybody has handed in: what was in adjudication goes back to submitted.
    - All agree on every segment, or one label is all that was asked for: adjudicated. What all agree on of a video
      question becomes its decision.
    - Something is to be decided: in adjudication.
    - Items of hidden gold are adjudicated once everybody has handed in, whatever was said: what is right is known.
    - Training items stay submitted: they are repeated until passed and have no reference label.

    Released work stays as it is. `by` is whoever caused it; the moves themselves are the software's.
    """
    item = item_lock(item.pk)
    if item.kind == StudyItem.Kind.TRAINING:
        return
    rows = active_assignments(item, lock=True)
    if any(row.state == State.RELEASED for row in rows):
        return
    work = handed_in(item, rows)
    if not work.is_complete:
        target, reason = State.SUBMITTED, "not everybody has handed in"
        moving = [row for row in rows if row.state == State.IN_ADJUDICATION]
    elif waits_for_decision(item, work):
        target, reason = State.IN_ADJUDICATION, CHANGED
        moving = [row for row in rows if row.state in (State.SUBMITTED, State.ADJUDICATED)]
    else:
        target = State.ADJUDICATED
        reason = _why_settled(item, len(rows), decided=_is_decided(item))
        moving = [row for row in rows if row.state in (State.SUBMITTED, State.IN_ADJUDICATION)]
    for row in moving:
        row.item = item
        assignment_move(row, target, part=Part.SYSTEM, by=by, reason=reason)
    if target is State.ADJUDICATED and item.question_id is not None:
        agreement_record(item, work)


def _is_decided(item: StudyItem) -> bool:
    return item.decisions.exists() if item.question_id is None else decisions_of(item).decided


def _why_settled(item: StudyItem, people: int, *, decided: bool) -> str:
    if item.kind == StudyItem.Kind.GOLD:
        return "expected labels known"
    if decided:
        return "decided"
    return "unanimous" if people > 1 else "single"
