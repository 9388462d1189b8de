"""Making and changing accounts and invitations."""

from .invitations import (
    invitation_accept_as,
    invitation_accept_new,
    invitation_create,
    invitation_open,
    invitation_revoke,
)
from .people import second_factor_reset, user_activate, user_deactivate, user_role_change
from .tokens import token_issue, token_revoke
from .users import one_time_password, set_password_path, user_create

__all__ = [
    "invitation_accept_as",
    "invitation_accept_new",
    "invitation_create",
    "invitation_open",
    "invitation_revoke",
    "one_time_password",
    "second_factor_reset",
    "set_password_path",
    "token_issue",
    "token_revoke",
    "user_activate",
    "user_create",
    "user_deactivate",
    "user_role_change",
]
