"""Making accounts. There is no sign-up: these are called by invitations, by commands and by the demo."""

import secrets
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from reasonaudit.lib.errors import UserError

from ..events import account_event
from ..models import Role, User


@transaction.atomic
def user_create(
    *, username: str, role: str, password: str | None = None, email: str = "", name: str = "", **event: Any
) -> User:
    """Make an account. Without a password nobody can log in until one is set by `set_password_path`.

    `event` is what else the record says, such as the invitation.
    """
    if role not in Role.values:
        raise UserError(
            "unknown_role", f"The role {role!r} does not exist.", f"Use one of: {', '.join(Role.values)}."
        )
    user = User(username=username, role=role, email=email, first_name=name)
    user.set_password(password)
    user.full_clean(exclude=["password"])
    user.save()
    account_event("user.created", actor=None, subject=user, role=role, **event)
    return user


def one_time_password() -> str:
    """A password for the first login: 96 random bits, readable aloud."""
    return "-".join(secrets.token_hex(3) for _ in range(4))


def set_password_path(user: User) -> str:
    """Path of the page where the user sets a password; good once, for `PASSWORD_RESET_TIMEOUT` seconds."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("accounts:set_password", args=[uid, default_token_generator.make_token(user)])
