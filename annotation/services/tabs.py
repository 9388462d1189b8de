"""Which browser tab may write on an assignment: the one that took it last, while it is heard of."""

import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment
from reasonaudit.lib.chain import record_event

from .editing import assignment_lock, holds


@transaction.atomic
def tab_hold(*, assignment: Assignment, by: Any, tab: uuid.UUID, take: bool = False) -> dict[str, Any]:
    """Ask for the right to write, or say that the tab is still there (every 20 s).

    A tab gets it where no other holds it, where the holder was silent for a minute, or by `take`. Taking it from
    a tab that is alive is recorded. The first request also notes when the work was opened.

    Returns
    -------
    ``{"held": bool, "since": ISO time}``: whether this tab has it, and since when it, or the other one, has.
    """
    row = assignment_lock(assignment, by)
    now = timezone.now()
    taken_from_another = row.tab_token not in (None, tab) and holds(row)
    if taken_from_another and not take:
        return {"held": False, "since": _iso(row)}
    if row.tab_token != tab:
        row.tab_token, row.tab_since = tab, now
    row.tab_seen_at = now
    row.opened_at = row.opened_at or now
    row.save(update_fields=["tab_token", "tab_since", "tab_seen_at", "opened_at"])
    if taken_from_another:
        record_event(
            stream=f"study:{row.item.study_id}",
            actor=by,
            action="tab.take",
            subject_type="assignment",
            subject_id=row.public_id,
        )
    return {"held": True, "since": _iso(row)}


def _iso(row: Assignment) -> str | None:
    return None if row.tab_since is None else row.tab_since.isoformat()
