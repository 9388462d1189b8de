"""API tokens: `Authorization: Bearer ra_…`, kept as hashes, with a scope and an end."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from .models import ApiToken

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
STAMP_EVERY = timedelta(minutes=1)


class TokenProblem(Exception):
    """A token that cannot be used. `code` is `bad_token` or `scope`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def bearer_token(request: Any) -> str | None:
    """The token of the request's header, or None where the header is absent or of another kind.

    A header that names the scheme but holds nothing usable gives "", which is no valid token: such a request
    must not fall back to the session.
    """
    words = get_authorization_header(request).split()
    if not words or words[0].lower() != b"bearer":
        return None
    return words[1].decode("ascii", errors="replace") if len(words) == 2 else ""


def token_user(token: str, method: str) -> tuple[Any, ApiToken]:
    """User and row of a token that may be used with `method`; raises TokenProblem.

    Unknown, expired and switched-off tokens give the same answer.
    """
    row = ApiToken.objects.select_related("user").filter(token_sha256=ApiToken.hash(token)).first()
    now = timezone.now()
    if row is None or row.expires_at <= now or not row.user.is_active:
        raise TokenProblem("bad_token", "The API token is unknown, has expired or was revoked.")
    if row.scope != ApiToken.Scope.WRITE and method not in SAFE_METHODS:
        raise TokenProblem("scope", "The API token may only read.")
    if row.last_used_at is None or now - row.last_used_at > STAMP_EVERY:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return row.user, row


class TokenAuthentication(BaseAuthentication):
    """Authentication of API views by token. A bad token is refused even where a session comes with it."""

    def authenticate(self, request: Any) -> tuple[Any, ApiToken] | None:
        """User and token, or None where the request brings no token."""
        token = bearer_token(request)
        if token is None:
            return None
        try:
            return token_user(token, request.method)
        except TokenProblem as problem:
            raise AuthenticationFailed(str(problem), code=problem.code) from problem

    def authenticate_header(self, request: Any) -> str:
        """Scheme named in 401 answers."""
        return "Bearer"
