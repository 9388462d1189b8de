"""What happened to accounts: a line in the security log and an event in the hash chain `accounts`."""

from typing import Any

from django.db import transaction

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.logs import security_event

STREAM = "accounts"


def account_event(
    action: str,
    *,
    actor: Any,
    subject: Any,
    reason: str = "",
    from_state: str = "",
    to_state: str = "",
    **data: Any,
) -> None:
    """Record that `actor` (a user, or None for a command) did `action` to `subject` (a row of this app).

    Inside a transaction call it as the last write. `data` never holds a name, a password, a token or a code: events
    cannot be taken back, and the log may be read by others.
    """
    with transaction.atomic():
        record_event(
            stream=STREAM,
            actor=actor,
            action=action,
            subject_type=subject._meta.model_name,
            subject_id=subject.pk,
            from_state=from_state,
            to_state=to_state,
            reason=reason,
            data=data or None,
        )
    states = {"from": from_state, "to": to_state} if from_state or to_state else {}
    security_event(
        action,
        by=getattr(actor, "pk", None),
        **{subject._meta.model_name: subject.pk},
        **states,
        **data,
    )
