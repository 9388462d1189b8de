"""Where VidAT's submit button sends to: no session, no cookie, no form; the address itself is the right.

VidAT shows the sentence of an answer only where its status is 200. So what the person at VidAT can do something about
comes with 200 and the type "negative"; what is wrong with the request itself has its own status.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.throttling import SimpleRateThrottle

from annotation.services.vidat import MOST_BYTES, vidat_submit
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.logs import security_event
from videos.formats.vidat import submit_reply
from videos.services.exchange_limits import MB

PREFIX = "/vidat/"
KEEP_PREFLIGHT_SECONDS = "600"
# What the person at VidAT can do nothing about; the sentence of any other refusal is to be seen.
OWN_STATUSES = frozenset({403, 404, 413, 415, 429})
TOO_LARGE = UserError(
    "too_large",
    f"The submit has more than {MOST_BYTES // MB} MB: nothing was stored.",
    "Use a coarser grid of frames in VidAT.",
    status=413,
)


class VidatThrottle(SimpleRateThrottle):
    """Submits by client address, whatever the token: against guessing and against filling the server."""

    scope = "vidat"

    def get_cache_key(self, request: Any, view: Any) -> str:
        """Key of the count. Forwarded headers are not read: the web server translates those that are believed."""
        return self.cache_format % {"scope": self.scope, "ident": request.META.get("REMOTE_ADDR") or "-"}


class VidatMiddleware:
    """Lets pages of the allowed origins read the answers, and gives every refusal the shape that VidAT knows."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; other addresses pass unchanged."""
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        answer = self.get_response(request)
        if answer.status_code >= 400 and answer.headers.get("Content-Type") != "application/json":
            shaped = JsonResponse(
                submit_reply(error=_sentence(answer.status_code)), status=answer.status_code
            )
            if "Allow" in answer.headers:
                shaped.headers["Allow"] = answer.headers["Allow"]
            answer = shaped
        answer.headers["Vary"] = "Origin"
        origin = request.headers.get("Origin", "")
        if origin and _is_allowed(request, origin):
            answer.headers["Access-Control-Allow-Origin"] = origin
            if request.method == "OPTIONS":
                answer.headers["Access-Control-Allow-Methods"] = "POST"
                answer.headers["Access-Control-Allow-Headers"] = "Content-Type"
                answer.headers["Access-Control-Max-Age"] = KEEP_PREFLIGHT_SECONDS
        return answer


@csrf_exempt
def vidat_submit_view(request: HttpRequest, token: str) -> HttpResponse:
    """Take a submit; a browser that asks beforehand whether it may send one is answered by the headers alone."""
    if request.method == "OPTIONS":
        return HttpResponse(status=204)
    try:
        return JsonResponse(vidat_submit(token=token, data=_body(request)))
    except UserError as error:
        if error.status == 404:
            security_event("vidat.refused", address=request.META.get("REMOTE_ADDR", ""))
        status = error.status if error.status in OWN_STATUSES else 200
        return JsonResponse(submit_reply(error=str(error)), status=status)


def _body(request: HttpRequest) -> bytes:
    """The body, checked from outside first and never read further than it may be long."""
    origin = request.headers.get("Origin", "")
    if origin and not _is_allowed(request, origin):
        raise UserError(
            "other_origin",
            "Pages from there may not submit here: nothing was stored.",
            "Ask whoever runs this server to add VidAT's address to VIDAT_ORIGINS.",
            status=403,
        )
    if not VidatThrottle().allow_request(request, None):  # type: ignore[arg-type]
        raise UserError("throttled", "Too many submits: nothing was stored.", "Wait a minute.", status=429)
    if request.content_type != "application/json":
        raise UserError("not_json", "A submit is JSON: nothing was stored.", status=415)
    announced = request.META.get("CONTENT_LENGTH") or "0"
    if announced.isdigit() and int(announced[:18]) > MOST_BYTES:
        raise TOO_LARGE
    data = request.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise TOO_LARGE
    return data


def _is_allowed(request: HttpRequest, origin: str) -> bool:
    return origin == f"{request.scheme}://{request.get_host()}" or origin in settings.VIDAT_ORIGINS


def _sentence(status: int) -> str:
    if status == TOO_LARGE.status:
        return str(TOO_LARGE)
    return f"The request was refused (status {status}): nothing was stored."
