"""What stands before every change of a person's work: the lock, whose it is, whether it is open, which tab writes.

Order of locks in this app, so that no two changes wait for each other: the reply of `once` (the user's own key), the
item (only where the states of several assignments may move), its assignments by number, the rows of labels and
decisions, the member, and last the stream of events. A save locks its assignment alone; the rows of its labels are
changed under that lock only, so they need none of their own.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Assignment
from annotation.selectors.work import shown_state, why_not_editable
from reasonaudit.lib.errors import UserError

# A tab that was not heard of for this long has lost its hold.
TAB_SILENCE = timedelta(seconds=60)
# A save notes that its tab is alive at most this often: the tab's own messages do it anyway.
STAMP_EVERY = timedelta(seconds=15)


class WorkRefused(UserError):
    """A change that was not made; `extra` stands beside the error in the answer (what is stored now, since when)."""

    def __init__(
        self,
        code: str,
        message: str,
        remedy: str = "",
        status: int = 409,
        fields: Mapping[str, Any] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(code, message, remedy, status, fields)
        self.extra = extra

    def as_dict(self) -> dict[str, Any]:
        """The body of the answer."""
        return {**super().as_dict(), **self.extra}


def assignment_lock(assignment: Assignment, by: Any) -> Assignment:
    """The assignment as it is now, held until the transaction ends, if it is the user's own.

    Raises
    ------
    UserError
        404 ``not_found``: it is somebody else's, or the person is not in the study any more.
    """
    row = (
        Assignment.objects.select_for_update(no_key=True, of=("self",))
        .select_related("item__study", "item__trace", "item__question__video", "document", "member")
        # Long and of no use here.
        .defer(
            "item__trace__raw_text",
            "item__trace__stored_relations",
            "item__trace__meta",
            "item__question__document",
            "item__question__video__picture_index",
        )
        .get(pk=assignment.pk)
    )
    if by is None or row.member.user_id != by.pk or not row.member.active:
        raise UserError("not_found", "There is no such work of yours.", status=404)
    return row


def check_editable(row: Assignment) -> None:
    """Raise 409 ``not_editable`` with the reason as a sentence, unless labels may be written now."""
    if reason := why_not_editable(row):
        raise not_editable(row, reason)


def not_editable(row: Assignment, reason: str) -> WorkRefused:
    """The refusal of a change that comes too late (or too early)."""
    remedy = "Nothing was changed. Keep a copy of your text if you still need it."
    return WorkRefused("not_editable", reason, remedy, state=shown_state(row.state))


def check_tab(row: Assignment, tab: uuid.UUID | None) -> tuple[str, ...]:
    """Let the tab that holds the work write, and give the hold to a tab that finds none.

    Returns the fields of `row` that were set and are to be saved. Programs come without a tab; they write while no
    tab holds the work.

    Raises
    ------
    WorkRefused
        409 ``other_tab``, with ``since``.
    """
    now = timezone.now()
    if row.tab_token is not None and row.tab_token != tab and holds(row):
        raise WorkRefused(
            "other_tab",
            "This case is open for writing in another tab or window.",
            "Go on there, or take it over here.",
            since=None if row.tab_since is None else row.tab_since.isoformat(),
        )
    if tab is None:
        return ()
    if row.tab_token != tab:
        row.tab_token, row.tab_since = tab, now
    elif row.tab_seen_at is not None and now - row.tab_seen_at < STAMP_EVERY:
        return ()
    row.tab_seen_at = now
    return ("tab_token", "tab_since", "tab_seen_at")


def holds(row: Assignment) -> bool:
    """Whether the tab that took the work was heard of lately."""
    return row.tab_seen_at is not None and timezone.now() - row.tab_seen_at < TAB_SILENCE
