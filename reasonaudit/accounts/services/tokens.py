"""Making and revoking API tokens: by the page, the command and the API."""

from typing import Any

from django.db import transaction

from ..events import account_event
from ..models import ApiToken, User


@transaction.atomic
def token_issue(user: User, *, name: str, scope: str, days: int, by: Any) -> tuple[ApiToken, str]:
    """Make a token that expires after `days`; returns its row and the token, which is stored nowhere."""
    row, token = ApiToken.issue(user, name, scope, days)
    account_event("token.made", actor=by, subject=row, user=user.pk, scope=scope)
    return row, token


@transaction.atomic
def token_revoke(row: ApiToken, *, by: User) -> None:
    """Delete a token, which ends its use at once."""
    account_event("token.revoked", actor=by, subject=row, user=row.user_id)
    row.delete()
