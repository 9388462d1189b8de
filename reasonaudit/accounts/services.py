"""Making accounts. There is no sign-up: these are called by commands and by the demo."""

import secrets

from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.logs import security_event

from .models import Role, User


def user_create(*, username: str, role: str, password: str | None = None, email: str = "") -> User:
    """Make an account. Without a password nobody can log in until one is set by `set_password_path`."""
    if role not in Role.values:
        raise UserError(
            "unknown_role", f"The role {role!r} does not exist.", f"Use one of: {', '.join(Role.values)}."
        )
    user = User(username=username, role=role, email=email)
    user.set_password(password)
    user.full_clean(exclude=["password"])
    user.save()
    security_event("user.created", username=username, role=role)
    return user


def one_time_password() -> str:
    """A password for the first login: 96 random bits, readable aloud."""
    return "-".join(secrets.token_hex(3) for _ in range(4))


def set_password_path(user: User) -> str:
    """Path of the page where the user sets a password; good once, for `PASSWORD_RESET_TIMEOUT` seconds."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("accounts:set_password", args=[uid, default_token_generator.make_token(user)])
