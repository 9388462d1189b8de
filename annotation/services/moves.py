"""The one way in which assignments change their state."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from annotation.core.states import IllegalMove, Part, State, check
from annotation.models import Assignment, StudyItem, VidatAddress
from reasonaudit.lib.chain import Entry, record_event, record_events
from reasonaudit.lib.errors import UserError


def assignment_move(
    row: Assignment,
    to: State,
    *,
    part: Part,
    by: Any,
    reason: str = "",
    data: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Move a locked assignment, with its event; `fields` are further fields of `row` that were set and are saved.

    Raises
    ------
    UserError
        409 ``wrong_state``: the table of states has no such move for this part, or it needs a reason.
    """
    try:
        check(row.state, to, part, reason)
    except IllegalMove as error:
        raise UserError("wrong_state", str(error), "Load the page again.", status=409) from None
    before, row.state = row.state, to.value
    row.version += 1
    row.save(update_fields=["state", "version", "updated_at", *fields])
    if to is State.WITHDRAWN:
        addresses_end([row])
    record_event(
        stream=f"study:{row.item.study_id}",
        actor=None if part is Part.SYSTEM else by,
        action=f"assignment.{to.value}",
        subject_type="assignment",
        subject_id=row.public_id,
        from_state=before,
        to_state=to.value,
        version=row.version,
        reason=reason,
        data=data,
    )


def assignments_move(rows: Sequence[Assignment], to: State, *, part: Part, by: Any, reason: str = "") -> None:
    """Move many locked assignments of one study, each with its event, in a few queries; all or none.

    `reason` is stored with work that is withdrawn. Errors are those of `assignment_move`.
    """
    if not rows:
        return
    entries, changed = [], {"state": to.value, "updated_at": timezone.now()}
    if to is State.WITHDRAWN:
        changed["reason"] = reason
    for row in rows:
        try:
            check(row.state, to, part, reason)
        except IllegalMove as error:
            raise UserError("wrong_state", str(error), "Load the page again.", status=409) from None
        entries.append(
            Entry(
                action=f"assignment.{to.value}",
                subject_type="assignment",
                subject_id=row.public_id,
                from_state=row.state,
                to_state=to.value,
                version=row.version + 1,
                reason=reason,
            )
        )
        row.version += 1
        for name, value in changed.items():
            setattr(row, name, value)
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(version=F("version") + 1, **changed)
    if to is State.WITHDRAWN:
        addresses_end(rows)
    actor = None if part is Part.SYSTEM else by
    record_events(stream=f"study:{rows[0].item.study_id}", actor=actor, entries=entries)


def addresses_end(rows: Iterable[Assignment]) -> int:
    """End the addresses to which VidAT submits these assignments, and say how many there were."""
    now = timezone.now()
    found = VidatAddress.objects.filter(assignment__in=[row.pk for row in rows], withdrawn_at=None)
    return found.update(withdrawn_at=now, updated_at=now)


def items_lock(items: Iterable[int]) -> list[StudyItem]:
    """Several items by number, held until the transaction ends. Take them before any of their assignments."""
    rows = StudyItem.objects.select_for_update(no_key=True, of=("self",)).select_related("study", "trace")
    return list(rows.filter(pk__in=list(items)).order_by("pk"))
