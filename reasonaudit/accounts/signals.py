"""What happens at login, logout and failure: the session's stamps, the security log, the chain of events.

Failures stand in the log and in the counts of django-axes only: strangers could fill the chain with them.
"""

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver

from reasonaudit.lib.logs import security_event

from . import sessions
from .events import account_event
from .lockout import NO_ADDRESS, client_address


@receiver(user_logged_in)
def logged_in(sender: Any, request: Any, user: Any, **_: Any) -> None:
    """Start the session's clock."""
    sessions.start(request.session)
    account_event("login.ok", actor=user, subject=user, second_factor=user.second_factor_at is not None)


@receiver(user_logged_out)
def logged_out(sender: Any, request: Any, user: Any, **_: Any) -> None:
    """Note the end of a login."""
    if user is not None:
        account_event("logout", actor=user, subject=user)


@receiver(user_login_failed)
def login_failed(sender: Any, credentials: Any, request: Any = None, **_: Any) -> None:
    """Note a failure, without the name that was typed: people type passwords into the wrong field."""
    security_event("login.failed", address=client_address(request) if request is not None else NO_ADDRESS)


@receiver(user_locked_out)
def locked_out(sender: Any, request: Any, **_: Any) -> None:
    """Note that a name was locked at an address."""
    security_event("login.locked", address=client_address(request))
