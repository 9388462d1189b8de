"""Requests that no view can use are refused before one sees them."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from reasonaudit.body_limits import refused_limit
from reasonaudit.errors import error_page, is_api
from reasonaudit.lib.errors import error_body


class RequestLimitsMiddleware:
    """Refuses bodies that are too long, and NUL characters, which PostgreSQL can neither store nor seek.

    Nothing that stands before this may read the body.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 413 to a body over the limit of its route, 400 where a NUL character is found."""
        if (limit := refused_limit(request)) is not None:
            words = f"The request is longer than the {limit.bytes:,} bytes that this address takes."
            return _refuse(request, 413, "too_large", words, limit.remedy)
        texts = [request.path_info, *_texts(request.GET)]
        if request.content_type == "application/x-www-form-urlencoded":
            texts += _texts(request.POST)
        if any("\0" in text for text in texts):
            message = "The request holds a NUL character, which cannot be stored or searched."
            return _refuse(request, 400, "nul_character", message)
        return self.get_response(request)


def _refuse(request: HttpRequest, status: int, code: str, message: str, remedy: str = "") -> HttpResponse:
    if is_api(request):
        return JsonResponse(error_body(code, message, remedy), status=status)
    return error_page(request, status, message, remedy)


def _texts(data: Any) -> list[str]:
    return [text for key, values in data.lists() for text in (key, *values)]
