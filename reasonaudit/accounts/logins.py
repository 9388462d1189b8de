"""Checking who logs in: password, second factor and lockout, the same for the page, in place and for tokens."""

from typing import Any

from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

from reasonaudit.lib.errors import UserError

from . import second_factor
from .models import User

BAD_LOGIN = "The name or the password is wrong."
BAD_CODE = "The code is wrong or was used already."


def check_login(request: HttpRequest, *, username: str, password: str, code: str = "") -> User:
    """The user of these credentials.

    Raises UserError with status 401: `bad_login` for an unknown name, a switched-off account and a wrong password
    alike; `code_required` and `bad_code` once the password was right. Where the name is locked, django-axes replaces
    the answer (see `lockout`).
    """
    user = authenticate(request, username=username, password=password)
    if user is None:
        raise UserError("bad_login", BAD_LOGIN, status=401)
    assert isinstance(user, User)
    if user.second_factor_at is not None:
        if not code:
            raise UserError(
                "code_required",
                "This account has a second factor.",
                "Send the code of your app, or a backup code, as well.",
                status=401,
                fields={"code": ["Needed."]},
            )
        check_code(request, user, code)
    return user


def check_code(request: HttpRequest, user: User, code: str) -> None:
    """Let pass a user whose code is right; count a wrong one like a wrong password and raise UserError."""
    credentials: dict[str, Any] = {"username": user.get_username()}
    if not AxesProxyHandler.is_allowed(request, credentials):
        request.axes_locked_out = True  # type: ignore[attr-defined]
        raise UserError("locked_out", "This name is locked here after too many failures.", status=429)
    if wait := second_factor.wait_seconds(user, code):
        # Not looked at, so not counted either.
        raise UserError(
            "bad_code",
            "Wrong codes came too fast.",
            f"Wait {wait} {'second' if wait == 1 else 'seconds'}, then type the code that is shown.",
            status=401,
        )
    if not second_factor.verify(user, code):
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
        raise UserError("bad_code", BAD_CODE, "Type the code that is shown now.", status=401)


def check_again(request: HttpRequest, user: User, *, password: str, code: str = "") -> None:
    """Make sure that it is the user who asks for something grave; failures count as failed logins."""
    known = check_login(request, username=user.get_username(), password=password, code=code)
    if known.pk != user.pk:
        raise UserError("bad_login", BAD_LOGIN, status=401)
