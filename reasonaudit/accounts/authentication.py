"""API tokens: `Authorization: Bearer ra_…`, kept as hashes, with a scope and an end."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from . import second_factor
from .models import ApiToken, hash_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# A route whose name holds one of these gives whole data sets away (`uroreason` is the file of that format).
EXPORT_WORDS = ("export", "uroreason")
STAMP_EVERY = timedelta(minutes=1)


class TokenProblem(Exception):
    """A token that cannot be used. `code` is `bad_token`, `scope` or `second_factor_needed`."""

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


def scope_allows(scope: str, route: str, method: str) -> bool:
    """Whether a token of the scope may use `method` on the route: what each scope is for.

    `read` gets everything but exports, `export` gets exports and nothing else, `write` gets all. A route is an
    export by its name (EXPORT_WORDS). The matrix decides besides, by role and object.
    """
    if scope == ApiToken.Scope.WRITE:
        return True
    if method not in SAFE_METHODS:
        return False
    is_export = any(word in route.rpartition(":")[2] for word in EXPORT_WORDS)
    return scope == (ApiToken.Scope.EXPORT if is_export else ApiToken.Scope.READ)


def token_user(token: str, method: str, route: str = "") -> tuple[Any, ApiToken]:
    """User and row of a token that may be used with `method` on the route; raises TokenProblem.

    Unknown, expired and switched-off tokens give the same answer.
    """
    row = ApiToken.objects.select_related("user").filter(token_sha256=hash_of(token)).first()
    now = timezone.now()
    if row is None or row.expires_at <= now or not row.user.is_active:
        raise TokenProblem("bad_token", "The API token is unknown, has expired or was revoked.")
    if second_factor.is_missing(row.user):
        raise TokenProblem(
            "second_factor_needed",
            "The token's owner has to set up a second factor on the account page first.",
        )
    if not scope_allows(row.scope, route, method):
        raise TokenProblem("scope", f"The API token may not do this: {row.get_scope_display().lower()}.")
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
            match = request.resolver_match
            return token_user(token, request.method, match.view_name if match else "")
        except TokenProblem as problem:
            raise AuthenticationFailed(str(problem), code=problem.code) from problem

    def authenticate_header(self, request: Any) -> str:
        """Scheme named in 401 answers."""
        return "Bearer"
