"""Rate limits by user and by address.

Counts are kept in Django's default cache, which is each process's own memory: N processes allow up to N
times the rate. Failed logins are counted in the database (see `lockout`) and are exact.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.throttling import SimpleRateThrottle

from .authentication import SAFE_METHODS
from .lockout import client_address, refusal


class LoginThrottle(SimpleRateThrottle):
    """Logins by client address, whatever the name: against trying one password on many names."""

    scope = "login"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        """Key of the count; reading the page is not counted."""
        if request.method in SAFE_METHODS:
            return None
        return self.cache_format % {"scope": self.scope, "ident": client_address(request)}


class WriteThrottle(SimpleRateThrottle):
    """Requests of pages and API that change or compute something, by user."""

    scope = "write"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        """Key of the count; reading is not counted."""
        if request.method in SAFE_METHODS:
            return None
        ident = request.user.pk if request.user.is_authenticated else client_address(request)
        return self.cache_format % {"scope": self.scope, "ident": ident}


def too_many_logins(request: HttpRequest) -> HttpResponse | None:
    """The answer to a login that comes too fast after others from its address, or None; each call counts one."""
    throttle: Any = LoginThrottle()
    if throttle.allow_request(request, None):
        return None
    seconds = int(throttle.wait() or 60)
    return refusal(
        request,
        "throttled",
        "Too many logins from this address.",
        f"Try again in {seconds} seconds.",
        seconds,
    )
