"""How long the body of a request may be, by route; what is longer is refused before it is kept anywhere.

Django's ASGI handler reads every body whole before any view sees it, and into a file once it is long. So
`BodyLimits` stands before it: it counts what arrives, ends the body where the limit is passed, and leaves the answer
to `limits.RequestLimitsMiddleware`, which knows the person and the page.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve

from annotation.api.v1.refinements import OperationsView
from annotation.selectors.vidat import address_by_token
from annotation.services.vidat import MOST_BYTES as MOST_VIDAT_BYTES
from auditing.formats.benchmark_files import MAX_FILE_BYTES as MOST_BENCHMARK_BYTES
from auditing.views.uploads import MAX_BYTES as MOST_UPLOAD_BYTES
from reasonaudit.accounts.authentication import TokenProblem, bearer_token, token_user
from reasonaudit.accounts.permissions import decide
from reasonaudit.accounts.sockets import session_user
from reasonaudit.errors import is_api
from reasonaudit.handler import in_thread
from videos.services.exchange_limits import MOST_FILE_BYTES
from videos.services.question_items import MAX_FILE_BYTES as MOST_QUESTION_BYTES
from videos.services.transcript_files import MAX_FILE_BYTES as MOST_TRANSCRIPT_BYTES
from videos.services.uploads import MAX_PIECE_BYTES

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

MIB = 1024 * 1024
# Less than FILE_UPLOAD_MAX_MEMORY_SIZE, so that the body of a common route never becomes a file.
COMMON_BYTES = 3 * MIB
# What a form has around its file: borders, names, the other fields.
FORM_BYTES = MIB
REFUSED = "reasonaudit.body_refused"


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Bytes that a body may have, and what to do with one that is longer.

    `right` says whether an address is the right itself, from its arguments, where nobody has to be logged in.
    """

    bytes: int
    remedy: str
    right: Callable[[Mapping[str, Any]], bool] | None = None


COMMON = BodyLimit(COMMON_BYTES, "Send less at once; nothing was saved.")
SPLIT = "Split the file and send the parts one after the other; nothing was read."


def limits() -> Mapping[str, BodyLimit]:
    """Every route that takes more than COMMON, by its view name, with the limit of its own view."""
    operations = BodyLimit(
        OperationsView.most_json_bytes,
        "Save fewer changes at once: import the file in parts, or with fewer keyframes. Nothing was saved.",
    )
    return {
        "api:refinement-operations": operations,
        "api:adjudication-document-operations": operations,
        "api:refinement-import": BodyLimit(MOST_FILE_BYTES + FORM_BYTES, SPLIT),
        "annotation:vidat_submit": BodyLimit(
            MOST_VIDAT_BYTES,
            "Use a coarser grid of frames in VidAT.",
            lambda arguments: address_by_token(arguments["token"]) is not None,
        ),
        "api:video-upload-piece": BodyLimit(
            MAX_PIECE_BYTES, f"Send pieces of at most {MAX_PIECE_BYTES:,} bytes."
        ),
        "videos:set_upload": BodyLimit(
            settings.MEDIA_MAX_INCOMING_BYTES + FORM_BYTES, "Send fewer videos at once; none was taken."
        ),
        "videos:questions_import": BodyLimit(MOST_QUESTION_BYTES + FORM_BYTES, SPLIT),
        "videos:transcript_upload": BodyLimit(MOST_TRANSCRIPT_BYTES + FORM_BYTES, SPLIT),
        "auditing:import": BodyLimit(MOST_UPLOAD_BYTES + FORM_BYTES, SPLIT),
        "auditing:benchmark_import": BodyLimit(MOST_BENCHMARK_BYTES + FORM_BYTES, SPLIT),
        "auditing:benchmark_bundle": BodyLimit(
            MOST_UPLOAD_BYTES + FORM_BYTES, "Use `manage.py benchmark restore` for larger archives."
        ),
        "auditing:study_import": BodyLimit(
            MOST_UPLOAD_BYTES + FORM_BYTES, "Use `manage.py import_study` for larger archives."
        ),
    }


def refused_limit(request: HttpRequest) -> BodyLimit | None:
    """The limit that the request's body passes, by what arrived of it or by what it announces; None within it."""
    found: BodyLimit | None = getattr(request, "scope", {}).get(REFUSED)
    if found is not None:
        return found
    announced = _length(request.META.get("CONTENT_LENGTH") or "")
    if announced <= COMMON_BYTES:
        return None
    _, limit = _match_and_limit(request)
    return limit if announced > limit.bytes else None


class BodyLimits:
    """ASGI middleware before Django. Where nobody who may use the route sends it, a long body is not read either."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Pass the request on with a body within its limit."""
        scope = dict(scope)
        body = _Body(scope, receive)
        await body.expect(_announced(scope))
        await self._app(scope, body.receive, send)


class _Body:
    """The body of one request as it arrives."""

    def __init__(self, scope: dict[str, Any], receive: Receive) -> None:
        self._scope, self._receive = scope, receive
        self._most = COMMON_BYTES
        self._arrived = 0
        self._cut = self._ended = False

    async def receive(self) -> Message:
        """The next message for Django; no byte of the body once it is cut."""
        if not self._cut:
            message = await self._receive()
            self._arrived += len(message.get("body", b""))
            await self.expect(self._arrived)
            if not self._cut:
                return message
        if self._ended:
            # Django waits here for the end of the connection. Asking the server would fetch the rest of the body.
            await asyncio.Event().wait()
        self._ended = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def expect(self, number: int) -> None:
        """Take note that the body has at least `number` bytes, and cut it where that is too many."""
        if number <= self._most or self._cut:
            return
        # Most requests never come here, so that the route is looked up for long bodies only.
        limit, may_send = await in_thread(_decide, self._scope)
        self._most = limit.bytes
        if number > self._most:
            self._scope[REFUSED] = limit
        # Whoever may not send anything gets the usual answer, which needs no body.
        self._cut = number > self._most or not may_send


def _decide(scope: dict[str, Any]) -> tuple[BodyLimit, bool]:
    """The limit, and whether the request comes from somebody who may use its route."""
    try:
        request: HttpRequest = ASGIRequest(scope, io.BytesIO())
    except UnicodeDecodeError:
        return COMMON, False  # the query is not UTF-8, which Django answers with 400
    match, limit = _match_and_limit(request)
    if match is None or limit is COMMON:
        return limit, True
    if limit.right is not None:
        return limit, limit.right(match.kwargs)
    user = _user(request, match.view_name)
    return limit, decide(user, match.view_name, request.method or "", match.kwargs).allowed


def _match_and_limit(request: HttpRequest) -> tuple[ResolverMatch | None, BodyLimit]:
    if request.method not in {"POST", "PUT", "PATCH"}:
        return None, COMMON
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return None, COMMON
    return match, limits().get(match.view_name, COMMON)


def _user(request: HttpRequest, route: str) -> Any:
    token = bearer_token(request) if is_api(request) else None
    if token is None:
        return session_user(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    try:
        return token_user(token, request.method or "", route)[0]
    except TokenProblem:
        return None


def _announced(scope: dict[str, Any]) -> int:
    headers = [value for name, value in scope.get("headers", ()) if name.lower() == b"content-length"]
    return _length(headers[0].decode("latin-1")) if headers else 0


def _length(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
